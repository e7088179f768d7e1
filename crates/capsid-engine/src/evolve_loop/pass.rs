//! One pass of the loop: what a killed loop left, then tasks, then the inputs, then the watched commands.

use super::actionable::{ActionFacts, WorkItem, WorkKind, find_work, is_actionable};
use super::attempt::{Attempt, attempt, count_attempt, count_refusal, is_host_failure};
use super::end::PassKind;
use super::leftover::{find_somebodys_run, finish_own_run};
use super::options::{LoopNote, PassContext};
use super::pace::find_pause;
use super::permit;
use super::record::LoopRecord;
use super::tasks::{self, TaskResult};
use super::watch::{Watcher, watch_request};
use crate::cycle::evolve::{self, EvolveRequest, Prepared};
use crate::cycle::observation::{self, Observation};
use crate::solidify::{CycleOutcome, regression, review};
use crate::workspace::Workspace;
use capsid_model::signal::signal_key;
use capsid_model::text::{cut, inert_line};
use capsid_model::{Code, Problem, Result};
use capsid_rules::learning::history::LoopPause;
use capsid_rules::learning::suspension::AttemptPermit;
use std::collections::BTreeSet;

/// The most that a line says about a problem.
const MAX_SHOWN: usize = 120;

/// What a loop knows from one pass to the next.
#[derive(Debug, Default)]
pub(super) struct PassState {
    pub(super) request: EvolveRequest,
    watcher: Watcher,
    /// What this loop solved. A log that did not change since shows it still.
    solved: BTreeSet<String>,
}

impl PassState {
    pub(super) fn new(mut request: EvolveRequest) -> Self {
        request.sources.is_loop = true;
        Self { request, ..Self::default() }
    }
}

/// How one pass went.
#[derive(Debug)]
pub(super) struct PassResult {
    pub(super) seen: String,
    pub(super) done: String,
    pub(super) kind: PassKind,
    pub(super) pause: LoopPause,
}

impl PassResult {
    fn new(seen: impl Into<String>, done: impl Into<String>, kind: PassKind) -> Self {
        Self { seen: seen.into(), done: done.into(), kind, pause: LoopPause::Usual }
    }

    fn idle(seen: impl Into<String>, is_clean: bool) -> Self {
        Self::new(seen, "", PassKind::Idle { is_clean })
    }

    /// A pass that ended with a problem. Somebody else at work and a used-up budget are no failures.
    pub(super) fn from_problem(problem: &Problem) -> Self {
        use capsid_model::Code::{BudgetUsedUp, RunBusy, RunPending, StoreLocked};
        let seen = "the last pass failed";
        match problem.code {
            BudgetUsedUp | RunBusy | RunPending | StoreLocked => Self::idle(seen, false),
            _ => {
                let message = problem.message.trim_end_matches('.').to_owned();
                Self::new(seen, "", PassKind::HostFailure { is_cycle: false, message })
            }
        }
    }

    fn from_outcome(seen: &str, outcome: &CycleOutcome) -> Self {
        let run = &outcome.run_id;
        let reason = || cut(&inert_line(&outcome.verdict.reason()), MAX_SHOWN).to_owned();
        let (done, kind) = match outcome.ok {
            true if outcome.is_applied() => (format!("{run} solved it"), PassKind::Succeeded),
            true => (format!("{run} solved it and waits for `capsid review`"), PassKind::Succeeded),
            false if is_host_failure(outcome) => (
                format!("{run} could not run: {}", reason()),
                PassKind::HostFailure { is_cycle: true, message: reason() },
            ),
            false => (format!("{run} failed: {}", reason()), PassKind::Failed),
        };
        Self::new(seen, done, kind)
    }
}

/// Whether something was done about an input.
enum Considered {
    Acted(PassResult),
    Left { seen: String, is_clean: bool, pause: LoopPause },
}

