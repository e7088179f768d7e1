//! `prepare`: from signals to a prompt, everything of a cycle that comes before the change.

use super::build_prompt::build_prompt;
use super::choice::Choice;
use super::draft::draft;
use super::observation::{self, Observation};
use super::problem_check::{CheckedProblem, check_problem};
use crate::config;
use crate::exchange::reuse::{self, ReusePolicy, ReuseSearch};
use crate::memory::remote::{self, ConsultOutcome, RemoteMemory};
use crate::prompt::FailedAttempt;
use crate::rules::select::Selection;
use crate::run::folder::{RunFolder, RunStatus};
use crate::run::state::RunState;
use crate::run::{Run, ViewLevel, tree_after};
use crate::solidify::change::CycleChange;
use crate::workspace::{Workspace, WorkspaceLock};
use capsid_client::NodeClient;
use capsid_disk::{Lock, files};
use capsid_model::personality::Personality;
use capsid_model::signal::signal_key;
use capsid_model::{Code, Problem, Result, Value, json};
use capsid_rules::learning::history::should_skip_same_inputs;
use std::path::PathBuf;

pub use super::observation::{ForeignRequest, Sources};

/// What kind of cycle is asked for.
#[derive(Clone, Default)]
pub struct EvolveRequest {
    /// Where signals come from.
    pub sources: Sources,
    /// The strategy preset.
    pub strategy: Option<String>,
    /// Write nothing.
    pub dry_run: bool,
    /// Whether a person will look at the change.
    pub review: bool,
    /// Run although nothing is new, or although a run waits.
    pub force: bool,
    /// The seed of chance, when drift is asked for.
    pub drift: Option<u64>,
    /// A signal key and a digest of inputs that are nothing new, besides those of the last run.
    pub seen: Option<(String, String)>,
    /// The hub that is searched for a proven solution first; none to stay offline.
    pub hub: Option<NodeClient>,
    /// The memory that is asked for advice and to which the cycle is reported; none to stay offline.
    pub memory: Option<RemoteMemory>,
    /// Whether this program starts the agent, so that the change is made in a private view.
    pub agent: bool,
}

impl std::fmt::Debug for EvolveRequest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("EvolveRequest")
            .field("sources", &self.sources)
            .field("strategy", &self.strategy)
            .field("dry_run", &self.dry_run)
            .field("review", &self.review)
            .field("force", &self.force)
            .field("drift", &self.drift)
            .field("hub", &self.hub.as_ref().map(NodeClient::hub_url))
            .field("memory", &self.memory.as_ref().map(RemoteMemory::hub_url))
            .field("agent", &self.agent)
            .finish()
    }
}

/// A run that is ready for the change.
#[derive(Debug)]
pub struct Ready {
    /// The run.
    pub run: Run,
    /// What was chosen, with every score.
    pub selection: Selection,
    /// What the agent is asked.
    pub prompt: String,
    /// Where the prompt is kept.
    pub prompt_path: PathBuf,
    /// How the search of the hub ended, where one was asked.
    pub search: Option<ReuseSearch>,
    /// What the shared memory advised, where one was asked.
    pub consulted: Option<ConsultOutcome>,
    /// Keeps others away from the run until its agent has ended.
    pub lock: Option<Lock>,
    /// What the user should know, such as a program that is not allowed.
    pub notes: Vec<String>,
    /// What the prompt is made from, so that a later attempt can get another one.
    pub prompt_source: PromptSource,
}

/// What the prompt of a run is made from.
#[derive(Debug, Clone)]
pub struct PromptSource {
    pub choice: Choice,
    pub seen: Observation,
    pub personality: Personality,
}

