//! This program, run by itself.

use crate::output::{self, DIM, paint};
use capsid_disk::files;
use capsid_model::text::inert_line;
use capsid_model::{Code, Problem, Result};
use capsid_sandbox::{AgentEnd, AgentRequest, run_agent};
use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// How long a check of a project may take.
const CHECK: Duration = Duration::from_secs(60);
/// How much of its output is shown; the log has all of it.
const SHOWN_LINES: usize = 6;

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

/// Runs a check of a project that fails; gives what it prints. The log gets the command too, as a terminal shows it.
pub(super) fn record_check(
    command: &str,
    folder: &Path,
    env: &[(String, String)],
    log: &Path,
) -> Result<String> {
    let argv: Vec<String> = ["sh", "-c", &format!("exec {command} 2>&1")].map(str::to_owned).to_vec();
    let stop = AtomicBool::new(false);
    let request = AgentRequest {
        argv: &argv,
        cwd: folder,
        prompt: b"",
        env,
        timeout: CHECK,
        stop: &stop,
        profile: None,
    };
    let mut printed = Vec::new();
    let end = run_agent(&request, &mut |bytes| printed.extend_from_slice(bytes))?.end;
    let printed = String::from_utf8_lossy(&printed).into_owned();
    files::replace(log, format!("$ {command}\n{printed}").as_bytes())?;
    match end {
        AgentEnd::Exited(0) => Err(story_broke(&format!("`{command}` passes"))),
        AgentEnd::Exited(_) => Ok(printed),
        end => Err(story_broke(&format!("`{command}` ended with {end:?}"))),
    }
}

/// Shows the first lines of what a check printed.
pub(super) fn print_check(printed: &str) {
    let mut lines = printed.lines().filter(|line| !["", "^"].contains(&line.trim()));
    for line in lines.by_ref().take(SHOWN_LINES) {
        output::line(format_args!("  {}", paint(DIM, inert_line(line))));
    }
    if lines.next().is_some() {
        output::line(format_args!("  {}", paint(DIM, "...")));
    }
}

/// A story that cannot go on.
pub(super) fn story_broke(what: &str) -> Problem {
    Problem::new(Code::Internal, format!("The demo could not go on: {what}."))
}
