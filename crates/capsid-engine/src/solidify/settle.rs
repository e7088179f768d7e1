//! Writes a verdict up: every record of the settled run, then the journal that does it all.

use super::changed::{Changed, keep_patch};
use super::journal::Journal;
use super::records::{self, Settled};
use super::verdict::Verdict;
use super::{GeneUsed, Settlement, SolidifyRequest, commit, learn, narrative, undo};
use crate::cycle::learning;
use crate::cycle::run::Run;
use crate::memory::records::ObservedSignals;
use crate::reuse;
use crate::rules::personality::PersonalityFile;
use crate::sealed_log;
use crate::store;
use crate::workspace::Workspace;
use capsid_model::event::EvolutionEvent;
use capsid_model::gene::Gene;
use capsid_model::id::IdMaker;
use capsid_model::personality::Personality;
use capsid_model::report::{ReportInput, report};
use capsid_model::{Object, Result, Value, json};

/// The most of a diff that is looked at for a record, in bytes.
const DIFF_BYTES: usize = 64 * 1024;

/// Records the verdict and makes it so.
pub(super) fn settle(
    workspace: &Workspace,
    request: &SolidifyRequest,
    run: &Run,
    gene: &GeneUsed,
    changed: &Changed,
    mut verdict: Verdict,
) -> Result<Settlement> {
    let (patch_hash, patch) =
        if request.dry_run { Default::default() } else { keep_patch(workspace, changed)? };
    let mut rejected = changed.after.clone();
    let taken_back = !verdict.ok && !request.keep_on_failure && !request.dry_run;
    if taken_back
        && request.unattended
        && let Some(commit) = undo::commits(workspace, run, &rejected)?
    {
        verdict.warnings.push(format!(
            "the agent's commit {commit} was taken off the branch; `git branch NAME {commit}` keeps it"
        ));
        rejected.head.clone_from(&changed.before.head);
    }
    let files: Vec<String> = changed.changes.files.iter().map(|file| file.path.clone()).collect();
    let settled = Settled {
        run,
        verdict: &verdict,
        gene_id: &gene.view.id,
        strategy: &gene.view.strategy,
        intent: &request.intent.clone().unwrap_or_else(|| intent_of(run, &gene.view)),
        blast: changed.changes.blast(),
        files: &files,
        diff: &changed.diff(&workspace.config.constraints.protected, DIFF_BYTES)?,
        patch_hash: &patch_hash,
        trees: (&changed.before.tree, &changed.after.tree),
        env: &workspace.fingerprint(),
        summary: request.summary.as_deref(),
        now: workspace.now(),
    };
    let mut journal = write_up(workspace, &settled, gene)?;
    if taken_back {
        journal.rollback = Some((changed.before.clone(), rejected));
    }
    let mut settlement = Settlement::of(&journal, &verdict, gene.document.clone(), changed.changes.blast());
    settlement.patch = patch;
    settlement.dry_run = request.dry_run;
    if request.dry_run {
        return Ok(settlement);
    }
    settlement.rollback = journal.commit(workspace)?;
    match sealed_log::after_settling(workspace) {
        Ok(sealed) => settlement.new_key = sealed.new_key,
        Err(problem) => settlement.seal_problem = Some(problem),
    }
    if request.commit && settlement.ok {
        match commit::commit(workspace, changed, &settlement) {
            Ok(id) => settlement.commit = Some(id),
            Err(problem) => settlement.commit_problem = Some(problem),
        }
    }
    // Housekeeping of our own copies; the run is settled whether it works or not.
    let _ = changed.shadow.tidy();
    Ok(settlement)
}

/// Everything that the settled run will write, except what is taken back.
fn write_up(workspace: &Workspace, settled: &Settled<'_>, gene: &GeneUsed) -> Result<Journal> {
    let (run, verdict, now) = (settled.run, settled.verdict, settled.now);
    let mut ids = workspace.ids()?;
    let report_id = ids.make("vr", now);
    let event_id = ids.make("evt", now);
    let report = report(&ReportInput {
        id: report_id.clone(),
        gene_id: Some(settled.gene_id),
        env: settled.env,
        commands: &verdict.commands,
        isolation: &verdict.isolation,
        duration_ms: verdict.duration_ms,
        created_at: now,
    });
    let (capsule, failed) = capsules(workspace, settled, &mut ids)?;
    let capsule_id =
        capsule.as_ref().filter(|_| verdict.ok).and_then(|c| c.get("id")).and_then(Value::as_str);
    let event = records::event(settled, &event_id, &report_id, capsule_id);
    let teaches = verdict.failure_class.is_none_or(|class| class.charges_gene());
    let marked = teaches.then(|| learn::marked_gene(&gene.document, &settled.env.context(), verdict.ok, now));
    let tells = workspace.config.hub.report;
    let outgoing = tells.then(|| reuse::report::build_report(run, verdict, &report, now)).flatten();
    Ok(Journal {
        run_id: run.run_id.clone(),
        rollback: None,
        gene: marked.or_else(|| gene.created.then(|| gene.document.clone())),
        capsule,
        failed,
        graph: graph_records(workspace, run, &event)?,
        read_logs: run.read_logs.clone(),
        audit: run.audit.clone(),
        personality: personality_file(workspace, run, &event, teaches)?,
        narrative: narrative::entry(settled, &event_id),
        settled: settled_record(run, &event, &now.iso()),
        records: vec![report, event],
        outgoing,
    })
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
    settled: &Settled<'_>,
    ids: &mut IdMaker,
) -> Result<(Option<Object>, Option<Object>)> {
    let previous = match &settled.run.selected_capsule_id {
        Some(id) => workspace.store.capsules.find(id)?,
        None => None,
    };
    let previous = previous.as_ref();
    let Some(class) = settled.verdict.failure_class else {
        let id = match &settled.run.selected_capsule_id {
            Some(id) if previous.is_some() => id.clone(),
            _ => ids.make("capsule", settled.now),
        };
        let streak = workspace.store.events.success_streak(&id)? + 1;
        let quality = if previous.is_some() { settled.run.match_quality } else { 1.0 };
        return Ok((Some(records::capsule(settled, &id, previous, streak, quality)), None));
    };
    let broken =
        previous.filter(|_| class.charges_gene() && !settled.verdict.is_empty).map(records::broken_streak);
    let failed = records::failed_capsule(settled, &ids.make("failed_capsule", settled.now), class);
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

fn settled_record(run: &Run, event: &Object, at: &str) -> Object {
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
