//! Solves the problem of a prepared run: by a stored solution where one still works, else by the agent, which may try
//! again. Then the run is finished.

use super::agent::{self, AgentOptions, AgentOutcome};
use super::evolve::Ready;
use super::patch_trial::apply_patch;
use crate::config::ApplyPolicy;
use crate::prompt::FailedAttempt;
use crate::run::agent_permit::AgentPermit;
use crate::run::folder::{RunFolder, RunStatus};
use crate::run::offer::CapsuleOffer;
use crate::solidify::{self, CycleOutcome, SolidifyRequest, SolveAttempt};
use crate::workspace::Workspace;
use capsid_model::{Problem, Result};
use capsid_rules::learning::capsule_text::note::{find_note_block, parse_note};
use capsid_rules::learning::reuse_outcome::PatchTrial;
use std::sync::atomic::Ordering;
use std::time::Instant;

/// How to solve it.
#[derive(Debug, Clone)]
pub struct SolveOptions {
    pub agent: AgentOptions,
    /// Commit the files of a success.
    pub commit: bool,
    /// How often the agent tries again after a failed validation.
    pub retries: u32,
}

/// What happens while it is solved.
#[derive(Debug)]
pub enum SolveNote<'a> {
    /// The change of a stored solution is tried.
    Trying(&'a CapsuleOffer),
    /// It did not solve the problem, and why.
    NotSolved(&'a CapsuleOffer),
    /// The agent is started, for the first time or again.
    Agent { attempt: u32 },
    /// It ended, and its change may have to be reviewed.
    AgentEnded,
    /// Its change is validated.
    Validating,
    /// Its change failed, and it tries again.
    Retry(&'a FailedAttempt),
    /// The agent could not be run.
    Problem(&'a Problem),
    /// What the agent prints.
    Output(&'a [u8]),
}

/// Asks somebody about a change; whether it is approved.
pub type ReviewFn<'a> = dyn FnMut(&AgentOutcome) -> Result<bool> + 'a;

/// What decides on the way.
pub struct SolveHooks<'a> {
    pub permit: &'a mut dyn AgentPermit,
    pub on_note: &'a mut dyn FnMut(&SolveNote<'_>),
    /// Asks somebody to look at the change before it is finished; none where nobody does. Whether it is approved.
    pub review: Option<&'a mut ReviewFn<'a>>,
}

/// How it ended.
#[derive(Debug)]
pub enum SolveOutcome {
    Finished(Box<CycleOutcome>),
    /// The agent was stopped from outside; the run waits.
    Stopped,
    /// Somebody looked at the change and did not approve it.
    Declined,
}

/// Solves and finishes a prepared run.
pub fn solve(
    workspace: &Workspace,
    ready: &mut Ready,
    options: &SolveOptions,
    hooks: &mut SolveHooks<'_>,
) -> Result<SolveOutcome> {
    if hooks.review.is_none()
        && let Some(outcome) = try_patches(workspace, ready, options, hooks)?
    {
        return Ok(SolveOutcome::Finished(Box::new(outcome)));
    }
    let mut attempts: Vec<FailedAttempt> = Vec::new();
    if ready.run.offers.iter().any(|offer| offer.trial != PatchTrial::NotTried) {
        ready.rebuild_prompt(workspace, &attempts)?;
    }
    loop {
        (hooks.on_note)(&SolveNote::Agent { attempt: attempts.len() as u32 + 1 });
        let ended = call_agent(workspace, ready, options, hooks)?;
        (hooks.on_note)(&SolveNote::AgentEnded);
        if let Some(problem) = &ended.problem {
            (hooks.on_note)(&SolveNote::Problem(problem));
        }
        if ended.stopped {
            return Ok(SolveOutcome::Stopped);
        }
        let mut approved = false;
        if let Some(review) = &mut hooks.review {
            if !review(&ended)? {
                return Ok(SolveOutcome::Declined);
            }
            approved = true;
        }
        let may_retry = (attempts.len() as u32) < options.retries
            && ended.failure.is_none()
            && !options.agent.stop.load(Ordering::Relaxed);
        let request = SolidifyRequest { approved, ..ended.request(options.commit) };
        (hooks.on_note)(&SolveNote::Validating);
        match solidify::solve_attempt(workspace, &request, may_retry)? {
            SolveAttempt::Finished(outcome) => return Ok(SolveOutcome::Finished(outcome)),
            SolveAttempt::Failed(failed) => {
                (hooks.on_note)(&SolveNote::Retry(&failed));
                attempts.push(*failed);
                begin_again(workspace, ready)?;
                ready.rebuild_prompt(workspace, &attempts)?;
            }
        }
    }
}

/// Calls the agent, as far as the budget allows it.
fn call_agent(
    workspace: &Workspace,
    ready: &mut Ready,
    options: &SolveOptions,
    hooks: &mut SolveHooks<'_>,
) -> Result<AgentOutcome> {
    let most = match hooks.permit.start_call(workspace.now()) {
        Ok(most) => most,
        Err(problem) => {
            abandon(workspace, ready)?;
            return Err(problem);
        }
    };
    let mut agent = options.agent.clone();
    let usual = std::time::Duration::from_secs(workspace.config.cycle.agent_timeout_seconds.max(1));
    agent.timeout = Some(agent.timeout.unwrap_or(usual).min(most));
    let began = Instant::now();
    let on_note = &mut hooks.on_note;
    let ended = agent::run(workspace, ready, &agent, &mut |bytes| on_note(&SolveNote::Output(bytes)))?;
    let cost = reported_cost(&ended);
    hooks.permit.finish_call(began.elapsed(), cost, workspace.now())?;
    Ok(ended)
}

/// What the agent says that it cost.
fn reported_cost(ended: &AgentOutcome) -> Option<f64> {
    let note = ended.facts.note.as_deref().and_then(parse_note);
    let block = || find_note_block(&ended.facts.printed).and_then(|block| parse_note(&block));
    note.and_then(|note| note.cost_usd).or_else(|| block()?.cost_usd)
}

/// Tries the changes of stored solutions, best first. The first that is proven finishes the run.
fn try_patches(
    workspace: &Workspace,
    ready: &mut Ready,
    options: &SolveOptions,
    hooks: &mut SolveHooks<'_>,
) -> Result<Option<CycleOutcome>> {
    let began = Instant::now();
    for at in 0..ready.run.offers.len() {
        let in_time = began.elapsed() < workspace.config.proof.budget();
        if !ready.run.offers[at].can_try || !in_time || options.agent.stop.load(Ordering::Relaxed) {
            continue;
        }
        (hooks.on_note)(&SolveNote::Trying(&ready.run.offers[at]));
        let offer = ready.run.offers[at].clone();
        if !apply_patch(workspace, ready, &offer, &options.agent.stop)? {
            set_trial(ready, at, PatchTrial::Rejected, "its change does not fit the files here");
        } else {
            set_trial(ready, at, PatchTrial::Applied, "");
            let folder = RunFolder::of_run(workspace, &ready.run.run_id)?;
            folder.write(RunStatus::Changed, &ready.run)?;
            ready.lock = None;
            let keeps = !offer.is_foreign || workspace.config.hub.apply == ApplyPolicy::Auto;
            let request = SolidifyRequest {
                commit: options.commit,
                run_id: Some(ready.run.run_id.clone()),
                unattended: true,
                needs_review: !keeps,
                needs_proof: true,
                ..SolidifyRequest::default()
            };
            match solidify::solve_attempt(workspace, &request, true)? {
                SolveAttempt::Finished(outcome) => return Ok(Some(*outcome)),
                SolveAttempt::Failed(failed) => {
                    set_trial(ready, at, PatchTrial::Failed, &failed.reason);
                }
            }
        }
        begin_again(workspace, ready)?;
        (hooks.on_note)(&SolveNote::NotSolved(&ready.run.offers[at]));
    }
    Ok(None)
}

fn set_trial(ready: &mut Ready, at: usize, trial: PatchTrial, reason: &str) {
    let offer = &mut ready.run.offers[at];
    offer.trial = trial;
    capsid_model::text::cut(&capsid_model::text::inert_line(reason), 300).clone_into(&mut offer.reason);
}

/// Makes the run as if nothing had been tried in its view.
fn begin_again(workspace: &Workspace, ready: &mut Ready) -> Result<()> {
    let folder = RunFolder::of_run(workspace, &ready.run.run_id)?;
    if ready.lock.is_none() {
        ready.lock = Some(folder.lock()?);
    }
    folder.remove_attempt()?;
    folder.write(RunStatus::Working, &ready.run)
}

/// Leaves a run whose agent may not be called: nothing of it is in the tree.
fn abandon(workspace: &Workspace, ready: &mut Ready) -> Result<()> {
    let folder = RunFolder::of_run(workspace, &ready.run.run_id)?;
    folder.write(RunStatus::Abandoned, &ready.run)?;
    folder.remove_layers();
    ready.lock = None;
    Ok(())
}
