//! The words of verification: how to verify, and what it comes to.

use crate::key_set::KeyOrigin;
use std::collections::{BTreeMap, BTreeSet};
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
    /// Go on behind a record whose signer no key is known for. The runs of signers tell of it.
    pub passes_unknown_signers: bool,
    /// Lengths of the chain at which the hash of the last record is asked for.
    pub watch: BTreeSet<u64>,
}

impl VerifyOptions {
    /// How many threads there are to be.
    pub fn threads(&self) -> usize {
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
    /// Who signed, in the order of the records. Empty when signatures were not checked.
    pub runs: Vec<SignerRun>,
    /// The hash of the last record at each length that was asked for.
    pub watched: BTreeMap<u64, String>,
    /// How many post-quantum signatures nobody could check.
    pub post_quantum_unchecked: u64,
    /// Notes for a reader in addition to the verdict.
    pub notes: Vec<String>,
}

/// Records behind each other that one signer signed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignerRun {
    /// The position of the first.
    pub first: u64,
    /// How many they are.
    pub count: u64,
    /// The signer's fingerprint, or the name that the records give where no key goes by it.
    pub signer: String,
    /// Where the key came from; none where no key is known.
    pub origin: Option<KeyOrigin>,
    /// The place of the key among the home's own, oldest first.
    pub epoch: Option<u64>,
    /// The length up to which a retired key may have signed; none where nothing says.
    pub until: Option<u64>,
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
