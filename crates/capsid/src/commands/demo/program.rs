//! This program, run by itself.

use capsid_model::{Code, Problem, Result};
use capsid_sandbox::{AgentEnd, AgentRequest, run_agent};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How the program is run.
pub(super) struct ProgramRun<'a> {
    pub(super) folder: &'a Path,
    pub(super) input: &'a [u8],
    pub(super) env: &'a [(String, String)],
    pub(super) longest: Duration,
    pub(super) stop: &'a AtomicBool,
}

/// Runs this program to its end. What it says and what it talks come through one pipe, so that they stay in order.
pub(super) fn run_self(
    words: &[&str],
    run: &ProgramRun<'_>,
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<AgentEnd> {
    let program = std::env::current_exe().map_err(|error| story_broke(&error.to_string()))?;
    let program = program.display().to_string();
    let together = ["sh", "-c", "exec \"$0\" \"$@\" 2>&1", &program];
    let argv: Vec<String> = together.iter().chain(words).map(|word| (*word).to_owned()).collect();
    let ProgramRun { folder, input, env, longest, stop } = *run;
    let request =
        AgentRequest { argv: &argv, cwd: folder, prompt: input, env, timeout: longest, stop, profile: None };
    run_agent(&request, on_output).map(|run| run.end)
}

/// A story that cannot go on.
pub(super) fn story_broke(what: &str) -> Problem {
    Problem::new(Code::Internal, format!("The demo could not go on: {what}."))
}
