//! How the loop runs, and what it tells while it does.

use crate::cycle::evolve::{EvolveRequest, Ready};
use crate::cycle::solve::SolveNote;
use crate::network::hub_link::HubLink;
use crate::network::loop_state::LoopMessage;
use crate::solidify::CycleOutcome;
use crate::workspace::Workspace;
use capsid_model::Problem;
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How the loop runs.
#[derive(Debug, Clone)]
pub struct LoopOptions {
    /// What kind of cycles.
    pub request: EvolveRequest,
    /// The agent; without one the loop prints prompts and waits for them to be settled.
    pub agent: Vec<String>,
    /// How long the agent may take.
    pub agent_timeout: Option<Duration>,
    /// Commit what succeeded.
    pub commit: bool,
    /// How often the agent tries again after a failed validation; the owner's setting otherwise.
    pub retries: Option<u32>,
    /// Stop after this many cycles.
    pub max_cycles: Option<u64>,
    /// Stop when there is no live problem.
    pub until_clean: bool,
    /// Stop when the day's budget is used up.
    pub exit_on_budget: bool,
    /// Set from outside to stop.
    pub stop: Arc<AtomicBool>,
    /// The line to a hub, if there is one.
    pub link: Option<HubLink>,
}

/// What the loop tells while it runs.
#[derive(Debug)]
pub enum LoopNote<'a> {
    /// A cycle was settled.
    Settled(&'a CycleOutcome),
    /// A prompt waits for somebody to work on it.
    Prompt(&'a Ready),
    /// A step on the way to a solution.
    Solve(&'a SolveNote<'a>),
    /// Something happened that is worth a line of its own.
    Event(&'a str),
    /// A pass is over.
    PassEnded(&'a PassSummary),
    /// A cycle or its agent could not run.
    Problem(&'a Problem),
    /// Something passed between this node and its hub.
    Hub(&'a LoopMessage),
}

/// The one line at the end of a pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PassSummary {
    /// What was seen.
    pub seen: String,
    /// What was done about it; empty for nothing.
    pub done: String,
    /// What is left of the day's budget.
    pub budget: String,
    /// How long the loop sleeps now; none if it ends.
    pub sleep: Option<Duration>,
}

impl std::fmt::Display for PassSummary {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.seen)?;
        if !self.done.is_empty() {
            write!(f, "; {}", self.done)?;
        }
        write!(f, "; {}", self.budget)?;
        match self.sleep {
            Some(sleep) => write!(f, "; next look in {:.1} s", sleep.as_secs_f64()),
            None => Ok(()),
        }
    }
}

/// What every part of a pass needs.
pub(super) struct PassContext<'a> {
    pub(super) workspace: &'a Workspace,
    pub(super) options: &'a LoopOptions,
    pub(super) on_note: &'a mut dyn FnMut(&LoopNote<'_>),
    pub(super) on_output: &'a mut dyn FnMut(&[u8]),
}

impl PassContext<'_> {
    pub(super) fn has_agent(&self) -> bool {
        !self.options.agent.is_empty()
    }
}
