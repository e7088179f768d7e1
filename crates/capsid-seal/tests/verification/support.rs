//! Chains in memory, and every kind of tampering.

use capsid_model::fields;
use capsid_seal::hash::sha3_hex;
use capsid_seal::keys::{KeyOrigin, KeySet};
use capsid_seal::verify::{ChainVerdict, VerifyFailureClass, VerifyOptions, verify};
use capsid_seal::{ActionRecord, ChainLink, Sealer, SigningKey, StoredRecord};

pub const SIGNED_AT: &str = "2026-02-07T15:20:54+00:00";

pub fn own() -> SigningKey {
    SigningKey::from_seed(&[1; 32])
}

pub fn stranger() -> SigningKey {
    SigningKey::from_seed(&[2; 32])
}

pub fn keys() -> KeySet {
    let mut keys = KeySet::default();
    keys.add(own().public(), KeyOrigin::Own);
    keys
}

pub fn record(number: usize) -> ActionRecord {
    ActionRecord {
        id: format!("00000000-0000-4000-8000-{number:012}"),
        kind: "tool".into(),
        domain: "codex".into(),
        trigger: fields! { "type": "user_request", "source": "s", "request": format!("step {number} – größer") },
        context: fields! { "agent_id": "codex", "session_id": "s", "environment": fields! { "n": number } },
        outcome: fields! { "status": "success", "summary": "done", "side_effects": Vec::<String>::new() },
        ..ActionRecord::default()
    }
}

pub fn chain(length: usize) -> Vec<StoredRecord> {
    let mut records = Vec::new();
    extend(&mut records, &Sealer::new(own()), length);
    records
}

/// Seals further records behind the last.
pub fn extend(records: &mut Vec<StoredRecord>, sealer: &Sealer, length: usize) {
    for number in records.len()..length {
        let previous_hash = records.last().map(|last: &StoredRecord| last.seal.hash.clone());
        let link = ChainLink { sequence: number as u64, previous_hash };
        records.push(sealer.seal(&record(number), &link, SIGNED_AT).unwrap());
    }
}

/// Gives a text the hash and signature it would have from this key.
pub fn reseal(stored: &mut StoredRecord, key: &SigningKey) {
    stored.seal.hash = sha3_hex(stored.canonical.as_bytes());
    stored.seal.signature = key.sign(&stored.seal.hash);
}

pub fn judge(records: &[StoredRecord], options: &VerifyOptions) -> ChainVerdict {
    verify(records.iter().cloned().map(Ok), options, &keys()).unwrap()
}

/// Every kind of verification: without signatures, strictly and in batches, on one thread and on several.
pub fn modes() -> Vec<VerifyOptions> {
    let mut modes = Vec::new();
    for threads in [1, 3] {
        for (signatures, batch) in [(false, false), (true, false), (true, true)] {
            modes.push(VerifyOptions { signatures, batch, threads, ..VerifyOptions::default() });
        }
    }
    modes
}

/// What a tampering must come to: with signatures checked, and without.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Expected {
    pub strict: Option<(VerifyFailureClass, u64)>,
    pub unsigned: Option<(VerifyFailureClass, u64)>,
}

impl Expected {
    fn both(class: VerifyFailureClass, at: usize) -> Self {
        let failure = Some((class, at as u64));
        Self { strict: failure, unsigned: failure }
    }

    fn only_signed(class: VerifyFailureClass, at: usize) -> Self {
        Self { strict: Some((class, at as u64)), unsigned: None }
    }

    fn nothing() -> Self {
        Self { strict: None, unsigned: None }
    }
}

