//! A sealed record as it is stored: the exact text that was hashed, and its seal.

/// One stored record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRecord {
    /// The text that was hashed, to the byte.
    pub canonical: String,
    /// The seal.
    pub seal: RecordSeal,
    /// What the store holds in addition to the text; none in a bundle or a JSON file.
    pub columns: Option<RecordColumns>,
}

/// The five fields that are no part of what is hashed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecordSeal {
    /// SHA3-256 of the canonical text, lowercase hex.
    pub hash: String,
    /// Ed25519 over the hex text of the hash, lowercase hex.
    pub signature: String,
    /// ML-DSA-65 over the same text, lowercase hex; empty when there is none.
    pub signature_pq: String,
    /// When it was sealed, by the signer's clock.
    pub signed_at: Option<String>,
    /// The fingerprint of the signer's key.
    pub signed_by: String,
}

/// Copies of sealed fields that a database holds in separate columns.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordColumns {
    /// The record's id.
    pub id: String,
    /// Its position; [`RecordColumns::NO_NUMBER`] if the value is no number.
    pub sequence: i64,
    /// The hash of the record before it.
    pub previous_hash: Option<String>,
}

impl RecordColumns {
    /// Replaces a position that is no number.
    pub const NO_NUMBER: i64 = i64::MIN;
}
