//! Runs validation commands through the gate and the sandbox, in a view of the repository that is thrown away.

mod tree;

pub use tree::ValidationTree;

use crate::config::SandboxPolicy;
use crate::files::script::check_script;
use crate::workspace::Workspace;
use capsid_model::gate;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::report::CommandResult;
use capsid_model::{Code, Problem, Result};
use capsid_sandbox::{
    Confinement, FinishedProcess, IsolationPolicy, LimitHit, ProcessEnd, ProcessLimits, ValidationProfile,
    run_validation,
};
use std::path::PathBuf;
use std::time::Duration;

/// What running the commands gave.
#[derive(Debug, Clone, Default)]
pub struct Validated {
    /// Each command that ran or was refused, up to the first that failed.
    pub commands: Vec<CommandResult>,
    /// How each of them ended and how long it took, in the same order.
    pub runs: Vec<CommandRun>,
    /// How they were kept apart from the machine.
    pub isolation: String,
    /// Under which ids they ran.
    pub ids: String,
    /// How long they took together.
    pub duration: Duration,
    /// Whether a command could not run for want of a sandbox.
    pub sandbox_failed: bool,
    /// Whether a command did not pass the gate.
    pub gate_refused: bool,
    /// What the machine lacks, when a program is not installed.
    pub host_failure: Option<String>,
    /// Limits that a command ran into.
    pub limits_hit: Vec<String>,
    /// Files that the commands wrote, by their top folder. All of them were discarded.
    pub side_effects: Vec<(String, u64)>,
}

/// How a command ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct CommandRun {
    /// None if a signal or a limit ended it, or if it did not run.
    pub exit_code: Option<i32>,
    pub duration: Duration,
    /// Whether it ran at all.
    pub has_run: bool,
}

impl Validated {
    fn push(&mut self, (result, run): (CommandResult, CommandRun)) -> bool {
        let ok = result.ok;
        self.commands.push(result);
        self.runs.push(run);
        ok
    }

    /// The last result of a command, with how it ended.
    pub fn find(&self, command: &str) -> Option<(&CommandResult, CommandRun)> {
        let at = self.commands.iter().rposition(|result| result.command == command)?;
        Some((&self.commands[at], self.runs.get(at).copied().unwrap_or_default()))
    }
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

/// Runs commands one after the other, the whole list a second time if asked, and stops at the first that fails. The
/// commands of a list share one write layer, because a build may prepare a test; the second list gets a fresh one.
pub fn run(
    commands: &[String],
    twice: bool,
    workspace: &Workspace,
    tree: &ValidationTree,
) -> Result<Validated> {
    let mut validated = Validated { isolation: "none".to_owned(), ..Validated::default() };
    if commands.is_empty() {
        return Ok(validated);
    }
    for _ in 0..if twice { 2 } else { 1 } {
        let view = match tree.open(workspace) {
            Ok(view) => view,
            Err(problem) => {
                note_failure(&problem, &mut validated);
                validated.push((failed(&commands[0], problem.message), CommandRun::default()));
                return Ok(validated);
            }
        };
        for command in commands {
            let result = run_one(command, workspace, &view, &mut validated);
            if !validated.push(result) {
                break;
            }
        }
        validated.side_effects = view.side_effects();
        if validated.commands.iter().any(|command| !command.ok) {
            break;
        }
    }
    Ok(validated)
}

fn failed(command: &str, stderr: String) -> CommandResult {
    CommandResult { command: command.to_owned(), stderr, ..CommandResult::default() }
}

fn run_one(
    command: &str,
    workspace: &Workspace,
    view: &tree::OpenView,
    validated: &mut Validated,
) -> (CommandResult, CommandRun) {
    let policy = workspace.config.gate();
    let checked = gate::check(command, &policy)
        .and_then(|argv| check_script(&view.roots(), &argv, &policy).map(|()| argv));
    let argv = match checked {
        Ok(argv) => argv,
        Err(refusal) => {
            validated.gate_refused = true;
            return (failed(command, refusal.to_string()), CommandRun::default());
        }
    };
    let policy = &workspace.config.validation;
    let limits = ProcessLimits {
        timeout: workspace.config.validation_timeout(),
        disk_bytes: policy.disk_mb << 20,
        ..ProcessLimits::default()
    };
    let confinement = Confinement {
        tree: view.confined(),
        profile: ValidationProfile::Validation,
        extra_read: extra_read(workspace),
        network: policy.network,
    };
    match run_validation(&argv, &confinement, isolation_policy(workspace), &limits) {
        Ok(finished) => {
            finished.isolation.as_str().clone_into(&mut validated.isolation);
            finished.ids.as_str().clone_into(&mut validated.ids);
            validated.duration += finished.duration;
            validated.limits_hit.extend(finished.limits_hit.iter().map(|limit| limit.as_str().to_owned()));
            let exit_code = match finished.end {
                ProcessEnd::Exited(status) => Some(status),
                ProcessEnd::Signalled(_) | ProcessEnd::TimedOut => None,
            };
            let run = CommandRun { exit_code, duration: finished.duration, has_run: true };
            (result_of(command, &finished, limits.timeout), run)
        }
        Err(problem) => {
            note_failure(&problem, validated);
            (failed(command, problem.message), CommandRun::default())
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
    if finished.limits_hit.contains(&LimitHit::Disk) {
        stderr.push_str("\nstopped: it wrote more than `[validation] disk_mb` allows");
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
        Code::SandboxUnavailable | Code::ViewUnavailable => validated.sandbox_failed = true,
        _ => validated.host_failure = Some(problem.message.clone()),
    }
}

fn extra_read(workspace: &Workspace) -> Vec<PathBuf> {
    workspace.config.validation.read.iter().map(|path| workspace.expand_home(path)).collect()
}

fn isolation_policy(workspace: &Workspace) -> IsolationPolicy {
    match workspace.config.validation.sandbox {
        SandboxPolicy::Require => IsolationPolicy::Require,
        SandboxPolicy::Off => IsolationPolicy::Off,
    }
}
