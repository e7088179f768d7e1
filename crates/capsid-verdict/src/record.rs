//! What can be checked of a record without its neighbours.

use crate::hash::sha3_ascii;
use crate::key_set::{KeySet, TrustedKey};
use crate::signature::{self, SignatureClaim};
use crate::skim::{RecordHead, skim};
use crate::stored::{RecordColumns, RecordSeal, StoredRecord};
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
    let mut checked: Vec<CheckedRecord> = records.iter().map(check_content).collect();
    if !options.signatures {
        return checked;
    }
    let mut waiting = PendingClaims::default();
    for (at, (entry, checked)) in records.iter().zip(&mut checked).enumerate() {
        // The chain ends here at the latest, so nobody asks who signed what follows.
        let (SourceEntry::Record(stored), None) = (entry, &checked.content) else { break };
        checked.signed = match candidates(&stored.seal, keys) {
            Ok((signature, candidates)) => match candidates.as_slice() {
                [one] if options.batch => {
                    waiting.push(
                        at,
                        *one,
                        SignatureClaim { hash: &stored.seal.hash, signature, key: one.key },
                    );
                    None
                }
                several => Some(first_that_holds(&stored.seal, signature, several, keys)),
            },
            Err(fault) => {
                if fault.class == VerifyFailureClass::UnknownSigner {
                    checked.signed_by.clone_from(&stored.seal.signed_by);
                }
                Some(Err(fault))
            }
        };
    }
    waiting.check_pending(records, keys, &mut checked);
    checked
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
    let mut checked = blank(entry);
    if let SourceEntry::Record(stored) = entry {
        checked.head = skim(&stored.canonical).ok();
        checked.content =
            checked.head.as_ref().and_then(|head| check_columns(stored.columns.as_ref()?, head));
    }
    checked
}

fn blank(entry: &SourceEntry) -> CheckedRecord {
    let hash = match entry {
        SourceEntry::Record(stored) => stored.seal.hash.clone(),
        SourceEntry::Malformed(_) => String::new(),
    };
    CheckedRecord { head: None, hash, content: None, signed: None, signed_by: String::new() }
}

fn check_content(entry: &SourceEntry) -> CheckedRecord {
    let mut checked = blank(entry);
    match entry {
        SourceEntry::Malformed(problem) => {
            checked.content =
                Some(fault(VerifyFailureClass::Malformed, problem.message.trim_end_matches('.')));
        }
        SourceEntry::Record(stored) => match content(stored) {
            Ok(head) => {
                checked.content = stored.columns.as_ref().and_then(|columns| check_columns(columns, &head));
                checked.head = Some(head);
            }
            Err(fault) => checked.content = Some(fault),
        },
    }
    checked
}

/// The hash is checked before the content: a text that is not the sealed one proves nothing.
fn content(stored: &StoredRecord) -> Result<RecordHead, RecordFault> {
    let hash = stored.seal.hash.as_bytes();
    if hash.len() != 64 || !hash.iter().all(u8::is_ascii_hexdigit) {
        return Err(fault(VerifyFailureClass::Malformed, "hash is not 64 hex digits"));
    }
    if sha3_ascii(stored.canonical.as_bytes()) != hash {
        return Err(fault(VerifyFailureClass::Hash, "content hash mismatch"));
    }
    skim(&stored.canonical).map_err(|_| fault(VerifyFailureClass::Malformed, "content is not a record"))
}

fn check_columns(columns: &RecordColumns, head: &RecordHead) -> Option<RecordFault> {
    if columns.sequence == RecordColumns::NO_NUMBER {
        return Some(fault(VerifyFailureClass::Column, "column `sequence` is no number"));
    }
    let name = match () {
        () if u64::try_from(columns.sequence) != Ok(head.sequence) => "sequence",
        () if columns.previous_hash != head.previous_hash => "previous_hash",
        () if columns.id != head.id => "id",
        () => return None,
    };
    Some(fault(VerifyFailureClass::Column, format!("column `{name}` is not what was sealed")))
}

type KeyCandidates = (ed25519_dalek::Signature, Vec<TrustedKey>);

fn candidates(seal: &RecordSeal, keys: &KeySet) -> Result<KeyCandidates, RecordFault> {
    let signature = signature::read(&seal.signature).ok_or_else(invalid_signature)?;
    match keys.candidates(&seal.signed_by) {
        none if none.is_empty() => Err(fault(VerifyFailureClass::UnknownSigner, "unknown signer")),
        candidates => Ok((signature, candidates)),
    }
}

fn invalid_signature() -> RecordFault {
    fault(VerifyFailureClass::Signature, "signature invalid")
}

fn first_that_holds(
    seal: &RecordSeal,
    signature: ed25519_dalek::Signature,
    candidates: &[TrustedKey],
    keys: &KeySet,
) -> Result<ValidSignature, RecordFault> {
    let holds = |key: &&TrustedKey| SignatureClaim { hash: &seal.hash, signature, key: key.key }.holds();
    let by = candidates.iter().find(holds).ok_or_else(invalid_signature)?;
    signed(seal, *by, keys)
}

fn signed(seal: &RecordSeal, by: TrustedKey, keys: &KeySet) -> Result<ValidSignature, RecordFault> {
    if seal.signature_pq.is_empty() {
        return Ok(ValidSignature { by, epoch: keys.epoch(&by.key), pq_unchecked: false });
    }
    match pq_holds(seal, by, keys) {
        Some(false) => Err(fault(VerifyFailureClass::Signature, POST_QUANTUM_INVALID)),
        held => Ok(ValidSignature { by, epoch: keys.epoch(&by.key), pq_unchecked: held.is_none() }),
    }
}

/// The home's post-quantum key belongs to its own keys; it proves nothing about another's signature.
fn pq_holds(seal: &RecordSeal, by: TrustedKey, keys: &KeySet) -> Option<bool> {
    keys.is_own(&by.key).then_some(())?;
    Some(keys.post_quantum()?.verifies(&seal.hash, &seal.signature_pq))
}

/// The claims of a chunk that wait to be checked together.
#[derive(Default)]
struct PendingClaims<'a> {
    claim_keys: Vec<(usize, TrustedKey)>,
    claims: Vec<SignatureClaim<'a>>,
}

impl<'a> PendingClaims<'a> {
    fn push(&mut self, at: usize, key: TrustedKey, claim: SignatureClaim<'a>) {
        self.claim_keys.push((at, key));
        self.claims.push(claim);
    }

    fn check_pending(self, records: &[SourceEntry], keys: &KeySet, checked: &mut [CheckedRecord]) {
        for ((at, by), holds) in self.claim_keys.into_iter().zip(signature::verify_batch(&self.claims)) {
            let (Some(SourceEntry::Record(stored)), Some(checked)) = (records.get(at), checked.get_mut(at))
            else {
                continue;
            };
            checked.signed = Some(match holds {
                true => signed(&stored.seal, by, keys),
                false => Err(invalid_signature()),
            });
        }
    }
}
