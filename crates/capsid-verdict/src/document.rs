//! Records that came as JSON documents: the text that was hashed is made again from what was read, and from nothing else.

use crate::hash::sha3_hex;
use crate::stored::{RecordColumns, RecordSeal, StoredRecord};
use capsid_model::exact::{ExactFields, ExactJson, canonical, canonical_ascii, parse_unambiguous};

const SEAL_FIELDS: [&str; 5] = ["hash", "signature", "signature_pq", "signed_at", "signed_by"];

/// A document with its seal, as `qp-capsule` stores them in a database.
pub fn from_document(text: String, seal: RecordSeal, columns: RecordColumns) -> StoredRecord {
    let canonical = match parse_unambiguous(&text) {
        Ok(ExactJson::Object(mut fields)) => {
            // Copies of the seal are no content. Anything else by their names is, and then does not verify.
            let copies = [&seal.hash, &seal.signature, &seal.signature_pq].into_iter().map(String::as_str);
            let copies = copies.map(Some).chain([seal.signed_at.as_deref(), Some(seal.signed_by.as_str())]);
            for (name, copy) in SEAL_FIELDS.into_iter().zip(copies) {
                if fields.get(name).is_some_and(|value| value.as_str() == copy) {
                    fields.shift_remove(name);
                }
            }
            hashed_text(fields, &seal.hash)
        }
        _ => text,
    };
    StoredRecord { canonical, seal, columns: Some(columns) }
}

/// A sealed record as one object: its content with the seal among it, or a bundle's form with the hashed text as it is.
///
/// What is neither comes back as a record without a seal, which does not verify.
pub fn from_sealed(text: &str) -> StoredRecord {
    let Ok(ExactJson::Object(mut fields)) = parse_unambiguous(text) else {
        return StoredRecord { canonical: text.to_owned(), seal: RecordSeal::default(), columns: None };
    };
    let [hash, signature, signature_pq, signed_at, signed_by] =
        SEAL_FIELDS.map(|name| fields.shift_remove(name).and_then(into_text));
    let seal = RecordSeal {
        hash: hash.unwrap_or_default(),
        signature: signature.unwrap_or_default(),
        signature_pq: signature_pq.unwrap_or_default(),
        signed_at,
        signed_by: signed_by.unwrap_or_default(),
    };
    let in_bundle = !fields.contains_key("id");
    let canonical = match fields.get_mut("canonical") {
        Some(ExactJson::String(text)) if in_bundle => std::mem::take(text),
        _ => hashed_text(fields, &seal.hash),
    };
    StoredRecord { canonical, seal, columns: None }
}

fn into_text(value: ExactJson) -> Option<String> {
    match value {
        ExactJson::String(text) => Some(text),
        _ => None,
    }
}

/// The earliest records were hashed with all but ASCII escaped.
fn hashed_text(fields: ExactFields, hash: &str) -> String {
    let content = ExactJson::Object(fields);
    let text = canonical(&content);
    if text.is_ascii() || sha3_hex(text.as_bytes()) == hash {
        return text;
    }
    let escaped = canonical_ascii(&content);
    if sha3_hex(escaped.as_bytes()) == hash { escaped } else { text }
}
