//! Post-quantum signatures, which only a build with that feature checks.

use super::bundle::sealed;
use crate::verification::support::*;
use capsid_model::{Value, json};
use capsid_seal::keys::{KeySet, file};
use capsid_seal::verify::{VerifyOptions, verify};
use capsid_seal::{Sealer, StoredRecord, pq};

/// Chains by the own key with a post-quantum signature each, and the verdict of one who has both keys.
pub fn all() -> Value {
    let home = tempfile::tempdir().unwrap();
    let key = file::load_or_create(&file::path(home.path()), &[1; 32]).unwrap();
    let pq_key = pq::load_or_create(home.path(), &[3; 32]).unwrap();
    let keys = capsid_seal::keys::load_home(home.path());
    let mut honest = Vec::new();
    extend(&mut honest, &Sealer::new(key).with_pq(pq_key.clone()), 2);
    let with = |signature: &str| {
        let mut records = honest.clone();
        records[1].seal.signature_pq = signature.to_owned();
        records
    };
    let first = honest[0].seal.signature_pq.clone();
    let second = honest[1].seal.signature_pq.clone();
    let mut flipped = second.clone();
    flip(&mut flipped, 4000);
    let texts = [second.as_str(), "", "00", &first, &flipped, &second.to_uppercase(), &"00".repeat(3309)];
    let public = capsid_seal::hash::hex(&pq_key.public().to_bytes());
    let cases: Vec<Value> = texts.iter().map(|text| case(&with(text), &keys)).collect();
    json!({ "own": own().public().hex(), "pq": public, "first": sealed_text(&honest[0]), "cases": cases })
}

fn sealed_text(stored: &StoredRecord) -> String {
    capsid_model::exact::spaced(&sealed(stored))
}

fn case(records: &[StoredRecord], keys: &KeySet) -> Value {
    let options = VerifyOptions { signatures: true, threads: 1, ..VerifyOptions::default() };
    let verdict = verify(records.iter().cloned().map(Ok), &options, keys).unwrap();
    json!({
        "second": sealed_text(&records[1]),
        "valid": verdict.valid,
        "broken_at": verdict.broken_at,
        "message": verdict.failure.map(|failure| failure.message),
    })
}
