//! Running the user's own agent: the prompt on its standard input, its output passed on as it comes, a time limit.
//!
//! With a profile it works in a private view of the repository, and what it writes elsewhere is dropped. Without one it has
//! all that the user has. When it ends, every process that it started ends too.

use crate::agent_files::private_home::PrivateHome;
use crate::agent_files::writes::{self, OutsideWrites};
use crate::isolation::{best_isolation, unavailable};
use crate::launched::{GRACE, LaunchedProgram, deadline};
use crate::output::next;
use crate::ownership::take_from_sandbox;
use crate::{AgentProfile, ConfinedTree, Isolation, LimitHit, SandboxIds, plans, program};
use capsid_model::{Code, Problem, Result};
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How often the stop flag and the clock are read.
const TICK: Duration = Duration::from_millis(20);
/// How long an agent that was asked to end may take.
const TIME_TO_END: Duration = Duration::from_secs(5);

/// How to run the agent.
#[derive(Debug, Clone, Copy)]
pub struct AgentRequest<'a> {
    /// The program and its arguments; a path such as `./fix.sh` is meant from `cwd`.
    pub argv: &'a [String],
    /// Where it runs.
    pub cwd: &'a Path,
    /// What it can read on its standard input.
    pub prompt: &'a [u8],
    /// Variables on top of the user's own.
    pub env: &'a [(String, String)],
    /// When it is ended.
    pub timeout: Duration,
    /// Set from elsewhere, such as a signal handler, to have it ended.
    pub stop: &'a AtomicBool,
    /// How it is confined, if it is.
    pub profile: Option<&'a AgentProfile>,
}

/// How the agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentEnd {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It was ended because its time was over.
    TimedOut,
    /// It was ended because the stop flag was set.
    Stopped,
}

/// A run of the agent that is over.
#[derive(Debug, Clone)]
pub struct AgentRun {
    /// How it ended.
    pub end: AgentEnd,
    /// The limits it ran into.
    pub limits_hit: Vec<LimitHit>,
    /// How it was confined.
    pub isolation: Isolation,
    /// As whom it ran.
    pub ids: SandboxIds,
    /// Files outside of the repository that it changed, and whose changes were dropped; the first of them.
    pub outside_writes: Vec<PathBuf>,
    /// How many there were.
    pub outside_count: usize,
    /// What it wrote to the repository, if its write layer was in memory: the folder `upper`.
    pub memory_upper: Option<Arc<OwnedFd>>,
    /// How long building the sandbox took.
    pub build_time: Duration,
    /// What of the sandbox is weaker than planned.
    pub notes: Vec<String>,
}

/// Runs the agent to its end and hands its output to `on_output` in the order of arrival. It is confined as well as this
/// machine can, if it has a profile.
pub fn run_agent(request: &AgentRequest<'_>, on_output: &mut dyn FnMut(&[u8])) -> Result<AgentRun> {
    let isolation = match request.profile {
        Some(_) => best_isolation()?,
        None => Isolation::None,
    };
    run_agent_at(isolation, request, on_output)
}

