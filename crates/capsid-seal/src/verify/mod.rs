//! Verification that trusts stored bytes only.
//!
//! Everything is read from the text that was hashed: the copies that a database keeps in columns only have to agree
//! with it. No section needs any particular shape, and a record may have fields that this crate does not know.
//!
//! Each record is checked in this order, and the first failure ends it. The position is the one that the record
//! should have, which is also the number of good records before it.
//!
//! | check | class |
//! |---|---|
//! | the hash is 64 hex digits | malformed |
//! | the text has that hash, which is lowercase | hash |
//! | the text is a JSON object with one `id`, one `sequence` and one `previous_hash` | malformed |
//! | the columns, where there are any, repeat these three | column |
//! | the sequence is the expected one | missing when it is higher, link when it is lower |
//! | `previous_hash` is the hash of the record before, and null at the first | link |
//! | the signature is 128 lowercase hex digits | signature |
//! | a key goes by the name of the signer | unknown signer |
//! | the signature holds for one of these keys | signature |
//! | a post-quantum signature by the home's own key holds (with the feature `pq`) | signature |
//!
//! So this is how tampering with record `i` shows:
//!
//! | tampering | class | position |
//! |---|---|---|
//! | text edited, or stored hash edited | hash (malformed if the hash is no hex any more) | `i` |
//! | text edited, hash recomputed | signature if they are checked, else link | `i`, else `i + 1` |
//! | removed | missing | `i` |
//! | swapped with a later one | link: the record is there, but not at its place | `i` |
//! | repeated behind itself | link | `i + 1` |
//! | moved or removed, and the columns renumbered | column | the first renumbered |
//! | one column edited | column | `i`, or where reading by column meets it |
//! | first record links to something | link | 0 |
//! | signed again with another key | unknown signer; signature if it claims a key that is known | `i` |
//! | signature edited, emptied or no hex | signature | `i` |
//! | end cut off | nothing: only the meta-chain or a checkpoint shows it | |
//!
//! `signed_at` is covered by no signature, and `signed_by` only picks the key.

mod chain;
mod pool;
mod record;
mod signature;
mod skim;

pub use skim::{RecordHead, skim};

use crate::keys::{KeyOrigin, KeySet};
use crate::stored::StoredRecord;
use capsid_model::Result;
use std::collections::BTreeMap;
use std::fmt;

/// Where the batch mode may say another thing than the strict one.
pub const BATCH_NOTE: &str = "Signatures were checked in batches: a signer can make an odd signature that passes here \
                              and fails strict verification. Nobody else can.";

/// How to verify.
#[derive(Debug, Clone, Default)]
pub struct VerifyOptions {
    /// Also check signatures.
    pub signatures: bool,
    /// Check many signatures at once. Faster; see [`BATCH_NOTE`].
    pub batch: bool,
    /// Begin at a record that was verified before. The stream must begin with that record.
    pub since: Option<VerifiedCheckpoint>,
    /// How many threads check; 0 is one for every core.
    pub threads: usize,
}

impl VerifyOptions {
    fn threads(&self) -> usize {
        match self.threads {
            0 => std::thread::available_parallelism().map_or(1, usize::from),
            threads => threads,
        }
    }
}

/// A record that was verified before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifiedCheckpoint {
    /// Its position.
    pub sequence: u64,
    /// Its hash.
    pub hash: String,
}

/// What verification came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainVerdict {
    /// Whether everything holds.
    pub valid: bool,
    /// How many records were good, up to the first bad one.
    pub verified: u64,
    /// How many records were read.
    pub total: u64,
    /// The position of the first bad record.
    pub broken_at: Option<u64>,
    /// What is wrong with it.
    pub failure: Option<VerifyFailure>,
    /// The hash of the last good record.
    pub head: Option<String>,
    /// The length of the good part, counted from the beginning of the chain.
    pub length: u64,
    /// Who signed the good records, by fingerprint, and the unknown signer at the break, if that is what broke it.
    /// Empty when signatures were not checked.
    pub signers: BTreeMap<String, Signer>,
    /// Notes for a reader in addition to the verdict.
    pub notes: Vec<String>,
}

/// What is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VerifyFailure {
    /// The kind.
    pub class: VerifyFailureClass,
    /// A short text with the position.
    pub message: String,
}

/// The kinds of failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum VerifyFailureClass {
    /// The text is not the one that was hashed.
    Hash,
    /// The record does not follow the one before it.
    Link,
    /// The signature does not hold.
    Signature,
    /// No key is known that goes by the signer's name.
    UnknownSigner,
    /// A database column differs from the sealed text.
    Column,
    /// It is not a sealed record at all.
    Malformed,
    /// The record that should be here is not there, and later ones are.
    Missing,
}

impl VerifyFailureClass {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Hash => "hash",
            Self::Link => "link",
            Self::Signature => "signature",
            Self::UnknownSigner => "unknown_signer",
            Self::Column => "column",
            Self::Malformed => "malformed",
            Self::Missing => "missing",
        }
    }
}

impl fmt::Display for VerifyFailureClass {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// One who signed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Signer {
    /// How many records.
    pub count: u64,
    /// Where the key came from; none for a name that no key goes by.
    pub origin: Option<KeyOrigin>,
}

impl Signer {
    /// The word for where the key came from.
    pub fn trust_label(&self) -> &'static str {
        self.origin.map_or("unknown", KeyOrigin::as_str)
    }
}

/// Verifies a chain from its records in order. Memory does not grow with their number.
///
/// An item that is an error with the code `chain_broken` counts as a malformed record. Any other error means that the
/// chain cannot be read: it is returned, unless the records before it are broken already.
pub fn verify(
    records: impl IntoIterator<Item = Result<StoredRecord>>,
    options: &VerifyOptions,
    keys: &KeySet,
) -> Result<ChainVerdict> {
    pool::run(records.into_iter(), options, keys)
}