pub fn assert_verdict(records: &[StoredRecord], expected: Expected, what: &dyn std::fmt::Debug) {
    for options in modes() {
        let verdict = judge(records, &options);
        let wanted = if options.signatures { expected.strict } else { expected.unsigned };
        let actual = verdict.failure.as_ref().map(|failure| (failure.class, verdict.broken_at.unwrap()));
        assert_eq!(actual, wanted, "{what:?} {options:?} {verdict:?}");
        assert_eq!(verdict.valid, wanted.is_none());
        assert_eq!(verdict.total, records.len() as u64, "all records are counted");
        assert_eq!(verdict.verified, wanted.map_or(records.len() as u64, |(_, at)| at));
        assert_eq!(verdict.length, verdict.verified);
        let last_good = verdict.verified.checked_sub(1).map(|last| last as usize);
        assert_eq!(verdict.head.as_deref(), last_good.map(|last| records[last].seal.hash.as_str()));
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tampering {
    EditText,
    EditTextAndHash,
    EditTextResignedByStranger,
    EditTextClaimedByStranger,
    EditHash,
    UpperCaseHash,
    HashNoHex,
    ShortHash,
    NotARecord,
    Remove,
    RemoveAndRenumber,
    SwapWithNext,
    SwapWithLast,
    SwapAndRenumber,
    Repeat,
    RepeatAndRenumber,
    ColumnSequence,
    ColumnPrevious,
    ColumnId,
    WrongPrevious,
    SignatureDigit,
    SignatureEmpty,
    SignatureNoHex,
    SignatureUpperCase,
    SignatureOfAnother,
    SignedBy,
    SignedAt,
    TailRebuiltByStranger,
    CutTail,
}

impl Tampering {
    pub const ALL: [Self; 29] = [
        Self::EditText,
        Self::EditTextAndHash,
        Self::EditTextResignedByStranger,
        Self::EditTextClaimedByStranger,
        Self::EditHash,
        Self::UpperCaseHash,
        Self::HashNoHex,
        Self::ShortHash,
        Self::NotARecord,
        Self::Remove,
        Self::RemoveAndRenumber,
        Self::SwapWithNext,
        Self::SwapWithLast,
        Self::SwapAndRenumber,
        Self::Repeat,
        Self::RepeatAndRenumber,
        Self::ColumnSequence,
        Self::ColumnPrevious,
        Self::ColumnId,
        Self::WrongPrevious,
        Self::SignatureDigit,
        Self::SignatureEmpty,
        Self::SignatureNoHex,
        Self::SignatureUpperCase,
        Self::SignatureOfAnother,
        Self::SignedBy,
        Self::SignedAt,
        Self::TailRebuiltByStranger,
        Self::CutTail,
    ];

    /// Tampers with record `i` of a chain that has columns, and returns what must be found.
    pub fn apply(self, records: &mut Vec<StoredRecord>, i: usize) -> Expected {
        use VerifyFailureClass::*;
        let last = records.len() - 1;
        match self {
            Self::EditText => {
                edit(&mut records[i]);
                Expected::both(Hash, i)
            }
            Self::EditTextAndHash => {
                edit(&mut records[i]);
                records[i].seal.hash = sha3_hex(records[i].canonical.as_bytes());
                let unsigned = (i < last).then_some((Link, i as u64 + 1));
                Expected { strict: Some((Signature, i as u64)), unsigned }
            }
            Self::EditTextResignedByStranger | Self::EditTextClaimedByStranger => {
                edit(&mut records[i]);
                reseal(&mut records[i], &stranger());
                let class = if self == Self::EditTextClaimedByStranger { Signature } else { UnknownSigner };
                if class == UnknownSigner {
                    records[i].seal.signed_by = stranger().public().fingerprint();
                }
                let unsigned = (i < last).then_some((Link, i as u64 + 1));
                Expected { strict: Some((class, i as u64)), unsigned }
            }
            Self::EditHash => {
                flip(&mut records[i].seal.hash, 3);
                Expected::both(Hash, i)
            }
            Self::UpperCaseHash => {
                records[i].seal.hash = records[i].seal.hash.to_uppercase();
                Expected::both(Hash, i)
            }
            Self::HashNoHex => {
                records[i].seal.hash.replace_range(5..6, "g");
                Expected::both(Malformed, i)
            }
            Self::ShortHash => {
                records[i].seal.hash.pop();
                Expected::both(Malformed, i)
            }
            Self::NotARecord => {
                records[i].canonical.push('}');
                reseal(&mut records[i], &own());
                Expected::both(Malformed, i)
            }
            Self::Remove | Self::CutTail if i == last => {
                records.pop();
                Expected::nothing()
            }
            Self::CutTail => {
                records.truncate(i + 1);
                Expected::nothing()
            }
            Self::Remove => {
                records.remove(i);
                Expected::both(Missing, i)
            }
            Self::RemoveAndRenumber => {
                records.remove(i);
                renumber(records);
                if i == last { Expected::nothing() } else { Expected::both(Column, i) }
            }
            Self::SwapWithNext | Self::SwapWithLast | Self::SwapAndRenumber => {
                let other = if self == Self::SwapWithNext { (i + 1).min(last) } else { last };
                records.swap(i, other);
                let class = if self == Self::SwapAndRenumber { Column } else { Link };
                if self == Self::SwapAndRenumber {
                    renumber(records);
                }
                if other == i { Expected::nothing() } else { Expected::both(class, i) }
            }
            Self::Repeat | Self::RepeatAndRenumber => {
                records.insert(i + 1, records[i].clone());
                if self == Self::Repeat {
                    return Expected::both(Link, i + 1);
                }
                renumber(records);
                Expected::both(Column, i + 1)
            }
            Self::ColumnSequence => {
                records[i].columns.as_mut().unwrap().sequence -= 1;
                Expected::both(Column, i)
            }
            Self::ColumnPrevious => {
                let columns = records[i].columns.as_mut().unwrap();
                columns.previous_hash = if i == 0 { Some("0".repeat(64)) } else { None };
                Expected::both(Column, i)
            }
            Self::ColumnId => {
                records[i].columns.as_mut().unwrap().id.push('x');
                Expected::both(Column, i)
            }
            Self::WrongPrevious => {
                let previous_hash = Some("0".repeat(64));
                let link = capsid_seal::ChainLink { sequence: i as u64, previous_hash };
                records[i] = Sealer::new(own()).seal(&record(i), &link, SIGNED_AT).unwrap();
                Expected::both(Link, i)
            }
            Self::SignatureDigit => {
                flip(&mut records[i].seal.signature, 70);
                Expected::only_signed(Signature, i)
            }
            Self::SignatureEmpty => {
                records[i].seal.signature.clear();
                Expected::only_signed(Signature, i)
            }
            Self::SignatureNoHex => {
                records[i].seal.signature.replace_range(9..10, "x");
                Expected::only_signed(Signature, i)
            }
            Self::SignatureUpperCase => {
                records[i].seal.signature = records[i].seal.signature.to_uppercase();
                Expected::only_signed(Signature, i)
            }
            Self::SignatureOfAnother => {
                records[i].seal.signature = own().sign(&"0".repeat(64));
                Expected::only_signed(Signature, i)
            }
            Self::SignedBy => {
                flip(&mut records[i].seal.signed_by, 2);
                Expected::only_signed(UnknownSigner, i)
            }
            Self::SignedAt => {
                records[i].seal.signed_at = Some("2020-01-01T00:00:00+00:00".into());
                Expected::nothing()
            }
            Self::TailRebuiltByStranger => {
                let length = records.len();
                records.truncate(i);
                extend(records, &Sealer::new(stranger()), length);
                Expected::only_signed(UnknownSigner, i)
            }
        }
    }

    /// Whether it changes columns, which a bundle does not have.
    pub fn needs_columns(self) -> bool {
        matches!(
            self,
            Self::RemoveAndRenumber
                | Self::SwapAndRenumber
                | Self::RepeatAndRenumber
                | Self::ColumnSequence
                | Self::ColumnPrevious
                | Self::ColumnId
        )
    }
}

/// Another valid text of the same length.
fn edit(stored: &mut StoredRecord) {
    let edited = stored.canonical.replacen("step", "stop", 1);
    assert_ne!(edited, stored.canonical);
    stored.canonical = edited;
}

/// Another hex digit.
pub fn flip(text: &mut String, at: usize) {
    let digit = if &text[at..=at] == "0" { "1" } else { "0" };
    text.replace_range(at..=at, digit);
}

/// What someone does who hides a change from a verifier of columns.
fn renumber(records: &mut [StoredRecord]) {
    let mut previous = None;
    for (number, stored) in records.iter_mut().enumerate() {
        let columns = stored.columns.as_mut().unwrap();
        columns.sequence = number as i64;
        columns.previous_hash = previous;
        previous = Some(stored.seal.hash.clone());
    }
}

pub fn without_columns(records: &[StoredRecord]) -> Vec<StoredRecord> {
    records.iter().map(|stored| StoredRecord { columns: None, ..stored.clone() }).collect()
}