impl Ready {
    /// Builds the prompt again, with what this cycle tried so far.
    pub fn rebuild_prompt(&mut self, workspace: &Workspace, attempts: &[FailedAttempt]) -> Result<()> {
        let PromptSource { choice, seen, personality } = &self.prompt_source;
        let hit = self.search.as_ref().and_then(|search| search.hit.as_ref());
        self.prompt = build_prompt(workspace, &self.run, choice, seen, personality, hit, attempts)?;
        files::replace_private(&self.prompt_path, self.prompt.as_bytes())
    }

    /// For programs.
    pub fn to_json(&self, dry_run: bool) -> Value {
        json!({
            "ok": true,
            "problem": self.run.problem,
            "reproduction": self.run.reproduction.as_ref().map(|known| json!({
                "command": known.command,
                "source": known.source,
                "runs": known.runs,
                "flaky": known.flaky,
                "is_reproduced": known.is_reproduced,
            })),
            "offers": self.run.offers.iter().map(|offer| json!({
                "capsule_id": offer.capsule_id,
                "title": offer.title,
                "level": offer.level,
                "grade": offer.grade,
                "streak": offer.streak,
                "is_foreign": offer.is_foreign,
                "can_try": offer.can_try,
                "reason": offer.reason,
            })).collect::<Vec<_>>(),
            "notes": self.notes,
            "dry_run": dry_run,
            "run_id": self.run.run_id,
            "cycle": self.run.cycle,
            "signals": self.run.signals,
            "signal_key": self.run.signal_key,
            "selector": self.run.selector,
            "gene": self.run.selected_gene_id,
            "capsule": self.run.selected_capsule_id,
            "mutation": self.run.mutation,
            "source_type": self.run.source_type,
            "view": self.run.level.as_str(),
            "reuse": self.search.as_ref().map(ReuseSearch::to_json),
            "memory": self.consulted.as_ref().map(ConsultOutcome::to_json),
            "prompt": self.prompt,
        })
    }
}

/// What preparing a cycle gave.
#[derive(Debug)]
pub enum Prepared {
    /// A run, recorded unless it was a dry one.
    Ready(Box<Ready>),
    /// Nothing to do, and why.
    Skipped(String),
    /// What was named shows nothing to repair, or the user has to act first. No cycle ran.
    Refused(Problem),
}

/// Prepares a cycle: reads, reproduces, chooses, gates, records the run and writes the prompt.
pub fn prepare(workspace: &Workspace, request: &EvolveRequest) -> Result<Prepared> {
    workspace.require_store()?;
    let seen = preflight(workspace, request)?;
    // Commands and hubs may be slow, and must not keep the store locked.
    let checked = match check_problem(workspace, request, seen)? {
        Ok(checked) => checked,
        Err(problem) => return Ok(Prepared::Refused(problem)),
    };
    if let Some(reason) = nothing_new(workspace, request, &checked)? {
        return Ok(Prepared::Skipped(reason));
    }
    let advice = match wants_advice(workspace, request) {
        true => consult(workspace, request, &checked.seen),
        false => HubAdvice::default(),
    };
    let _lock = locked(workspace, request)?;
    leave_pending(workspace, request)?;
    let draft = draft(workspace, request, &checked, advice)?;
    let ready = if request.dry_run { draft.ready } else { draft.write(workspace)? };
    Ok(Prepared::Ready(Box::new(ready)))
}

fn wanted_hub<'a>(workspace: &Workspace, request: &'a EvolveRequest) -> Option<&'a NodeClient> {
    request.hub.as_ref().filter(|_| workspace.config.hub.reuse != config::ReuseConfig::Off)
}

/// Whether a hub is asked before the cycle begins.
fn wants_advice(workspace: &Workspace, request: &EvolveRequest) -> bool {
    wanted_hub(workspace, request).is_some() || request.memory.is_some()
}

/// What hubs answered before the cycle began.
#[derive(Default)]
pub(super) struct HubAdvice {
    pub(super) search: Option<ReuseSearch>,
    pub(super) consulted: Option<ConsultOutcome>,
}

