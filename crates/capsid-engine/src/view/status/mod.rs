//! `capsid status`: what is pending, what was learned lately, and what the loop does. Reads only.

mod learned;
mod loop_activity;
mod waiting;

pub use learned::{FailedCycle, LearnedSolution};
pub use loop_activity::{LoopActivity, SuspendedProblem};
pub use waiting::PendingRun;

use crate::workspace::Workspace;
use capsid_model::Result;
use serde::Serialize;

/// What a repository is at.
#[derive(Debug, Clone, Serialize)]
pub struct StatusReport {
    /// Whether `capsid init` made a store here.
    pub has_store: bool,
    /// Runs that wait for somebody, newest first.
    pub pending: Vec<PendingRun>,
    /// The newest solutions.
    pub learned: Vec<LearnedSolution>,
    /// The newest attempts that failed.
    pub failed: Vec<FailedCycle>,
    #[serde(rename = "loop")]
    pub activity: LoopActivity,
}

/// Reads the status of a repository. Changes nothing on disk.
pub fn read_status(workspace: &Workspace) -> Result<StatusReport> {
    Ok(StatusReport {
        has_store: workspace.store.exists(),
        pending: waiting::list_pending(workspace)?,
        learned: learned::list_learned(workspace)?,
        failed: learned::list_failed(workspace)?,
        activity: loop_activity::read_activity(workspace)?,
    })
}