/// Runs one pass.
pub(super) fn run_pass(context: &mut PassContext<'_>, state: &mut PassState) -> Result<PassResult> {
    let workspace = context.workspace;
    if let Some((run, outcome)) = finish_own_run(context)? {
        if let Some(problem) = &run.problem {
            let (id, text) = (problem.ids.message.clone(), problem.text.clone());
            announce_suspension(context, &WorkItem { kind: WorkKind::Problem, id, text }, &outcome)?;
        }
        return Ok(PassResult::from_outcome("a run that a killed loop left", &outcome));
    }
    // A run that waits is somebody's work in progress: the loop leaves it to them, unless told to go on.
    if let Some(run) = find_somebodys_run(workspace)?.filter(|_| !context.options.request.force) {
        return Ok(PassResult::idle(
            format!("{run} waits to be finished (`capsid solidify`, or `capsid review --reject`)"),
            false,
        ));
    }
    if let Some(result) = work_on_task(context, state)? {
        return Ok(result);
    }
    state.request.agent = context.has_agent();
    let request = state.request.clone();
    let (mut seen, mut is_clean, pause) = match consider(context, state, &request)? {
        Considered::Acted(result) => return Ok(result),
        Considered::Left { seen, is_clean, pause } => (seen, is_clean, pause),
    };
    let log = state.watcher.refresh(workspace, &request.sources)?.cloned();
    if let Some(log) = log {
        match &log.failed_command {
            None => seen.push_str("; the watched commands pass"),
            Some(command) => {
                let request = watch_request(&request, &log, command);
                match consider(context, state, &request)? {
                    Considered::Acted(result) => return Ok(result),
                    Considered::Left { seen: why, .. } => {
                        seen = format!("`{}` fails: {why}", inert_line(command));
                        is_clean = false;
                    }
                }
            }
        }
    }
    Ok(PassResult { pause, ..PassResult::idle(seen, is_clean) })
}

/// Work that was promised comes first; without an agent or a budget nobody could do it.
fn work_on_task(context: &mut PassContext<'_>, state: &mut PassState) -> Result<Option<PassResult>> {
    let workspace = context.workspace;
    let Some(link) = context.options.link.as_ref().filter(|_| context.has_agent()) else { return Ok(None) };
    if !link.has_task() || permit::find_limit(workspace)?.is_some() {
        return Ok(None);
    }
    let Some(task) = link.pop_task() else { return Ok(None) };
    if let Some(seen) = tasks::find_settled_inputs(workspace)? {
        state.request.seen = Some(seen);
    }
    let done = tasks::work_on(context, &task);
    link.task_done();
    let seen = format!("task {}", inert_line(task.id()));
    Ok(Some(match done? {
        TaskResult::Attempted(Attempt::Settled(outcome)) => PassResult::from_outcome(&seen, &outcome),
        TaskResult::Attempted(Attempt::Stopped) => {
            PassResult::idle(format!("{seen}: its run waits, the agent was stopped"), false)
        }
        TaskResult::Attempted(Attempt::Refused(problem)) => {
            PassResult::idle(format!("{seen}: {}", problem.message), false)
        }
        TaskResult::Skipped(reason) => PassResult::idle(format!("{seen}: {reason}"), false),
    }))
}

