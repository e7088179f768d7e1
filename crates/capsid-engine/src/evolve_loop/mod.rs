//! Cycle after cycle. The loop finishes what its own agent made; it never rejects or deletes anything by itself.

use crate::cycle::agent::{self, AgentOptions};
use crate::cycle::evolve::{self, EvolveRequest, Prepared, Ready};
use crate::network::budget;
use crate::network::hub_link::HubLink;
use crate::network::loop_state::LoopMessage;
use crate::network::tasks::{self, HubTask};
use crate::network::work::{self, TaskWork, WorkStage};
use crate::run::folder::RunStatus;
use crate::run::pending;
use crate::run::state::RunState;
use crate::solidify::{self, CycleOutcome};
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
    /// The line to a hub, if there is one.
    pub link: Option<HubLink>,
}

/// What the loop tells while it runs.
#[derive(Debug)]
pub enum LoopNote<'a> {
    /// A cycle was settled.
    Settled(&'a CycleOutcome),
    /// A prompt waits for somebody to work on it.
    Prompt(&'a Ready),
    /// Nothing to do for a while.
    Waiting {
        /// Why.
        reason: &'a str,
        /// How long.
        sleep: Duration,
    },
    /// A cycle or its agent could not run.
    Problem(&'a Problem),
    /// Something passed between this node and its hub.
    Hub(&'a LoopMessage),
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
    fn from_env(workspace: &Workspace) -> Self {
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
    let mut pace = Pace::from_env(&workspace);
    if let Some(link) = &options.link {
        link.begin(&workspace, !options.agent.is_empty());
    }
    let mut cycles = 0;
    let mut request = options.request.clone();
    while !options.stop.load(Ordering::Relaxed) {
        let start = Instant::now();
        tell_notes(options, on_note);
        let pass = open().and_then(|workspace| pass(&workspace, options, &mut request, on_note, on_output));
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
        rest(sleep, options, on_note);
    }
    if let Some(link) = &options.link {
        link.finish();
    }
    tell_notes(options, on_note);
    Ok(cycles)
}

fn tell_notes(options: &LoopOptions, on_note: &mut dyn FnMut(&LoopNote<'_>)) {
    for note in options.link.iter().flat_map(HubLink::notes) {
        on_note(&LoopNote::Hub(&note));
    }
}

fn pass(
    workspace: &Workspace,
    options: &LoopOptions,
    request: &mut EvolveRequest,
    on_note: &mut dyn FnMut(&LoopNote<'_>),
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<Pass> {
    // A run that waits is somebody's work in progress: the loop leaves it to them, unless told to go on.
    if let Some(run) = somebodys_run(workspace)?.filter(|_| !options.request.force) {
        return Ok(Pass::Idle(format!("{run} waits to be finished")));
    }
    // Work that was promised comes first; without an agent nobody could do it.
    if let Some(link) = options.link.as_ref().filter(|_| !options.agent.is_empty())
        && let Some(task) = link.pop_task()
    {
        // The task's run takes the place of the last one; what that one saw is still nothing new.
        if let Some(seen) = settled_by_itself(workspace)? {
            request.seen = Some(seen);
        }
        let done = work_on(workspace, options, &task, on_note, on_output);
        link.task_done();
        return done;
    }
    request.agent = !options.agent.is_empty();
    let mut ready = match evolve::prepare(workspace, request)? {
        Prepared::Skipped(reason) => return Ok(Pass::Idle(reason)),
        Prepared::Refused(problem) => return Ok(Pass::Idle(problem.message)),
        Prepared::Ready(ready) => ready,
    };
    let signals = ready.run.signals.clone();
    if options.agent.is_empty() {
        on_note(&LoopNote::Prompt(&ready));
        return Ok(Pass::Done { settled: false, signals });
    }
    match change(workspace, options, &mut ready, on_note, on_output)? {
        Some(settled) => Ok(Pass::Done { settled: settled.ok, signals }),
        None => Ok(Pass::Idle(format!("{} waits: the agent was stopped", ready.run.run_id))),
    }
}

/// A run that somebody has begun and changed something for. A run whose agent was killed is nobody's.
fn somebodys_run(workspace: &Workspace) -> Result<Option<String>> {
    let pending = pending::pending(workspace)?;
    let Some((run, folder)) = pending else { return Ok(None) };
    let interrupted = folder.read()?.is_some_and(|stored| stored.status == RunStatus::Working);
    Ok((!interrupted || folder.is_busy()?).then_some(run.run_id))
}

/// What the last run saw, unless it worked on a task or failed for a reason that is not its own.
fn settled_by_itself(workspace: &Workspace) -> Result<Option<(String, String)>> {
    let state = RunState::load(workspace)?;
    let Some(last) = state.last_run().filter(|run| state.finished_id() == Some(run.run_id.as_str())) else {
        return Ok(None);
    };
    let again = matches!(state.finished_class(), Some("host" | "network" | "sandbox"));
    let run_id = Some(last.run_id.as_str());
    let for_task = work::all(workspace)?.iter().any(|work| work.run_id.as_deref() == run_id);
    Ok((!again && !for_task).then_some((last.signal_key, last.inputs_digest)))
}

/// Lets the agent make the change and settles it; nothing where the agent was stopped.
fn change(
    workspace: &Workspace,
    options: &LoopOptions,
    ready: &mut Ready,
    on_note: &mut dyn FnMut(&LoopNote<'_>),
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<Option<CycleOutcome>> {
    let agent = AgentOptions {
        argv: options.agent.clone(),
        timeout: options.agent_timeout,
        stop: Arc::clone(&options.stop),
    };
    let ended = agent::run(workspace, ready, &agent, on_output)?;
    if ended.stopped {
        return Ok(None);
    }
    if let Some(problem) = &ended.problem {
        on_note(&LoopNote::Problem(problem));
    }
    let settled = solidify::solidify(workspace, &ended.request(options.commit))?;
    on_note(&LoopNote::Settled(&settled));
    if let Some(link) = &options.link {
        link.finish_task();
    }
    Ok(Some(settled))
}

/// One cycle on a task of somebody else, validated and settled like every other. What came of it is noted before the
/// hub hears of it.
fn work_on(
    workspace: &Workspace,
    options: &LoopOptions,
    task: &HubTask,
    on_note: &mut dyn FnMut(&LoopNote<'_>),
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<Pass> {
    let mut work = TaskWork::begun(task.id(), workspace.now());
    work::save_work(workspace, &work)?;
    budget::begin(workspace, workspace.now())?;
    let start = Instant::now();
    let worked = try_task(workspace, options, task, &mut work, on_note, on_output);
    let spent = budget::charge(workspace, start.elapsed(), workspace.now())?;
    let text = format!("task {}: {}", task.id(), spent.remaining(&workspace.config.hub));
    on_note(&LoopNote::Hub(&LoopMessage { text, code: None }));
    let pass = match worked {
        // Nobody has judged the agent's work, so the task stays this node's.
        Ok(Worked::Stopped) => return Ok(Pass::Idle("a task's run waits: the agent was stopped".to_owned())),
        Ok(Worked::Settled(settled)) => {
            work = tasks::finish_task(work, &settled.event, workspace.now());
            Ok(Pass::Done { settled: settled.ok, signals: Vec::new() })
        }
        Ok(Worked::Skipped(reason)) => {
            work.stage = WorkStage::Failed;
            Ok(Pass::Idle(reason))
        }
        Err(problem) => {
            work.stage = WorkStage::Failed;
            Err(problem)
        }
    };
    work::save_work(workspace, &work)?;
    pass
}

/// How work on a task ended.
enum Worked {
    Settled(Box<CycleOutcome>),
    Stopped,
    Skipped(String),
}

fn try_task(
    workspace: &Workspace,
    options: &LoopOptions,
    task: &HubTask,
    work: &mut TaskWork,
    on_note: &mut dyn FnMut(&LoopNote<'_>),
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<Worked> {
    let request = EvolveRequest { agent: true, ..task.request(&options.request) };
    let mut ready = match evolve::prepare(workspace, &request)? {
        Prepared::Skipped(reason) => return Ok(Worked::Skipped(reason)),
        Prepared::Refused(problem) => return Ok(Worked::Skipped(problem.message)),
        Prepared::Ready(ready) => ready,
    };
    work.run_id = Some(ready.run.run_id.clone());
    work::save_work(workspace, work)?;
    let settled = change(workspace, options, &mut ready, on_note, on_output)?;
    Ok(settled.map_or(Worked::Stopped, |settled| Worked::Settled(Box::new(settled))))
}

/// Sleeps in small steps, so that a signal and a task are answered at once.
fn rest(sleep: Duration, options: &LoopOptions, on_note: &mut dyn FnMut(&LoopNote<'_>)) {
    let start = Instant::now();
    let has_task = || !options.agent.is_empty() && options.link.as_ref().is_some_and(HubLink::has_task);
    while start.elapsed() < sleep && !options.stop.load(Ordering::Relaxed) && !has_task() {
        tell_notes(options, on_note);
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
