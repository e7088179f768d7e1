//! Runs that wait for somebody.

use crate::run::Run;
use crate::run::folder::{RunFolder, RunStatus};
use crate::workspace::Workspace;
use capsid_model::Result;
use capsid_rules::learning::capsule_text::old_asset::find_old_title;
use serde::Serialize;

/// A run that waits, and what to do about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PendingRun {
    pub run_id: String,
    pub status: RunStatus,
    /// The problem that it is to solve, in one line.
    pub problem: String,
    pub created_at: String,
    /// The process whose agent works on it.
    pub process: Option<u32>,
    /// What to do about it.
    pub advice: String,
}

/// All runs that wait, newest first.
pub(super) fn list_pending(workspace: &Workspace) -> Result<Vec<PendingRun>> {
    let mut pending = Vec::new();
    for folder in RunFolder::all(workspace)? {
        let stored = folder.read()?.filter(|run| run.status.is_pending() || run.status.is_unapplied());
        let Some(stored) = stored else { continue };
        let process = match stored.status {
            RunStatus::Working => folder.worker()?,
            _ => None,
        };
        pending.push(PendingRun {
            advice: advise(&stored.run.run_id, stored.status, process),
            problem: describe_problem(&stored.run),
            created_at: stored.run.created_at.iso(),
            run_id: stored.run.run_id,
            status: stored.status,
            process,
        });
    }
    pending.sort_by(|a, b| b.created_at.cmp(&a.created_at));
    Ok(pending)
}

fn describe_problem(run: &Run) -> String {
    match &run.problem {
        Some(problem) => match &problem.code {
            Some(code) => format!("{code} {}", problem.text),
            None => problem.text.clone(),
        },
        None => find_old_title("", &run.signals),
    }
}

fn advise(run_id: &str, status: RunStatus, process: Option<u32>) -> String {
    match status {
        RunStatus::Prepared => {
            "Make the change, then finish it with `capsid solidify`, or drop it with `capsid review --reject`."
                .to_owned()
        }
        RunStatus::Working if process.is_some() => {
            format!("An agent is working on it; `capsid cycle stop {run_id}` stops the agent.")
        }
        RunStatus::Working => "Its agent was killed; the next `capsid evolve` takes its place.".to_owned(),
        RunStatus::Changed => {
            "Look at it with `capsid review`, finish it with `capsid solidify`, or drop it with `capsid review --reject`."
                .to_owned()
        }
        RunStatus::NeedsReview => {
            "Its change is proven and waits for you: `capsid review` shows it.".to_owned()
        }
        RunStatus::Conflict => {
            "Its change is proven and conflicts with your edits: commit or stash them, then run `capsid apply`."
                .to_owned()
        }
        RunStatus::Finished | RunStatus::Abandoned => String::new(),
    }
}
