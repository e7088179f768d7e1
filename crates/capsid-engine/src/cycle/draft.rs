//! A run as it is drawn up: everything decided, nothing written yet; then written, the state file last.

use super::build_prompt::build_prompt;
use super::candidates;
use super::choice::{self, Choice};
use super::evolve::{EvolveRequest, HubAdvice, PromptSource, Ready};
use super::observation::Observation;
use super::offers::find_offers;
use super::problem_check::CheckedProblem;
use super::record::{self, RunEvidence};
use crate::exchange::reuse;
use crate::files::phase;
use crate::memory::outcome::PreviousAction;
use crate::memory::records::{self, ObservedSignals, PlannedChange};
use crate::memory::remote;
use crate::memory::remote::advice::RemoteAdvice;
use crate::rules::mutation;
use crate::rules::mutation::MutationInput;
use crate::rules::personality;
use crate::rules::personality::{PersonalityFile, PersonalityStep};
use crate::rules::strategy::Strategy;
use crate::run::folder::{self, RunFolder, RunStatus};
use crate::run::state::{self, RunState};
use crate::run::{Run, ViewLevel, base, learning, level};
use crate::signals;
use crate::store;
use crate::workspace::Workspace;
use capsid_disk::files;
use capsid_model::event::BlastRadius;
use capsid_model::id::IdMaker;
use capsid_model::mutation::Mutation;
use capsid_model::signal::signal_key;
use capsid_model::{Object, Result, Time, Value, json};
use capsid_rules::memory::graph::GraphStats;
use std::path::{Path, PathBuf};

/// The prompts kept; older ones are removed.
const PROMPTS_KEPT: usize = 10;

/// Everything that will be written for a run.
pub(super) struct Draft {
    pub(super) ready: Ready,
    strategy: Strategy,
    personality: PersonalityFile,
    graph: Vec<Object>,
    action: PreviousAction,
    candidates: Vec<Object>,
    sources: Value,
    evidence: RunEvidence,
}

/// The decisions of a cycle, in the order they are made.
struct Decisions {
    choice: Choice,
    strategy: Strategy,
    step: PersonalityStep,
    mutation: Mutation,
}

/// Draws a run up.
pub(super) fn draft(
    workspace: &Workspace,
    request: &EvolveRequest,
    checked: &CheckedProblem,
    advice: HubAdvice,
) -> Result<Draft> {
    let seen = &checked.seen;
    let HubAdvice { search, consulted } = advice;
    let heard = consulted.as_ref().and_then(|consulted| consulted.parse_advice(&seen.signals));
    let cycle = cycle_count(workspace)? + 1;
    let mut ids = state::id_maker(workspace)?;
    let observed = observed_signals(workspace, request, seen);
    let graph_file = workspace.graph();
    let mut statistics =
        if request.dry_run { graph_file.statistics_as_is()? } else { graph_file.statistics()? };
    let mut graph = close_abandoned(workspace, seen, &observed, &mut statistics)?;
    let mut personality = PersonalityFile::read(store::read_state(&workspace.paths.personality())?.into());
    let decided = decide(workspace, request, seen, cycle, (&statistics, heard), &personality, &mut ids)?;
    personality.set_current(&decided.step.state, workspace.now());
    let mut run = run(workspace, request, seen, cycle, &decided, &mut ids)?;
    let hit = search.as_ref().and_then(|search| search.hit.as_ref());
    run.problem = seen.diagnosis.to_record();
    run.reproduction = checked.reproduction.clone();
    if let Some(problem) = &run.problem {
        let is_reproduced = run.reproduction.as_ref().is_some_and(|known| known.is_reproduced);
        run.offers = find_offers(workspace, problem, &run.signals, is_reproduced, hit)?;
    }
    if let (Some(search), Some(hit)) = (&search, hit)
        && run.offers.iter().any(|offer| offer.is_foreign)
    {
        // What came from a hub is noted as shown; whether it was used is decided when the run is finished.
        run.reused_asset_id = Some(hit.asset_id.clone());
        run.source_type = "reference".to_owned();
        run.reuse = search.provenance();
    }
    let action = plan(workspace, &run, &decided, &observed, &mut graph);
    // What nobody has tried is tried; it is no advice for an agent.
    let shown = hit.filter(|hit| !hit.is_candidate);
    let prompt = build_prompt(workspace, &run, &decided.choice, seen, &decided.step.state, shown, &[])?;
    let prompt_source =
        PromptSource { choice: decided.choice.clone(), seen: seen.clone(), personality: decided.step.state };
    let sources =
        seen.inputs.sources.iter().map(|source| json!({"name": source.name, "bytes": source.bytes}));
    Ok(Draft {
        strategy: decided.strategy,
        personality,
        graph,
        action,
        candidates: candidates::notice(&seen.inputs.corpus.transcript, &run.signals, workspace.now()),
        sources: sources.collect(),
        evidence: RunEvidence::from_observation(seen),
        ready: Ready {
            prompt_path: workspace.paths.prompt(cycle, &run.run_id),
            run,
            selection: decided.choice.selection,
            prompt,
            search,
            consulted,
            lock: None,
            notes: checked.notes.clone(),
            prompt_source,
        },
    })
}

