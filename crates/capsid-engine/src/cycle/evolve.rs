//! `prepare`: from signals to a prompt, everything of a cycle that comes before the change.

use super::draft::draft;
use super::observation::{self, Observation};
use crate::config;
use crate::exchange::reuse::{self, ReusePolicy, ReuseSearch};
use crate::memory::remote::{self, ConsultOutcome, RemoteMemory};
use crate::rules::select::Selection;
use crate::run::folder::{RunFolder, RunStatus};
use crate::run::state::RunState;
use crate::run::{Run, ViewLevel};
use crate::solidify::change::CycleChange;
use crate::workspace::{Workspace, WorkspaceLock};
use capsid_client::NodeClient;
use capsid_disk::Lock;
use capsid_model::signal::signal_key;
use capsid_model::{Code, Problem, Result, Value, json};
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
}

impl Ready {
    /// For programs.
    pub fn to_json(&self, dry_run: bool) -> Value {
        json!({
            "ok": true,
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
}

/// Prepares a cycle: reads, chooses, gates, records the run and writes the prompt.
pub fn prepare(workspace: &Workspace, request: &EvolveRequest) -> Result<Prepared> {
    workspace.require_store()?;
    let advice = match wants_advice(workspace, request) {
        true => match preflight(workspace, request)? {
            Ok(seen) => consult(workspace, request, &seen),
            Err(reason) => return Ok(Prepared::Skipped(reason)),
        },
        false => HubAdvice::default(),
    };
    let _lock = locked(workspace, request)?;
    let seen = match begin(workspace, request)? {
        Ok(seen) => seen,
        Err(reason) => return Ok(Prepared::Skipped(reason)),
    };
    let draft = draft(workspace, request, &seen, advice)?;
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

/// What the hubs that are asked need to know. A slow hub must not keep the store locked, so the inputs are observed
/// twice: what others did meanwhile counts.
fn preflight(
    workspace: &Workspace,
    request: &EvolveRequest,
) -> Result<std::result::Result<Observation, String>> {
    let _lock = locked(workspace, request)?;
    begin(workspace, request)
}

/// What is seen, or why there is nothing to do.
fn begin(workspace: &Workspace, request: &EvolveRequest) -> Result<std::result::Result<Observation, String>> {
    leave_pending(workspace, request)?;
    let seen = observation::observe(workspace, &request.sources)?;
    Ok(match nothing_new(workspace, request, &seen)? {
        Some(reason) => Err(reason),
        None => Ok(seen),
    })
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

/// The same signals from the same inputs as the run that was finished last need no new cycle.
fn nothing_new(workspace: &Workspace, request: &EvolveRequest, seen: &Observation) -> Result<Option<String>> {
    if request.force {
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
    let now = (signal_key(&seen.signals), seen.inputs.digest.clone());
    let same = now == (last.signal_key, last.inputs_digest) || request.seen.as_ref() == Some(&now);
    Ok(same.then(|| {
        format!("nothing is new since {}: same inputs, same signals (`--force` runs anyway)", last.run_id)
    }))
}
