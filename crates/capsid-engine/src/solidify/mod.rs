//! Settles a run: validates the change, checks its limits, and keeps and records it or takes it back exactly.

pub mod commit;
pub mod journal;
pub mod learn;
pub mod narrative;
pub mod records;
pub mod review;
pub mod settlement;
pub mod validation;
pub mod verdict;

pub use settlement::Settlement;

use crate::constraints::{self, ConstraintInput, HardCaps};
use crate::cycle::learning;
use crate::cycle::run::Run;
use crate::memory::records::Observed;
use crate::mutation::{is_high_risk_personality, may_take_high_risk};
use crate::personality::PersonalityFile;
use crate::personality::effects::{self, Check};
use crate::snapshot::patch::{Patch, PatchForm};
use crate::snapshot::{self, Audit, Changes, Scope, Shadow, Snapshot};
use crate::store::{self, files};
use crate::workspace::Workspace;
use capsid_model::event::Event;
use capsid_model::gene::Gene;
use capsid_model::mutation::Mutation;
use capsid_model::personality::Personality;
use capsid_model::report::{ReportInput, report};
use capsid_model::{Code, Object, Problem, Result, Value, json};
use journal::Journal;
use records::Settled;
use std::path::PathBuf;
use verdict::Verdict;

/// The most of a diff that is looked at for a record, in bytes.
const DIFF_BYTES: usize = 64 * 1024;

/// The owner's policy. The program that ran the agent knows it as it was before, so a change shows in the files only.
const POLICY: &str = "capsid.toml";

/// How to settle.
#[derive(Debug, Clone, Default)]
pub struct SolidifyRequest {
    /// Decide, but write nothing.
    pub dry_run: bool,
    /// Leave a failed change in the work tree.
    pub keep_on_failure: bool,
    /// The intent to record.
    pub intent: Option<String>,
    /// A summary for the capsule.
    pub summary: Option<String>,
    /// Commit the cycle's files.
    pub commit: bool,
    /// Go on although the owner's policy changed since the run began.
    pub accept_config: bool,
    /// What the agent did wrong, if one ran and did.
    pub host_failure: Option<String>,
}

/// Settles the run that waits.
pub fn solidify(workspace: &Workspace, request: &SolidifyRequest) -> Result<Settlement> {
    let _lock = workspace.lock()?;
    let run = pending(workspace)?;
    check_config(workspace, &run, request)?;
    let gene = gene_of(workspace, &run, request.intent.as_deref())?;
    let changed = changes_of(workspace, &run)?;
    let verdict = judge(workspace, request, &run, &gene, &changed)?;
    settle(workspace, request, &run, &gene, changed, verdict)
}

/// The run that waits, or a problem that says what to do.
pub(crate) fn pending(workspace: &Workspace) -> Result<Run> {
    workspace.run_state()?.pending().ok_or_else(|| {
        Problem::new(Code::NothingPending, "No run waits to be settled.")
            .fix("Begin one with `capsid evolve`, make the change, then settle it.")
    })
}

/// A policy that changed during the run may have been changed by the run.
fn check_config(workspace: &Workspace, run: &Run, request: &SolidifyRequest) -> Result<()> {
    if request.accept_config || run.config_digest == workspace.config.digest {
        return Ok(());
    }
    Err(Problem::new(
        Code::ConfigInvalid,
        "`capsid.toml` changed since the run began.",
    )
    .fix(
        "Look at what changed; if you changed it yourself, run `capsid solidify --accept-config`.",
    ))
}

/// The gene of a run and how it was come by.
struct GeneUsed {
    document: Object,
    view: Gene,
    created: bool,
    reason: &'static str,
}

fn gene_of(workspace: &Workspace, run: &Run, intent: Option<&str>) -> Result<GeneUsed> {
    let used = |document: Object, created, reason| GeneUsed {
        view: Gene::read(&document),
        document,
        created,
        reason,
    };
    if let Some(id) = &run.selected_gene_id
        && let Some(document) = workspace.store.genes.find(id)?
    {
        return Ok(used(document, false, "selected_gene_id_present"));
    }
    let intent = intent.or_else(|| run.mutation.get("category").and_then(Value::as_str));
    let validation = &workspace.config.validation.commands;
    let made = learn::auto_gene(&run.signals, &run.signal_key, intent, validation);
    let id = made
        .get("id")
        .and_then(Value::as_str)
        .unwrap_or_default()
        .to_owned();
    match workspace.store.genes.find(&id)? {
        Some(existing) => Ok(used(existing, false, "reselected_from_existing")),
        None => Ok(used(made, true, "no_match_create_new")),
    }
}