/// The same in one kind of sandbox, whether or not a better one is there.
pub fn run_agent_at(
    isolation: Isolation,
    request: &AgentRequest<'_>,
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<AgentRun> {
    let Some(name) = request.argv.first() else {
        return Err(Problem::new(Code::InputInvalid, "The agent's command is empty."));
    };
    let profile = request.profile.map(resolve).transpose()?;
    check_level(isolation, profile.as_ref())?;
    let program = find_program(name, request)?;
    let mut private_home = None;
    let plan = match &profile {
        Some(profile) => {
            writes::prepare(profile)?;
            if isolation == Isolation::Landlock {
                private_home = Some(PrivateHome::lay_down(profile)?);
            }
            plans::agent(isolation, &program, request, profile, private_home.as_ref())
        }
        None => plans::unconfined_agent(&program, request),
    };
    let deadline = deadline(request.timeout);
    let mut running =
        LaunchedProgram::start(&plan, Stdio::piped()).map_err(|error| unavailable(isolation, error))?;
    let output = connect(&mut running, request.prompt);
    let cut_short = follow(&mut running, &output, on_output, |now| {
        if request.stop.load(Ordering::Relaxed) {
            Some(AgentEnd::Stopped)
        } else {
            (now >= deadline).then_some(AgentEnd::TimedOut)
        }
    });
    if cut_short.is_some() {
        running.ask_to_end();
        let until = Instant::now() + TIME_TO_END;
        follow(&mut running, &output, on_output, |now| (now >= until).then_some(AgentEnd::TimedOut));
    }
    let outcome = running.finish().map_err(|error| unavailable(isolation, error))?;
    drain(&output, on_output);
    if let Some(failure) = outcome.refused {
        return Err(unavailable(isolation, failure));
    }
    if let Some(error) = outcome.not_started {
        return Err(not_started(isolation, name, &program, &error));
    }
    let outside = match (&profile, private_home) {
        (Some(profile), Some(home)) => {
            profile.kept_writes.iter().for_each(|folder| take_from_sandbox(folder));
            writes::finish_private_home(profile, home)?
        }
        (Some(profile), None) if isolation == Isolation::Namespaces => writes::finish_layers(profile)?,
        _ => OutsideWrites::default(),
    };
    let mut limits_hit = outcome.limits_hit;
    if cut_short == Some(AgentEnd::TimedOut) {
        limits_hit.push(LimitHit::Time);
    }
    let end = cut_short.unwrap_or(match outcome.end {
        Ok(status) => AgentEnd::Exited(status),
        Err(signal) => AgentEnd::Signalled(signal),
    });
    Ok(AgentRun {
        end,
        limits_hit,
        isolation,
        ids: outcome.ids,
        outside_writes: outside.first,
        outside_count: outside.count,
        memory_upper: outcome.memory_upper.map(Arc::new),
        build_time: outcome.build_time,
        notes: outcome.notes,
    })
}

/// A private view needs namespaces; a copy can be worked on in the best sandbox there is.
fn check_level(isolation: Isolation, profile: Option<&AgentProfile>) -> Result<()> {
    match profile.map(|profile| &profile.tree) {
        Some(ConfinedTree::Private(tree)) if isolation != Isolation::Namespaces => Err(unavailable(
            Isolation::Namespaces,
            format_args!("a private view of `{}` needs them", tree.root.display()),
        )),
        _ => Ok(()),
    }
}

fn resolve(profile: &AgentProfile) -> Result<AgentProfile> {
    let home = profile.home.canonicalize().unwrap_or_else(|_| profile.home.clone());
    let copied_back = profile.copied_back.iter().map(|login| resolve_folder(login)).collect();
    Ok(AgentProfile { tree: profile.tree.resolved()?, home, copied_back, ..profile.clone() })
}

/// The path with the real name of its folder; the file itself may be a link that stays one.
fn resolve_folder(file: &Path) -> PathBuf {
    let folder = file.parent().and_then(|folder| folder.canonicalize().ok());
    let resolved = folder.and_then(|folder| Some(folder.join(file.file_name()?)));
    resolved.unwrap_or_else(|| file.to_owned())
}

/// Where an agent's program is, before anything is begun for it.
pub fn find_agent(name: &str, root: &Path) -> Result<PathBuf> {
    program::ResolvedProgram::find(name, root).map(|program| program.path).map_err(|_| {
        let message = format!("The agent `{name}` is no program that can be started; nothing was recorded.");
        Problem::new(Code::AgentNotFound, message).fix(
            "Check the command given to `--agent` or `[cycle] agent`: a path is meant from the repository's root, a bare name from the PATH.",
        )
    })
}

/// A path is meant from the agent's folder, a bare name from the PATH.
fn find_program(name: &str, request: &AgentRequest<'_>) -> Result<PathBuf> {
    if name.contains('/') {
        return Ok(request.cwd.join(name));
    }
    let missing = || std::io::Error::from(std::io::ErrorKind::NotFound);
    program::search(name, request.cwd)
        .ok_or_else(|| not_started(Isolation::None, name, Path::new(name), &missing()))
}

/// Threads feed the prompt and read both outputs, so that no pipe can fill up and stop the agent.
fn connect(running: &mut LaunchedProgram, prompt: &[u8]) -> Receiver<Vec<u8>> {
    if let Some(mut stdin) = running.stdin() {
        let prompt = prompt.to_vec();
        // An agent may ignore its input and end before it is written.
        std::thread::spawn(move || stdin.write_all(&prompt));
    }
    let (sender, receiver) = sync_channel(64);
    if let Some(stdout) = running.stdout() {
        pass_on(stdout, sender.clone());
    }
    if let Some(stderr) = running.stderr() {
        pass_on(stderr, sender);
    }
    receiver
}

fn pass_on(mut pipe: impl Read + Send + 'static, to: SyncSender<Vec<u8>>) {
    std::thread::spawn(move || {
        let mut buffer = [0; 8 * 1024];
        while let Some(read) = next(&mut pipe, &mut buffer) {
            if to.send(buffer[..read].to_vec()).is_err() {
                return;
            }
        }
    });
}

/// Passes output on until the agent has ended; gives the reason if it must be cut short.
fn follow(
    running: &mut LaunchedProgram,
    output: &Receiver<Vec<u8>>,
    on_output: &mut dyn FnMut(&[u8]),
    cut_short: impl Fn(Instant) -> Option<AgentEnd>,
) -> Option<AgentEnd> {
    loop {
        match output.recv_timeout(TICK) {
            Ok(bytes) => on_output(&bytes),
            Err(RecvTimeoutError::Timeout) => {}
            // Both outputs are closed: what is left is to wait for the end.
            Err(RecvTimeoutError::Disconnected) => {
                running.wait_until(Instant::now() + TICK);
            }
        }
        if running.wait_until(Instant::now()) {
            return None;
        }
        if let Some(end) = cut_short(Instant::now()) {
            return Some(end);
        }
    }
}

/// The rest of the output; a process that holds it open for ever is not waited for.
fn drain(output: &Receiver<Vec<u8>>, on_output: &mut dyn FnMut(&[u8])) {
    let until = Instant::now() + GRACE;
    loop {
        let left = until.saturating_duration_since(Instant::now());
        match output.recv_timeout(left) {
            Ok(bytes) if !left.is_zero() => on_output(&bytes),
            _ => return,
        }
    }
}

fn not_started(isolation: Isolation, name: &str, program: &Path, error: &std::io::Error) -> Problem {
    let code = match error.kind() {
        std::io::ErrorKind::NotFound => Code::ProgramNotFound,
        _ => Code::AgentFailed,
    };
    let problem = Problem::new(code, format!("The agent `{name}` could not be started: {error}."));
    let is_refused = error.kind() == std::io::ErrorKind::PermissionDenied && program::is_executable(program);
    match program.canonicalize() {
        Ok(real) if is_refused && isolation == Isolation::Landlock => problem.fix(format!(
            "The isolation is `landlock`: an agent can run programs of the system and of your home only. The program is \
             `{}`; name the folder that it was installed to in `[agent] show` in `capsid.toml`.",
            real.display()
        )),
        _ => problem.fix("Check the command given to `--agent` and that the program may be executed."),
    }
}
