//! `prepare`: from signals to a prompt, everything of a cycle that comes before the change.

use super::draft::draft;
use super::run::Run;
use super::sight::{self, Sight};
use crate::select::Selection;
use crate::solidify::{self, changed};
use crate::workspace::Workspace;
use capsid_model::signal::signal_key;
use capsid_model::{Code, Problem, Result, Value, json};
use std::path::PathBuf;

pub use super::sight::{Given, Sources};

/// What kind of cycle is asked for.
#[derive(Debug, Clone, Default)]
pub struct EvolveRequest {
    /// Where signals come from.
    pub sources: Sources,
    /// The strategy preset.
    pub strategy: Option<String>,
    /// Write nothing.
    pub dry_run: bool,
    /// Whether a person will look at the change.
    pub review: bool,
    /// Run although nothing is new, or although a run waits.
    pub force: bool,
    /// The seed of chance, when drift is asked for.
    pub drift: Option<u64>,
}

/// A run that is ready for the change.
#[derive(Debug, Clone)]
pub struct Ready {
    /// The run.
    pub run: Run,
    /// What was chosen, with every score.
    pub selection: Selection,
    /// What the agent is asked.
    pub prompt: String,
    /// Where the prompt is kept.
    pub prompt_path: PathBuf,
}

impl Ready {
    /// For programs.
    pub fn to_json(&self, dry_run: bool) -> Value {
        json!({
            "ok": true,
            "dry_run": dry_run,
            "run_id": self.run.run_id,
            "cycle": self.run.cycle,
            "signals": self.run.signals,
            "signal_key": self.run.signal_key,
            "selector": self.run.selector,
            "gene": self.run.selected_gene_id,
            "capsule": self.run.selected_capsule_id,
            "mutation": self.run.mutation,
            "prompt": self.prompt,
        })
    }
}

/// What preparing a cycle gave.
#[derive(Debug, Clone)]
pub enum Prepared {
    /// A run, recorded unless it was a dry one.
    Ready(Box<Ready>),
    /// Nothing to do, and why.
    Skipped(String),
}

/// Prepares a cycle: reads, chooses, gates, records the run and writes the prompt.
pub fn prepare(workspace: &Workspace, request: &EvolveRequest) -> Result<Prepared> {
    workspace.require_store()?;
    let _lock = if request.dry_run { None } else { Some(workspace.lock()?) };
    leave_pending(workspace, request)?;
    let sight = sight::look(workspace, &request.sources)?;
    if let Some(reason) = nothing_new(workspace, request, &sight)? {
        return Ok(Prepared::Skipped(reason));
    }
    let draft = draft(workspace, request, &sight)?;
    let ready = if request.dry_run { draft.ready } else { draft.write(workspace)? };
    Ok(Prepared::Ready(Box::new(ready)))
}

/// A waiting run that changed something must be settled first; one that changed nothing is simply left behind.
fn leave_pending(workspace: &Workspace, request: &EvolveRequest) -> Result<()> {
    if request.force || request.dry_run || workspace.run_state()?.pending().is_none() {
        return Ok(());
    }
    let Ok(run) = solidify::pending(workspace) else {
        return Ok(());
    };
    let changed = changed::changes_of(workspace, &run).is_ok_and(|changed| !changed.changes.files.is_empty());
    if !changed {
        return Ok(());
    }
    Err(Problem::new(Code::RunPending, format!("`{}` still waits, and files changed since it began.", run.run_id)).fix(
        "Settle it with `capsid solidify`, take it back with `capsid review --reject`, or begin anew with `--force`.",
    ))
}

/// The same signals from the same inputs as the run that was settled last need no new cycle.
fn nothing_new(workspace: &Workspace, request: &EvolveRequest, sight: &Sight) -> Result<Option<String>> {
    if request.force {
        return Ok(None);
    }
    let state = workspace.run_state()?;
    let Some(last) = state.last_run().filter(|run| state.settled_id() == Some(run.run_id.as_str())) else {
        return Ok(None);
    };
    // Where the machine failed and not the change, the same cycle is worth another try.
    if matches!(state.settled_class(), Some("host" | "network" | "sandbox")) {
        return Ok(None);
    }
    let same = last.signal_key == signal_key(&sight.signals) && last.inputs_digest == sight.inputs.digest;
    Ok(same.then(|| {
        format!("nothing is new since {}: same inputs, same signals (`--force` runs anyway)", last.run_id)
    }))
}