/// The work tree before the run and now, and what lies between.
pub(crate) struct Changed {
    pub(crate) shadow: Shadow,
    pub(crate) before: Snapshot,
    pub(crate) after: Snapshot,
    pub(crate) changes: Changes,
}

impl Changed {
    fn patch(&self, form: PatchForm) -> Result<Patch> {
        Patch::new(&self.shadow, &self.before, &self.after, form)
    }

    /// The change as text, at most so many bytes of it.
    pub(crate) fn diff(&self, max_bytes: usize) -> Result<String> {
        Ok(self.patch(PatchForm::Readable)?.text(max_bytes))
    }
}

pub(crate) fn changes_of(workspace: &Workspace, run: &Run) -> Result<Changed> {
    let before = Snapshot::read(&run.snapshot).ok_or_else(|| {
        Problem::new(
            Code::StoreDamaged,
            format!("The snapshot of `{}` cannot be read.", run.run_id),
        )
        .fix("Begin a new run with `capsid evolve --force`; your files are left as they are.")
    })?;
    let shadow = shadow(workspace)?;
    let after = shadow.take(workspace.now(), Some(&before))?;
    let changes = snapshot::changes(&shadow, &before, &after)?;
    Ok(Changed {
        shadow,
        before,
        after,
        changes,
    })
}

/// The shadow of a workspace: the engine's own folders left out, protected files taken even when ignored.
pub(crate) fn shadow(workspace: &Workspace) -> Result<Shadow> {
    let scope = Scope {
        excluded: workspace
            .paths
            .own_folders()
            .iter()
            .map(|path| snapshot::names::of_path(path))
            .collect(),
        protected: protected(workspace)
            .iter()
            .map(|name| name.as_bytes().to_vec())
            .collect(),
    };
    Shadow::open(&workspace.repository, scope)
}

/// What no cycle may change: the owner's list, and the policy that holds it.
fn protected(workspace: &Workspace) -> Vec<String> {
    let mut names = workspace.config.constraints.protected.clone();
    names.push(POLICY.to_owned());
    names
}

fn judge(
    workspace: &Workspace,
    request: &SolidifyRequest,
    run: &Run,
    gene: &GeneUsed,
    changed: &Changed,
) -> Result<Verdict> {
    let personality = Personality::read(&run.personality);
    let policy = &workspace.config.constraints;
    let log = workspace.store.events.path();
    let tampered = match Audit::read(&run.audit) {
        Some(audit) => audit.check(log, &workspace.mirror())?.is_some(),
        None => false,
    };
    let mut protected = protected(workspace);
    protected.retain(|name| !(request.accept_config && name == POLICY));
    let report = constraints::check(&ConstraintInput {
        changes: &changed.changes,
        gene: Some(&gene.view),
        caps: HardCaps {
            files: policy.hard_cap_files,
            lines: policy.hard_cap_lines,
        },
        soft_limit: gene
            .view
            .max_files
            .map(|most| effects::soft_file_limit(&personality, most)),
        estimated_files: Some(run.blast_estimate.files),
        protected: &protected,
        touched: &changed.before.touched(&changed.after),
        tampered_log: tampered.then_some("assets/gep/events.jsonl"),
    });
    let checks = effects::required_checks(&personality);
    let commands = validation::commands(&gene.view.validation, workspace);
    let validated = match &request.host_failure {
        Some(_) => validation::Validated {
            isolation: "none".to_owned(),
            ..Default::default()
        },
        None => validation::run(
            &commands,
            checks.contains(&Check::ValidationTwice),
            workspace,
        ),
    };
    let mut violations = report.violations;
    violations.extend(broken_checks(&checks, &commands, changed)?);
    let verdict = Verdict {
        gene_created: gene.created,
        gene_reason: gene.reason.to_owned(),
        severity: report.severity.as_str().to_owned(),
        constraint_violations: violations,
        protocol_violations: protocol_violations(run, request, &personality),
        warnings: report.warnings,
        breakdown: changed
            .changes
            .breakdown()
            .into_iter()
            .map(|(folder, files)| format!("{folder}: {files}"))
            .collect(),
        duration_ms: validated.duration.as_millis() as u64,
        commands: validated.commands,
        isolation: validated.isolation,
        host_failure: request.host_failure.clone().or(validated.host_failure),
        is_empty: changed.changes.files.is_empty(),
        ..Verdict::default()
    };
    Ok(verdict::decide(
        verdict,
        validated.sandbox_failed,
        validated.gate_refused,
    ))
}

