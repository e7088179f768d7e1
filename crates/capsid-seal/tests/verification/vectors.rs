//! Records that other tools sealed, where the data is present.

use capsid_model::Value;
use capsid_seal::hash::sha3_hex;
use capsid_seal::keys::{KeyOrigin, KeySet, health};
use capsid_seal::verify::{VerifyOptions, verify};
use capsid_seal::{PublicKey, RecordSeal, SigningKey, StoredRecord};
use std::path::PathBuf;

fn data(name: &str) -> Option<PathBuf> {
    let path =
        PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/vectors/sealed")).join(name);
    if path.exists() {
        return Some(path);
    }
    eprintln!("skipped: {name} is not here");
    None
}

fn json(path: &std::path::Path) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

fn text(value: &Value, name: &str) -> String {
    value[name].as_str().unwrap_or_default().to_owned()
}

#[test]
fn signatures_are_the_same_to_the_byte() {
    let Some(path) = data("signatures.json") else { return };
    let document = json(&path);
    let seed: Vec<u8> = (0..32).collect();
    let key = SigningKey::from_seed(&seed.try_into().unwrap());
    assert_eq!(key.public().hex(), text(&document, "public_key"));
    assert_eq!(key.public().fingerprint(), text(&document, "fingerprint16"));
    assert_eq!(key.public().short_fingerprint(), text(&document, "fingerprint_qp"));
    let vectors = document["vectors"].as_array().unwrap();
    assert!(!vectors.is_empty());
    for vector in vectors {
        let signature = key.sign(&text(vector, "hash"));
        assert_eq!(signature, text(vector, "signature"), "{}", vector["name"]);
        assert_ne!(signature, text(vector, "WRONG_signature_over_raw_32_bytes"));
    }
}

#[test]
fn texts_have_the_hashes_that_the_references_gave_them() {
    for name in ["fixtures.json", "legacy-fixtures-without-spec_version.json"] {
        let Some(path) = data(name) else { return };
        let document = json(&path);
        let fixtures = document["fixtures"].as_array().or(document.as_array()).unwrap();
        assert!(fixtures.len() >= 15);
        for fixture in fixtures {
            let canonical = text(fixture, "canonical_json");
            assert!(!canonical.is_empty());
            assert_eq!(sha3_hex(canonical.as_bytes()), text(fixture, "sha3_256_hash"), "{}", fixture["name"]);
            capsid_seal::verify::skim(&canonical).unwrap();
        }
    }
}

#[test]
fn bundled_chains_verify_in_every_mode() {
    let Some(folder) = data("bundle-sample") else { return };
    let index = json(&folder.join("index.json"));
    let mut keys = KeySet::default();
    for (name, key) in index["keys"].as_object().unwrap() {
        let key = PublicKey::from_hex(key.as_str().unwrap()).unwrap();
        assert_eq!(key.fingerprint(), *name);
        keys.add(key, KeyOrigin::Bundled);
    }
    let mut chains = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let document = json(&entry.unwrap().path());
        let Some(capsules) = document["capsules"].as_array() else { continue };
        let records: Vec<StoredRecord> = capsules.iter().map(stored).collect();
        for options in super::support::modes() {
            let verdict = verify(records.iter().cloned().map(Ok), &options, &keys).unwrap();
            assert!(verdict.valid && verdict.total > 0, "{verdict:?}");
        }
        chains += 1;
    }
    assert_eq!(chains, 5);
}

fn stored(capsule: &Value) -> StoredRecord {
    let seal = RecordSeal {
        hash: text(capsule, "hash"),
        signature: text(capsule, "signature"),
        signature_pq: text(capsule, "signature_pq"),
        signed_at: capsule["signed_at"].as_str().map(str::to_owned),
        signed_by: text(capsule, "signed_by"),
    };
    StoredRecord { canonical: text(capsule, "canonical"), seal, columns: None }
}

#[test]
fn a_home_of_the_reference_tool_gives_its_keys() {
    let Some(home) = data("home-sample") else { return };
    let keys = capsid_seal::keys::load_home(&home);
    let origins: Vec<&str> = keys.iter().map(|key| key.origin.as_str()).collect();
    assert_eq!(origins, ["own", "known"]);
    assert!(keys.refused.is_empty());
    // Whatever else the check finds, it is about the copy's permissions.
    assert!(health::check(&home).iter().all(|finding| finding.message.contains("others than its owner")));
    let options = VerifyOptions { signatures: true, ..VerifyOptions::default() };
    assert!(verify([], &options, &keys).unwrap().valid);
}
