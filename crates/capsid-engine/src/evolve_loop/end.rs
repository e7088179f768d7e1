//! When the loop ends for good.

use super::options::LoopOptions;
use capsid_model::{Code, Problem};
use std::time::Duration;

/// Host failures in a row after which the loop gives up.
const MAX_HOST_FAILURES: u32 = 5;

/// How a loop ended.
#[derive(Debug, Clone)]
pub struct LoopEnd {
    /// The cycles that it ran.
    pub cycles: u64,
    pub reason: EndReason,
}

/// Why a loop ended.
#[derive(Debug, Clone)]
pub enum EndReason {
    /// A signal of the system.
    Stopped,
    /// `--max-cycles`.
    MaxCycles,
    /// `--until-clean`: there is no live problem.
    Clean,
    /// `idle_exit_minutes`: nothing was to do for so long.
    Idle,
    /// `--exit-on-budget`.
    BudgetUsedUp(Problem),
    /// The machine or the agent failed again and again.
    HostFailures(Problem),
}

impl EndReason {
    /// The reason in words.
    pub fn describe(&self) -> &'static str {
        match self {
            Self::Stopped => "stopped cleanly",
            Self::MaxCycles => "ended after --max-cycles",
            Self::Clean => "no live problem is left",
            Self::Idle => "nothing to do for idle_exit_minutes",
            Self::BudgetUsedUp(_) => "the day's budget is used up",
            Self::HostFailures(_) => "the agent or the machine failed again and again",
        }
    }

    /// The problem that the program ends with; none if it ends well.
    pub fn problem(&self) -> Option<&Problem> {
        match self {
            Self::BudgetUsedUp(problem) | Self::HostFailures(problem) => Some(problem),
            Self::Stopped | Self::MaxCycles | Self::Clean | Self::Idle => None,
        }
    }
}

/// What a pass came to, as far as the end of the loop depends on it.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum PassKind {
    /// A cycle ran and succeeded.
    Succeeded,
    /// A cycle ran and its change failed.
    Failed,
    /// The machine or the agent failed; a cycle may have been recorded.
    HostFailure { is_cycle: bool, message: String },
    /// A prompt was printed.
    Prompted,
    /// There was nothing to do, or nothing may be done.
    Idle { is_clean: bool },
}

/// Counts passes.
#[derive(Debug, Default)]
pub(super) struct LoopProgress {
    pub(super) cycles: u64,
    host_failures: u32,
    last_failure: String,
}

impl LoopProgress {
    pub(super) fn count(&mut self, kind: &PassKind) {
        let is_cycle = match kind {
            PassKind::Succeeded | PassKind::Failed | PassKind::Prompted => {
                self.host_failures = 0;
                true
            }
            PassKind::HostFailure { is_cycle, message } => {
                self.host_failures += 1;
                self.last_failure.clone_from(message);
                *is_cycle
            }
            PassKind::Idle { .. } => false,
        };
        self.cycles += u64::from(is_cycle);
    }

    /// Why the loop ends after this pass; none if it goes on. `limit` is the used-up budget, `idle` how long nothing was
    /// to do.
    pub(super) fn find_end(
        &self,
        options: &LoopOptions,
        kind: &PassKind,
        limit: Option<&Problem>,
        idle: (Duration, u64),
    ) -> Option<EndReason> {
        let (idle_for, idle_exit_minutes) = idle;
        let is_idle = matches!(kind, PassKind::Idle { .. });
        if options.max_cycles.is_some_and(|most| self.cycles >= most) {
            return Some(EndReason::MaxCycles);
        }
        if options.until_clean && *kind == (PassKind::Idle { is_clean: true }) {
            return Some(EndReason::Clean);
        }
        if let Some(problem) = limit.filter(|_| options.exit_on_budget) {
            return Some(EndReason::BudgetUsedUp(problem.clone()));
        }
        if self.host_failures >= MAX_HOST_FAILURES {
            return Some(EndReason::HostFailures(self.host_problem()));
        }
        let is_over = idle_exit_minutes > 0 && idle_for >= Duration::from_secs(idle_exit_minutes * 60);
        (is_idle && is_over).then_some(EndReason::Idle)
    }

    fn host_problem(&self) -> Problem {
        let message = format!(
            "The loop ended after {MAX_HOST_FAILURES} host failures in a row: {}.",
            self.last_failure
        );
        Problem::new(Code::AgentFailed, message).fix(
            "Run the agent's command by hand, check its sign-in and the network, look at `capsid doctor`, then start the loop again.",
        )
    }
}

#[cfg(test)]
#[path = "end_tests.rs"]
mod tests;
