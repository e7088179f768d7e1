//! Compares the current conversations with their entries in the meta-chain.

use super::entry::MetaEntry;
use crate::TrailHome;
use crate::chain::ChainReader;
use crate::keys::KeySet;
use crate::sources::{ChainSource, RecordsLocation, SourceKind, open_any};
use crate::verify;
use capsid_model::{Code, Result};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// How to verify.
#[derive(Debug, Clone, Default)]
pub struct MetaVerifyOptions {
    /// Also check signatures, of every record that is looked at.
    pub signatures: bool,
    /// Verify every record of every conversation, not only from the last one that was recorded on.
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

/// How a conversation compares with what was recorded of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ConversationStatus {
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
    /// No record of it can be believed, for the meta-chain is broken before one could stand.
    Unproved,
    /// It was never recorded, and cannot be read.
    Unreadable,
}

impl ConversationStatus {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Intact => "intact",
            Self::Grown => "grown",
            Self::Truncated => "truncated",
            Self::Altered => "altered",
            Self::Missing => "missing",
            Self::Unsealed => "unsealed",
            Self::Unproved => "unproved",
            Self::Unreadable => "unreadable",
        }
    }

    /// Whether something was lost or changed.
    pub fn is_bad(self) -> bool {
        matches!(self, Self::Truncated | Self::Altered | Self::Missing | Self::Unreadable)
    }
}

/// One conversation, checked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CheckedConversation {
    /// The tool.
    pub tool: String,
    /// The session.
    pub session: String,
    /// How it compares.
    pub status: ConversationStatus,
    /// The number of records and the head that were recorded last; none when it never was.
    pub recorded: Option<(u64, String)>,
    /// The number of records that are there.
    pub present: u64,
    /// What is wrong, where a word is not enough.
    pub detail: Option<String>,
    /// The path where it is or should be.
    pub path: PathBuf,
}

/// Every conversation that was recorded, then every chain of the home that was not.
pub(super) fn compare_all(
    home: &TrailHome,
    entries: Vec<MetaEntry>,
    keys: &KeySet,
    options: &MetaVerifyOptions,
    broken: bool,
) -> Result<Vec<CheckedConversation>> {
    let (mut known, mut conversations) = (HashSet::new(), Vec::new());
    for entry in entries {
        let tenant = entry.tenant.clone();
        let checked = compare(home, entry, keys, options)?;
        known.insert((real(&checked.path), tenant));
        conversations.push(checked);
    }
    for source in chains_of(home)? {
        if !known.contains(&(real(source.path()), source.tenant.clone())) {
            conversations.extend(unrecorded(&source, broken)?);
        }
    }
    Ok(conversations)
}

/// Two names of one file are the same.
fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn compare(
    home: &TrailHome,
    entry: MetaEntry,
    keys: &KeySet,
    options: &MetaVerifyOptions,
) -> Result<CheckedConversation> {
    let path = entry.path(home);
    let (status, present, detail) = match &path {
        None => (ConversationStatus::Missing, 0, Some("its name cannot be that of a file".to_owned())),
        Some(path) => match compare_conversation(path, &entry, keys, options) {
            Err(problem) if problem.code == Code::FileNotFound => {
                (ConversationStatus::Missing, 0, Some(missing(&entry, path)))
            }
            Err(problem) if problem.code == Code::ChainUnreadable => {
                (ConversationStatus::Altered, 0, Some(problem.message))
            }
            look => look?,
        },
    };
    Ok(CheckedConversation {
        tool: entry.tool,
        session: entry.session,
        status,
        recorded: Some((entry.count, entry.head_hash)),
        present,
        detail,
        path: path.unwrap_or_default(),
    })
}

fn missing(entry: &MetaEntry, path: &Path) -> String {
    match &entry.db {
        Some(db) if db.is_relative() => {
            format!("there is no `{}` in the home, and $AGENT_CAPSULE_DB does not name it", db.display())
        }
        _ => format!("there is no `{}`", path.display()),
    }
}

type ConversationCheck = (ConversationStatus, u64, Option<String>);

