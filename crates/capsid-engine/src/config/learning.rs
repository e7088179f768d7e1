//! `[proof]`, `[problems]` and `[loop]`: how changes are proven, how logs are read, and what the loop may spend.

use capsid_rules::learning::daily_budget::DailyBudget;
use capsid_rules::learning::proof::plan::{RevertMode, TestChangePolicy};
use capsid_rules::learning::suspension::ATTEMPTS_PER_PROBLEM;
use serde::Deserialize;
use std::path::PathBuf;
use std::time::Duration;

/// How a change is proven.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct ProofConfig {
    /// Whether the command runs once more without the source part of the change: auto, always or never.
    pub revert: RevertMode,
    /// What happens if the old checks fail with a change: review, refuse or allow.
    pub test_changes: TestChangePolicy,
    /// The most seconds that all runs of a proof may take together.
    pub budget_seconds: u64,
}

impl Default for ProofConfig {
    fn default() -> Self {
        Self { revert: RevertMode::default(), test_changes: TestChangePolicy::default(), budget_seconds: 600 }
    }
}

impl ProofConfig {
    pub fn budget(&self) -> Duration {
        Duration::from_secs(self.budget_seconds.max(1))
    }
}

/// How problems are read from logs.
#[derive(Debug, Clone, Default, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct ProblemsConfig {
    /// Files with matchers of your own, in the JSON form that editors and CI systems use.
    pub matchers: Vec<PathBuf>,
}

/// What the loop does and may spend.
#[derive(Debug, Clone, Deserialize, PartialEq)]
#[serde(deny_unknown_fields, default)]
pub struct LoopConfig {
    /// Commands that run when the tree changed; their output is a log.
    pub watch: Vec<String>,
    /// Whether the loop may begin a feature or an improvement that nobody asked for.
    pub innovate: bool,
    pub agent_calls_per_day: u64,
    pub agent_minutes_per_day: u64,
    /// Failed attempts at one problem before the loop leaves it alone for a day.
    pub attempts_per_problem: u32,
    /// Minutes with nothing to do after which the loop ends; 0 for never.
    pub idle_exit_minutes: u64,
    /// US dollars a day, as far as agents report their cost.
    pub cost_per_day_usd: Option<f64>,
}

impl Default for LoopConfig {
    fn default() -> Self {
        let budget = DailyBudget::default();
        Self {
            watch: Vec::new(),
            innovate: false,
            agent_calls_per_day: budget.agent_calls,
            agent_minutes_per_day: budget.agent_minutes,
            attempts_per_problem: ATTEMPTS_PER_PROBLEM,
            idle_exit_minutes: 0,
            cost_per_day_usd: budget.cost_usd,
        }
    }
}

impl LoopConfig {
    /// What may be spent on agents each day.
    pub fn budget(&self) -> DailyBudget {
        DailyBudget {
            agent_calls: self.agent_calls_per_day,
            agent_minutes: self.agent_minutes_per_day,
            cost_usd: self.cost_per_day_usd,
        }
    }
}
