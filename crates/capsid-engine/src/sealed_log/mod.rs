//! The event log, sealed line by line into the repository's own chain, so that a later change to it shows.

mod committed;
pub mod compare;
pub mod entry;
mod lines;
pub mod loss;
mod merged;
pub mod proof;
mod record;

use crate::files::phase;
use crate::workspace::{Workspace, old_state};
use capsid_disk::files;
use capsid_model::exact::{ExactJson, parse};
use capsid_model::hash::sha256_hex;
use capsid_model::{Code, Problem, Result};
use capsid_seal::chain::{ChainReader, ChainWriter, PendingRecord};
use capsid_seal::meta::{ChainOwner, Conversation, SharedChain, record_conversation};
use capsid_seal::{StoredRecord, TrailHome, python_iso};
use capsid_signer::home_sealer::open_sealer;
use capsid_signer::layout::SignerLayout;
use entry::{AcceptedChange, SealedEntry};
use std::path::{Path, PathBuf};

/// The tool under which the chains of repositories are stored.
pub const DOMAIN: &str = "capsid";

/// How the chain names a log that git merged.
pub const MERGED: &str = "merged";

/// So many lines before a merge are sealed one by one again: a branch may have left even earlier.
const MERGE_REACH: u64 = 1_000;

/// A log that is longer when sealing begins is sealed as one up to there.
const LINE_BY_LINE: usize = 10_000;

/// The chain of one repository's event log.
pub struct LogChain {
    pub home: TrailHome,
    /// The session of the repository.
    pub session: String,
    log: PathBuf,
    /// The top of the repository's work tree.
    root: PathBuf,
}

/// What sealing did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SealedLines {
    pub appended: u64,
    /// Records that the chain has now.
    pub total: u64,
    /// The hash of the last one.
    pub head: Option<String>,
    /// The fingerprint of the key, when it was made for this.
    pub new_key: Option<String>,
}

impl LogChain {
    /// The chain of a repository. Nothing is created.
    pub fn open(workspace: &Workspace) -> Result<Self> {
        Ok(Self {
            home: TrailHome::find(None, &*workspace.env)?,
            session: session(workspace)?,
            log: workspace.store.events.path().to_owned(),
            root: workspace.repository.root.clone(),
        })
    }

    /// The chain's database.
    pub fn database(&self) -> (PathBuf, Option<String>) {
        self.home.chain(DOMAIN, &self.session)
    }

    /// All that was sealed of the log, in order, and when each was.
    pub fn entries(&self) -> Result<(Vec<SealedEntry>, Vec<Option<String>>)> {
        let (path, tenant) = self.database();
        if !path.exists() {
            return Ok(Default::default());
        }
        let reader = ChainReader::open(&path)?;
        let sealed = reader.records(tenant.as_deref()).map(|stored| {
            let stored = stored?;
            Ok((entry_of(&stored)?, stored.seal.signed_at))
        });
        sealed.collect()
    }

    /// What was sealed last, or waits for a signature.
    fn last_entry(&self) -> Result<Option<SealedEntry>> {
        let (path, tenant) = self.database();
        if !path.exists() {
            return Ok(None);
        }
        let reader = ChainReader::open(&path)?;
        if let Some(text) = reader.pending_texts(tenant.as_deref())?.last() {
            return entry_in(text).map(Some);
        }
        let head = reader.head(tenant.as_deref())?;
        head.map(|stored| entry_of(&stored)).transpose()
    }

    /// All that was sealed of the log, and what waits for a signature.
    fn all_entries(&self) -> Result<Vec<SealedEntry>> {
        let (mut entries, _) = self.entries()?;
        let (path, tenant) = self.database();
        if path.exists() {
            for text in ChainReader::open(&path)?.pending_texts(tenant.as_deref())? {
                entries.push(entry_in(&text)?);
            }
        }
        Ok(entries)
    }
}

fn entry_of(stored: &StoredRecord) -> Result<SealedEntry> {
    entry_in(&stored.canonical)
}

fn entry_in(canonical: &str) -> Result<SealedEntry> {
    parse(canonical).ok().as_ref().and_then(SealedEntry::read).ok_or_else(|| {
        Problem::new(Code::ChainBroken, "A record of the repository's chain does not speak of its event log.")
            .fix("`capsid trail verify` says whether the chain was changed.")
    })
}

/// The session of a repository: named after its folder and path, and unchanged when it is moved.
fn session(workspace: &Workspace) -> Result<String> {
    let stored = files::read_optional(&session_file(workspace)?)?;
    Ok(match stored.as_deref().map(str::trim) {
        Some(name) if is_session(name) => name.to_owned(),
        _ => named_after(&workspace.repository.root),
    })
}

fn session_file(workspace: &Workspace) -> Result<PathBuf> {
    workspace.state_file("chain")
}

/// The same name in the git directory, where it moves with the repository: there it is found where the state directory
/// has none.
fn moved_session_file(workspace: &Workspace) -> PathBuf {
    old_state::old_folder(workspace).join("chain")
}

fn named_after(root: &Path) -> String {
    let name = root.file_name().unwrap_or_default().to_string_lossy();
    let plain: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')).take(60).collect();
    let digest = sha256_hex(root.to_string_lossy().as_bytes());
    format!("{}-{}", if plain.is_empty() { "repository" } else { &plain }, &digest[..12])
}

fn is_session(name: &str) -> bool {
    !name.is_empty()
        && name.len() <= 80
        && name.bytes().all(|b| b.is_ascii_alphanumeric() || matches!(b, b'-' | b'_'))
}

