//! Lets the user's agent make the change: its own command, in a private view of the repository, the prompt on its
//! standard input.

use super::agent_profile::agent_profile;
use super::agent_view::{AgentView, freeze_change};
use super::evolve::Ready;
use crate::config::SandboxPolicy;
use crate::run::Run;
use crate::run::agent_facts::AgentFacts;
use crate::run::folder::RunFolder;
use crate::solidify::SolidifyRequest;
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::text::{cut, cut_front, inert_line};
use capsid_model::{Problem, Result};
use capsid_sandbox::isolation::best_of;
use capsid_sandbox::{AgentEnd, AgentRequest, AgentRun, LimitHit, SandboxIds, run_agent};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// The most commits of an agent that an event names.
const MAX_COMMITS: usize = 20;
/// The most of a reflog that is read.
const MAX_REFLOG: u64 = 1 << 20;
/// The end of what an agent printed that is kept, in bytes.
const MAX_PRINTED: usize = 16 * 1024;
/// The most of a note that is read, in bytes.
const MAX_NOTE: u64 = 16 * 1024;

/// How to run the agent.
#[derive(Debug, Clone)]
pub struct AgentOptions {
    /// Its command and arguments.
    pub argv: Vec<String>,
    /// How long it may take; the owner's setting otherwise.
    pub timeout: Option<Duration>,
    /// Set from outside to stop it.
    pub stop: Arc<AtomicBool>,
}

/// How the agent ended.
#[derive(Debug, Clone, Default)]
pub struct AgentOutcome {
    /// What went wrong, if anything did.
    pub failure: Option<String>,
    /// Why it could not be run at all, with what to do about it.
    pub problem: Option<Problem>,
    /// Whether it was stopped from outside: then nobody has evaluated its work, and the run waits.
    pub stopped: bool,
    /// The run it worked on.
    pub run_id: String,
    /// What was seen of it.
    pub facts: AgentFacts,
}

impl AgentOutcome {
    /// The request that finishes its run.
    pub fn request(self, commit: bool) -> SolidifyRequest {
        SolidifyRequest {
            commit,
            host_failure: self.failure,
            run_id: Some(self.run_id),
            unattended: true,
            ..SolidifyRequest::default()
        }
    }
}

/// Runs the agent on a prepared run and freezes what it changed. A failing agent is an outcome, not an error: its run is
/// still to be finished.
pub fn run(
    workspace: &Workspace,
    ready: &mut Ready,
    options: &AgentOptions,
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<AgentOutcome> {
    let timeout =
        options.timeout.unwrap_or(Duration::from_secs(workspace.config.cycle.agent_timeout_seconds.max(1)));
    let program =
        ViewProgram { argv: &options.argv, input: ready.prompt.as_bytes(), timeout, stop: &options.stop };
    let outcome = run_in_view(workspace, &ready.run, &ready.prompt_path, &program, on_output)?;
    // From here on anybody may finish the run.
    ready.lock = None;
    Ok(outcome)
}

/// A program that changes files in the view of a run.
pub(super) struct ViewProgram<'a> {
    pub(super) argv: &'a [String],
    /// What it reads on its standard input.
    pub(super) input: &'a [u8],
    pub(super) timeout: Duration,
    pub(super) stop: &'a AtomicBool,
}

