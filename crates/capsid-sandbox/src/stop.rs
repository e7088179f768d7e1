//! Asks another process of this program to stop its agent.

use capsid_model::{Code, Problem, Result};
use rustix::process::{Pid, Signal, kill_process};

/// Sends SIGTERM to a process, which then stops its agent and ends in order.
pub fn stop_process(process: u32) -> Result<()> {
    let gone = |why: String| {
        Problem::new(Code::NotFound, format!("Process {process} cannot be stopped: {why}."))
            .fix("Check whether it is still running, and whose process it is.")
    };
    let pid = i32::try_from(process)
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| gone("it has no number".to_owned()))?;
    kill_process(pid, Signal::TERM).map_err(|error| gone(error.to_string()))
}
