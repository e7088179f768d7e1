//! Running the user's own agent: the prompt on its standard input, its output passed on as it comes, a time limit.
//!
//! The agent is the user's program with the user's rights and environment; it is not confined. Only its time is: when it
//! ends, every process that it started ends too. Agents of one process take turns, see `Watch`.

use crate::leftovers::OrphanReaper;
use crate::output::next;
use crate::process::{GRACE, RunningProcess, deadline, signal_or_status};
use capsid_model::{Code, Problem, Result};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::{Duration, Instant};

/// How often the stop flag and the clock are looked at.
const TICK: Duration = Duration::from_millis(20);

/// How to run the agent.
#[derive(Debug, Clone, Copy)]
pub struct AgentRequest<'a> {
    /// The program and its arguments; a path such as `./fix.sh` is looked up from `cwd`.
    pub argv: &'a [String],
    /// Where it runs.
    pub cwd: &'a Path,
    /// What it can read on its standard input.
    pub prompt: &'a [u8],
    /// Variables on top of the user's own.
    pub env: &'a [(String, String)],
    /// When it is killed.
    pub timeout: Duration,
    /// Set from elsewhere, such as a signal handler, to have it killed.
    pub stop: &'a AtomicBool,
}

/// How the agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AgentEnd {
    /// By itself, with this status.
    Exited(i32),
    /// By this signal.
    Signalled(i32),
    /// It was killed because its time was over.
    TimedOut,
    /// It was killed because the stop flag was set.
    Stopped,
}

/// Runs the agent to its end and hands its output to `on_output` in the order of arrival.
///
/// What is left of its process group is killed, and so is what left the group for a session of its own, so nothing of
/// it edits files afterwards. Where the system hands no orphans over, which only Linux does, the group alone is killed.
pub fn run_agent(request: &AgentRequest<'_>, on_output: &mut dyn FnMut(&[u8])) -> Result<AgentEnd> {
    let Some((name, args)) = request.argv.split_first() else {
        return Err(Problem::new(Code::InputInvalid, "The agent's command is empty."));
    };
    let mut command = Command::new(program(name, request.cwd));
    command
        .args(args)
        .current_dir(request.cwd)
        .envs(request.env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    let watch = OrphanReaper::begin();
    let deadline = deadline(request.timeout);
    let mut running = RunningProcess::start(&mut command).map_err(|error| not_started(name, &error))?;
    let output = connect(&mut running, request.prompt);
    let cut_short = follow(&running, &output, on_output, |now| {
        if request.stop.load(Ordering::Relaxed) {
            Some(AgentEnd::Stopped)
        } else {
            (now >= deadline).then_some(AgentEnd::TimedOut)
        }
    });
    let status = running.finish().map_err(|error| not_started(name, &error))?;
    watch.clear(Instant::now() + GRACE);
    drain(&output, on_output);
    Ok(cut_short.unwrap_or_else(|| match signal_or_status(status) {
        Ok(status) => AgentEnd::Exited(status),
        Err(signal) => AgentEnd::Signalled(signal),
    }))
}

/// A path is meant from the agent's folder, a bare name from the PATH.
fn program(name: &str, cwd: &Path) -> PathBuf {
    if name.contains('/') { cwd.join(name) } else { PathBuf::from(name) }
}

/// Threads feed the prompt and read both outputs, so that no pipe can fill up and stop the agent.
fn connect(running: &mut RunningProcess, prompt: &[u8]) -> Receiver<Vec<u8>> {
    let child = running.child();
    if let Some(mut stdin) = child.stdin.take() {
        let prompt = prompt.to_vec();
        // An agent may ignore its input and end before it is written.
        std::thread::spawn(move || stdin.write_all(&prompt));
    }
    let (sender, receiver) = sync_channel(64);
    if let Some(stdout) = child.stdout.take() {
        pass_on(stdout, sender.clone());
    }
    if let Some(stderr) = child.stderr.take() {
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
    running: &RunningProcess,
    output: &Receiver<Vec<u8>>,
    on_output: &mut dyn FnMut(&[u8]),
    cut_short: impl Fn(Instant) -> Option<AgentEnd>,
) -> Option<AgentEnd> {
    while !running.has_ended() {
        if let Some(end) = cut_short(Instant::now()) {
            return Some(end);
        }
        match output.recv_timeout(TICK) {
            Ok(bytes) => on_output(&bytes),
            Err(RecvTimeoutError::Timeout) => {}
            // Both outputs are closed, yet it still runs.
            Err(RecvTimeoutError::Disconnected) => std::thread::sleep(TICK),
        }
    }
    None
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

fn not_started(name: &str, error: &std::io::Error) -> Problem {
    let code = match error.kind() {
        std::io::ErrorKind::NotFound => Code::ProgramNotFound,
        _ => Code::AgentFailed,
    };
    Problem::new(code, format!("The agent `{name}` could not be started: {error}."))
        .fix("Check the command given to `--agent` and that the program may be executed.")
}
