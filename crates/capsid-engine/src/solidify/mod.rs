//! Finishes a run: validates its change, checks its limits, applies it if it is proven, and records the outcome.

pub mod apply_change;
pub mod change;
mod change_text;
mod commit;
mod commit_outcome;
mod evaluate;
pub mod learn;
mod outcome;
mod placement;
pub mod regression;
pub mod restore;
pub mod review;
pub mod review_paths;

pub use outcome::CycleOutcome;

use crate::prompt::FailedAttempt;
use crate::run::agent_facts::AgentFacts;
use crate::run::folder::RunStatus;
use crate::run::verdict::FailureClass;
use crate::run::{Run, pending};
use crate::workspace::Workspace;
use capsid_model::gene::Gene;
use capsid_model::{Code, Object, Problem, Result, Value};
use capsid_rules::learning::capsule_text::note::parse_note;
use change::CycleChange;
use placement::EvaluatedChange;
use std::time::Duration;

/// How long the program that ran the agent waits for another run that is being finished.
const TURN: Duration = Duration::from_secs(1800);

/// How to finish a run.
#[derive(Debug, Clone, Default)]
pub struct SolidifyRequest {
    /// Decide, but write nothing.
    pub dry_run: bool,
    /// The intent to record.
    pub intent: Option<String>,
    /// A title for the change.
    pub title: Option<String>,
    /// A summary for the capsule.
    pub summary: Option<String>,
    /// Commit the cycle's files.
    pub commit: bool,
    /// Go on although the owner's policy changed since the run began.
    pub accept_config: bool,
    /// Whether somebody looked at the change and approved it.
    pub approved: bool,
    /// What the agent did wrong, if one ran and did.
    pub host_failure: Option<String>,
    /// The run to finish; the newest that waits otherwise.
    pub run_id: Option<String>,
    /// Whether this program ran the agent.
    pub unattended: bool,
    /// Whether a proven change waits for somebody to look at it.
    pub needs_review: bool,
    /// Whether only a proven change is a success: a stored solution that proves nothing solved nothing.
    pub needs_proof: bool,
}

/// One attempt at the problem of a run.
#[derive(Debug)]
pub enum SolveAttempt {
    Finished(Box<CycleOutcome>),
    /// It failed and nothing is recorded of it: the run can try again.
    Failed(Box<FailedAttempt>),
}

/// The longest diff that a failed attempt shows, in bytes.
const SHOWN_DIFF: usize = 16 * 1024;

/// Finishes the run that waits.
pub fn solidify(workspace: &Workspace, request: &SolidifyRequest) -> Result<CycleOutcome> {
    match solve_attempt(workspace, request, false)? {
        SolveAttempt::Finished(outcome) => Ok(*outcome),
        SolveAttempt::Failed(failed) => Err(Problem::new(Code::CycleFailed, failed.reason)),
    }
}

/// Finishes the run that waits; where it may retry, a change that fails by itself leaves the run as it is.
pub fn solve_attempt(
    workspace: &Workspace,
    request: &SolidifyRequest,
    may_retry: bool,
) -> Result<SolveAttempt> {
    let _lock = match request.unattended {
        true => workspace.lock_within(TURN)?,
        false => workspace.lock()?,
    };
    let (run, folder) = pending::require_pending(workspace, request.run_id.as_deref())?;
    if folder.read()?.is_some_and(|stored| stored.status == RunStatus::Working) {
        return Err(change::interrupted(&folder));
    }
    check_config(workspace, &run, request)?;
    let agent = AgentFacts::read(&folder)?;
    let request = SolidifyRequest {
        host_failure: request.host_failure.clone().or_else(|| agent.failure.clone()),
        ..request.clone()
    };
    let gene = gene_of(workspace, &run, request.intent.as_deref())?;
    let change = CycleChange::load(workspace, &run, &folder)?;
    let evaluated = placement::evaluate_and_place(workspace, &request, &run, &gene, change, &agent)?;
    let is_own_failure = evaluated.verdict.failure_class.is_some_and(FailureClass::charges_gene);
    let is_dropped = is_own_failure || (request.needs_proof && evaluated.verdict.failure_class.is_some());
    if may_retry && is_dropped {
        return Ok(SolveAttempt::Failed(Box::new(failed_attempt(workspace, &run, &agent, &evaluated)?)));
    }
    let outcome = commit_outcome::commit_outcome(workspace, &request, &run, &gene, evaluated, &agent)?;
    Ok(SolveAttempt::Finished(Box::new(outcome)))
}

/// What the next attempt is told of one that failed.
fn failed_attempt(
    workspace: &Workspace,
    run: &Run,
    agent: &AgentFacts,
    evaluated: &EvaluatedChange,
) -> Result<FailedAttempt> {
    let verdict = &evaluated.verdict;
    let note = agent.note.as_deref().and_then(parse_note);
    Ok(FailedAttempt {
        run_id: run.run_id.clone(),
        title: note.map(|note| note.title).unwrap_or_default(),
        reason: verdict.reason(),
        diff: evaluated.change.diff(&workspace.config.constraints.protected, SHOWN_DIFF)?,
        output: verdict.output.clone(),
    })
}

/// A policy that changed during the run may have been changed by the run.
fn check_config(workspace: &Workspace, run: &Run, request: &SolidifyRequest) -> Result<()> {
    if request.accept_config || run.config_digest == workspace.config.digest {
        return Ok(());
    }
    Err(Problem::new(Code::ConfigInvalid, "`capsid.toml` changed since the run began.")
        .fix("Look at what changed; if you changed it yourself, run `capsid solidify --accept-config`."))
}

/// The gene of a run and where it came from.
struct GeneUsed {
    /// As it is stored now, to be marked.
    document: Object,
    /// As it was when the run began, to evaluate by.
    view: Gene,
    created: bool,
    reason: &'static str,
}

fn gene_of(workspace: &Workspace, run: &Run, intent: Option<&str>) -> Result<GeneUsed> {
    if let (Some(id), Value::Object(recorded)) = (&run.selected_gene_id, &run.gene) {
        let stored = workspace.store.genes.find(id)?;
        return Ok(GeneUsed {
            view: Gene::read(recorded),
            document: stored.unwrap_or_else(|| recorded.clone()),
            created: false,
            reason: "selected_gene_id_present",
        });
    }
    let used = |document: Object, created, reason| GeneUsed {
        view: Gene::read(&document),
        document,
        created,
        reason,
    };
    let intent = intent.or_else(|| run.mutation.get("category").and_then(Value::as_str));
    let validation = &workspace.config.validation.commands;
    let made = learn::auto_gene(&run.signals, &run.signal_key, intent, validation);
    let id = made.get("id").and_then(Value::as_str).unwrap_or_default().to_owned();
    match workspace.store.genes.find(&id)? {
        Some(existing) => Ok(used(existing, false, "reselected_from_existing")),
        None => Ok(used(made, true, "no_match_create_new")),
    }
}
