//! What a cycle writes into the memory graph: the open action, and its outcome once it is known.

use super::Run;
use super::folder::{RunFolder, RunStatus};
use crate::memory::outcome::{self, PreviousAction};
use crate::memory::records::{self, ObservedSignals};
use crate::store;
use crate::workspace::Workspace;
use crate::workspace::journal::StateFile;
use capsid_model::event::EvolutionEvent;
use capsid_model::signal::learning_key;
use capsid_model::{Object, Result, Value};
use capsid_rules::memory::graph::GraphStats;

/// The action that is still open, if there is one.
pub fn open_action(workspace: &Workspace) -> Result<Option<PreviousAction>> {
    let state = store::read_state(&workspace.paths.memory_state())?;
    let action = state.get("last_action").and_then(PreviousAction::read);
    Ok(action.filter(|action| !action.outcome_recorded))
}

/// Whether an agent still works on the run of an action.
pub fn is_worked_on(workspace: &Workspace, action: &PreviousAction) -> bool {
    let folders = RunFolder::all(workspace).unwrap_or_default();
    folders.iter().any(|folder| {
        let stored = folder.read().ok().flatten();
        stored.is_some_and(|stored| {
            stored.status == RunStatus::Working
                && stored.run.action_id == action.action_id
                && folder.is_busy().unwrap_or_default()
        })
    })
}

/// Notes an action as open, or as closed.
pub fn note_action(workspace: &Workspace, action: &PreviousAction) -> Result<()> {
    let path = workspace.paths.memory_state();
    let mut state = store::read_state(&path)?;
    state.insert("last_action".to_owned(), action.to_value());
    store::write_state(&path, &state)
}

/// The state file with the action of a run noted as closed; none where that action is not the open one.
pub fn closed_action(workspace: &Workspace, run: &Run) -> Result<Option<StateFile>> {
    let Some(mut action) = open_action(workspace)?.filter(|action| action.action_id == run.action_id) else {
        return Ok(None);
    };
    action.outcome_recorded = true;
    action.outcome_recorded_at = Some(workspace.now().iso());
    let path = workspace.paths.memory_state();
    let mut document = store::read_state(&path)?;
    document.insert("last_action".to_owned(), action.to_value());
    Ok(Some(StateFile { path, document }))
}

/// The records that close an action. The event that its run recorded decides; without one the log is asked.
pub fn closing(
    workspace: &Workspace,
    action: &PreviousAction,
    recorded: Option<&EvolutionEvent>,
    signals_now: &[String],
    observed: &ObservedSignals,
    statistics: &mut GraphStats,
) -> Vec<Object> {
    let now = workspace.now();
    let inferred = outcome::infer(action, recorded, signals_now, observed.recent_error_count);
    let id = |prefix: &str| records::graph_id(prefix, now, workspace.random());
    let outcome_id = id("mge");
    let outcome = records::outcome(&outcome_id, now, action, &inferred, signals_now, observed);
    statistics.add(&outcome);
    let mut closing = vec![outcome];
    if let Some(gene) = &action.gene_id {
        let key = (learning_key(&action.signals), gene.clone());
        if let Some(edge) = statistics.edges.get(&key) {
            closing.push(records::confidence_edge(
                &id("mge"),
                now,
                &action.signals,
                gene,
                &edge.tally,
                &outcome_id,
            ));
        }
        if let Some(tally) = statistics.genes.get(gene) {
            closing.push(records::confidence_gene_outcome(
                &id("mge"),
                now,
                &action.signals,
                gene,
                tally,
                &outcome_id,
            ));
        }
    }
    closing
}

/// The action of a run, to be noted as open.
pub fn action_of(
    run: &Run,
    hypothesis_id: &str,
    gene_category: Option<&str>,
    observed: &ObservedSignals,
) -> PreviousAction {
    let of_mutation = |name: &str| run.mutation.get(name).and_then(Value::as_str).map(str::to_owned);
    let signals = run.learning_signals();
    PreviousAction {
        action_id: run.action_id.clone(),
        hypothesis_id: Some(hypothesis_id.to_owned()),
        signal_key: learning_key(&signals),
        signals: capsid_model::signal::folded(&signals),
        mutation_id: of_mutation("id"),
        mutation_category: of_mutation("category"),
        mutation_risk_level: of_mutation("risk_level"),
        personality_key: Some(run.personality_key.clone()),
        personality_state: run.personality.clone(),
        gene_id: run.selected_gene_id.clone(),
        gene_category: gene_category.map(str::to_owned),
        capsules_used: run.selected_capsule_id.iter().cloned().collect(),
        had_error: run.signals.iter().any(|signal| signal == "log_error"),
        created_at: run.created_at.iso(),
        baseline_observed: observed.to_value(),
        ..PreviousAction::default()
    }
}