/// Seals what a settled run wrote, if the owner wants it. The run is settled whether this works or not, and the next
/// one seals what this one could not, so a problem is only reported.
pub fn after_settling(workspace: &Workspace) -> Result<SealedLines> {
    if !workspace.config.trail.seal_events {
        return Ok(SealedLines::default());
    }
    phase::enter("seal");
    catch_up(workspace, false)
}

/// Seals the lines that the chain does not hold yet. The caller holds the store's lock.
///
/// A log that is not what was sealed is left alone, and so is a chain that lost something: going on would hide it. With
/// `accept` its owner says that the log is right as it is, and the chain says so too from there on.
pub fn catch_up(workspace: &Workspace, accept: bool) -> Result<SealedLines> {
    let chain = LogChain::open(workspace)?;
    let fresh = match accept.then(|| to_accept(&chain)).transpose()?.flatten() {
        Some(accepted) => vec![lines::baseline(&chain.log, Some(accepted))?],
        None => fresh(&chain)?,
    };
    if fresh.is_empty() {
        return Ok(SealedLines::default());
    }
    append(workspace, &chain, fresh, accept)
}

/// What there is to accept: the first difference between what was sealed and what is there.
fn to_accept(chain: &LogChain) -> Result<Option<AcceptedChange>> {
    let (entries, _) = chain.entries()?;
    if let Some(loss) = chain.loss()? {
        let line = entries.last().map_or(0, SealedEntry::last_line) + 1;
        return Ok(Some(AcceptedChange { change: loss.kind.name().to_owned(), line, id: String::new() }));
    }
    let difference = chain.compare(&entries)?.difference;
    Ok(difference.map(|difference| AcceptedChange {
        change: difference.kind.name().to_owned(),
        line: difference.line,
        id: difference.id,
    }))
}

fn fresh(chain: &LogChain) -> Result<Vec<SealedEntry>> {
    if let Some(loss) = chain.loss()? {
        return Err(loss::refuse(&loss, chain));
    }
    let log = &chain.log;
    match &chain.last_entry()? {
        None => from_the_start(log),
        Some(last) if lines::holds(log, last)? => lines::after(log, last.end(), last.last_line()),
        Some(_) => merged_entries(chain),
    }
}

/// Seals a merged log anew from before the merge on. The part that no later merge is likely to reach is sealed as one.
fn merged_entries(chain: &LogChain) -> Result<Vec<SealedEntry>> {
    let entries = chain.all_entries()?;
    let Some(merge) = chain.compare(&entries)?.merge else { return Err(changed(&chain.log)) };
    let accepted = AcceptedChange { change: MERGED.to_owned(), line: merge.line, id: merge.id };
    let before = merge.line.saturating_sub(MERGE_REACH);
    let baseline = lines::baseline_of(&chain.log, before, Some(accepted))?;
    let (end, lines) = (baseline.end(), baseline.last_line());
    let mut sealed = vec![baseline];
    sealed.extend(lines::after(&chain.log, end, lines)?);
    Ok(sealed)
}

fn from_the_start(log: &Path) -> Result<Vec<SealedEntry>> {
    let all = lines::after(log, 0, 0)?;
    if all.len() > LINE_BY_LINE { Ok(vec![lines::baseline(log, None)?]) } else { Ok(all) }
}

fn changed(log: &Path) -> Problem {
    Problem::new(
        Code::ChainBroken,
        format!("`{}` is not what was sealed of it, so nothing more is sealed.", log.display()),
    )
    .fix("`capsid events verify` says where. If the change is yours, `capsid events seal --accept` goes on from here.")
}

fn append(
    workspace: &Workspace,
    chain: &LogChain,
    entries: Vec<SealedEntry>,
    accept: bool,
) -> Result<SealedLines> {
    let (path, tenant) = chain.database();
    let root = workspace.repository.root.to_string_lossy().into_owned();
    // Written before the chain, so that no chain is ever without its repository.
    workspace.create_state_dir()?;
    for file in [session_file(workspace)?, moved_session_file(workspace)] {
        files::replace_private(&file, chain.session.as_bytes())?;
    }
    let signed_at = python_iso(workspace.now().0 * 1000);
    let own = open_sealer(&SignerLayout::system().trust, chain.home.root(), &signed_at)?;
    let sealer = &own.sealer;
    // The store's lock excludes other writers, so nothing is offered twice.
    let items = entries.into_iter().map(|entry| {
        let id = record::id(fastrand::u128(..));
        PendingRecord { key: id.clone(), open: false, weight: 1024, item: (entry, id) }
    });
    let owner = ChainOwner::new(chain.home.root(), format!("{DOMAIN}/{}", chain.session), sealer);
    let mut writer = ChainWriter::open(&path)?.owned_by(owner).signing_with(sealer.clone());
    if accept {
        writer.accept_cut(tenant.as_deref())?;
    }
    let appended = writer.append(tenant.as_deref(), items, |(entry, id), _, link| {
        sealer.prepare(&record::record(entry, &chain.session, &root, id.clone()), link, &signed_at)
    })?;
    if let Some(head) = &appended.head {
        let shared = tenant.as_deref().map(|tenant| SharedChain { db: &path, tenant });
        let (session, count) = (chain.session.as_str(), appended.total);
        let conversation = Conversation { tool: DOMAIN, session, head_hash: head, count, shared };
        let id = record::id(fastrand::u128(..));
        record_conversation(chain.home.root(), &conversation, sealer, &id, &signed_at)?;
    }
    let new_key = own.is_new.then(|| sealer.public().fingerprint());
    Ok(SealedLines { appended: appended.appended, total: appended.total, head: appended.head, new_key })
}

/// The text of a member of a line's record, for what is shown of it.
fn member<'a>(document: &'a ExactJson, name: &str) -> &'a str {
    document.text(name).unwrap_or_default()
}
