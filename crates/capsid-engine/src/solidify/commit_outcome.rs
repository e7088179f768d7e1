//! Records the outcome of a run: every record first, then the journal that writes them and applies the change.

use super::change::CycleChange;
use super::outcome::ChangedFile;
use super::placement::EvaluatedChange;
use super::{CycleOutcome, GeneUsed, SolidifyRequest, commit, learn};
use crate::exchange::reuse;
use crate::memory::records::ObservedSignals;
use crate::memory::remote;
use crate::rules::personality::PersonalityFile;
use crate::run::facts::Applied;
use crate::run::folder::RunStatus;
use crate::run::records::{self, FinishedCycle};
use crate::run::state::{self, RunState};
use crate::run::verdict::{FailureClass, Verdict};
use crate::run::{Run, learning, narrative};
use crate::sealed_log;
use crate::store;
use crate::tree::ChangeKind;
use crate::tree::apply;
use crate::workspace::Workspace;
use crate::workspace::journal::{Journal, StateFile, TextFile};
use crate::workspace::outbox::OutboxFile;
use capsid_disk::files;
use capsid_model::event::EvolutionEvent;
use capsid_model::gene::Gene;
use capsid_model::id::IdMaker;
use capsid_model::personality::Personality;
use capsid_model::report::{ReportInput, report};
use capsid_model::{Object, Result, Value, json};
use capsid_rules::learning::reuse_outcome::ReuseOutcome;

/// The most of a diff that a record is made from, in bytes.
const DIFF_BYTES: usize = 64 * 1024;

/// Records the outcome and makes it so.
pub(super) fn commit_outcome(
    workspace: &Workspace,
    request: &SolidifyRequest,
    run: &Run,
    gene: &GeneUsed,
    evaluated: EvaluatedChange,
) -> Result<CycleOutcome> {
    let EvaluatedChange { change, verdict, facts, plan, problem } = evaluated;
    let (patch_hash, patch) =
        if request.dry_run { Default::default() } else { change.save_patch(workspace)? };
    let files: Vec<String> = change.changes.files.iter().map(|file| file.path.clone()).collect();
    let trees = change.trees()?;
    let cycle = FinishedCycle {
        run,
        verdict: &verdict,
        gene_id: &gene.view.id,
        strategy: &gene.view.strategy,
        intent: &request.intent.clone().unwrap_or_else(|| intent_of(run, &gene.view)),
        blast: change.changes.blast(),
        files: &files,
        diff: &change.diff(&workspace.config.constraints.protected, DIFF_BYTES)?,
        patch_hash: &patch_hash,
        trees: (&trees.0, &trees.1),
        facts: &facts,
        env: &workspace.fingerprint(),
        summary: request.summary.as_deref(),
        now: workspace.now(),
    };
    let mut journal = write_up(workspace, &cycle, gene)?;
    let status = match facts.applied {
        Applied::NeedsReview => RunStatus::NeedsReview,
        Applied::Conflict => RunStatus::Conflict,
        Applied::Yes | Applied::No => RunStatus::Finished,
    };
    let folder = &change.folder;
    journal.private.push(TextFile { path: folder.text_path(), text: folder.text(status, run) });
    let mut outcome =
        CycleOutcome::from_journal(&journal, &verdict, gene.document.clone(), change.changes.blast());
    outcome.patch = patch;
    outcome.dry_run = request.dry_run;
    outcome.changed_files = changed_files(&change);
    outcome.apply_problem = problem;
    outcome.facts = facts;
    if request.dry_run {
        folder.remove_layers();
        return Ok(outcome);
    }
    if let Some(plan) = &plan {
        apply::begin(&folder.path, &workspace.repository.root, plan)?;
        journal.apply = Some(folder.path.clone());
    }
    if outcome.is_left_in_tree() {
        super::restore::note_state_after(workspace, &change)?;
    }
    outcome.applied = journal.commit(workspace)?;
    match sealed_log::after_settling(workspace) {
        Ok(sealed) => outcome.new_key = sealed.new_key,
        Err(problem) => outcome.seal_problem = Some(problem),
    }
    if request.commit && outcome.ok && outcome.is_applied() {
        match commit::commit(workspace, &change, &outcome) {
            Ok(id) => outcome.commit = Some(id),
            Err(problem) => outcome.commit_problem = Some(problem),
        }
    }
    folder.remove_layers();
    Ok(outcome)
}

fn changed_files(change: &CycleChange) -> Vec<ChangedFile> {
    let kind = |kind| match kind {
        ChangeKind::Added => "added",
        ChangeKind::Modified => "modified",
        ChangeKind::Deleted => "deleted",
        ChangeKind::Renamed => "renamed",
        ChangeKind::TypeChanged => "type_changed",
    };
    let files = change.changes.files.iter();
    files.map(|file| ChangedFile { path: file.path.clone(), kind: kind(file.kind) }).collect()
}