fn observed_signals(workspace: &Workspace, request: &EvolveRequest, seen: &Observation) -> ObservedSignals {
    let print = workspace.fingerprint();
    ObservedSignals {
        agent: workspace.variable("AGENT_NAME").unwrap_or_else(|| "main".to_owned()),
        drift_enabled: request.drift.is_some(),
        review_mode: request.review,
        dry_run: request.dry_run,
        scan_ms: seen.scan_ms,
        memory_size_bytes: seen.inputs.corpus.memory.len() as u64,
        recent_error_count: signals::error_count(&seen.inputs.corpus.transcript),
        node: print.node_version,
        platform: print.platform,
    }
}

/// An action whose run was never settled is closed by what the log tells now.
fn close_abandoned(
    workspace: &Workspace,
    seen: &Observation,
    observed: &ObservedSignals,
    statistics: &mut GraphStats,
) -> Result<Vec<Object>> {
    Ok(match learning::open_action(workspace)?.filter(|open| !learning::is_worked_on(workspace, open)) {
        Some(open) => learning::closing(workspace, &open, None, &seen.signals, observed, statistics),
        None => Vec::new(),
    })
}

fn decide(
    workspace: &Workspace,
    request: &EvolveRequest,
    seen: &Observation,
    cycle: u64,
    (statistics, heard): (&GraphStats, Option<&RemoteAdvice>),
    personality: &PersonalityFile,
    ids: &mut IdMaker,
) -> Result<Decisions> {
    let context = seen.choice_context();
    let choice = choice::choose(workspace, &seen.signals, &context, statistics, heard, request.drift)?;
    let asked = request.strategy.as_deref().or(workspace.config.cycle.strategy.as_deref());
    let strategy = Strategy::resolve(asked, workspace.forces_innovation(), cycle, &seen.signals);
    let step = personality::next(personality, &seen.signals, &seen.history, request.drift.is_some());
    let mutation = mutation::build(MutationInput {
        id: &ids.make("mut", workspace.now()),
        signals: &seen.signals,
        gene_id: choice.selection.gene_id.as_deref(),
        personality: &step.state,
        personality_known: step.known,
        strategy: &strategy,
        recent: &seen.history,
        drift: request.drift.is_some(),
    });
    Ok(Decisions { choice, strategy, step, mutation })
}

fn run(
    workspace: &Workspace,
    request: &EvolveRequest,
    seen: &Observation,
    cycle: u64,
    decided: &Decisions,
    ids: &mut IdMaker,
) -> Result<Run> {
    let now = workspace.now();
    let selection = &decided.choice.selection;
    let files = decided.choice.gene.as_ref().and_then(|gene| gene.max_files).unwrap_or(12);
    let quality = |capsule: &crate::rules::select::ScoredCapsule| {
        f64::from(capsule.matched) / f64::from(capsule.considered.max(1))
    };
    let parents = workspace.store.events.next_parents()?;
    Ok(Run {
        run_id: ids.make("run", now),
        created_at: now,
        cycle,
        parent_event_id: parents.parent,
        merge_parents: parents.others,
        selected_gene_id: selection.gene_id.clone(),
        selected_capsule_id: selection.capsule_id.clone(),
        match_quality: selection.capsule.as_ref().map_or(1.0, quality),
        selector: selection.to_json(),
        selected_by: selection.selected_by.clone(),
        signals: seen.signals.clone(),
        signal_key: signal_key(&seen.signals),
        inputs_digest: seen.inputs.digest.clone(),
        problem: seen.diagnosis.to_record(),
        mutation: decided.mutation.to_object().into(),
        personality: decided.step.state.to_object().into(),
        personality_key: decided.step.state.key(),
        personality_known: decided.step.known,
        personality_mutations: decided.step.changes.iter().map(personality::DialChange::to_value).collect(),
        drift: selection
            .drift
            .as_ref()
            .and_then(|drift| serde_json::to_value(drift).ok())
            .unwrap_or_default(),
        gene: decided.choice.document.clone().map_or(Value::Null, Value::Object),
        read_logs: logs_inside(workspace, &request.sources.logs, now),
        // Applying one's own capsule again is still one's own work; `reused` is for what came from others.
        source_type: "generated".to_owned(),
        head: workspace.repository.head.clone(),
        blast_estimate: BlastRadius { files, lines: files * 80 },
        config_digest: workspace.config.digest.clone(),
        action_id: records::graph_id("act", now, workspace.random()),
        level: if request.agent && !request.dry_run {
            level::choose(workspace)?.level
        } else {
            ViewLevel::InPlace
        },
        ..Run::default()
    })
}