/// Runs a program in the view of a run, and freezes what it changed.
pub(super) fn run_in_view(
    workspace: &Workspace,
    run: &Run,
    prompt_path: &Path,
    program: &ViewProgram<'_>,
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<AgentOutcome> {
    let folder = RunFolder::of_run(workspace, &run.run_id)?;
    let view = AgentView::open(workspace, run, &folder)?;
    files::create_private_folder(&folder.note_folder())?;
    files::replace_private(&folder.note_file(), b"")?;
    let profile = agent_profile(workspace, &folder, view.tree.clone())?;
    let request = AgentRequest {
        argv: program.argv,
        cwd: &view.cwd,
        prompt: program.input,
        env: &[
            ("CAPSID_RUN_ID".into(), run.run_id.clone()),
            ("CAPSID_PROMPT_FILE".into(), prompt_path.display().to_string()),
            ("CAPSID_NOTE_FILE".into(), folder.note_file().display().to_string()),
        ],
        timeout: program.timeout,
        stop: program.stop,
        profile: is_confined(workspace, &view).then_some(&profile),
    };
    let mut printed = PrintedEnd::default();
    let ran = run_agent(&request, &mut |bytes| {
        printed.push(bytes);
        on_output(bytes);
    });
    let failure = failure(&ran, program.timeout);
    let stopped = matches!(&ran, Ok(AgentRun { end: AgentEnd::Stopped, .. }));
    let mut facts = facts(ran.as_ref().ok(), &view.upper, &workspace.repository.git_dir);
    facts.failure.clone_from(&failure);
    facts.note = read_note(&folder.note_file());
    facts.printed = printed.into_text();
    let ids = ran.as_ref().map_or(SandboxIds::User, |ran| ran.ids);
    facts.write(&folder)?;
    freeze_change(workspace, run, &folder, &view, ids)?;
    Ok(AgentOutcome { failure, problem: ran.err(), stopped, run_id: run.run_id.clone(), facts })
}

/// The end of what an agent prints.
#[derive(Default)]
struct PrintedEnd(Vec<u8>);

impl PrintedEnd {
    fn push(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
        if self.0.len() > 4 * MAX_PRINTED {
            self.0.drain(..self.0.len() - MAX_PRINTED);
        }
    }

    fn into_text(self) -> String {
        let text = String::from_utf8_lossy(&self.0);
        redact(cut_front(&text, MAX_PRINTED), RedactProfile::Secrets).into_owned()
    }
}

/// What the agent wrote into its note; nothing where it wrote none, or where what is there is no plain file.
fn read_note(path: &Path) -> Option<String> {
    let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    let mut bytes = Vec::new();
    let file = is_file.then(|| std::fs::File::open(path).ok()).flatten()?;
    std::io::Read::read_to_end(&mut std::io::Read::take(file, MAX_NOTE), &mut bytes).ok()?;
    let text = String::from_utf8_lossy(&bytes).into_owned();
    (!text.trim().is_empty()).then(|| redact(&text, RedactProfile::Secrets).into_owned())
}

/// Whether the agent is confined: always, except where its owner does without a sandbox and none works. It works in a
/// copy there, and the event says so.
fn is_confined(workspace: &Workspace, view: &AgentView) -> bool {
    view.copy.is_none()
        || workspace.config.validation.sandbox == SandboxPolicy::Require
        || best_of(&capsid_sandbox::probe()).is_ok()
}

fn failure(ran: &Result<AgentRun>, timeout: Duration) -> Option<String> {
    match ran {
        Ok(ran) if ran.limits_hit.contains(&LimitHit::Disk) => {
            Some("the agent wrote more than `[agent] disk_mb` allows and was stopped".to_owned())
        }
        Ok(ran) => match ran.end {
            AgentEnd::Exited(0) => None,
            AgentEnd::Exited(status) => Some(format!("the agent ended with status {status}")),
            AgentEnd::Signalled(signal) => Some(format!("the agent was ended by signal {signal}")),
            AgentEnd::TimedOut => Some(format!("the agent was stopped after {} s", timeout.as_secs())),
            AgentEnd::Stopped => Some("the agent was stopped by a signal".to_owned()),
        },
        Err(problem) => Some(problem.message.clone()),
    }
}

fn facts(ran: Option<&AgentRun>, upper: &Path, git_dir: &Path) -> AgentFacts {
    let Some(ran) = ran else { return AgentFacts::default() };
    let shown = |path: &PathBuf| cut(&inert_line(&path.display().to_string()), 200).to_owned();
    AgentFacts {
        isolation: ran.isolation.as_str().to_owned(),
        ids: ran.ids.as_str().to_owned(),
        outside: ran.outside_count as u64,
        outside_paths: ran.outside_writes.iter().take(20).map(shown).collect(),
        agent_commits: commit_subjects(upper, git_dir),
        limits_hit: ran.limits_hit.iter().map(|limit| limit.as_str().to_owned()).collect(),
        ..AgentFacts::default()
    }
}

/// The subjects of the commits that the agent made, from the lines that the reflog in its layer has beyond the user's.
/// git itself is never run on a git directory that the agent could write.
fn commit_subjects(upper: &Path, git_dir: &Path) -> Vec<String> {
    let known = read_reflog(&git_dir.join("logs/HEAD")).lines().count();
    let subject = |line: &str| {
        let message = line.split_once('\t')?.1;
        let (kind, subject) = message.split_once(": ")?;
        let shown = || redact(&inert_line(cut(subject, 200)), RedactProfile::Secrets).into_owned();
        kind.starts_with("commit").then(shown)
    };
    let log = read_reflog(&upper.join(".git/logs/HEAD"));
    log.lines().skip(known).filter_map(subject).take(MAX_COMMITS).collect()
}

/// A reflog, as far as it is a text of a fair size; anything else is no reflog.
fn read_reflog(path: &Path) -> String {
    use std::io::Read;
    let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
    let mut text = String::new();
    if let Some(file) = is_file.then(|| std::fs::File::open(path).ok()).flatten()
        && file.take(MAX_REFLOG).read_to_string(&mut text).is_err()
    {
        text.clear();
    }
    text
}
