//! What can be checked of a record without its neighbours.

use super::signature::{self, Claim};
use super::skim::{Head, skim};
use super::{FailureClass, Options};
use crate::hash::sha3_ascii;
use crate::keys::{KeySet, TrustedKey};
use crate::stored::{Columns, Seal, Stored};
use capsid_model::{Code, Problem};

/// Something wrong with a record; the chain adds the position.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    pub class: FailureClass,
    pub what: String,
}

/// What was found out about a record.
#[derive(Debug)]
pub(super) struct Checked {
    /// What the sealed text says of its place, where it is a record at all.
    pub head: Option<Head>,
    /// The stored hash.
    pub hash: String,
    /// What is wrong with the text, its hash or the columns.
    pub content: Option<Fault>,
    /// Who signed; none when signatures are not checked or something is wrong already.
    pub signed: Option<Result<Signed, Fault>>,
    /// The name the record gives its signer, where no key goes by it.
    pub signed_by: String,
}

/// A signature that holds.
#[derive(Debug, Clone, Copy)]
pub(super) struct Signed {
    pub by: TrustedKey,
    /// Whether there is a post-quantum signature that nobody could check.
    pub pq_unchecked: bool,
}

pub(super) fn fault(class: FailureClass, what: impl Into<String>) -> Fault {
    Fault { class, what: what.into() }
}

/// Checks the records of a chunk. In batch mode their signatures are checked together.
pub(super) fn check(records: &[Entry], options: &Options, keys: &KeySet) -> Vec<Checked> {
    let mut checked: Vec<Checked> = records.iter().map(check_content).collect();
    if !options.signatures {
        return checked;
    }
    let mut waiting = Waiting::default();
    for (at, (entry, checked)) in records.iter().zip(&mut checked).enumerate() {
        // The chain ends here at the latest, so nobody asks who signed what follows.
        let (Entry::Record(stored), None) = (entry, &checked.content) else { break };
        checked.signed = match candidates(&stored.seal, keys) {
            Ok((signature, candidates)) => match candidates.as_slice() {
                [one] if options.batch => {
                    waiting.push(at, *one, Claim { hash: &stored.seal.hash, signature, key: one.key });
                    None
                }
                several => Some(first_that_holds(&stored.seal, signature, several, keys)),
            },
            Err(fault) => {
                if fault.class == FailureClass::UnknownSigner {
                    checked.signed_by.clone_from(&stored.seal.signed_by);
                }
                Some(Err(fault))
            }
        };
    }
    waiting.settle(records, keys, &mut checked);
    checked
}

/// One thing that a source of records gave.
#[derive(Debug)]
pub(super) enum Entry {
    Record(Box<Stored>),
    Malformed(Problem),
}

impl Entry {
    /// A record, or what is wrong with it. Any other problem is one of reading, and stops it.
    pub(super) fn new(item: capsid_model::Result<Stored>) -> capsid_model::Result<Self> {
        match item {
            Ok(stored) => Ok(Self::Record(Box::new(stored))),
            Err(problem) if problem.code == Code::ChainBroken => Ok(Self::Malformed(problem)),
            Err(problem) => Err(problem),
        }
    }

    /// How much memory it takes, roughly.
    pub(super) fn size(&self) -> usize {
        match self {
            Self::Record(stored) => stored.canonical.len() + stored.seal.signature_pq.len() + 512,
            Self::Malformed(_) => 512,
        }
    }
}

/// Only the place that the text claims, for records behind a break.
pub(super) fn glance(entry: &Entry) -> Checked {
    let mut checked = blank(entry);
    if let Entry::Record(stored) = entry {
        checked.head = skim(&stored.canonical).ok();
        checked.content =
            checked.head.as_ref().and_then(|head| check_columns(stored.columns.as_ref()?, head));
    }
    checked
}

fn blank(entry: &Entry) -> Checked {
    let hash = match entry {
        Entry::Record(stored) => stored.seal.hash.clone(),
        Entry::Malformed(_) => String::new(),
    };
    Checked { head: None, hash, content: None, signed: None, signed_by: String::new() }
}

fn check_content(entry: &Entry) -> Checked {
    let mut checked = blank(entry);
    match entry {
        Entry::Malformed(problem) => {
            checked.content = Some(fault(FailureClass::Malformed, problem.message.trim_end_matches('.')));
        }
        Entry::Record(stored) => match content(stored) {
            Ok(head) => {
                checked.content = stored.columns.as_ref().and_then(|columns| check_columns(columns, &head));
                checked.head = Some(head);
            }
            Err(fault) => checked.content = Some(fault),
        },
    }
    checked
}

