//! `prepare`: from signals to a prompt, everything of a cycle that comes before the change.

use super::draft::draft;
use super::run::Run;
use super::sight::{self, Sight};
use crate::config;
use crate::memory::remote::{self, ConsultOutcome, RemoteMemory};
use crate::reuse::{self, ReuseSearch};
use crate::rules::select::Selection;
use crate::solidify::{self, changed};
use crate::workspace::Workspace;
use capsid_client::NodeClient;
use capsid_disk::Lock;
use capsid_model::signal::signal_key;
use capsid_model::{Code, Problem, Result, Value, json};
use std::path::PathBuf;

pub use super::sight::{Given, Sources};

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
    /// The memory that is asked for advice and told what happens; none to stay offline.
    pub memory: Option<RemoteMemory>,
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
            .finish()
    }
}

/// A run that is ready for the change.
#[derive(Debug, Clone)]
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
            "reuse": self.search.as_ref().map(ReuseSearch::to_json),
            "memory": self.consulted.as_ref().map(ConsultOutcome::to_json),
            "prompt": self.prompt,
        })
    }
}

/// What preparing a cycle gave.
#[derive(Debug, Clone)]
pub enum Prepared {
    /// A run, recorded unless it was a dry one.
    Ready(Box<Ready>),
    /// Nothing to do, and why.
    Skipped(String),
}

/// Prepares a cycle: reads, chooses, gates, records the run and writes the prompt.
pub fn prepare(workspace: &Workspace, request: &EvolveRequest) -> Result<Prepared> {
    workspace.require_store()?;
    let told = match asks(workspace, request) {
        true => match ahead(workspace, request)? {
            Ok(sight) => ask(workspace, request, &sight.signals),
            Err(reason) => return Ok(Prepared::Skipped(reason)),
        },
        false => Told::default(),
    };
    let _lock = locked(workspace, request)?;
    let sight = match begin(workspace, request)? {
        Ok(sight) => sight,
        Err(reason) => return Ok(Prepared::Skipped(reason)),
    };
    let draft = draft(workspace, request, &sight, told)?;
    let ready = if request.dry_run { draft.ready } else { draft.write(workspace)? };
    Ok(Prepared::Ready(Box::new(ready)))
}

fn wanted_hub<'a>(workspace: &Workspace, request: &'a EvolveRequest) -> Option<&'a NodeClient> {
    request.hub.as_ref().filter(|_| workspace.config.hub.reuse != config::ReuseConfig::Off)
}

/// Whether anybody is asked before the cycle begins.
fn asks(workspace: &Workspace, request: &EvolveRequest) -> bool {
    wanted_hub(workspace, request).is_some() || request.memory.is_some()
}

/// What others told before the cycle began.
#[derive(Default)]
pub(super) struct Told {
    pub(super) search: Option<ReuseSearch>,
    pub(super) consulted: Option<ConsultOutcome>,
}

fn ask(workspace: &Workspace, request: &EvolveRequest, signals: &[String]) -> Told {
    let bound = workspace.config.hub.reuse;
    let search = wanted_hub(workspace, request);
    let memory = request.memory.as_ref();
    Told {
        search: search.map(|hub| reuse::search(hub, signals, bound, !request.dry_run)),
        consulted: memory
            .map(|hub| remote::consult(hub, workspace, signals, request.drift.is_some(), request.dry_run)),
    }
}

fn locked(workspace: &Workspace, request: &EvolveRequest) -> Result<Option<Lock>> {
    if request.dry_run { Ok(None) } else { workspace.lock().map(Some) }
}

/// What those who are asked need to know. A slow hub must not keep the store locked, so this is looked at twice:
/// what others did meanwhile counts.
fn ahead(workspace: &Workspace, request: &EvolveRequest) -> Result<std::result::Result<Sight, String>> {
    let _lock = locked(workspace, request)?;
    begin(workspace, request)
}

/// What is seen, or why there is nothing to do.
fn begin(workspace: &Workspace, request: &EvolveRequest) -> Result<std::result::Result<Sight, String>> {
    leave_pending(workspace, request)?;
    let sight = sight::look(workspace, &request.sources)?;
    Ok(match nothing_new(workspace, request, &sight)? {
        Some(reason) => Err(reason),
        None => Ok(sight),
    })
}

/// A waiting run that changed something must be settled first; one that changed nothing is simply left behind.
fn leave_pending(workspace: &Workspace, request: &EvolveRequest) -> Result<()> {
    if request.force || request.dry_run || workspace.run_state()?.pending().is_none() {
        return Ok(());
    }
    let Ok(run) = solidify::pending(workspace) else {
        return Ok(());
    };
    let changed = changed::changes_of(workspace, &run).is_ok_and(|changed| !changed.changes.files.is_empty());
    if !changed {
        return Ok(());
    }
    Err(Problem::new(Code::RunPending, format!("`{}` still waits, and files changed since it began.", run.run_id)).fix(
        "Settle it with `capsid solidify`, take it back with `capsid review --reject`, or begin anew with `--force`.",
    ))
}

/// The same signals from the same inputs as the run that was settled last need no new cycle.
fn nothing_new(workspace: &Workspace, request: &EvolveRequest, sight: &Sight) -> Result<Option<String>> {
    if request.force {
        return Ok(None);
    }
    let state = workspace.run_state()?;
    let Some(last) = state.last_run().filter(|run| state.settled_id() == Some(run.run_id.as_str())) else {
        return Ok(None);
    };
    // Where the machine failed and not the change, the same cycle is worth another try.
    if matches!(state.settled_class(), Some("host" | "network" | "sandbox")) {
        return Ok(None);
    }
    let now = (signal_key(&sight.signals), sight.inputs.digest.clone());
    let same = now == (last.signal_key, last.inputs_digest) || request.seen.as_ref() == Some(&now);
    Ok(same.then(|| {
        format!("nothing is new since {}: same inputs, same signals (`--force` runs anyway)", last.run_id)
    }))
}