/// What rigor asks for beyond the gene's own commands.
fn broken_checks(checks: &[Check], commands: &[String], changed: &Changed) -> Result<Vec<String>> {
    let mut broken = Vec::new();
    if checks.contains(&Check::SomeValidation) && commands.is_empty() {
        broken.push(
            "rigor_check some_validation: name a command under [validation] in capsid.toml"
                .to_owned(),
        );
    }
    if checks.contains(&Check::NoConflictMarkers) && !changed.changes.files.is_empty() {
        let patch = changed.patch(PatchForm::Readable)?;
        let marked = patch
            .bytes
            .split(|byte| *byte == b'\n')
            .any(|line| line.starts_with(b"+<<<<<<< ") || line.starts_with(b"+>>>>>>> "));
        if marked {
            broken.push(
                "rigor_check no_conflict_markers: the change leaves conflict markers".to_owned(),
            );
        }
    }
    Ok(broken)
}

/// A cycle without a valid mutation and personality, or with an intent that its mutation does not allow, fails.
fn protocol_violations(
    run: &Run,
    request: &SolidifyRequest,
    personality: &Personality,
) -> Vec<String> {
    let mut broken = Vec::new();
    let mutation = Mutation::read_strict(&run.mutation);
    if mutation.is_none() {
        broken.push("missing_or_invalid_mutation".to_owned());
    }
    if Personality::read_strict(&run.personality).is_none() {
        broken.push("missing_or_invalid_personality_state".to_owned());
    }
    if let Some(mutation) = &mutation {
        let high_risk_mood = is_high_risk_personality(personality);
        if mutation.risk_level == "high" && !may_take_high_risk(personality) {
            broken.push("high_risk_mutation_not_allowed_by_personality".to_owned());
        }
        if mutation.category == "innovate" && high_risk_mood {
            broken.push("forbidden_innovate_with_high_risk_personality".to_owned());
        }
        if let Some(intent) = request
            .intent
            .as_deref()
            .filter(|intent| *intent != mutation.category)
        {
            broken.push(format!(
                "intent_mismatch_with_mutation:{intent}!={}",
                mutation.category
            ));
        }
    }
    broken
}

fn settle(
    workspace: &Workspace,
    request: &SolidifyRequest,
    run: &Run,
    gene: &GeneUsed,
    changed: Changed,
    mut verdict: Verdict,
) -> Result<Settlement> {
    let now = workspace.now();
    let env = workspace.fingerprint();
    let mut ids = workspace.ids()?;
    let changes = &changed.changes;
    let files: Vec<String> = changes.files.iter().map(|file| file.path.clone()).collect();
    let (patch_hash, patch) = if request.dry_run {
        (String::new(), None)
    } else {
        keep_patch(workspace, &changed)?
    };
    let rejected = if verdict.commands.is_empty() {
        changed.after.clone()
    } else {
        side_effects(workspace, &changed, &mut verdict)?
    };
    let previous = match &run.selected_capsule_id {
        Some(id) => workspace.store.capsules.find(id)?,
        None => None,
    };
    let intent = request
        .intent
        .clone()
        .unwrap_or_else(|| intent_of(run, &gene.view));
    let diff = changed.diff(DIFF_BYTES)?;
    let settled = Settled {
        run,
        verdict: &verdict,
        gene_id: &gene.view.id,
        strategy: &gene.view.strategy,
        intent: &intent,
        blast: changes.blast(),
        files: &files,
        diff: &diff,
        patch_hash: &patch_hash,
        env: &env,
        summary: request.summary.as_deref(),
        now,
    };
    let report = report(&ReportInput {
        id: ids.make("vr", now),
        gene_id: Some(&gene.view.id),
        env: &env,
        commands: &verdict.commands,
        isolation: &verdict.isolation,
        duration_ms: verdict.duration_ms,
        created_at: now,
    });
    let event_id = ids.make("evt", now);
    let (capsule, failed) = capsules(workspace, &settled, previous.as_ref(), &mut ids)?;
    let capsule_id = capsule
        .as_ref()
        .filter(|_| verdict.ok)
        .and_then(|c| c.get("id"))
        .and_then(Value::as_str);
    let report_id = report.get("id").and_then(Value::as_str).unwrap_or_default();
    let event = records::event(&settled, &event_id, report_id, capsule_id);
    let class = verdict.failure_class;
    let teaches = class.is_none_or(|class| class.charges_gene());
    let marked = if teaches {
        learn::marked_gene(&gene.document, &env.context(), verdict.ok, now)
    } else {
        gene.document.clone()
    };
    let journal = Journal {
        run_id: run.run_id.clone(),
        rollback: (!verdict.ok && !request.keep_on_failure && rejected != changed.before)
            .then(|| (changed.before.clone(), rejected)),
        gene: (teaches || gene.created).then(|| marked.clone()),
        capsule: capsule.clone(),
        failed: failed.clone(),
        records: vec![report.clone(), event.clone()],
        graph: graph_records(workspace, run, &event)?,
        audit: run.audit.clone(),
        personality: personality_file(workspace, run, &event, teaches)?,
        narrative: narrative::entry(&settled, &event_id),
        settled: settled_record(run, &event, now.iso()),
    };
    let mut settlement = Settlement {
        ok: verdict.ok,
        blast: changes.blast(),
        gene: marked,
        event,
        capsule: capsule.filter(|_| verdict.ok),
        failed,
        report,
        rollback: None,
        patch,
        commit: None,
        dry_run: request.dry_run,
        verdict: verdict.clone(),
    };
    if request.dry_run {
        return Ok(settlement);
    }
    settlement.rollback = journal.commit(workspace)?;
    if request.commit && settlement.ok {
        settlement.commit = Some(commit::commit(workspace, &changed, &settlement)?);
    }
    changed.shadow.tidy()?;
    Ok(settlement)
}

