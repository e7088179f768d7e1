//! What is sent to the page about one record.

use crate::facets::{facets, parse_content};
use capsid_verdict::record::{CheckedRecord, SourceEntry, check};
use capsid_verdict::stored::{RecordSeal, StoredRecord};
use capsid_verdict::verify::{VerifyFailureClass, VerifyOptions};
use capsid_verdict::{KeySet, TrustedKey, skim};
use serde_json::{Value, json};

/// Checks a record by itself. The page folds the rows in their order.
pub(crate) fn check_record(
    stored: StoredRecord,
    keys: &KeySet,
    options: &VerifyOptions,
) -> (StoredRecord, Value) {
    let entry = [SourceEntry::Record(Box::new(stored))];
    let checked = check(&entry, options, keys).pop();
    let [SourceEntry::Record(stored)] = entry else { return (no_record(), Value::Null) };
    let verdict = checked.map_or(Value::Null, |checked| to_value(&checked, &stored, keys));
    (*stored, verdict)
}

fn no_record() -> StoredRecord {
    StoredRecord { canonical: String::new(), seal: RecordSeal::default(), columns: None }
}

fn to_value(checked: &CheckedRecord, stored: &StoredRecord, keys: &KeySet) -> Value {
    let head = checked.head.clone().or_else(|| skim(&stored.canonical).ok());
    let content = checked.content.as_ref().map(|fault| json!([fault.class.as_str(), fault.what]));
    let signed = match &checked.signed {
        Some(Ok(valid)) => holding(&valid.by, valid.pq_unchecked),
        Some(Err(fault)) => json!([fault.class.as_str(), fault.what]),
        // The text is wrong; the signature covers the stored hash, and may hold all the same.
        None => signature_alone(&stored.seal, keys),
    };
    json!([
        head.as_ref().map(|head| head.sequence),
        head.as_ref().and_then(|head| head.previous_hash.as_deref()),
        stored.seal.hash,
        content,
        signed,
        stored.seal.signed_by,
        stored.seal.signed_at,
    ])
}

fn holding(by: &TrustedKey, pq_unchecked: bool) -> Value {
    json!([null, by.key.hex(), by.origin.as_str(), pq_unchecked])
}

fn signature_alone(seal: &RecordSeal, keys: &KeySet) -> Value {
    let candidates = keys.candidates(&seal.signed_by);
    let (class, what) = match candidates.iter().find(|key| key.key.verifies(&seal.hash, &seal.signature)) {
        Some(key) => return holding(key, false),
        None if candidates.is_empty() => (VerifyFailureClass::UnknownSigner, "unknown signer"),
        None => (VerifyFailureClass::Signature, "signature invalid"),
    };
    json!([class.as_str(), what])
}

/// The row of a record: where it is in the chunk, its checks, and its facets.
pub(crate) fn to_row(
    place: (usize, usize),
    stored: StoredRecord,
    keys: &KeySet,
    options: &VerifyOptions,
) -> Value {
    let (stored, verdict) = check_record(stored, keys, options);
    let facets = facets(&parse_content(&stored.canonical), stored.seal.signed_at.as_deref());
    json!([place.0, place.1 - place.0, verdict, facets])
}
