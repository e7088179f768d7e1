//! Cycle after cycle. The loop settles what its own agent made; it never rejects or deletes anything by itself.

use super::agent::{self, AgentOptions};
use super::evolve::{self, EvolveRequest, Prepared, Ready};
use crate::solidify::{self, Settlement};
use crate::workspace::Workspace;
use capsid_disk::Lock;
use capsid_model::{Problem, Result};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// How the loop runs.
#[derive(Debug, Clone)]
pub struct LoopOptions {
    /// What kind of cycles.
    pub request: EvolveRequest,
    /// The agent; without one the loop prints prompts and waits for them to be settled.
    pub agent: Vec<String>,
    /// How long the agent may take.
    pub agent_timeout: Option<Duration>,
    /// Commit what succeeded.
    pub commit: bool,
    /// Stop after this many cycles.
    pub max_cycles: Option<u64>,
    /// Set from outside to stop.
    pub stop: Arc<AtomicBool>,
}

/// What the loop tells while it runs.
#[derive(Debug)]
pub enum LoopNote<'a> {
    /// A cycle was settled.
    Settled(&'a Settlement),
    /// A prompt waits for somebody to work on it.
    Prompt(&'a Ready),
    /// Nothing to do for a while.
    Waiting {
        /// Why.
        reason: &'a str,
        /// How long.
        sleep: Duration,
    },
    /// A cycle could not run.
    Problem(&'a Problem),
}

/// How one pass went.
enum Pass {
    Done { settled: bool, signals: Vec<String> },
    Idle(String),
}

/// How long the loop sleeps between passes.
#[derive(Debug, Clone, Copy)]
struct Pace {
    least: Duration,
    most: Duration,
    quick: Duration,
    now: Duration,
}

impl Pace {
    fn of(workspace: &Workspace) -> Self {
        let ms = |name: &str, usual: u64| {
            Duration::from_millis(
                workspace.variable(name).and_then(|text| text.trim().parse().ok()).unwrap_or(usual),
            )
        };
        let least = ms("EVOLVER_MIN_SLEEP_MS", 2_000);
        let most = ms("EVOLVER_MAX_SLEEP_MS", 300_000).max(least);
        Self { least, most, quick: ms("EVOLVER_IDLE_THRESHOLD_MS", 500), now: least }
    }

    /// Doubles after a pass that failed or had nothing to do, starts again after one that worked.
    fn after(&mut self, worked: bool, took: Duration, signals: &[String]) -> Duration {
        self.now = if worked && took >= self.quick { self.least } else { (self.now * 2).min(self.most) };
        let has = |name: &str| signals.iter().any(|signal| signal == name);
        let factor = match () {
            () if has("force_steady_state") => 10,
            () if has("evolution_saturation") => 5,
            () => 1,
        };
        self.now * factor
    }
}

/// Runs until it is stopped; gives the number of cycles. `open` opens the repository anew for each pass.
pub fn run(
    open: &dyn Fn() -> Result<Workspace>,
    options: &LoopOptions,
    on_note: &mut dyn FnMut(&LoopNote<'_>),
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<u64> {
    let workspace = open()?;
    workspace.require_store()?;
    let lock_path = workspace.paths.evolution.join("loop.lock");
    let _lock = Lock::acquire(&lock_path, "The evolution loop of this repository", Duration::ZERO)?;
    let mut pace = Pace::of(&workspace);
    let mut cycles = 0;
    while !options.stop.load(Ordering::Relaxed) {
        let start = Instant::now();
        let pass = open().and_then(|workspace| pass(&workspace, options, on_note, on_output));
        let (worked, reason, signals) = match pass {
            Ok(Pass::Done { settled, signals }) => {
                cycles += 1;
                (settled, "cycle done".to_owned(), signals)
            }
            Ok(Pass::Idle(reason)) => (false, reason, Vec::new()),
            Err(problem) => {
                on_note(&LoopNote::Problem(&problem));
                (false, "the last pass failed".to_owned(), Vec::new())
            }
        };
        if options.max_cycles.is_some_and(|most| cycles >= most) {
            break;
        }
        let sleep = pace.after(worked, start.elapsed(), &signals);
        on_note(&LoopNote::Waiting { reason: &reason, sleep });
        rest(sleep, &options.stop);
    }
    Ok(cycles)
}

fn pass(
    workspace: &Workspace,
    options: &LoopOptions,
    on_note: &mut dyn FnMut(&LoopNote<'_>),
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<Pass> {
    // A run that waits is somebody's work in progress: the loop leaves it to them, unless told to go on.
    if let Some(run) = workspace.run_state()?.pending().filter(|_| !options.request.force) {
        return Ok(Pass::Idle(format!("{} waits to be settled", run.run_id)));
    }
    let _working = match options.agent.is_empty() {
        true => None,
        false => Some(workspace.agent_lock()?),
    };
    let ready = match evolve::prepare(workspace, &options.request)? {
        Prepared::Skipped(reason) => return Ok(Pass::Idle(reason)),
        Prepared::Ready(ready) => ready,
    };
    let signals = ready.run.signals.clone();
    if options.agent.is_empty() {
        on_note(&LoopNote::Prompt(&ready));
        return Ok(Pass::Done { settled: false, signals });
    }
    let agent = AgentOptions {
        argv: options.agent.clone(),
        timeout: options.agent_timeout,
        stop: Arc::clone(&options.stop),
    };
    let ended = agent::run(workspace, &ready, &agent, on_output)?;
    if ended.stopped {
        return Ok(Pass::Idle(format!("{} waits: the agent was stopped", ready.run.run_id)));
    }
    let settled = solidify::solidify(workspace, &ended.request(options.commit))?;
    on_note(&LoopNote::Settled(&settled));
    Ok(Pass::Done { settled: settled.ok, signals })
}

/// Sleeps in small steps, so that a signal is answered at once.
fn rest(sleep: Duration, stop: &AtomicBool) {
    let start = Instant::now();
    while start.elapsed() < sleep && !stop.load(Ordering::Relaxed) {
        std::thread::sleep(Duration::from_millis(50).min(sleep));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_doubles_while_idle_and_starts_again_after_work() {
        let second = Duration::from_secs(1);
        let mut pace = Pace { least: second, most: second * 6, quick: second / 2, now: second };
        assert_eq!(pace.after(false, Duration::ZERO, &[]), second * 2);
        assert_eq!(pace.after(false, Duration::ZERO, &[]), second * 4);
        assert_eq!(pace.after(false, Duration::ZERO, &[]), second * 6);
        assert_eq!(pace.after(true, second, &[]), second);
        assert_eq!(pace.after(true, second, &["evolution_saturation".into()]), second * 5);
        assert_eq!(pace.after(true, second, &["force_steady_state".into()]), second * 10);
    }
}
