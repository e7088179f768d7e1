//! One attempt of the loop at something: the agent makes the change, and the run is finished.

use super::actionable::WorkItem;
use super::options::{LoopNote, PassContext};
use super::permit::LoopPermit;
use super::record::{LoopRecord, RefusedProblem};
use crate::cycle::agent::AgentOptions;
use crate::cycle::evolve::Ready;
use crate::cycle::solve::{self, SolveHooks, SolveNote, SolveOptions, SolveOutcome};
use crate::run::folder::{RunFolder, RunStatus};
use crate::run::verdict::FailureClass;
use crate::solidify::CycleOutcome;
use crate::workspace::Workspace;
use capsid_model::{Code, Problem, Result};
use capsid_rules::learning::suspension::AttemptPermit;
use std::sync::Arc;

/// How an attempt ended.
pub(super) enum Attempt {
    Settled(Box<CycleOutcome>),
    /// The agent was stopped from outside: its run waits for the owner.
    Stopped,
    /// The budget of the day is used up.
    Refused(Problem),
}

/// Works on a prepared run. While it lasts, the record of the loop names the run, so that the next start knows what a
/// killed loop left.
pub(super) fn attempt(context: &mut PassContext<'_>, ready: &mut Ready) -> Result<Attempt> {
    let workspace = context.workspace;
    let run_id = ready.run.run_id.clone();
    own_run(workspace, Some(&run_id))?;
    let ended = solve(context, ready);
    let ended = match ended {
        Err(problem) if problem.code == Code::BudgetUsedUp => {
            ready.lock = None;
            drop_run(workspace, &run_id)?;
            Attempt::Refused(problem)
        }
        other => other?,
    };
    own_run(workspace, None)?;
    if let Attempt::Settled(outcome) = &ended {
        (context.on_note)(&LoopNote::Settled(outcome));
        if let Some(link) = &context.options.link {
            link.finish_task();
        }
    }
    Ok(ended)
}

/// A stored solution needs no agent, so only a call of one is counted.
fn solve(context: &mut PassContext<'_>, ready: &mut Ready) -> Result<Attempt> {
    let (workspace, options) = (context.workspace, context.options);
    let (on_note, on_output) = (&mut *context.on_note, &mut *context.on_output);
    let solve_options = SolveOptions {
        agent: AgentOptions {
            argv: options.agent.clone(),
            timeout: options.agent_timeout,
            stop: Arc::clone(&options.stop),
        },
        commit: options.commit,
        retries: options.retries.unwrap_or(workspace.config.cycle.retries),
    };
    let mut hooks = SolveHooks {
        permit: &mut LoopPermit { workspace },
        on_note: &mut |note| match note {
            SolveNote::Output(bytes) => on_output(bytes),
            SolveNote::Problem(problem) => on_note(&LoopNote::Problem(problem)),
            note => on_note(&LoopNote::Solve(note)),
        },
        review: None,
    };
    Ok(match solve::solve(workspace, ready, &solve_options, &mut hooks)? {
        SolveOutcome::Finished(outcome) => Attempt::Settled(outcome),
        SolveOutcome::Stopped | SolveOutcome::Declined => Attempt::Stopped,
    })
}

/// Notes which run the loop is working on.
pub(super) fn own_run(workspace: &Workspace, run_id: Option<&str>) -> Result<()> {
    LoopRecord::update(workspace, |record| {
        record.run_id = run_id.map(str::to_owned);
        Ok(())
    })
}

/// Gives a run up; nothing of it is in the tree.
pub(super) fn drop_run(workspace: &Workspace, run_id: &str) -> Result<()> {
    let _lock = workspace.lock()?;
    let folder = RunFolder::of_run(workspace, run_id)?;
    if let Some(stored) = folder.read()?.filter(|stored| stored.status.is_pending()) {
        folder.write(RunStatus::Abandoned, &stored.run)?;
        folder.remove_layers();
    }
    Ok(())
}

/// Whether the machine failed and not the change.
pub(super) fn is_host_failure(outcome: &CycleOutcome) -> bool {
    let class = outcome.verdict.failure_class;
    matches!(class, Some(FailureClass::Host | FailureClass::Network | FailureClass::Sandbox))
}

/// Counts how an attempt at something went. What the machine did wrong is no failed attempt. Gives a line about a
/// suspension that begins now.
pub(super) fn count_attempt(
    workspace: &Workspace,
    work: &WorkItem,
    outcome: &CycleOutcome,
) -> Result<Option<String>> {
    if is_host_failure(outcome) {
        return Ok(None);
    }
    let limit = workspace.config.evolve_loop.attempts_per_problem;
    let permit = LoopRecord::update(workspace, |record| {
        if outcome.ok {
            record.attempts.record_success(&work.id);
            return Ok(AttemptPermit::Allowed);
        }
        record.name_problem(&work.id, &work.text);
        Ok(record.attempts.record_failure(&work.id, limit, workspace.now()))
    })?;
    let until = match permit {
        AttemptPermit::Allowed => return Ok(None),
        AttemptPermit::SuspendedUntil(time) => format!("until {}", time.iso()),
        AttemptPermit::SuspendedUntilResumed => "until you resume it".to_owned(),
    };
    Ok(Some(format!(
        "`{}` is suspended {until} after {limit} failed attempts. Look at them with `capsid capsules --failed`, repair it \
         yourself or change the gene, then run `capsid loop resume {}`.",
        work.text, work.id
    )))
}

/// Notes that the budget did not suffice for something, so that no run is begun for it again today.
pub(super) fn count_refusal(workspace: &Workspace, id: &str) -> Result<()> {
    LoopRecord::update(workspace, |record| {
        record.refused = Some(RefusedProblem { id: id.to_owned(), date: workspace.now().date() });
        Ok(())
    })
}
