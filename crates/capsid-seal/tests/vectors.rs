//! The published vectors of sealed records, where they lie beside the project.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods)]

use capsid_model::exact::{self, Json};
use sha3::{Digest, Sha3_256};
use std::path::Path;

/// A file of vectors; nothing where there is none.
fn vectors(name: &str) -> Option<Json> {
    let beside = |folder: &Path| folder.join(format!("shared/vectors/sealed/{name}.json"));
    let found = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().map(beside).find(|path| path.is_file());
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

fn golden(file: &str, written: impl Fn(&str, &Json) -> String) {
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
