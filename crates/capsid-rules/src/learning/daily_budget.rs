//! How much the loop may spend on agents in one day of UTC.

use capsid_model::Time;
use serde::{Deserialize, Serialize};

const MS_PER_MINUTE: u64 = 60_000;

/// What the loop may spend each day.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DailyBudget {
    pub agent_calls: u64,
    pub agent_minutes: u64,
    /// None means no limit.
    pub cost_usd: Option<f64>,
}

impl Default for DailyBudget {
    fn default() -> Self {
        Self { agent_calls: 20, agent_minutes: 120, cost_usd: None }
    }
}

/// What the loop spent on one day, as the state file holds it.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct DailySpending {
    /// The day, such as `2026-02-07`.
    pub date: String,
    pub agent_calls: u64,
    pub agent_ms: u64,
    pub cost_usd: f64,
}

/// What one agent call may spend.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct AgentAllowance {
    pub max_ms: u64,
    pub max_cost_usd: Option<f64>,
}

/// The part of the budget that is used up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BudgetLimit {
    Calls,
    Minutes,
    Cost,
}

impl DailySpending {
    /// What is spent on the day of `now`: nothing yet, if the record is of another day.
    pub fn on_day(self, now: Time) -> Self {
        let date = now.date();
        if self.date == date { self } else { Self { date, ..Self::default() } }
    }

    /// Counts an agent call before it begins. Nothing changes if a part of the budget is used up.
    pub fn start_call(self, budget: &DailyBudget, now: Time) -> Result<(Self, AgentAllowance), BudgetLimit> {
        let today = self.on_day(now);
        let left = today.remaining(budget);
        if left.agent_calls == 0 {
            return Err(BudgetLimit::Calls);
        }
        if left.max_ms == 0 {
            return Err(BudgetLimit::Minutes);
        }
        if left.max_cost_usd.is_some_and(|cost| cost <= 0.0) {
            return Err(BudgetLimit::Cost);
        }
        let allowance = AgentAllowance { max_ms: left.max_ms, max_cost_usd: left.max_cost_usd };
        Ok((Self { agent_calls: today.agent_calls.saturating_add(1), ..today }, allowance))
    }

    /// Counts what an agent call took. A call that ends on another day counts for that day.
    pub fn finish_call(self, duration_ms: u64, cost_usd: Option<f64>, now: Time) -> Self {
        let today = self.on_day(now);
        let cost = today.cost_usd + crate::amount(cost_usd.unwrap_or(0.0));
        Self { agent_ms: today.agent_ms.saturating_add(duration_ms), cost_usd: crate::amount(cost), ..today }
    }

    /// What is left of the day, in words.
    pub fn describe_remaining(&self, budget: &DailyBudget) -> String {
        let left = self.remaining(budget);
        let minutes = left.max_ms / MS_PER_MINUTE;
        let cost = left.max_cost_usd.map_or(String::new(), |cost| format!(" and {cost:.2} USD"));
        let comma = if cost.is_empty() { " and" } else { "," };
        let plural = if left.agent_calls == 1 { "" } else { "s" };
        format!("{} agent call{plural}{comma} {minutes} min{cost} left today", left.agent_calls)
    }

    fn remaining(&self, budget: &DailyBudget) -> RemainingBudget {
        RemainingBudget {
            agent_calls: budget.agent_calls.saturating_sub(self.agent_calls),
            max_ms: budget.agent_minutes.saturating_mul(MS_PER_MINUTE).saturating_sub(self.agent_ms),
            max_cost_usd: budget.cost_usd.map(|cost| crate::amount(crate::amount(cost) - self.cost_usd)),
        }
    }
}

struct RemainingBudget {
    agent_calls: u64,
    max_ms: u64,
    max_cost_usd: Option<f64>,
}

#[cfg(test)]
#[path = "daily_budget_tests.rs"]
mod tests;
