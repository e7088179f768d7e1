//! The journal of an apply. It is written before the first file is touched, and rolled forward after a kill.
//!
//! In the first stage new files are written to temporary names; nothing that the user has is touched. The second stage
//! begins when the identity of each of them is in the journal: from then on every file that is met can be told apart.

use super::exchange::{Exchange, FileResult};
use super::operation::Operation;
use super::outcome::{AppliedFile, ApplyOutcome, LateEdit};
use super::plan::ApplyPlan;
use super::prepare::{prepare, remove_temporary};
use crate::files::phase;
use crate::tree::names;
use crate::tree::private_tree::beneath::{self, split_leaf};
use crate::tree::private_tree::file_state::inspect;
use capsid_disk::files as disk;
use capsid_model::{Code, Problem, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// The phases of an apply, in their order.
pub const PHASES: [&str; 6] =
    ["apply_journal", "apply_prepare", "apply_prepared", "apply_exchange", "apply_sync", "apply_finished"];

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Stage {
    Preparing,
    Exchanging,
    Finished,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Journal {
    version: u32,
    stage: Stage,
    pub(super) operations: Vec<Operation>,
    pub(super) outcome: ApplyOutcome,
}

const VERSION: u32 = 1;

/// The three things that change a tree. Each has its own journal and its own folder of replaced files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum JournalKind {
    Apply,
    Undo,
    Restore,
}

impl JournalKind {
    fn path(self, run: &Path) -> PathBuf {
        run.join(match self {
            Self::Apply => "apply.json",
            Self::Undo => "undo.json",
            Self::Restore => "restore.json",
        })
    }

    /// Where a journal is once everything is done.
    pub(super) fn finished_path(self, run: &Path) -> PathBuf {
        run.join(match self {
            Self::Apply => "applied.json",
            Self::Undo => "undone.json",
            Self::Restore => "restored.json",
        })
    }

    pub(super) fn replaced(self, run: &Path) -> PathBuf {
        run.join(match self {
            Self::Apply => "replaced",
            Self::Undo => "replaced_by_undo",
            Self::Restore => "replaced_by_restore",
        })
    }
}

/// Applies a plan without conflicts. The journal stays until [`finish`], so that the event can be written first.
pub fn apply(run: &Path, root: &Path, plan: &ApplyPlan) -> Result<ApplyOutcome> {
    if let Some(conflict) = plan.conflicts.first() {
        return Err(Problem::new(Code::ChangeRefused, conflict.message.clone())
            .fix("Undo your edit of that file, and apply the change again."));
    }
    execute(run, root, JournalKind::Apply, plan.operations.clone())
}

/// Writes the journal of an apply and the new files, to temporary names. Nothing that the user has is touched before
/// [`recover`] brings it to its end, so the caller can record the outcome first. What an earlier attempt left is removed:
/// it had no record.
pub fn begin(run: &Path, root: &Path, plan: &ApplyPlan) -> Result<()> {
    discard(run, root)?;
    let path = JournalKind::Apply.path(run);
    let transaction = Transaction::open(run, root, JournalKind::Apply)?;
    let mut journal = Journal {
        version: VERSION,
        stage: Stage::Preparing,
        operations: plan.operations.clone(),
        outcome: ApplyOutcome::default(),
    };
    phase::enter("apply_journal");
    journal.write(&path)?;
    transaction.prepare(&mut journal)
}

/// Removes an apply that was begun and of which nothing was exchanged.
pub fn discard(run: &Path, root: &Path) -> Result<()> {
    let path = JournalKind::Apply.path(run);
    if let Some(journal) = Journal::read(&path)? {
        Transaction::open(run, root, JournalKind::Apply)?.remove_temporaries(&journal)?;
        disk::remove(&path)?;
    }
    Ok(())
}

/// Whether an apply, an undo or a rollback of this run was begun and not finished.
pub fn is_pending(run: &Path) -> bool {
    [JournalKind::Apply, JournalKind::Undo, JournalKind::Restore].iter().any(|kind| kind.path(run).exists())
}

/// Rolls forward what a kill interrupted. Returns the outcome of an apply, whose journal stays until [`finish`].
pub fn recover(run: &Path, root: &Path) -> Result<Option<ApplyOutcome>> {
    for kind in [JournalKind::Undo, JournalKind::Restore] {
        if let Some(journal) = Journal::read(&kind.path(run))? {
            Transaction::open(run, root, kind)?.complete(journal)?;
            finish_kind(run, kind)?;
        }
    }
    let Some(journal) = Journal::read(&JournalKind::Apply.path(run))? else { return Ok(None) };
    Transaction::open(run, root, JournalKind::Apply)?.complete(journal).map(Some)
}

/// Ends an apply whose outcome is recorded. What was done stays known for `undo`.
pub fn finish(run: &Path) -> Result<()> {
    finish_kind(run, JournalKind::Apply)
}

pub(super) fn finish_kind(run: &Path, kind: JournalKind) -> Result<()> {
    let path = kind.path(run);
    match std::fs::rename(&path, kind.finished_path(run)) {
        Ok(()) => {}
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(Problem::io("rename", &path, &error)),
    }
    let synced = std::fs::File::open(run).and_then(|folder| folder.sync_all());
    synced.map_err(|error| Problem::io("sync the folder", run, &error))
}

/// Writes the journal and does the operations.
pub(super) fn execute(
    run: &Path,
    root: &Path,
    kind: JournalKind,
    operations: Vec<Operation>,
) -> Result<ApplyOutcome> {
    let path = kind.path(run);
    if path.exists() {
        let message = format!("`{}` is the journal of an earlier attempt.", path.display());
        return Err(Problem::new(Code::ChangeRefused, message)
            .fix("Run the command again: what was begun is finished first."));
    }
    let transaction = Transaction::open(run, root, kind)?;
    let journal =
        Journal { version: VERSION, stage: Stage::Preparing, operations, outcome: ApplyOutcome::default() };
    phase::enter("apply_journal");
    sync_sources(&journal.operations)?;
    journal.write(&path)?;
    transaction.complete(journal)
}

/// Makes the new content durable: after a power loss, the journal is rolled forward from it.
fn sync_sources(operations: &[Operation]) -> Result<()> {
    for source in operations.iter().filter_map(|operation| operation.source.as_deref()) {
        let path = names::to_path(source);
        let synced = match path.symlink_metadata() {
            Ok(meta) if meta.is_file() => std::fs::File::open(path).and_then(|file| file.sync_all()),
            Ok(_) => Ok(()),
            Err(error) => Err(error),
        };
        synced.map_err(|error| Problem::io("sync", path, &error))?;
    }
    Ok(())
}

impl Journal {
    pub(super) fn read(path: &Path) -> Result<Option<Self>> {
        let Some(bytes) = disk::read_bytes(path)? else { return Ok(None) };
        let journal: Option<Self> = serde_json::from_slice(&bytes).ok();
        let is_inside = |operation: &Operation| {
            names::is_inside(&operation.name)
                && names::is_inside(&operation.temporary)
                && split_leaf(&operation.temporary).1.starts_with(b".")
                && !operation.replaced.contains('/')
        };
        let valid =
            journal.filter(|journal| journal.version == VERSION && journal.operations.iter().all(is_inside));
        valid.map(Some).ok_or_else(|| {
            let message = format!("`{}` is not a journal, or is damaged.", path.display());
            Problem::new(Code::StoreDamaged, message)
                .fix("Compare your tree with the patch of the run, then remove the journal.")
        })
    }

    fn write(&self, path: &Path) -> Result<()> {
        let text = serde_json::to_vec(self).map_err(|error| {
            Problem::new(Code::Internal, format!("A journal cannot be written: {error}."))
        })?;
        disk::replace_private(path, &text)
    }
}

struct Transaction {
    path: PathBuf,
    root: PathBuf,
    replaced: PathBuf,
    exchange: Exchange,
}

impl Transaction {
    fn open(run: &Path, root: &Path, kind: JournalKind) -> Result<Self> {
        let replaced = kind.replaced(run);
        disk::create_private_folder(&replaced)?;
        let open = |path: &Path| beneath::open_root(path).map_err(|error| Problem::io("open", path, &error));
        let exchange = Exchange { root: open(root)?, replaced: open(&replaced)?, touched: BTreeSet::new() };
        Ok(Self { path: kind.path(run), root: root.to_owned(), replaced, exchange })
    }

    /// Brings the operations to their end, from whatever stage the journal is in.
    fn complete(mut self, mut journal: Journal) -> Result<ApplyOutcome> {
        if journal.stage == Stage::Preparing {
            self.prepare(&mut journal)?;
        }
        if journal.stage == Stage::Exchanging {
            journal.outcome = self.exchange_all(&journal.operations)?;
            journal.stage = Stage::Finished;
            phase::enter("apply_finished");
            journal.write(&self.path)?;
        }
        Ok(journal.outcome)
    }

    /// The first stage. If it fails, nothing is left of it.
    fn prepare(&self, journal: &mut Journal) -> Result<()> {
        phase::enter("apply_prepare");
        if let Err(problem) = self.prepare_all(journal) {
            self.remove_temporaries(journal)?;
            disk::remove(&self.path)?;
            return Err(problem);
        }
        journal.stage = Stage::Exchanging;
        phase::enter("apply_prepared");
        journal.write(&self.path)
    }

    /// Writes the temporary files. None of them has been visible before, so leftovers of a kill can go.
    fn prepare_all(&self, journal: &mut Journal) -> Result<()> {
        self.remove_temporaries(journal)?;
        let mut folders = BTreeSet::new();
        for operation in &mut journal.operations {
            let fail = |error: std::io::Error| {
                Problem::io("write", &names::place(&self.root, &operation.name), &error)
            };
            folders.insert(split_leaf(&operation.temporary).0.to_vec());
            operation.prepared = match prepare(&self.exchange.root, operation) {
                Ok(prepared) => prepared,
                // The directory is gone since: somebody removed it, and the file with it.
                Err(error) if error.kind() == std::io::ErrorKind::NotFound => None,
                Err(error) => return Err(fail(error)),
            };
        }
        for folder in folders {
            if let Ok(directory) = beneath::open_directory(&self.exchange.root, &folder) {
                rustix::fs::fsync(directory)
                    .map_err(|error| Problem::io("sync the folder", &self.root, &error.into()))?;
            }
        }
        Ok(())
    }

    fn remove_temporaries(&self, journal: &Journal) -> Result<()> {
        for operation in &journal.operations {
            remove_temporary(&self.exchange.root, operation).map_err(|error| {
                Problem::io("remove", &names::place(&self.root, &operation.temporary), &error)
            })?;
        }
        Ok(())
    }

    fn exchange_all(&mut self, operations: &[Operation]) -> Result<ApplyOutcome> {
        let mut outcome = ApplyOutcome::default();
        for operation in operations {
            phase::enter("apply_exchange");
            match self.exchange.execute(operation) {
                Ok(FileResult::Applied) => {
                    outcome.applied.push(AppliedFile { name: operation.name.clone(), kind: operation.kind });
                }
                Ok(FileResult::Left(why)) => outcome.add_left(&operation.name, why),
                Err(error) => outcome.add_left(&operation.name, &format!("cannot be changed: {error}")),
            }
        }
        phase::enter("apply_sync");
        let fail = |error: std::io::Error| Problem::io("sync the folder", &self.root, &error);
        for operation in operations {
            self.exchange.copy_remaining(operation).map_err(fail)?;
        }
        self.exchange.sync().map_err(fail)?;
        for operation in operations {
            outcome.late_edits.extend(self.late_edit(operation).map_err(fail)?);
        }
        Ok(outcome)
    }

    fn late_edit(&self, operation: &Operation) -> std::io::Result<Option<LateEdit>> {
        let Some(expected) = &operation.expected else { return Ok(None) };
        let replaced = inspect(&self.exchange.replaced, operation.replaced.as_bytes())?;
        let is_late = replaced.identity.is_some() && replaced.state != expected.state;
        Ok(is_late.then(|| LateEdit {
            name: operation.name.clone(),
            saved: names::of_path(&self.replaced.join(&operation.replaced)),
        }))
    }
}