fn consult(workspace: &Workspace, request: &EvolveRequest, seen: &Observation) -> HubAdvice {
    let search = wanted_hub(workspace, request);
    let (problem, signals) = (seen.diagnosis.to_record(), seen.signals.as_slice());
    let memory = request.memory.as_ref();
    HubAdvice {
        search: search.map(|hub| {
            reuse::search(hub, problem.as_ref(), signals, ReusePolicy::load(workspace), !request.dry_run)
        }),
        consulted: memory
            .map(|hub| remote::consult(hub, workspace, signals, request.drift.is_some(), request.dry_run)),
    }
}

fn locked(workspace: &Workspace, request: &EvolveRequest) -> Result<Option<WorkspaceLock>> {
    if request.dry_run { Ok(None) } else { workspace.lock().map(Some) }
}

/// What is seen, once no earlier run waits.
fn preflight(workspace: &Workspace, request: &EvolveRequest) -> Result<Observation> {
    let _lock = locked(workspace, request)?;
    leave_pending(workspace, request)?;
    observation::observe(workspace, &request.sources)
}

/// A run with a change must be finished first. One that changed nothing, or whose agent was killed, is left behind: in
/// neither case is anything of it in the tree. A run whose agent still works goes on beside the new one.
fn leave_pending(workspace: &Workspace, request: &EvolveRequest) -> Result<()> {
    if request.dry_run {
        return Ok(());
    }
    for folder in RunFolder::all(workspace)? {
        let Some(stored) = folder.read()?.filter(|stored| stored.status.is_pending()) else { continue };
        if stored.status == RunStatus::Working && folder.is_busy()? {
            continue;
        }
        let is_empty = || {
            let change = CycleChange::load(workspace, &stored.run, &folder);
            change.is_ok_and(|change| change.changes.files.is_empty())
        };
        if stored.status == RunStatus::Working || request.force || is_empty() {
            folder.write(RunStatus::Abandoned, &stored.run)?;
            folder.remove_layers();
            continue;
        }
        return Err(waiting(&stored.run));
    }
    Ok(())
}

fn waiting(run: &Run) -> Problem {
    let what = match run.level {
        ViewLevel::InPlace => "files changed since it began",
        ViewLevel::Overlay | ViewLevel::Copy => "its change is not applied yet",
    };
    Problem::new(Code::RunPending, format!("`{}` still waits, and {what}.", run.run_id)).fix(
        "Finish it with `capsid solidify`, drop it with `capsid review --reject`, or begin a new run with `--force`.",
    )
}

/// The same signals from the same inputs as the run that was finished last need no new cycle, as long as the tree is as
/// that run left it and no command shows the problem. A fix that was reverted runs again.
fn nothing_new(
    workspace: &Workspace,
    request: &EvolveRequest,
    checked: &CheckedProblem,
) -> Result<Option<String>> {
    let is_reproduced = checked.reproduction.as_ref().map(|known| known.is_reproduced);
    if request.force || is_reproduced == Some(true) {
        return Ok(None);
    }
    let state = RunState::load(workspace)?;
    let Some(last) = state.last_run().filter(|run| state.finished_id() == Some(run.run_id.as_str())) else {
        return Ok(None);
    };
    // Where the machine failed and not the change, the same cycle is worth another try.
    if matches!(state.finished_class(), Some("host" | "network" | "sandbox")) {
        return Ok(None);
    }
    let seen = &checked.seen;
    let now = (signal_key(&seen.signals), seen.inputs.digest.clone());
    let same = now == (last.signal_key, last.inputs_digest) || request.seen.as_ref() == Some(&now);
    if !same {
        return Ok(None);
    }
    let is_tree_unchanged = tree_after::is_as_left(workspace, &last.run_id, state.files_after())?;
    Ok(should_skip_same_inputs(is_tree_unchanged, is_reproduced.map(|shown| !shown)).then(|| {
        format!(
            "nothing is new since {}: same inputs, same signals, same files (`--force` runs anyway)",
            last.run_id
        )
    }))
}
