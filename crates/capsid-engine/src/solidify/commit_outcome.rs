//! Records the outcome of a run: every record first, then the journal that writes them and applies the change.

use super::change::CycleChange;
use super::change_text::{describe_change, summarize_change};
use super::outcome::ChangedFile;
use super::placement::EvaluatedChange;
use super::{CycleOutcome, GeneUsed, SolidifyRequest, commit, learn};
use crate::exchange::reuse;
use crate::memory::records::ObservedSignals;
use crate::memory::remote;
use crate::rules::personality::PersonalityFile;
use crate::run::agent_facts::AgentFacts;
use crate::run::credit::{CreditInput, CycleCredit};
use crate::run::facts::Applied;
use crate::run::folder::RunStatus;
use crate::run::records::{self, FinishedCycle};
use crate::run::state::{self, RunState};
use crate::run::{Run, learning, narrative, tree_after};
use crate::sealed_log;
use crate::store;
use crate::tree::ChangeKind;
use crate::tree::apply;
use crate::tree::names::Name;
use crate::tree::private_tree::{FileContent, FileState};
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
    agent: &AgentFacts,
) -> Result<CycleOutcome> {
    let EvaluatedChange { change, verdict, facts, plan, problem } = evaluated;
    let (patch_hash, patch) =
        if request.dry_run { Default::default() } else { change.save_patch(workspace)? };
    let files: Vec<String> = change.changes.files.iter().map(|file| file.path.clone()).collect();
    let trees = change.trees()?;
    let diff = change.diff(&workspace.config.constraints.protected, DIFF_BYTES)?;
    let is_solved = verdict.ok && verdict.grade().is_proven();
    let text = describe_change(workspace, request, run, agent, &gene.view.id, (&diff, is_solved));
    let summary = summarize_change(request, &text, change.changes.blast());
    let credit = CycleCredit::assign(&CreditInput {
        offers: &run.offers,
        is_kept: verdict.ok && facts.applied == Applied::Yes,
        grade: verdict.grade(),
        diff: &diff,
    });
    let cycle = FinishedCycle {
        run,
        verdict: &verdict,
        gene_id: &gene.view.id,
        strategy: &gene.view.strategy,
        intent: &request.intent.clone().unwrap_or_else(|| intent_of(run, &gene.view)),
        blast: change.changes.blast(),
        files: &files,
        diff: &diff,
        patch_hash: &patch_hash,
        trees: (&trees.0, &trees.1),
        facts: &facts,
        env: &workspace.fingerprint(),
        text: &text,
        summary: &summary,
        credit: &credit,
        now: workspace.now(),
    };
    let after = files_after(&change, cycle.facts.applied);
    let mut journal = write_up(workspace, &cycle, gene, &after)?;
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
    outcome.reused = credit.find_reused(&run.offers).cloned();
    outcome.text = Some(text.clone());
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

/// The files that the run leaves changed in the tree, each as it will be.
fn files_after(change: &CycleChange, applied: Applied) -> Value {
    let files: Vec<(Name, FileState)> = match &change.layer {
        Some(layer) if applied == Applied::Yes => {
            layer.files.iter().map(|file| (file.name.clone(), file.state.clone())).collect()
        }
        Some(_) => Vec::new(),
        None => {
            let state = |content: &FileContent| match content {
                Some((mode, bytes)) => FileState::from_bytes(bytes, *mode),
                None => FileState::Absent,
            };
            change.pairs.iter().map(|pair| (pair.name.clone(), state(&pair.after))).collect()
        }
    };
    tree_after::to_value(&files)
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
fn write_up(
    workspace: &Workspace,
    cycle: &FinishedCycle<'_>,
    gene: &GeneUsed,
    after: &Value,
) -> Result<Journal> {
    let (run, verdict, now) = (cycle.run, cycle.verdict, cycle.now);
    let mut ids = state::id_maker(workspace)?;
    let report_id = ids.make("vr", now);
    let event_id = ids.make("evt", now);
    let mut report = report(&ReportInput {
        id: report_id.clone(),
        gene_id: Some(cycle.gene_id),
        env: cycle.env,
        commands: &verdict.commands,
        isolation: &verdict.isolation,
        duration_ms: verdict.duration_ms,
        created_at: now,
    });
    if let Some(proof) = verdict.proof.as_ref().and_then(|proof| serde_json::to_value(proof).ok()) {
        report.insert("proof".to_owned(), proof);
        capsid_model::asset::stamp(&mut report);
    }
    let CycleCapsules { capsule, broken, failed } = capsules(workspace, cycle, &mut ids)?;
    let capsule_id =
        capsule.as_ref().filter(|_| verdict.ok).and_then(|c| c.get("id")).and_then(Value::as_str);
    let event = records::event(cycle, &event_id, &report_id, capsule_id);
    let teaches = verdict.failure_class.is_none_or(|class| class.charges_gene());
    let weight = if verdict.ok { verdict.grade().memory_weight() } else { 1.0 };
    let marked = (teaches && weight > 0.0)
        .then(|| learn::marked_gene(&gene.document, &cycle.env.context(), verdict.ok, weight, now));
    let reports = workspace.config.hub.report;
    let reused = cycle.credit.foreign_outcome(&run.offers);
    let mut outgoing =
        reports.then(|| reuse::report::build_report(run, verdict, &report, reused, now)).flatten();
    // An owner who sends only members of the protocol sends no proof.
    if let Some(sent) = outgoing.as_mut().and_then(|entry| entry.get_mut("report")?.as_object_mut())
        && workspace.config.hub.strict
    {
        sent.shift_remove("proof");
    }
    let graph = graph_records(workspace, run, &event)?;
    let shown = files::read_optional(&workspace.paths.narrative())?.unwrap_or_default();
    Ok(Journal {
        run_id: run.run_id.clone(),
        apply: None,
        gene: marked.or_else(|| gene.created.then(|| gene.document.clone())),
        capsule,
        broken,
        failed,
        states: states(workspace, run, &event, teaches, after)?,
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

/// The state files as they will be.
fn states(
    workspace: &Workspace,
    run: &Run,
    event: &Object,
    teaches: bool,
    after: &Value,
) -> Result<Vec<StateFile>> {
    let paths = &workspace.paths;
    let mut states: Vec<StateFile> = learning::closed_action(workspace, run)?.into_iter().collect();
    if let Some(document) = personality_file(workspace, run, event, teaches)? {
        states.push(StateFile { path: paths.personality(), document });
    }
    let mut state = RunState::load(workspace)?;
    let mut record = finished_record(run, event, &workspace.now().iso());
    record.insert("files_after".to_owned(), after.clone());
    state.finish(record);
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

/// What a finished cycle means for the capsules of the store.
#[derive(Default)]
struct CycleCapsules {
    /// The one that a success made or grew.
    capsule: Option<Object>,
    /// Those whose own change failed on the problem that they are for.
    broken: Vec<Object>,
    failed: Option<Object>,
}

fn capsules(workspace: &Workspace, cycle: &FinishedCycle<'_>, ids: &mut IdMaker) -> Result<CycleCapsules> {
    let offers = &cycle.run.offers;
    let mut capsules = CycleCapsules::default();
    for (offer, outcome) in offers.iter().zip(&cycle.credit.outcomes) {
        if *outcome == ReuseOutcome::Failed && !offer.is_foreign {
            let stored = workspace.store.capsules.find(&offer.capsule_id)?;
            capsules.broken.extend(stored.as_ref().map(records::broken_streak));
        }
    }
    if let Some(class) = cycle.verdict.failure_class {
        let id = ids.make("failed_capsule", cycle.now);
        capsules.failed = Some(records::failed_capsule(cycle, &id, class));
        return Ok(capsules);
    }
    let counts = u64::from(cycle.verdict.grade().counts_for_streak());
    let known = match cycle.credit.find_reused(offers) {
        Some(offer) if offer.is_foreign => own_capsule_of(workspace, &offer.asset_id)?,
        Some(offer) => workspace.store.capsules.find(&offer.capsule_id)?,
        None => None,
    };
    capsules.capsule = Some(match known {
        Some(known) => {
            let id = known.get("id").and_then(Value::as_str).unwrap_or_default();
            let streak = workspace.store.events.success_streak(id)? + counts;
            records::grown_capsule(cycle, &known, streak, cycle.run.match_quality)
        }
        None => records::new_capsule(cycle, &ids.make("capsule", cycle.now), counts),
    });
    Ok(capsules)
}

/// The capsule that earlier reuses of an asset left here.
fn own_capsule_of(workspace: &Workspace, asset_id: &str) -> Result<Option<Object>> {
    let text = |capsule: &Object, name: &str| capsule.get(name).and_then(Value::as_str).map(str::to_owned);
    let of_it = |capsule: &Object| {
        text(capsule, "source_type").as_deref() == Some("reused")
            && text(capsule, "reused_asset_id").as_deref() == Some(asset_id)
    };
    Ok(workspace.store.capsules.documents()?.into_iter().find(of_it))
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
