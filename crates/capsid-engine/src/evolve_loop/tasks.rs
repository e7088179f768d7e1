//! Cycles on tasks of a hub.

use super::attempt::{Attempt, attempt};
use super::options::{LoopNote, PassContext};
use crate::cycle::evolve::{self, EvolveRequest, Prepared};
use crate::network::budget;
use crate::network::loop_state::LoopMessage;
use crate::network::tasks::{self, HubTask};
use crate::network::work::{self, TaskWork, WorkStage};
use crate::run::state::RunState;
use crate::workspace::Workspace;
use capsid_model::Result;
use std::time::Instant;

/// How work on a task ended.
pub(super) enum TaskResult {
    Attempted(Attempt),
    Skipped(String),
}

/// One cycle on a task of somebody else, validated and settled like every other. What came of it is noted before the
/// hub hears of it.
pub(super) fn work_on(context: &mut PassContext<'_>, task: &HubTask) -> Result<TaskResult> {
    let workspace = context.workspace;
    let mut work = TaskWork::begun(task.id(), workspace.now());
    work::save_work(workspace, &work)?;
    budget::begin(workspace, workspace.now())?;
    let start = Instant::now();
    let worked = try_task(context, task, &mut work);
    let spent = budget::charge(workspace, start.elapsed(), workspace.now())?;
    let text = format!("task {}: {}", task.id(), spent.remaining(&workspace.config.hub));
    (context.on_note)(&LoopNote::Hub(&LoopMessage { text, code: None }));
    match &worked {
        // Nobody has judged the agent's work, so the task stays this node's.
        Ok(TaskResult::Attempted(Attempt::Stopped)) => return worked,
        Ok(TaskResult::Attempted(Attempt::Settled(settled))) => {
            work = tasks::finish_task(work, &settled.event, workspace.now());
        }
        Ok(TaskResult::Attempted(Attempt::Refused(_)) | TaskResult::Skipped(_)) | Err(_) => {
            work.stage = WorkStage::Failed;
        }
    }
    work::save_work(workspace, &work)?;
    worked
}

fn try_task(context: &mut PassContext<'_>, task: &HubTask, work: &mut TaskWork) -> Result<TaskResult> {
    let workspace = context.workspace;
    let request = EvolveRequest { agent: true, ..task.request(&context.options.request) };
    let mut ready = match evolve::prepare(workspace, &request)? {
        Prepared::Skipped(reason) => return Ok(TaskResult::Skipped(reason)),
        Prepared::Refused(problem) => return Ok(TaskResult::Skipped(problem.message)),
        Prepared::Ready(ready) => ready,
    };
    work.run_id = Some(ready.run.run_id.clone());
    work::save_work(workspace, work)?;
    attempt(context, &mut ready).map(TaskResult::Attempted)
}

/// What the last run saw, unless it worked on a task or failed for a reason that is not its own. The run of a task takes
/// the place of the last one; what that one saw is still nothing new.
pub(super) fn find_settled_inputs(workspace: &Workspace) -> Result<Option<(String, String)>> {
    let state = RunState::load(workspace)?;
    let Some(last) = state.last_run().filter(|run| state.finished_id() == Some(run.run_id.as_str())) else {
        return Ok(None);
    };
    let again = matches!(state.finished_class(), Some("host" | "network" | "sandbox"));
    let run_id = Some(last.run_id.as_str());
    let for_task = work::all(workspace)?.iter().any(|work| work.run_id.as_deref() == run_id);
    Ok((!again && !for_task).then_some((last.signal_key, last.inputs_digest)))
}
