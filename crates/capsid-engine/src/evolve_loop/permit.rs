//! The loop's right to call an agent: counted for each day, in the record of the loop.

use super::record::LoopRecord;
use crate::config::LoopConfig;
use crate::run::agent_permit::AgentPermit;
use crate::workspace::Workspace;
use capsid_model::{Code, Problem, Result, Time};
use capsid_rules::learning::daily_budget::BudgetLimit;
use std::time::Duration;

/// Counts agent calls against the budget of the day.
pub(super) struct LoopPermit<'a> {
    pub(super) workspace: &'a Workspace,
}

impl AgentPermit for LoopPermit<'_> {
    fn start_call(&mut self, now: Time) -> Result<Duration> {
        let config = &self.workspace.config.evolve_loop;
        LoopRecord::update(self.workspace, |record| {
            match record.spending.clone().start_call(&config.budget(), now) {
                Ok((spending, allowance)) => {
                    record.spending = spending;
                    Ok(Duration::from_millis(allowance.max_ms))
                }
                Err(limit) => Err(describe_limit(limit, config)),
            }
        })
    }

    fn finish_call(&mut self, took: Duration, cost_usd: Option<f64>, now: Time) -> Result<()> {
        LoopRecord::update(self.workspace, |record| {
            let took = u64::try_from(took.as_millis()).unwrap_or(u64::MAX);
            record.spending = record.spending.clone().finish_call(took, cost_usd, now);
            Ok(())
        })
    }
}

/// Why no agent may be called today; none if one may.
pub(super) fn find_limit(workspace: &Workspace) -> Result<Option<Problem>> {
    let config = &workspace.config.evolve_loop;
    let spending = LoopRecord::load(workspace)?.spending;
    let started = spending.start_call(&config.budget(), workspace.now());
    Ok(started.err().map(|limit| describe_limit(limit, config)))
}

fn describe_limit(limit: BudgetLimit, config: &LoopConfig) -> Problem {
    let (what, setting) = match limit {
        BudgetLimit::Calls => (format!("{} agent calls", config.agent_calls_per_day), "agent_calls_per_day"),
        BudgetLimit::Minutes => {
            (format!("{} agent minutes", config.agent_minutes_per_day), "agent_minutes_per_day")
        }
        BudgetLimit::Cost => {
            (format!("{:.2} USD", config.cost_per_day_usd.unwrap_or_default()), "cost_per_day_usd")
        }
    };
    Problem::new(Code::BudgetUsedUp, format!("The loop's budget of {what} for today is used up."))
        .fix(format!("Wait until tomorrow (UTC), or raise `{setting}` under `[loop]` in capsid.toml."))
}
