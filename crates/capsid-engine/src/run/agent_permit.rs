//! The right to call an agent: a loop has a budget for each day, a single cycle has none.

use capsid_model::{Result, Time};
use std::time::Duration;

/// Whoever may refuse an agent call, and counts those that took place. Trying a stored patch is no call.
pub trait AgentPermit {
    /// Counts a call before it begins, and gives the longest time that it may take. A used-up budget is a problem with
    /// the code `budget_used_up`; nothing is counted then.
    fn start_call(&mut self, now: Time) -> Result<Duration>;

    /// Counts what a call took and, if its agent reported it, what it cost.
    fn finish_call(&mut self, took: Duration, cost_usd: Option<f64>, now: Time) -> Result<()>;
}

/// The permit of a single cycle: its owner started it, so only the agent's own time limit applies.
#[derive(Debug, Clone, Copy, Default)]
pub struct Unlimited;

impl AgentPermit for Unlimited {
    fn start_call(&mut self, _now: Time) -> Result<Duration> {
        Ok(Duration::MAX)
    }

    fn finish_call(&mut self, _took: Duration, _cost_usd: Option<f64>, _now: Time) -> Result<()> {
        Ok(())
    }
}
