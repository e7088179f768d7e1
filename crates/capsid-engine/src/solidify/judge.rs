//! Judges a change: constraints, validation, rigor and the rules of the protocol.

use super::changed::{Changed, POLICY, protected};
use super::verdict::{self, Verdict};
use super::{GeneUsed, SolidifyRequest, stray, validation};
use crate::cycle::run::Run;
use crate::rules::constraints;
use crate::rules::constraints::{ConstraintInput, HardCaps};
use crate::rules::mutation::{is_high_risk_personality, may_take_high_risk};
use crate::rules::personality::effects;
use crate::rules::personality::effects::ExtraCheck;
use crate::snapshot::patch::PatchForm;
use crate::snapshot::{Audit, Changes};
use crate::workspace::Workspace;
use capsid_model::Result;
use capsid_model::mutation::Mutation;
use capsid_model::personality::Personality;

pub(super) fn judge(
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
        caps: HardCaps { files: policy.hard_cap_files, lines: policy.hard_cap_lines },
        soft_limit: gene.view.max_files.map(|most| effects::soft_file_limit(&personality, most)),
        estimated_files: Some(run.blast_estimate.files),
        protected: &protected,
        touched: &changed.before.touched(&changed.after),
        tampered_log: tampered.then_some("assets/gep/events.jsonl"),
    });
    let checks = effects::required_checks(&personality);
    let commands = validation::commands(&gene.view.validation, workspace);
    let validated = match &request.host_failure {
        Some(_) => validation::Validated { isolation: "none".to_owned(), ..Default::default() },
        None => validation::run(&commands, checks.contains(&ExtraCheck::ValidationTwice), workspace),
    };
    let strayed = match validated.commands.is_empty() {
        true => Changes::default(),
        false => stray::take_back(workspace, changed)?,
    };
    let mut violations = report.violations;
    violations.extend(stray::violations(&strayed, &protected));
    violations.extend(request.restored_store.iter().map(|path| format!("forbidden_path touched: {path}")));
    violations.extend(broken_checks(&checks, &commands, changed)?);
    let verdict = Verdict {
        gene_created: gene.created,
        gene_reason: gene.reason.to_owned(),
        severity: report.severity.as_str().to_owned(),
        constraint_violations: violations,
        protocol_violations: protocol_violations(run, request, &personality),
        warnings: report.warnings.into_iter().chain(stray::warning(&strayed)).collect(),
        breakdown: changed
            .changes
            .breakdown()
            .into_iter()
            .map(|(folder, files)| format!("{folder}: {files}"))
            .collect(),
        load_check: workspace.config.validation.load_check.as_ref().and_then(|check| {
            validated.commands.iter().find(|result| result.command == *check).map(|result| result.ok)
        }),
        duration_ms: validated.duration.as_millis() as u64,
        commands: validated.commands,
        isolation: validated.isolation,
        host_failure: request.host_failure.clone().or(validated.host_failure),
        is_empty: changed.changes.files.is_empty(),
        ..Verdict::default()
    };
    Ok(verdict::decide(verdict, validated.sandbox_failed, validated.gate_refused))
}

/// What rigor asks for beyond the gene's own commands.
fn broken_checks(checks: &[ExtraCheck], commands: &[String], changed: &Changed) -> Result<Vec<String>> {
    let mut broken = Vec::new();
    if checks.contains(&ExtraCheck::SomeValidation) && commands.is_empty() {
        broken
            .push("rigor_check some_validation: name a command under [validation] in capsid.toml".to_owned());
    }
    if checks.contains(&ExtraCheck::NoConflictMarkers) && !changed.changes.files.is_empty() {
        let patch = changed.patch(PatchForm::Readable)?;
        let marked = patch
            .bytes
            .split(|byte| *byte == b'\n')
            .any(|line| line.starts_with(b"+<<<<<<< ") || line.starts_with(b"+>>>>>>> "));
        if marked {
            broken.push("rigor_check no_conflict_markers: the change leaves conflict markers".to_owned());
        }
    }
    Ok(broken)
}

/// A cycle without a valid mutation and personality, or with an intent that its mutation does not allow, fails.
fn protocol_violations(run: &Run, request: &SolidifyRequest, personality: &Personality) -> Vec<String> {
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
        if mutation.risk_level == "high" && !run.personality_known {
            broken.push("high_risk_mutation_forbidden_under_unknown_personality".to_owned());
        }
        if mutation.category == "innovate" && high_risk_mood {
            broken.push("forbidden_innovate_with_high_risk_personality".to_owned());
        }
        if let Some(intent) = request.intent.as_deref().filter(|intent| *intent != mutation.category) {
            broken.push(format!("intent_mismatch_with_mutation:{intent}!={}", mutation.category));
        }
    }
    broken
}
