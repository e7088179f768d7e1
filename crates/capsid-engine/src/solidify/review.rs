//! The run that waits: what it changed so far, and how to reject it.

use super::changed::{changes_of, keep_patch};
use super::pending;
use crate::cycle::run::Run;
use crate::snapshot::rollback;
use crate::store;
use crate::workspace::Workspace;
use capsid_model::event::BlastRadius;
use capsid_model::{Object, Result, Value, json};
use std::path::PathBuf;

/// The longest patch that is shown, in bytes.
const SHOWN_PATCH: usize = 200_000;

/// A run that waits, with what changed since it began.
#[derive(Debug, Clone)]
pub struct Waiting {
    /// The run.
    pub run: Run,
    /// How much changed.
    pub blast: BlastRadius,
    /// The change as text.
    pub patch: String,
}

impl Waiting {
    /// For programs.
    pub fn to_json(&self) -> Value {
        json!({
            "run_id": self.run.run_id,
            "gene": self.run.selected_gene_id,
            "capsule": self.run.selected_capsule_id,
            "signals": self.run.signals,
            "mutation": self.run.mutation,
            "blast_radius": self.blast.to_value(),
            "diff": self.patch,
        })
    }
}

/// A run that was rejected.
#[derive(Debug, Clone)]
pub struct Rejected {
    /// The run.
    pub run_id: String,
    /// How many files were taken back.
    pub restored: usize,
    /// Files that changed since and were left.
    pub left: Vec<String>,
    /// Where the change is kept.
    pub patch: Option<PathBuf>,
}

impl Rejected {
    /// For programs.
    pub fn to_json(&self) -> Value {
        json!({
            "ok": true,
            "run_id": self.run_id,
            "restored": self.restored,
            "left": self.left,
            "patch": self.patch.as_ref().map(|path| path.display().to_string()),
        })
    }
}

/// Looks at the run that waits.
pub fn waiting(workspace: &Workspace) -> Result<Waiting> {
    let _lock = workspace.lock()?;
    let run = pending(workspace)?;
    let changed = changes_of(workspace, &run)?;
    Ok(Waiting {
        blast: changed.changes.blast(),
        patch: changed.diff(&workspace.config.constraints.protected, SHOWN_PATCH)?,
        run,
    })
}

/// Takes the change of the waiting run back and marks the run rejected. The change is kept as a patch.
pub fn reject(workspace: &Workspace) -> Result<Rejected> {
    let _lock = workspace.lock()?;
    let run = pending(workspace)?;
    let changed = changes_of(workspace, &run)?;
    let (_, patch) = keep_patch(workspace, &changed)?;
    let report = rollback(&changed.shadow, &changed.before, &changed.after)?;
    let mut state = workspace.run_state()?;
    let mut record = Object::new();
    record.insert("run_id".to_owned(), run.run_id.as_str().into());
    record.insert("rejected".to_owned(), true.into());
    record.insert("timestamp".to_owned(), workspace.now().iso().into());
    state.settle(record);
    store::write_state(&workspace.paths.run_state(), &state.file)?;
    Ok(Rejected {
        run_id: run.run_id,
        restored: report.restored.len() + report.removed.len(),
        left: report.kept,
        patch,
    })
}