/// What the validation commands themselves changed in the work tree; it is taken back together with the rest.
fn side_effects(
    workspace: &Workspace,
    changed: &Changed,
    verdict: &mut Verdict,
) -> Result<Snapshot> {
    let ended = changed
        .shadow
        .take(workspace.now(), Some(&changed.before))?;
    let made = snapshot::changes(&changed.shadow, &changed.after, &ended)?;
    if !made.files.is_empty() {
        let names: Vec<&str> = made
            .files
            .iter()
            .take(5)
            .map(|file| file.path.as_str())
            .collect();
        verdict.warnings.push(format!(
            "validation changed {} file(s): {}",
            made.files.len(),
            names.join(", ")
        ));
    }
    Ok(ended)
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
    previous: Option<&Object>,
    ids: &mut capsid_model::id::IdMaker,
) -> Result<(Option<Object>, Option<Object>)> {
    let Some(class) = settled.verdict.failure_class else {
        let id = match &settled.run.selected_capsule_id {
            Some(id) if previous.is_some() => id.clone(),
            _ => ids.make("capsule", settled.now),
        };
        let streak = workspace.store.events.success_streak(&id)? + 1;
        let quality = if previous.is_some() {
            settled.run.match_quality
        } else {
            1.0
        };
        return Ok((
            Some(records::capsule(settled, &id, previous, streak, quality)),
            None,
        ));
    };
    let broken = previous
        .filter(|_| class.charges_gene() && !settled.verdict.is_empty)
        .map(records::broken_streak);
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
    action.gene_id = genes
        .and_then(|genes| genes.first())
        .and_then(Value::as_str)
        .map(str::to_owned);
    let mut statistics = workspace.graph().statistics()?;
    let recorded = Event::read(event);
    let observed = Observed {
        platform: capsid_model::env::platform().to_owned(),
        ..Observed::default()
    };
    Ok(learning::closing(
        workspace,
        &action,
        recorded.as_ref(),
        &run.signals,
        &observed,
        &mut statistics,
    ))
}

/// The dials' file with this outcome counted. Failures that were not the cycle's own are not.
fn personality_file(
    workspace: &Workspace,
    run: &Run,
    event: &Object,
    counts: bool,
) -> Result<Option<Object>> {
    let (Some(used), Some(event), true) = (
        Personality::read_strict(&run.personality),
        Event::read(event),
        counts,
    ) else {
        return Ok(None);
    };
    let mut file = PersonalityFile::read(store::read_state(&workspace.paths.personality())?.into());
    file.record(&used, &event.outcome, &event.id, workspace.now());
    Ok(file.to_value().as_object().cloned())
}

fn settled_record(run: &Run, event: &Object, at: String) -> Object {
    let value = json!({
        "run_id": run.run_id,
        "at": at,
        "event_id": event.get("id"),
        "capsule_id": event.get("capsule_id"),
        "outcome": event.get("outcome"),
        "signal_key": run.signal_key,
        "inputs_digest": run.inputs_digest,
    });
    value.as_object().cloned().unwrap_or_default()
}

/// Keeps the whole change as a patch that git can apply; gives its hash and place.
pub(crate) fn keep_patch(
    workspace: &Workspace,
    changed: &Changed,
) -> Result<(String, Option<PathBuf>)> {
    if changed.changes.files.is_empty() {
        return Ok((String::new(), None));
    }
    let patch = changed.patch(PatchForm::Appliable)?;
    let hash = patch.hash();
    let path = workspace.paths.patch(&hash);
    files::replace(&path, &patch.bytes)?;
    Ok((hash, Some(path)))
}
