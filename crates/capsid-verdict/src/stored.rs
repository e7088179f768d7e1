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

/// A stored record whose texts are borrowed, such as from a row of a database.
#[derive(Debug, Clone, Copy)]
pub struct RecordView<'a> {
    /// The text that was hashed, to the byte.
    pub canonical: &'a str,
    /// The hash.
    pub hash: &'a str,
    /// The Ed25519 signature.
    pub signature: &'a str,
    /// The post-quantum signature; empty when there is none.
    pub signature_pq: &'a str,
    /// When it was sealed, by the signer's clock.
    pub signed_at: Option<&'a str>,
    /// The fingerprint of the signer's key.
    pub signed_by: &'a str,
    /// The columns, where the store has any.
    pub columns: Option<ColumnsView<'a>>,
}

/// Borrowed [`RecordColumns`].
#[derive(Debug, Clone, Copy)]
pub struct ColumnsView<'a> {
    /// The record's id.
    pub id: &'a str,
    /// Its position; [`RecordColumns::NO_NUMBER`] if the value is no number.
    pub sequence: i64,
    /// The hash of the record before it.
    pub previous_hash: Option<&'a str>,
}

impl<'a> From<&'a RecordColumns> for ColumnsView<'a> {
    fn from(columns: &'a RecordColumns) -> Self {
        let RecordColumns { id, sequence, previous_hash } = columns;
        Self { id, sequence: *sequence, previous_hash: previous_hash.as_deref() }
    }
}

impl StoredRecord {
    /// The same, borrowed.
    pub fn view(&self) -> RecordView<'_> {
        RecordView {
            canonical: &self.canonical,
            hash: &self.seal.hash,
            signature: &self.seal.signature,
            signature_pq: &self.seal.signature_pq,
            signed_at: self.seal.signed_at.as_deref(),
            signed_by: &self.seal.signed_by,
            columns: self.columns.as_ref().map(ColumnsView::from),
        }
    }
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