/// Looks at an input and works on what it shows, if that is something to work on.
fn consider(
    context: &mut PassContext<'_>,
    state: &mut PassState,
    request: &EvolveRequest,
) -> Result<Considered> {
    let workspace = context.workspace;
    let observed = observation::observe(workspace, &request.sources)?;
    let pause = find_pause(&observed.signals, observed.decision.pause);
    let left = |seen: String, is_clean: bool| Ok(Considered::Left { seen, is_clean, pause });
    let work = find_work(&observed, &request.sources);
    let record = LoopRecord::load(workspace)?;
    let check = |work: &WorkItem| record.attempts.check(&work.id, workspace.now());
    let facts = ActionFacts {
        work: work.as_ref(),
        permit: work.as_ref().map_or(AttemptPermit::Allowed, check),
        is_resolved: observed.signals.iter().any(|signal| signal == "issue_already_resolved"),
        may_innovate: workspace.config.evolve_loop.innovate,
    };
    if let Err(reason) = is_actionable(&facts) {
        return left(reason.describe(), reason.is_clean());
    }
    let shown = work.as_ref().map_or("nothing; innovating".to_owned(), |work| {
        format!("`{}`", cut(&inert_line(&work.text), MAX_SHOWN))
    });
    if let Some(run) = find_unapplied(workspace, work.as_ref(), &observed)? {
        return left(format!("{shown} is solved by {run}, which waits for `capsid review`"), false);
    }
    if work.as_ref().is_some_and(|work| record.is_refused(&work.id, &workspace.now().date()))
        && let Some(limit) = permit::find_limit(workspace)?
    {
        return left(format!("{shown}: {}", limit.message.trim_end_matches('.')), false);
    }
    let mut ready = match evolve::prepare(workspace, request)? {
        Prepared::Skipped(reason) => {
            let is_live =
                |work: &WorkItem| work.kind == WorkKind::Problem && !state.solved.contains(&work.id);
            return left(reason, !work.as_ref().is_some_and(is_live));
        }
        Prepared::Refused(problem) => {
            let is_resolved = matches!(problem.code, Code::AlreadyResolved | Code::NoProblemFound);
            return left(problem.message, is_resolved);
        }
        Prepared::Ready(ready) => ready,
    };
    if !context.has_agent() {
        (context.on_note)(&LoopNote::Prompt(&ready));
        let done = format!("{} waits for the change", ready.run.run_id);
        let result = PassResult { pause, ..PassResult::new(shown, done, PassKind::Prompted) };
        return Ok(Considered::Acted(result));
    }
    let outcome = match attempt(context, &mut ready)? {
        Attempt::Settled(outcome) => outcome,
        Attempt::Stopped => return left(format!("{} waits: the agent was stopped", ready.run.run_id), false),
        Attempt::Refused(problem) => {
            (context.on_note)(&LoopNote::Problem(&problem));
            if let Some(work) = &work {
                count_refusal(workspace, &work.id)?;
            }
            return left(format!("{shown}: no agent was called"), false);
        }
    };
    let mut result = PassResult { pause, ..PassResult::from_outcome(&shown, &outcome) };
    if let Some(work) = &work {
        announce_suspension(context, work, &outcome)?;
        if outcome.ok && outcome.is_applied() {
            state.solved.insert(work.id.clone());
            if has_regressed(context, state, work, &outcome)? {
                state.solved.remove(&work.id);
                result.done.push_str(", but it regressed");
            }
        }
    }
    Ok(Considered::Acted(result))
}

/// A run whose proven change for the same thing waits for its owner.
fn find_unapplied(
    workspace: &Workspace,
    work: Option<&WorkItem>,
    observed: &Observation,
) -> Result<Option<String>> {
    let Some((run, _)) = review::unapplied(workspace)? else { return Ok(None) };
    let is_same = match (&run.problem, work) {
        (Some(problem), Some(work)) => problem.ids.message == work.id,
        _ => run.signal_key == signal_key(&observed.signals),
    };
    Ok(is_same.then_some(run.run_id))
}

fn announce_suspension(context: &mut PassContext<'_>, work: &WorkItem, outcome: &CycleOutcome) -> Result<()> {
    if let Some(line) = count_attempt(context.workspace, work, outcome)? {
        (context.on_note)(&LoopNote::Event(&line));
    }
    Ok(())
}

/// Runs the watched commands once after an apply. If they show the problem again, the change did not hold.
fn has_regressed(
    context: &mut PassContext<'_>,
    state: &mut PassState,
    work: &WorkItem,
    outcome: &CycleOutcome,
) -> Result<bool> {
    let workspace = context.workspace;
    let log = match state.watcher.refresh(workspace, &state.request.sources) {
        Ok(log) => log.cloned(),
        Err(problem) => {
            (context.on_note)(&LoopNote::Problem(&problem));
            None
        }
    };
    let Some((log, command)) = log.and_then(|log| log.failed_command.clone().map(|command| (log, command)))
    else {
        return Ok(false);
    };
    let sources = watch_request(&state.request, &log, &command).sources;
    let observed = observation::observe(workspace, &sources)?;
    let is_same = find_work(&observed, &sources).is_some_and(|found| found.id == work.id);
    let shows_it = is_same || observed.diagnosis.also.iter().any(|also| also.ids().message == work.id);
    if shows_it && regression::record_regression(workspace, &outcome.event)? {
        let capsule = outcome.capsule_line().map_or("its capsule", |(id, ..)| id);
        let text =
            format!("regressed: `{}` came back after {}; {capsule} starts again", work.text, outcome.run_id);
        (context.on_note)(&LoopNote::Event(&text));
    }
    Ok(shows_it)
}
