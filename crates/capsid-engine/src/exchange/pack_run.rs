//! Reproduces a solution of a pack that is a part of the program: its commands run without the change and with it, in the
//! sandbox for strangers.

use super::control::{ControlRuns, run_on_reproduction};
use super::reproduction::read_reproduction;
use super::trial::TrialReport;
use capsid_model::gate::CommandPolicy;
use capsid_model::{Object, Result, Time, Value};
use std::time::Duration;

/// How long one command may take. The first run of a compiler without its cache is slow.
const TIMEOUT: Duration = Duration::from_secs(60);

/// What the runs of a solution showed.
#[derive(Debug)]
pub struct PackRun {
    pub trial: TrialReport,
    pub control: ControlRuns,
}

impl PackRun {
    /// Runs the commands of a solution in its reproduction. `programs` are those that the pack may start.
    pub fn new(capsule: &Object, commands: &[String], programs: &[String]) -> Result<Self> {
        let mut policy = CommandPolicy::default();
        policy.programs.extend(programs.iter().cloned());
        let diff = capsule.get("diff").and_then(Value::as_str).unwrap_or_default();
        let (trial, control) = match read_reproduction(capsule) {
            Some(reproduction) => run_on_reproduction(&policy, diff, commands, &reproduction, TIMEOUT)?,
            None => (TrialReport::nothing("env_files_missing", commands.len()), ControlRuns::default()),
        };
        Ok(Self { trial, control })
    }

    /// Whether the commands fail without the change and pass with it.
    pub fn is_reproduced(&self) -> bool {
        self.trial.ok && self.control.base == Some(false) && self.control.bare == Some(false)
    }

    /// Why not, in a sentence; empty where it is reproduced.
    pub fn why_not(&self) -> String {
        if self.is_reproduced() {
            return String::new();
        }
        if self.trial.ok {
            return "Its commands pass without the change too.".to_owned();
        }
        let last = self.trial.commands.last().map(|last| last.stderr_tail.lines().last().unwrap_or_default());
        format!("Its commands fail here ({}): {}", self.trial.class, last.unwrap_or_default())
    }

    /// What a report says of it.
    pub fn to_report(&self, runtime: &str, now: Time) -> Object {
        let mut report = self.trial.to_members(runtime, now);
        report.insert("control".to_owned(), self.control.to_value());
        report.insert("ran_on".to_owned(), "reproduction".into());
        report
    }
}
