//! Cycle after cycle. The loop calls an agent only if there is something to do, within a budget for each day. It finishes
//! its own runs and leaves those of others alone.

pub mod actionable;
mod attempt;
mod end;
mod leftover;
mod options;
mod pace;
mod pass;
mod permit;
pub mod record;
mod tasks;
mod watch;

pub use end::{EndReason, LoopEnd};
pub use options::{LoopNote, LoopOptions, PassSummary};

use crate::network::hub_link::HubLink;
use crate::workspace::Workspace;
use capsid_disk::Lock;
use capsid_model::Result;
use end::{LoopProgress, PassKind};
use options::PassContext;
use pace::Pace;
use pass::{PassResult, PassState, run_pass};
use record::LoopRecord;
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

/// The lock that a running loop holds.
pub fn lock_path(workspace: &Workspace) -> PathBuf {
    workspace.paths.evolution.join("loop.lock")
}

/// Runs until there is a reason to end. `open` opens the repository anew for each pass.
pub fn run(
    open: &dyn Fn() -> Result<Workspace>,
    options: &LoopOptions,
    on_note: &mut dyn FnMut(&LoopNote<'_>),
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<LoopEnd> {
    let workspace = open()?;
    workspace.require_store()?;
    let _lock =
        Lock::acquire(&lock_path(&workspace), "The evolution loop of this repository", Duration::ZERO)?;
    if let Some(link) = &options.link {
        link.begin(&workspace, !options.agent.is_empty());
    }
    let ended = run_passes(workspace, open, options, on_note, on_output);
    if let Some(link) = &options.link {
        link.finish();
    }
    print_hub_notes(options, on_note);
    ended
}

fn run_passes(
    mut workspace: Workspace,
    open: &dyn Fn() -> Result<Workspace>,
    options: &LoopOptions,
    on_note: &mut dyn FnMut(&LoopNote<'_>),
    on_output: &mut dyn FnMut(&[u8]),
) -> Result<LoopEnd> {
    let mut pace = Pace::from_env(&workspace);
    let mut state = PassState::new(options.request.clone());
    let mut progress = LoopProgress::default();
    let mut last_work = Instant::now();
    loop {
        if options.stop.load(Ordering::Relaxed) {
            return Ok(LoopEnd { cycles: progress.cycles, reason: EndReason::Stopped });
        }
        let start = Instant::now();
        print_hub_notes(options, on_note);
        let passed = open().and_then(|opened| {
            workspace = opened;
            let context = &mut PassContext { workspace: &workspace, options, on_note, on_output };
            run_pass(context, &mut state)
        });
        let result = passed.unwrap_or_else(|problem| {
            on_note(&LoopNote::Problem(&problem));
            PassResult::from_problem(&problem)
        });
        if !matches!(result.kind, PassKind::Idle { .. }) {
            last_work = Instant::now();
        }
        progress.count(&result.kind);
        let config = &workspace.config.evolve_loop;
        let limit = permit::find_limit(&workspace)?;
        let idle = (last_work.elapsed(), config.idle_exit_minutes);
        let end = progress.find_end(options, &result.kind, limit.as_ref(), idle);
        let worked = result.kind == PassKind::Succeeded;
        let sleep = pace.choose_sleep(worked, start.elapsed(), result.pause);
        let spent = LoopRecord::load(&workspace)?.spending.on_day(workspace.now());
        on_note(&LoopNote::PassEnded(&PassSummary {
            seen: result.seen,
            done: result.done,
            budget: spent.describe_remaining(&config.budget()),
            sleep: end.is_none().then_some(sleep),
        }));
        if let Some(reason) = end {
            return Ok(LoopEnd { cycles: progress.cycles, reason });
        }
        rest(sleep, options, limit.is_none(), on_note);
    }
}

fn print_hub_notes(options: &LoopOptions, on_note: &mut dyn FnMut(&LoopNote<'_>)) {
    for note in options.link.iter().flat_map(HubLink::notes) {
        on_note(&LoopNote::Hub(&note));
    }
}

/// Sleeps in small steps, so that a signal and a task are answered at once. `has_budget` says whether a task could be
/// worked on.
fn rest(sleep: Duration, options: &LoopOptions, has_budget: bool, on_note: &mut dyn FnMut(&LoopNote<'_>)) {
    let start = Instant::now();
    let can_work = has_budget && !options.agent.is_empty();
    let has_task = || can_work && options.link.as_ref().is_some_and(HubLink::has_task);
    while start.elapsed() < sleep && !options.stop.load(Ordering::Relaxed) && !has_task() {
        print_hub_notes(options, on_note);
        std::thread::sleep(Duration::from_millis(50).min(sleep));
    }
}
