//! What the loop of a repository does and spent.

use crate::evolve_loop::lock_path;
use crate::evolve_loop::record::LoopRecord;
use crate::workspace::Workspace;
use capsid_disk::Lock;
use capsid_model::Result;
use capsid_rules::learning::suspension::AttemptPermit;
use serde::Serialize;

/// What the loop does.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LoopActivity {
    pub is_running: bool,
    /// The process of a running loop.
    pub process: Option<u32>,
    /// The run that it is working on.
    pub run_id: Option<String>,
    /// The day of the budget, in UTC.
    pub date: String,
    pub agent_calls: u64,
    pub agent_calls_per_day: u64,
    pub agent_seconds: u64,
    pub agent_minutes_per_day: u64,
    pub cost_usd: f64,
    pub cost_per_day_usd: Option<f64>,
    /// What is left of the day, in words.
    pub remaining: String,
    pub suspended: Vec<SuspendedProblem>,
}

/// A problem that the loop leaves alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct SuspendedProblem {
    pub id: String,
    pub problem: String,
    /// When the loop tries it again; none if it waits for `capsid loop resume`.
    pub until: Option<String>,
}

pub(super) fn read_activity(workspace: &Workspace) -> Result<LoopActivity> {
    let now = workspace.now();
    let config = &workspace.config.evolve_loop;
    let record = LoopRecord::load(workspace)?;
    let spent = record.spending.on_day(now);
    let holder = Lock::find_holder(&lock_path(workspace))?;
    let suspended = record.attempts.list_suspended(now).into_iter().map(|(id, permit)| SuspendedProblem {
        id: id.to_owned(),
        problem: record.texts.get(id).cloned().unwrap_or_default(),
        until: match permit {
            AttemptPermit::SuspendedUntil(time) => Some(time.iso()),
            AttemptPermit::Allowed | AttemptPermit::SuspendedUntilResumed => None,
        },
    });
    Ok(LoopActivity {
        is_running: holder.is_some(),
        process: holder.filter(|process| *process > 0),
        run_id: record.run_id,
        agent_calls: spent.agent_calls,
        agent_calls_per_day: config.agent_calls_per_day,
        agent_seconds: spent.agent_ms / 1000,
        agent_minutes_per_day: config.agent_minutes_per_day,
        cost_usd: spent.cost_usd,
        cost_per_day_usd: config.cost_per_day_usd,
        remaining: spent.describe_remaining(&config.budget()),
        suspended: suspended.collect(),
        date: spent.date,
    })
}
