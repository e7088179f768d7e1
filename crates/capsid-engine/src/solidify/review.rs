//! The run that waits: what it changed so far, how to reject it, and how to restore files that it changed in the tree.

use super::change::CycleChange;
use super::restore::note_state_after;
use crate::run::folder::{RunFolder, RunStatus, StoredRun};
use crate::run::state::RunState;
use crate::run::{Run, ViewLevel, pending};
use crate::store;
use crate::workspace::Workspace;
use capsid_model::event::BlastRadius;
use capsid_model::{Object, Result, Value, json};
use std::path::PathBuf;

/// The longest patch that is shown, in bytes.
const SHOWN_PATCH: usize = 200_000;

/// A run that waits, with what changed since it began.
#[derive(Debug, Clone)]
pub struct WaitingRun {
    pub run: Run,
    /// Whether its change is proven and waits only to be applied.
    pub is_proven: bool,
    /// How much changed.
    pub blast: BlastRadius,
    /// The change as text.
    pub patch: String,
}

impl WaitingRun {
    /// For programs.
    pub fn to_json(&self) -> Value {
        json!({
            "run_id": self.run.run_id,
            "gene": self.run.selected_gene_id,
            "capsule": self.run.selected_capsule_id,
            "signals": self.run.signals,
            "mutation": self.run.mutation,
            "view": self.run.level.as_str(),
            "proven": self.is_proven,
            "blast_radius": self.blast.to_value(),
            "diff": self.patch,
        })
    }
}

/// A run that was rejected.
#[derive(Debug, Clone)]
pub struct RejectedRun {
    pub run_id: String,
    /// Files that the run changed and that are in the tree as they are; none where it worked in a view of its own.
    pub left: Vec<String>,
    /// The patch of the change.
    pub patch: Option<PathBuf>,
}

impl RejectedRun {
    /// For programs.
    pub fn to_json(&self) -> Value {
        json!({
            "ok": true,
            "run_id": self.run_id,
            "left": self.left,
            "patch": self.patch.as_ref().map(|path| path.display().to_string()),
        })
    }
}

/// Shows the run that waits, or the newest whose change is proven and not applied.
pub fn show_waiting(workspace: &Workspace) -> Result<WaitingRun> {
    let _lock = workspace.lock()?;
    let (run, folder, is_proven) = waiting(workspace)?;
    let change = CycleChange::load(workspace, &run, &folder)?;
    Ok(WaitingRun {
        blast: change.changes.blast(),
        patch: change.diff(&workspace.config.constraints.protected, SHOWN_PATCH)?,
        is_proven,
        run,
    })
}

/// The run that waits to be finished, else the newest that waits to be applied.
fn waiting(workspace: &Workspace) -> Result<(Run, RunFolder, bool)> {
    match pending::require_pending(workspace, None) {
        Ok((run, folder)) => Ok((run, folder, false)),
        Err(problem) => match unapplied(workspace)? {
            Some((run, folder)) => Ok((run, folder, true)),
            None => Err(problem),
        },
    }
}

/// The newest run whose change is proven and not applied.
pub fn unapplied(workspace: &Workspace) -> Result<Option<(Run, RunFolder)>> {
    let mut newest: Option<(Run, RunFolder)> = None;
    for folder in RunFolder::all(workspace)? {
        if let Some(StoredRun { run, .. }) = folder.read()?.filter(|stored| stored.status.is_unapplied())
            && newest.as_ref().is_none_or(|(known, _)| known.created_at < run.created_at)
        {
            newest = Some((run, folder));
        }
    }
    Ok(newest)
}

/// Rejects the run that waits. A view of its own is dropped; in the tree no file is changed. The patch is stored.
pub fn reject(workspace: &Workspace) -> Result<RejectedRun> {
    let _lock = workspace.lock()?;
    let (run, folder, is_proven) = waiting(workspace)?;
    let change = CycleChange::load(workspace, &run, &folder)?;
    let (_, patch) = change.save_patch(workspace)?;
    let left = match run.level {
        ViewLevel::InPlace => {
            note_state_after(workspace, &change)?;
            change.changes.files.iter().map(|file| file.path.clone()).collect()
        }
        ViewLevel::Overlay | ViewLevel::Copy => Vec::new(),
    };
    folder.write(RunStatus::Abandoned, &run)?;
    folder.remove_layers();
    if !is_proven {
        let mut state = RunState::load(workspace)?;
        state.finish(rejected_record(workspace, &run));
        store::write_state(&workspace.paths.run_state(), &state.file)?;
    }
    Ok(RejectedRun { run_id: run.run_id, left, patch })
}

fn rejected_record(workspace: &Workspace, run: &Run) -> Object {
    Object::from_iter([
        ("run_id".to_owned(), run.run_id.as_str().into()),
        ("rejected".to_owned(), true.into()),
        ("timestamp".to_owned(), workspace.now().iso().into()),
    ])
}