/// Everything that the finished run will write into the store.
fn write_up(workspace: &Workspace, cycle: &FinishedCycle<'_>, gene: &GeneUsed) -> Result<Journal> {
    let (run, verdict, now) = (cycle.run, cycle.verdict, cycle.now);
    let mut ids = state::id_maker(workspace)?;
    let report_id = ids.make("vr", now);
    let event_id = ids.make("evt", now);
    let report = report(&ReportInput {
        id: report_id.clone(),
        gene_id: Some(cycle.gene_id),
        env: cycle.env,
        commands: &verdict.commands,
        isolation: &verdict.isolation,
        duration_ms: verdict.duration_ms,
        created_at: now,
    });
    let (capsule, failed) = capsules(workspace, cycle, &mut ids)?;
    let capsule_id =
        capsule.as_ref().filter(|_| verdict.ok).and_then(|c| c.get("id")).and_then(Value::as_str);
    let event = records::event(cycle, &event_id, &report_id, capsule_id);
    let teaches = verdict.failure_class.is_none_or(|class| class.charges_gene());
    let marked = teaches.then(|| learn::marked_gene(&gene.document, &cycle.env.context(), verdict.ok, now));
    let reports = workspace.config.hub.report;
    let reused = reuse_outcome(run, verdict);
    let outgoing = reports.then(|| reuse::report::build_report(run, verdict, &report, reused, now)).flatten();
    let graph = graph_records(workspace, run, &event)?;
    let shown = files::read_optional(&workspace.paths.narrative())?.unwrap_or_default();
    Ok(Journal {
        run_id: run.run_id.clone(),
        apply: None,
        gene: marked.or_else(|| gene.created.then(|| gene.document.clone())),
        capsule,
        failed,
        states: states(workspace, run, &event, teaches)?,
        private: Vec::new(),
        narrative: Some(narrative::with_entry(&shown, &narrative::entry(cycle, &event_id))),
        outgoing: vec![
            (OutboxFile::MemoryRecords, remote::entries(workspace, &graph)),
            (OutboxFile::HubReports, outgoing.into_iter().collect()),
        ],
        graph,
        records: vec![report, event],
    })
}

/// What the run means for the solution of a hub that it was offered.
fn reuse_outcome(run: &Run, verdict: &Verdict) -> ReuseOutcome {
    match (run.source_type.as_str(), verdict.failure_class) {
        ("reused", None) => ReuseOutcome::Reused,
        ("reused", Some(FailureClass::Validation)) => ReuseOutcome::Failed,
        _ => ReuseOutcome::Unchanged,
    }
}

/// The state files as they will be.
fn states(workspace: &Workspace, run: &Run, event: &Object, teaches: bool) -> Result<Vec<StateFile>> {
    let paths = &workspace.paths;
    let mut states: Vec<StateFile> = learning::closed_action(workspace, run)?.into_iter().collect();
    if let Some(document) = personality_file(workspace, run, event, teaches)? {
        states.push(StateFile { path: paths.personality(), document });
    }
    let mut state = RunState::load(workspace)?;
    state.finish(finished_record(run, event, &workspace.now().iso()));
    states.push(StateFile { path: paths.run_state(), document: state.file });
    Ok(states)
}

fn intent_of(run: &Run, gene: &Gene) -> String {
    let category = run.mutation.get("category").and_then(Value::as_str);
    match category.unwrap_or(&gene.category) {
        "" => "repair".to_owned(),
        category => category.to_owned(),
    }
}

/// The capsule that a success makes or grows, or that a failed reuse breaks; and the failed capsule.
fn capsules(
    workspace: &Workspace,
    cycle: &FinishedCycle<'_>,
    ids: &mut IdMaker,
) -> Result<(Option<Object>, Option<Object>)> {
    let previous = match &cycle.run.selected_capsule_id {
        Some(id) => workspace.store.capsules.find(id)?,
        None => None,
    };
    let previous = previous.as_ref();
    let Some(class) = cycle.verdict.failure_class else {
        let id = match &cycle.run.selected_capsule_id {
            Some(id) if previous.is_some() => id.clone(),
            _ => ids.make("capsule", cycle.now),
        };
        let streak = workspace.store.events.success_streak(&id)? + 1;
        let quality = if previous.is_some() { cycle.run.match_quality } else { 1.0 };
        return Ok((Some(records::capsule(cycle, &id, previous, streak, quality)), None));
    };
    let broken =
        previous.filter(|_| class.charges_gene() && !cycle.verdict.is_empty).map(records::broken_streak);
    let failed = records::failed_capsule(cycle, &ids.make("failed_capsule", cycle.now), class);
    Ok((broken, Some(failed)))
}

/// What the memory graph learns: the open action closes with the outcome that was recorded.
fn graph_records(workspace: &Workspace, run: &Run, event: &Object) -> Result<Vec<Object>> {
    let Some(mut action) =
        learning::open_action(workspace)?.filter(|action| action.action_id == run.action_id)
    else {
        return Ok(Vec::new());
    };
    let genes = event.get("genes_used").and_then(Value::as_array);
    action.gene_id = genes.and_then(|genes| genes.first()).and_then(Value::as_str).map(str::to_owned);
    let mut statistics = workspace.graph().statistics()?;
    let recorded = EvolutionEvent::read(event);
    let observed =
        ObservedSignals { platform: capsid_model::env::platform().to_owned(), ..ObservedSignals::default() };
    Ok(learning::closing(workspace, &action, recorded.as_ref(), &run.signals, &observed, &mut statistics))
}

/// The dials' file with this outcome counted. Failures that were not the cycle's own are not.
fn personality_file(
    workspace: &Workspace,
    run: &Run,
    event: &Object,
    counts: bool,
) -> Result<Option<Object>> {
    let (Some(used), Some(event), true) =
        (Personality::read_strict(&run.personality), EvolutionEvent::read(event), counts)
    else {
        return Ok(None);
    };
    let mut file = PersonalityFile::read(store::read_state(&workspace.paths.personality())?.into());
    file.record(&used, &event.outcome, &event.id, workspace.now());
    Ok(file.to_value().as_object().cloned())
}

fn finished_record(run: &Run, event: &Object, at: &str) -> Object {
    let value = json!({
        "run_id": run.run_id,
        "at": at,
        "event_id": event.get("id"),
        "capsule_id": event.get("capsule_id"),
        "outcome": event.get("outcome"),
        "failure_class": event.get("meta").and_then(|meta| meta.get("failure_class")),
        "signal_key": run.signal_key,
        "inputs_digest": run.inputs_digest,
    });
    value.as_object().cloned().unwrap_or_default()
}
