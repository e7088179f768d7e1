//! The published vectors of sealed records, if they are next to the project.

use crate::validate::{Checks, validate};
use capsid_model::exact::{self, ExactJson};
use capsid_seal::uri::{CapsuleUri, RecordReference};
use sha3::{Digest, Sha3_256};
use std::path::Path;

/// A file of vectors; nothing where there is none.
fn vectors(name: &str) -> Option<ExactJson> {
    let vector_in = |folder: &Path| folder.join(format!("shared/vectors/sealed/{name}.json"));
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(vector_in).find(|path| path.is_file());
    let Some(path) = found else {
        eprintln!("nothing to compare with: there is no {name}.json");
        return None;
    };
    Some(exact::parse(&std::fs::read_to_string(path).unwrap()).unwrap())
}

fn hash(text: &str) -> String {
    Sha3_256::digest(text).iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn canonical_edges() {
    let Some(edges) = vectors("canonical-edges") else { return };
    for edge in edges.as_array().unwrap() {
        let name = edge.text("name").unwrap();
        let canonical = exact::canonical(&exact::parse(edge.text("input_json").unwrap()).unwrap());
        assert_eq!(canonical, edge.text("canonical").unwrap(), "{name}");
        assert_eq!(hash(&canonical), edge.text("sha3_256").unwrap(), "{name}");
    }
}

#[test]
fn floats() {
    let Some(pairs) = vectors("float-repr") else { return };
    for pair in pairs.as_array().unwrap() {
        let bits = u64::from_str_radix(pair.text("bits_hex").unwrap(), 16).unwrap();
        assert_eq!(exact::float_text(f64::from_bits(bits)), pair.text("canonical").unwrap());
    }
}

fn golden(file: &str, written: impl Fn(&str, &ExactJson) -> String) {
    let Some(file) = vectors(file) else { return };
    for fixture in file.get("fixtures").unwrap().as_array().unwrap() {
        let name = fixture.text("name").unwrap();
        let canonical = written(name, fixture.get("capsule_dict").unwrap());
        assert_eq!(canonical, fixture.text("canonical_json").unwrap(), "{name}");
        assert_eq!(hash(&canonical), fixture.text("sha3_256_hash").unwrap(), "{name}");
    }
}

#[test]
fn golden_records() {
    golden("fixtures", |_, content| exact::canonical(content));
}

#[test]
fn golden_records_from_before_the_version_field() {
    // One of them is older still: all but ASCII is escaped in it.
    golden("legacy-fixtures-without-spec_version", |name, content| match name {
        "unicode_strings" => exact::canonical_ascii(content),
        _ => exact::canonical(content),
    });
}

#[test]
fn golden_records_are_valid() {
    let Some(file) = vectors("fixtures") else { return };
    for fixture in file.get("fixtures").unwrap().as_array().unwrap() {
        let checks = Checks { claimed_hash: fixture.text("sha3_256_hash"), only_known_fields: true };
        assert_eq!(
            validate(fixture.get("capsule_dict").unwrap(), checks),
            Ok(()),
            "{:?}",
            fixture.text("name")
        );
    }
}

#[test]
fn invalid_records() {
    let Some(file) = vectors("invalid-fixtures") else { return };
    for fixture in file.get("fixtures").unwrap().as_array().unwrap() {
        let checks = Checks { claimed_hash: fixture.text("claimed_hash"), ..Checks::default() };
        let violation = validate(fixture.get("capsule_dict").unwrap(), checks).unwrap_err();
        assert_eq!(Some(violation.category.as_str()), fixture.text("expected_error"), "{fixture:?}");
        assert_eq!(Some(violation.field.as_str()), fixture.text("error_field"), "{fixture:?}");
    }
}

#[test]
fn addresses() {
    let Some(file) = vectors("uri-fixtures") else { return };
    for fixture in file.get("valid").unwrap().as_array().unwrap() {
        let text = fixture.text("uri").unwrap();
        let uri = CapsuleUri::parse(text).unwrap();
        let expected = fixture.get("expected").unwrap();
        assert_eq!(uri.to_string(), text);
        assert_eq!(uri.chain.as_deref(), expected.text("chain"), "{text}");
        assert_eq!(uri.fragment.as_deref(), expected.text("fragment"), "{text}");
        assert_eq!(Some(uri.reference.kind()), expected.text("reference_type"), "{text}");
        match &uri.reference {
            RecordReference::Hash(hash) => assert_eq!(Some(hash.as_str()), expected.text("hash_value")),
            RecordReference::Sequence(at) => {
                assert_eq!(expected.get("sequence"), Some(&ExactJson::from(*at)));
            }
            RecordReference::Id(id) => assert_eq!(Some(id.as_str()), expected.text("id")),
        }
    }
    for fixture in file.get("invalid").unwrap().as_array().unwrap() {
        let text = fixture.text("uri").unwrap();
        assert!(CapsuleUri::parse(text).is_err(), "{text}");
    }
}
