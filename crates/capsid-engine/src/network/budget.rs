//! How much of a day may go into work for others, and how much already did. The day is that of UTC.

use crate::config::HubConnectionConfig;
use crate::store;
use crate::workspace::Workspace;
use capsid_model::{Code, Problem, Result, Time, Value, json};
use std::path::PathBuf;
use std::time::Duration;

/// What a day has cost so far.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct DailySpend {
    pub date: String,
    /// How many tasks were worked on.
    pub runs: u64,
    pub time: Duration,
}

impl DailySpend {
    /// What the day of `now` has cost, by the record of the workspace.
    pub fn today(workspace: &Workspace, now: Time) -> Result<Self> {
        let state = store::read_state(&path(workspace)?)?;
        let number = |name: &str| state.get(name).and_then(Value::as_u64).unwrap_or_default();
        let date = state.get("date").and_then(Value::as_str).unwrap_or_default();
        Ok(match date == now.date() {
            true => Self {
                date: now.date(),
                runs: number("runs"),
                time: Duration::from_millis(number("time_ms")),
            },
            false => Self { date: now.date(), ..Self::default() },
        })
    }

    /// Nothing where there is something left; otherwise what is used up.
    pub fn check(&self, allowed: &HubConnectionConfig) -> Result<()> {
        let minutes = self.time.as_secs() / 60;
        let what = match () {
            () if self.runs >= allowed.task_runs_per_day => {
                format!("{} of {} tasks", self.runs, allowed.task_runs_per_day)
            }
            () if minutes >= allowed.task_minutes_per_day => {
                format!("{minutes} of {} minutes", allowed.task_minutes_per_day)
            }
            () => return Ok(()),
        };
        Err(Problem::new(Code::BudgetSpent, format!("No more tasks are taken today: {what} are used up.")).fix(
            "Wait until tomorrow (UTC), or raise `task_runs_per_day` or `task_minutes_per_day` under `[hub]` in capsid.toml.",
        ))
    }

    /// One line about what is left.
    pub fn remaining(&self, allowed: &HubConnectionConfig) -> String {
        let minutes = allowed.task_minutes_per_day.saturating_sub(self.time.as_secs() / 60);
        let runs = allowed.task_runs_per_day.saturating_sub(self.runs);
        format!("{runs} task(s) and {minutes} min left today")
    }
}

/// Counts a task that is begun, before any time goes into it.
pub fn begin(workspace: &Workspace, now: Time) -> Result<DailySpend> {
    let mut spent = DailySpend::today(workspace, now)?;
    spent.runs = spent.runs.saturating_add(1);
    write(workspace, &spent)
}

/// Adds the time that went into a task.
pub fn charge(workspace: &Workspace, took: Duration, now: Time) -> Result<DailySpend> {
    let mut spent = DailySpend::today(workspace, now)?;
    spent.time = spent.time.saturating_add(took);
    write(workspace, &spent)
}

fn write(workspace: &Workspace, spent: &DailySpend) -> Result<DailySpend> {
    let time_ms = u64::try_from(spent.time.as_millis()).unwrap_or(u64::MAX);
    let state = json!({"date": spent.date, "runs": spent.runs, "time_ms": time_ms});
    workspace.create_state_dir()?;
    store::write_state(&path(workspace)?, &state.as_object().cloned().unwrap_or_default())?;
    Ok(spent.clone())
}

fn path(workspace: &Workspace) -> Result<PathBuf> {
    workspace.state_file("task_budget.json")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_day_ends_by_tasks_or_by_minutes() {
        let allowed = HubConnectionConfig {
            task_runs_per_day: 2,
            task_minutes_per_day: 10,
            ..HubConnectionConfig::default()
        };
        let spent = |runs, minutes: u64| DailySpend {
            date: "2026-02-07".into(),
            runs,
            time: Duration::from_secs(minutes * 60),
        };
        assert!(spent(1, 9).check(&allowed).is_ok());
        assert_eq!(spent(2, 0).check(&allowed).unwrap_err().code, Code::BudgetSpent);
        assert_eq!(spent(0, 10).check(&allowed).unwrap_err().code, Code::BudgetSpent);
        assert_eq!(spent(1, 4).remaining(&allowed), "1 task(s) and 6 min left today");
        assert_eq!(spent(9, 99).remaining(&allowed), "0 task(s) and 0 min left today");
        let nothing = HubConnectionConfig { task_runs_per_day: 0, ..HubConnectionConfig::default() };
        assert!(spent(0, 0).check(&nothing).is_err());
    }
}
