//! What can be checked of a record without its neighbours.

use crate::hash::sha3_ascii;
use crate::key_set::{KeySet, TrustedKey};
use crate::signature::{self, SignatureClaim};
use crate::skim::{RecordHead, skim};
use crate::stored::{ColumnsView, RecordColumns, RecordView, StoredRecord};
use crate::verify::{VerifyFailureClass, VerifyOptions};
use capsid_model::{Code, Problem};

/// Something wrong with a record; the chain adds the position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecordFault {
    /// The kind.
    pub class: VerifyFailureClass,
    /// A few words.
    pub what: String,
}

/// What was found out about a record.
#[derive(Debug)]
pub struct CheckedRecord {
    /// The position that the sealed text states, if it is a record at all.
    pub head: Option<RecordHead>,
    /// The stored hash.
    pub hash: String,
    /// What is wrong with the text, its hash or the columns.
    pub content: Option<RecordFault>,
    /// Who signed; none when signatures are not checked or something is wrong already.
    pub signed: Option<Result<ValidSignature, RecordFault>>,
    /// The name the record gives its signer, where no key goes by it.
    pub signed_by: String,
}

/// A signature that holds.
#[derive(Debug, Clone, Copy)]
pub struct ValidSignature {
    /// The key that it holds for.
    pub by: TrustedKey,
    /// Which of the home's own keys it is.
    pub epoch: Option<u64>,
    /// Whether there is a post-quantum signature that nobody could check.
    pub pq_unchecked: bool,
}

/// What is said of a post-quantum signature that does not hold.
pub const POST_QUANTUM_INVALID: &str = "post-quantum signature invalid";

/// A fault in a few words.
pub fn fault(class: VerifyFailureClass, what: impl Into<String>) -> RecordFault {
    RecordFault { class, what: what.into() }
}

/// Checks the records of a chunk. In batch mode their signatures are checked together.
pub fn check(records: &[SourceEntry], options: &VerifyOptions, keys: &KeySet) -> Vec<CheckedRecord> {
    let mut checker = RecordChecker::new(options, keys);
    for entry in records {
        match entry {
            SourceEntry::Record(stored) => checker.push(&stored.view()),
            SourceEntry::Malformed(problem) => checker.push_malformed(problem),
        }
    }
    checker.finish()
}

/// Checks records one after the other and keeps none of their texts. In batch mode the signatures wait for the end.
pub struct RecordChecker<'a> {
    options: &'a VerifyOptions,
    keys: &'a KeySet,
    checked: Vec<CheckedRecord>,
    waiting: Vec<WaitingSignature>,
    /// Whether the chain ends at one of these records at the latest: nobody asks who signed what follows.
    is_broken: bool,
    /// The last signer's name and the keys that go by it: most records of a chain have one signer.
    last: Option<(String, Vec<TrustedKey>)>,
}

/// A signature that is checked together with others.
struct WaitingSignature {
    at: usize,
    by: TrustedKey,
    signature: ed25519_dalek::Signature,
}

impl<'a> RecordChecker<'a> {
    /// Nothing is checked yet.
    pub fn new(options: &'a VerifyOptions, keys: &'a KeySet) -> Self {
        Self { options, keys, checked: Vec::new(), waiting: Vec::new(), is_broken: false, last: None }
    }

    /// Checks the next record.
    pub fn push(&mut self, record: &RecordView<'_>) {
        let mut checked = blank(record.hash);
        match content(record) {
            Ok(head) => {
                checked.content = record.columns.as_ref().and_then(|columns| check_columns(columns, &head));
                checked.head = Some(head);
            }
            Err(fault) => checked.content = Some(fault),
        }
        self.is_broken |= checked.content.is_some();
        if self.options.signatures && !self.is_broken {
            checked.signed = match self.sign(record) {
                Some(Err(fault)) if fault.class == VerifyFailureClass::UnknownSigner => {
                    record.signed_by.clone_into(&mut checked.signed_by);
                    Some(Err(fault))
                }
                signed => signed,
            };
        }
        self.checked.push(checked);
    }

    /// Takes something else in the place of a record.
    pub fn push_malformed(&mut self, problem: &Problem) {
        self.is_broken = true;
        self.checked.push(malformed(problem));
    }

    /// What was found out about each record.
    pub fn finish(mut self) -> Vec<CheckedRecord> {
        let hash_of = |at: usize| self.checked.get(at).map_or("", |checked| checked.hash.as_str());
        let claims: Vec<SignatureClaim<'_>> = self
            .waiting
            .iter()
            .map(|one| SignatureClaim { hash: hash_of(one.at), signature: one.signature, key: one.by.key })
            .collect();
        let holds = signature::verify_batch(&claims);
        for (one, holds) in self.waiting.iter().zip(holds) {
            if let Some(checked) = self.checked.get_mut(one.at) {
                checked.signed = Some(match holds {
                    true => Ok(signed_by(one.by, self.keys, false)),
                    false => Err(invalid_signature()),
                });
            }
        }
        self.checked
    }

