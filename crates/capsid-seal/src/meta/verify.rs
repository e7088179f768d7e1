//! Checking the meta-chain, and every conversation against it.

use super::FILE;
use super::entry::Entry;
use crate::chain::ChainReader;
use crate::hash::sha3_hex;
use crate::keys::KeySet;
use crate::sources::{ChainSource, open_any};
use crate::verify::{self, Verdict};
use capsid_model::{Code, Problem, Result};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// How to verify.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// Also check signatures.
    pub signatures: bool,
    /// Verify every record of every conversation, not only their ends.
    pub deep: bool,
    /// A state of the meta-chain that was noted outside.
    pub pinned: Option<PinnedHead>,
}

/// A state of the meta-chain that was noted outside. It must be the present one or an earlier one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PinnedHead {
    /// How many records it had.
    pub length: u64,
    /// The hash of the last one.
    pub hash: String,
}

/// What a pinned head says about the meta-chain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pin {
    /// It is the head.
    Head,
    /// The chain went on from it.
    Ancestor,
    /// The chain is shorter than it was.
    Truncated,
    /// Another record stands at its place.
    Altered,
}

/// How a conversation compares with what was recorded of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Status {
    /// It is as it was recorded.
    Intact,
    /// It went on after it was recorded, and all that was recorded is there.
    Grown,
    /// It lost its end.
    Truncated,
    /// Something in it was changed.
    Altered,
    /// It is gone.
    Missing,
    /// It was never recorded.
    Unsealed,
}

impl Status {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Intact => "intact",
            Self::Grown => "grown",
            Self::Truncated => "truncated",
            Self::Altered => "altered",
            Self::Missing => "missing",
            Self::Unsealed => "unsealed",
        }
    }

    /// Whether something was lost or changed.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Truncated | Self::Altered | Self::Missing)
    }
}

/// One conversation, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checked {
    /// The tool.
    pub tool: String,
    /// The session.
    pub session: String,
    /// How it compares.
    pub status: Status,
    /// The number of records and the head that were recorded last; none when it never was.
    pub recorded: Option<(u64, String)>,
    /// The number of records that are there.
    pub found: u64,
    /// What is wrong, where a word is not enough.
    pub detail: Option<String>,
    /// Where it lies, or should.
    pub path: PathBuf,
}

/// What there is to say about a home's meta-chain and its conversations.
#[derive(Debug, Clone)]
pub struct MetaReport {
    /// The verdict on the meta-chain itself; none when there is no meta-chain.
    pub chain: Option<Verdict>,
    /// How it compares with the pinned head, if there is one.
    pub pin: Option<Pin>,
    /// The conversations: recorded ones in the order of the meta-chain, then those that never were.
    pub conversations: Vec<Checked>,
}

impl MetaReport {
    /// The head, to be noted outside; none when the meta-chain is empty, absent or broken.
    pub fn head(&self) -> Option<PinnedHead> {
        let chain = self.chain.as_ref().filter(|chain| chain.valid)?;
        Some(PinnedHead { length: chain.length, hash: chain.head.clone()? })
    }

    /// Whether nothing is broken, lost or changed. Conversations that grew or were not recorded yet are no fault.
    pub fn is_ok(&self) -> bool {
        self.chain.as_ref().is_none_or(|chain| chain.valid)
            && !matches!(self.pin, Some(Pin::Truncated | Pin::Altered))
            && !self.conversations.iter().any(|conversation| conversation.status.is_bad())
    }
}

/// Verifies the meta-chain of a home, and every conversation against its last record. Nothing is created.
///
/// Behind a break of the meta-chain nothing is believed: only conversations recorded before it are compared.
pub fn verify_meta(home: &Path, keys: &KeySet, options: &Options) -> Result<MetaReport> {
    std::fs::read_dir(home).map_err(|error| Problem::io("read", home, &error))?;
    let mut log = Log::default();
    let chain = match home.join(FILE) {
        meta if meta.exists() => Some(verify_chain(&meta, keys, options, &mut log)?),
        _ => None,
    };
    let verified = chain.as_ref().map_or(0, |chain| chain.length);
    let pin = options.pinned.as_ref().map(|pinned| compare_pin(pinned, &log, verified));
    let entries = latest(log.entries.into_iter().filter(|(at, _)| *at < verified).map(|(_, entry)| entry));
    let mut conversations = Vec::new();
    for entry in entries {
        conversations.push(compare(home, entry, keys, options)?);
    }
    let known: HashSet<(PathBuf, Option<String>)> =
        conversations.iter().map(|(checked, tenant)| (checked.path.clone(), tenant.clone())).collect();
    let mut conversations: Vec<Checked> = conversations.into_iter().map(|(checked, _)| checked).collect();
    for source in chains_of(home)? {
        if !known.contains(&(source.path().to_owned(), source.tenant.clone())) {
            conversations.extend(unsealed(&source)?);
        }
    }
    Ok(MetaReport { chain, pin, conversations })
}

/// What was met while the meta-chain was verified.
#[derive(Debug, Default)]
struct Log {
    entries: Vec<(u64, Entry)>,
    /// The hash at the pinned place.
    at_pin: Option<String>,
}