/// The logs that lie inside the repository, relative to its root.
fn logs_inside(workspace: &Workspace, logs: &[PathBuf], now: Time) -> Vec<String> {
    let root = &workspace.repository.root;
    let inside = |path: &Path| Some(path.strip_prefix(root).ok()?.to_str()?.to_owned());
    let named = logs.iter().filter_map(|path| path.canonicalize().ok());
    named.chain([workspace.paths.daily_log(now)]).filter_map(|path| inside(&path)).collect()
}

/// Adds what the cycle saw, expects and attempts to the graph's records; gives the action to keep open.
fn plan(
    workspace: &Workspace,
    run: &Run,
    decided: &Decisions,
    observed: &ObservedSignals,
    graph: &mut Vec<Object>,
) -> PreviousAction {
    let now = workspace.now();
    let hypothesis_id = records::graph_id("hyp", now, workspace.random());
    let signals = run.learning_signals();
    let plan = PlannedChange {
        signals: &signals,
        hypothesis_id: &hypothesis_id,
        action_id: &run.action_id,
        mutation: &decided.mutation,
        personality: &decided.step.state,
        selection: &decided.choice.selection,
        gene_category: decided.choice.gene.as_ref().map(|gene| gene.category.as_str()),
        observed,
    };
    let id = || records::graph_id("mge", now, workspace.random());
    graph.push(records::signal(&id(), now, &signals, observed));
    graph.push(records::hypothesis(&id(), now, &plan));
    graph.push(records::attempt(&id(), now, &plan));
    learning::action_of(run, &hypothesis_id, plan.gene_category, observed)
}

impl Draft {
    /// Writes the run. The state file comes last: until then the run does not exist.
    pub(super) fn write(mut self, workspace: &Workspace) -> Result<Ready> {
        let paths = &workspace.paths;
        let folder = RunFolder::of_run(workspace, &self.ready.run.run_id)?;
        folder::remove_old(workspace)?;
        folder.create()?;
        phase::enter("base");
        base::capture(workspace, &mut self.ready.run, &folder)?;
        let started_here = self.ready.run.level != ViewLevel::InPlace;
        if started_here {
            self.ready.lock = Some(folder.lock()?);
        }
        workspace.graph().append(&self.graph)?;
        remote::queue(workspace, &self.graph);
        learning::note_action(workspace, &self.action)?;
        phase::enter("candidates");
        candidates::append_new(&workspace.store, &self.candidates)?;
        phase::enter("prompt");
        files::replace_private(&self.ready.prompt_path, self.ready.prompt.as_bytes())?;
        files::truncate_to_newest(&paths.evolution, "gep_prompt_", PROMPTS_KEPT)?;
        record::write(workspace, &self.ready, &self.strategy.name, &self.sources, &self.evidence)?;
        let run = &self.ready.run;
        if let Some(search) = &self.ready.search {
            reuse::log::record_search(workspace, &run.run_id, search)?;
        }
        if let Value::Object(file) = self.personality.to_value() {
            store::write_state(&paths.personality(), &file)?;
        }
        phase::enter("run_state");
        folder.write(if started_here { RunStatus::Working } else { RunStatus::Prepared }, run)?;
        let count = json!({"cycleCount": run.cycle, "lastRun": run.created_at.0});
        store::write_state(&paths.cycle_state(), &count.as_object().cloned().unwrap_or_default())?;
        let mut state = RunState::load(workspace)?;
        state.begin(run);
        store::write_state(&paths.run_state(), &state.file)?;
        Ok(self.ready)
    }
}

fn cycle_count(workspace: &Workspace) -> Result<u64> {
    let state = store::read_state(&workspace.paths.cycle_state())?;
    Ok(state.get("cycleCount").and_then(Value::as_u64).unwrap_or_default())
}