    /// Who signed; nothing yet when the signature is checked together with others.
    fn sign(&mut self, record: &RecordView<'_>) -> Option<Result<ValidSignature, RecordFault>> {
        let Some(signature) = signature::read(record.signature) else {
            return Some(Err(invalid_signature()));
        };
        if self.last.as_ref().is_none_or(|(name, _)| name != record.signed_by) {
            self.last = Some((record.signed_by.to_owned(), self.keys.candidates(record.signed_by)));
        }
        let candidates = self.last.as_ref().map_or(&[][..], |(_, keys)| keys);
        match candidates {
            [] => Some(Err(fault(VerifyFailureClass::UnknownSigner, "unknown signer"))),
            [by] if self.options.batch && record.signature_pq.is_empty() => {
                self.waiting.push(WaitingSignature { at: self.checked.len(), by: *by, signature });
                None
            }
            several => Some(first_that_holds(record, signature, several, self.keys)),
        }
    }
}

/// One thing that a source of records gave.
#[derive(Debug)]
pub enum SourceEntry {
    /// A record.
    Record(Box<StoredRecord>),
    /// Something else in the place of one.
    Malformed(Problem),
}

impl SourceEntry {
    /// A record, or what is wrong with it. Any other problem is one of reading, and stops it.
    pub fn new(item: capsid_model::Result<StoredRecord>) -> capsid_model::Result<Self> {
        match item {
            Ok(stored) => Ok(Self::Record(Box::new(stored))),
            Err(problem) if problem.code == Code::ChainBroken => Ok(Self::Malformed(problem)),
            Err(problem) => Err(problem),
        }
    }

    /// How much memory it takes, roughly.
    pub fn size(&self) -> usize {
        match self {
            Self::Record(stored) => stored.canonical.len() + stored.seal.signature_pq.len() + 512,
            Self::Malformed(_) => 512,
        }
    }
}

/// Only the place that the text claims, for records behind a break.
pub fn glance(entry: &SourceEntry) -> CheckedRecord {
    match entry {
        SourceEntry::Record(stored) => glance_at(&stored.view()),
        SourceEntry::Malformed(_) => blank(""),
    }
}

/// The same, of a record whose texts are borrowed.
pub fn glance_at(record: &RecordView<'_>) -> CheckedRecord {
    let mut checked = blank(record.hash);
    checked.head = skim(record.canonical).ok();
    checked.content = checked.head.as_ref().and_then(|head| check_columns(record.columns.as_ref()?, head));
    checked
}

fn blank(hash: &str) -> CheckedRecord {
    CheckedRecord { head: None, hash: hash.to_owned(), content: None, signed: None, signed_by: String::new() }
}

fn malformed(problem: &Problem) -> CheckedRecord {
    let what = problem.message.trim_end_matches('.');
    CheckedRecord { content: Some(fault(VerifyFailureClass::Malformed, what)), ..blank("") }
}

/// The hash is checked before the content: a text that is not the sealed one proves nothing.
fn content(record: &RecordView<'_>) -> Result<RecordHead, RecordFault> {
    let hash = record.hash.as_bytes();
    if hash.len() != 64 || !hash.iter().all(u8::is_ascii_hexdigit) {
        return Err(fault(VerifyFailureClass::Malformed, "hash is not 64 hex digits"));
    }
    if sha3_ascii(record.canonical.as_bytes()) != hash {
        return Err(fault(VerifyFailureClass::Hash, "content hash mismatch"));
    }
    skim(record.canonical).map_err(|_| fault(VerifyFailureClass::Malformed, "content is not a record"))
}

fn check_columns(columns: &ColumnsView<'_>, head: &RecordHead) -> Option<RecordFault> {
    if columns.sequence == RecordColumns::NO_NUMBER {
        return Some(fault(VerifyFailureClass::Column, "column `sequence` is no number"));
    }
    let name = match () {
        () if u64::try_from(columns.sequence) != Ok(head.sequence) => "sequence",
        () if columns.previous_hash != head.previous_hash.as_deref() => "previous_hash",
        () if columns.id != head.id => "id",
        () => return None,
    };
    Some(fault(VerifyFailureClass::Column, format!("column `{name}` is not what was sealed")))
}

fn invalid_signature() -> RecordFault {
    fault(VerifyFailureClass::Signature, "signature invalid")
}

fn first_that_holds(
    record: &RecordView<'_>,
    signature: ed25519_dalek::Signature,
    candidates: &[TrustedKey],
    keys: &KeySet,
) -> Result<ValidSignature, RecordFault> {
    let holds = |key: &&TrustedKey| SignatureClaim { hash: record.hash, signature, key: key.key }.holds();
    let by = *candidates.iter().find(holds).ok_or_else(invalid_signature)?;
    if record.signature_pq.is_empty() {
        return Ok(signed_by(by, keys, false));
    }
    match pq_holds(record, by, keys) {
        Some(false) => Err(fault(VerifyFailureClass::Signature, POST_QUANTUM_INVALID)),
        held => Ok(signed_by(by, keys, held.is_none())),
    }
}

fn signed_by(by: TrustedKey, keys: &KeySet, pq_unchecked: bool) -> ValidSignature {
    ValidSignature { by, epoch: keys.epoch(&by.key), pq_unchecked }
}

/// The home's post-quantum key belongs to its own keys; it proves nothing about another's signature.
fn pq_holds(record: &RecordView<'_>, by: TrustedKey, keys: &KeySet) -> Option<bool> {
    keys.is_own(&by.key).then_some(())?;
    Some(keys.post_quantum()?.verifies(record.hash, record.signature_pq))
}