/// The hash comes before the text's own words: a text that is not the sealed one says nothing.
fn content(stored: &Stored) -> Result<Head, Fault> {
    let hash = stored.seal.hash.as_bytes();
    if hash.len() != 64 || !hash.iter().all(u8::is_ascii_hexdigit) {
        return Err(fault(FailureClass::Malformed, "hash is not 64 hex digits"));
    }
    if sha3_ascii(stored.canonical.as_bytes()) != hash {
        return Err(fault(FailureClass::Hash, "content hash mismatch"));
    }
    skim(&stored.canonical).map_err(|_| fault(FailureClass::Malformed, "content is not a record"))
}

fn check_columns(columns: &Columns, head: &Head) -> Option<Fault> {
    if columns.sequence == Columns::NO_NUMBER {
        return Some(fault(FailureClass::Column, "column `sequence` is no number"));
    }
    let name = match () {
        () if u64::try_from(columns.sequence) != Ok(head.sequence) => "sequence",
        () if columns.previous_hash != head.previous_hash => "previous_hash",
        () if columns.id != head.id => "id",
        () => return None,
    };
    Some(fault(FailureClass::Column, format!("column `{name}` is not what was sealed")))
}

type Candidates = (ed25519_dalek::Signature, Vec<TrustedKey>);

fn candidates(seal: &Seal, keys: &KeySet) -> Result<Candidates, Fault> {
    let signature = signature::read(&seal.signature).ok_or_else(invalid_signature)?;
    match keys.candidates(&seal.signed_by) {
        none if none.is_empty() => Err(fault(FailureClass::UnknownSigner, "unknown signer")),
        candidates => Ok((signature, candidates)),
    }
}

fn invalid_signature() -> Fault {
    fault(FailureClass::Signature, "signature invalid")
}

fn first_that_holds(
    seal: &Seal,
    signature: ed25519_dalek::Signature,
    candidates: &[TrustedKey],
    keys: &KeySet,
) -> Result<Signed, Fault> {
    let holds = |key: &&TrustedKey| Claim { hash: &seal.hash, signature, key: key.key }.holds();
    let by = candidates.iter().find(holds).ok_or_else(invalid_signature)?;
    signed(seal, *by, keys)
}

fn signed(seal: &Seal, by: TrustedKey, keys: &KeySet) -> Result<Signed, Fault> {
    if seal.signature_pq.is_empty() {
        return Ok(Signed { by, pq_unchecked: false });
    }
    match pq_holds(seal, by, keys) {
        Some(false) => Err(fault(FailureClass::Signature, "post-quantum signature invalid")),
        held => Ok(Signed { by, pq_unchecked: held.is_none() }),
    }
}

/// The home's post-quantum key goes with its own keys; about another's signature it says nothing.
#[cfg(feature = "pq")]
fn pq_holds(seal: &Seal, by: TrustedKey, keys: &KeySet) -> Option<bool> {
    keys.is_own(&by.key).then_some(())?;
    Some(keys.pq()?.verifies(&seal.hash, &seal.signature_pq))
}

#[cfg(not(feature = "pq"))]
fn pq_holds(_seal: &Seal, _by: TrustedKey, _keys: &KeySet) -> Option<bool> {
    None
}

/// The claims of a chunk that wait to be checked together.
#[derive(Default)]
struct Waiting<'a> {
    places: Vec<(usize, TrustedKey)>,
    claims: Vec<Claim<'a>>,
}

impl<'a> Waiting<'a> {
    fn push(&mut self, at: usize, key: TrustedKey, claim: Claim<'a>) {
        self.places.push((at, key));
        self.claims.push(claim);
    }

    fn settle(self, records: &[Entry], keys: &KeySet, checked: &mut [Checked]) {
        for ((at, by), holds) in self.places.into_iter().zip(signature::hold_together(&self.claims)) {
            let (Some(Entry::Record(stored)), Some(checked)) = (records.get(at), checked.get_mut(at)) else {
                continue;
            };
            checked.signed = Some(match holds {
                true => signed(&stored.seal, by, keys),
                false => Err(invalid_signature()),
            });
        }
    }
}