fn verify_chain(path: &Path, keys: &KeySet, options: &Options, log: &mut Log) -> Result<Verdict> {
    let pinned = options.pinned.as_ref().map(|pinned| pinned.length);
    let records = ChainReader::open(path)?.into_records(None).zip(0..).map(|(stored, at)| {
        if let Ok(stored) = &stored {
            log.entries.extend(Entry::of(&stored.canonical).map(|entry| (at, entry)));
            if pinned == Some(at + 1) {
                log.at_pin = Some(stored.seal.hash.clone());
            }
        }
        stored
    });
    let options = verify::Options { signatures: options.signatures, ..verify::Options::default() };
    verify::verify(records, &options, keys)
}

fn compare_pin(pinned: &PinnedHead, log: &Log, verified: u64) -> Pin {
    match &log.at_pin {
        _ if pinned.length == 0 => Pin::Ancestor,
        _ if verified < pinned.length => Pin::Truncated,
        Some(hash) if *hash != pinned.hash => Pin::Altered,
        _ if verified == pinned.length => Pin::Head,
        _ => Pin::Ancestor,
    }
}

/// The last entry of each conversation, in the order of their first ones.
fn latest(entries: impl Iterator<Item = Entry>) -> Vec<Entry> {
    let mut places = HashMap::new();
    let mut latest: Vec<Entry> = Vec::new();
    for entry in entries {
        let place = *places.entry((entry.tool.clone(), entry.session.clone())).or_insert(latest.len());
        match latest.get_mut(place) {
            Some(earlier) => *earlier = entry,
            None => latest.push(entry),
        }
    }
    latest
}

/// What a conversation is like now, and which tenant it is.
fn compare(home: &Path, entry: Entry, keys: &KeySet, options: &Options) -> Result<(Checked, Option<String>)> {
    let path = entry.path(home);
    let (status, found, detail) = match &path {
        None => (Status::Missing, 0, Some("its name cannot be that of a file".to_owned())),
        Some(path) => look(path, &entry, keys, options)?,
    };
    let checked = Checked {
        tool: entry.tool,
        session: entry.session,
        status,
        recorded: Some((entry.count, entry.head_hash)),
        found,
        detail,
        path: path.unwrap_or_default(),
    };
    Ok((checked, entry.tenant))
}

type Look = (Status, u64, Option<String>);

fn look(path: &Path, entry: &Entry, keys: &KeySet, options: &Options) -> Result<Look> {
    let tenant = entry.tenant.as_deref();
    let reader = match ChainReader::open(path) {
        Ok(reader) => reader,
        Err(problem) if problem.code == Code::FileNotFound => {
            return Ok((Status::Missing, 0, Some(format!("there is no `{}`", path.display()))));
        }
        Err(problem) if problem.code == Code::ChainUnreadable => {
            return Ok((Status::Altered, 0, Some(problem.message)));
        }
        Err(problem) => return Err(problem),
    };
    let found = reader.count(tenant)?;
    if found == 0 {
        return Ok((Status::Missing, 0, Some("none of its records is there".to_owned())));
    }
    let at_end = if found < entry.count { None } else { Some(ends_as_recorded(&reader, entry)?) };
    if options.deep {
        let options = verify::Options { signatures: options.signatures, ..verify::Options::default() };
        let verdict = verify::verify(reader.into_records(tenant), &options, keys)?;
        if let Some(failure) = verdict.failure {
            return Ok((Status::Altered, found, Some(failure.message)));
        }
    }
    Ok(match at_end {
        None => (Status::Truncated, found, None),
        Some(false) => (Status::Altered, found, Some(format!("record {} is another one", entry.count - 1))),
        Some(true) if found == entry.count => (Status::Intact, found, None),
        Some(true) => (Status::Grown, found, None),
    })
}

/// Whether the record that was last still stands where it stood, to the byte.
fn ends_as_recorded(reader: &ChainReader, entry: &Entry) -> Result<bool> {
    let Some(last) = entry.count.checked_sub(1) else { return Ok(false) };
    let there = reader.at(entry.tenant.as_deref(), last)?;
    let [stored] = there.as_slice() else { return Ok(false) };
    Ok(stored.seal.hash == entry.head_hash
        && sha3_hex(stored.canonical.as_bytes()) == entry.head_hash
        && verify::skim(&stored.canonical).is_ok_and(|sealed| sealed.sequence == last))
}

fn chains_of(home: &Path) -> Result<Vec<ChainSource>> {
    if !home.join("chains").is_dir() {
        return Ok(Vec::new());
    }
    Ok(open_any(home)?.chains.into_iter().filter(|source| !source.is_meta).collect())
}

/// A chain that the meta-chain does not know; an empty one has nothing to lose.
fn unsealed(source: &ChainSource) -> Result<Option<Checked>> {
    let (found, detail) = match ChainReader::open(source.path()) {
        Ok(reader) => (reader.count(source.tenant.as_deref())?, None),
        Err(problem) => (0, Some(problem.message)),
    };
    if found == 0 && detail.is_none() {
        return Ok(None);
    }
    Ok(Some(Checked {
        tool: source.tool.clone().unwrap_or_default(),
        session: source.session.clone().unwrap_or_default(),
        status: Status::Unsealed,
        recorded: None,
        found,
        detail,
        path: source.path().to_owned(),
    }))
}