fn compare_conversation(
    path: &Path,
    entry: &MetaEntry,
    keys: &KeySet,
    options: &MetaVerifyOptions,
) -> Result<ConversationCheck> {
    let tenant = entry.tenant.as_deref();
    let reader = ChainReader::open(path)?;
    let present = reader.count(tenant)?;
    let altered = |reason: String| Ok((ConversationStatus::Altered, present, Some(reason)));
    if present == 0 {
        return Ok((ConversationStatus::Missing, 0, Some("none of its records is there".to_owned())));
    }
    let Some(last) = entry.count.checked_sub(1) else {
        return altered("it was recorded without any record".to_owned());
    };
    let start = if options.deep { 0 } else { last.min(present - 1) };
    let here = reader.at(tenant, start)?;
    let first = match here.as_slice() {
        [first] => first,
        [] => return altered(format!("record {start} is not there, and others are")),
        _ => return altered(format!("two records are at place {start}")),
    };
    // What is there is taken as the beginning: whether it is the one that was recorded shows below.
    let since =
        (start > 0).then(|| verify::VerifiedCheckpoint { sequence: start, hash: first.seal.hash.clone() });
    let options =
        verify::VerifyOptions { signatures: options.signatures, since, ..verify::VerifyOptions::default() };
    let mut at_last = None;
    let records = reader.records_from(tenant, start).zip(start..).map(|(stored, at)| {
        if let (Ok(stored), true) = (&stored, at == last) {
            at_last = Some(stored.seal.hash.clone());
        }
        stored
    });
    let verdict = verify::verify(records, &options, keys)?;
    if let Some(failure) = verdict.failure {
        return altered(failure.message);
    }
    if verdict.length != present {
        return altered(format!("{present} records are there, and the chain has {}", verdict.length));
    }
    // A chain that was cut and went on otherwise fits its last record, and not those before.
    for (count, head) in &entry.earlier {
        if !holds(&reader, tenant, *count, head)? {
            return altered(format!("it was recorded before with {count} records, and those are others"));
        }
    }
    Ok(match at_last {
        None => (ConversationStatus::Truncated, present, None),
        Some(hash) if hash != entry.head_hash => return altered(format!("record {last} is another one")),
        Some(_) if present == entry.count => (ConversationStatus::Intact, present, None),
        Some(_) => (ConversationStatus::Grown, present, None),
    })
}

/// Whether a chain's beginning of so many records still ends with that hash.
pub(super) fn holds(reader: &ChainReader, tenant: Option<&str>, count: u64, head: &str) -> Result<bool> {
    let Some(last) = count.checked_sub(1) else { return Ok(true) };
    let there = reader.at(tenant, last)?;
    Ok(there.len() == 1 && there[0].seal.hash == head)
}

/// All chains that the home has, and those in the database that it shares.
fn chains_of(home: &TrailHome) -> Result<Vec<ChainSource>> {
    let mut chains = Vec::new();
    if home.chains().is_dir() {
        chains.extend(open_any(home.root())?.chains.into_iter().filter(|source| !source.is_meta));
    }
    if let Some(shared) = home.shared().filter(|shared| shared.is_file()) {
        chains.extend(open_any(shared).map(|sources| sources.chains).unwrap_or_else(|problem| {
            vec![ChainSource::at(
                RecordsLocation::Unreadable(shared.to_owned(), problem),
                SourceKind::Database,
            )]
        }));
    }
    Ok(chains)
}

/// A chain that the good part of the meta-chain does not know; an empty one has nothing to lose.
fn unrecorded(source: &ChainSource, broken: bool) -> Result<Option<CheckedConversation>> {
    let count = || ChainReader::open(source.path())?.count(source.tenant.as_deref());
    let (status, present, detail) = match count() {
        Ok(0) => return Ok(None),
        Ok(present) if broken => {
            let reason = "the meta-chain is broken, so nothing says whether it is whole";
            (ConversationStatus::Unproved, present, Some(reason.to_owned()))
        }
        Ok(present) => (ConversationStatus::Unsealed, present, None),
        Err(problem) if problem.code == Code::StoreLocked => return Err(problem),
        Err(problem) => (ConversationStatus::Unreadable, 0, Some(problem.message)),
    };
    Ok(Some(CheckedConversation {
        tool: source.tool.clone().unwrap_or_default(),
        session: source.session.clone().unwrap_or_default(),
        status,
        recorded: None,
        present,
        detail,
        path: source.path().to_owned(),
    }))
}
