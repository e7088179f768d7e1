//! Runs the validation commands of a cycle through the gate and the sandbox.

use super::changed;
use crate::config::SandboxPolicy;
use crate::workspace::Workspace;
use capsid_model::gate;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::report::CommandResult;
use capsid_model::{Code, Problem};
use capsid_sandbox::{
    Confinement, FinishedProcess, IsolationPolicy, ProcessEnd, ProcessLimits, run_validation,
};
use std::path::PathBuf;
use std::time::Duration;

/// What running the commands gave.
#[derive(Debug, Clone, Default)]
pub struct Validated {
    /// Each command that ran or was refused, up to the first that failed.
    pub commands: Vec<CommandResult>,
    /// How they were kept apart from the machine.
    pub isolation: String,
    /// How long they took together.
    pub duration: Duration,
    /// Whether a command could not run for want of a sandbox.
    pub sandbox_failed: bool,
    /// Whether a command did not pass the gate.
    pub gate_refused: bool,
    /// What the machine lacks, when a program is not installed.
    pub host_failure: Option<String>,
}

/// The commands of a cycle in order: the gene's, then the owner's, each once, blank ones left out.
pub fn commands(gene: &[String], workspace: &Workspace) -> Vec<String> {
    let policy = &workspace.config.validation;
    let mut commands: Vec<String> = Vec::new();
    for command in gene.iter().chain(&policy.commands).chain(&policy.load_check) {
        if !command.trim().is_empty() && !commands.contains(command) {
            commands.push(command.clone());
        }
    }
    commands
}

/// Runs commands one after the other, the whole list a second time if asked, and stops at the first that fails.
pub fn run(commands: &[String], twice: bool, workspace: &Workspace) -> Validated {
    let mut validated = Validated { isolation: "none".to_owned(), ..Validated::default() };
    let rounds = if twice { 2 } else { 1 };
    for command in std::iter::repeat_n(commands, rounds).flatten() {
        let result = run_one(command, workspace, &mut validated);
        let ok = result.ok;
        validated.commands.push(result);
        if !ok {
            break;
        }
    }
    validated
}

fn run_one(command: &str, workspace: &Workspace, validated: &mut Validated) -> CommandResult {
    let failed =
        |stderr: String| CommandResult { command: command.to_owned(), stderr, ..CommandResult::default() };
    let argv = match gate::check(command, &workspace.config.gate()) {
        Ok(argv) => argv,
        Err(refusal) => {
            validated.gate_refused = true;
            return failed(refusal.to_string());
        }
    };
    let limits = ProcessLimits { timeout: workspace.config.validation_timeout(), ..ProcessLimits::default() };
    match run_validation(&argv, &confinement(workspace), isolation_policy(workspace), &limits) {
        Ok(finished) => {
            finished.isolation.as_str().clone_into(&mut validated.isolation);
            validated.duration += finished.duration;
            result_of(command, &finished, limits.timeout)
        }
        Err(problem) => {
            note_failure(&problem, validated);
            failed(problem.message)
        }
    }
}

fn result_of(command: &str, finished: &FinishedProcess, timeout: Duration) -> CommandResult {
    let mut stderr = finished.stderr.clone();
    match finished.end {
        ProcessEnd::Exited(0) => {}
        ProcessEnd::Exited(status) if stderr.trim().is_empty() => stderr = format!("exit status {status}"),
        ProcessEnd::Exited(_) => {}
        ProcessEnd::Signalled(signal) => stderr.push_str(&format!("\nended by signal {signal}")),
        ProcessEnd::TimedOut => stderr.push_str(&format!("\nstopped after {} s", timeout.as_secs())),
    }
    CommandResult {
        command: command.to_owned(),
        ok: finished.end == ProcessEnd::Exited(0),
        stdout: redact(&finished.stdout, RedactProfile::Secrets).into_owned(),
        stderr: redact(&stderr, RedactProfile::Secrets).into_owned(),
    }
}

fn note_failure(problem: &Problem, validated: &mut Validated) {
    match problem.code {
        Code::SandboxUnavailable => validated.sandbox_failed = true,
        _ => validated.host_failure = Some(problem.message.clone()),
    }
}

/// The repository is writable, because tests write; its history, the store and protected files are not.
fn confinement(workspace: &Workspace) -> Confinement {
    let root = workspace.repository.root.clone();
    let protected = changed::protected(workspace).into_iter().map(|name| root.join(name));
    let paths = &workspace.paths;
    let guarded = [root.join(".git"), paths.assets.clone(), paths.evolution.clone(), paths.memory_graph()];
    let guarded = guarded.into_iter().chain(protected);
    let read_only: Vec<PathBuf> = guarded.filter(|path| path.starts_with(&root) && path.exists()).collect();
    let policy = &workspace.config.validation;
    let home = workspace.home.as_deref();
    let extra_read = policy.read.iter().map(|path| expand_home(path, home)).collect();
    Confinement { root, read_only, extra_read, network: policy.network }
}

fn expand_home(path: &std::path::Path, home: Option<&std::path::Path>) -> PathBuf {
    match (path.strip_prefix("~"), home) {
        (Ok(rest), Some(home)) => home.join(rest),
        _ => path.to_owned(),
    }
}

fn isolation_policy(workspace: &Workspace) -> IsolationPolicy {
    match workspace.config.validation.sandbox {
        SandboxPolicy::Require => IsolationPolicy::Require,
        SandboxPolicy::Off => IsolationPolicy::Off,
    }
}
