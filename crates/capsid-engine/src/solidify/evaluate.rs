//! Evaluates a change: constraints, validation, rigor and the rules of the protocol.

use super::change::CycleChange;
use super::{GeneUsed, SolidifyRequest};
use crate::proof::prove::{ProofOutcome, ProofRequest, prove};
use crate::proof::reproduce::STORED_OUTPUT;
use crate::rules::constraints;
use crate::rules::constraints::{ConstraintInput, HardCaps};
use crate::rules::mutation::{is_high_risk_personality, may_take_high_risk};
use crate::rules::personality::effects;
use crate::rules::personality::effects::ExtraCheck;
use crate::run::Run;
use crate::run::base::{POLICY, protected};
use crate::run::validation::{self, Validated};
use crate::run::verdict::{self, Verdict};
use crate::tree::patch::PatchForm;
use crate::workspace::Workspace;
use capsid_model::Result;
use capsid_model::mutation::Mutation;
use capsid_model::personality::Personality;
use capsid_model::text::cut_front;
use capsid_rules::learning::proof::plan::TestChangeDecision;

pub(super) fn evaluate(
    workspace: &Workspace,
    request: &SolidifyRequest,
    run: &Run,
    gene: &GeneUsed,
    change: &CycleChange,
) -> Result<Verdict> {
    let personality = Personality::read(&run.personality);
    let policy = &workspace.config.constraints;
    let mut protected = protected(workspace);
    protected.retain(|name| !(request.accept_config && name == POLICY));
    let report = constraints::check(&ConstraintInput {
        changes: &change.changes,
        gene: Some(&gene.view),
        caps: HardCaps { files: policy.hard_cap_files, lines: policy.hard_cap_lines },
        soft_limit: gene.view.max_files.map(|most| effects::soft_file_limit(&personality, most)),
        estimated_files: Some(run.blast_estimate.files),
        protected: &protected,
    });
    let checks = effects::required_checks(&personality);
    let commands = validation::commands(&gene.view.validation, workspace);
    let mut violations = report.violations;
    let unsafe_paths = change.listing.violations.iter();
    violations.extend(unsafe_paths.map(|violation| format!("change_unsafe: {}", violation.message)));
    let touched = change.protected.iter().filter(|path| protected.contains(path));
    violations.extend(touched.map(|path| format!("critical_path_modified: {path}")));
    // A command that showed the problem validates the change too.
    let has_check =
        !commands.is_empty() || run.reproduction.as_ref().is_some_and(|known| known.is_reproduced);
    violations.extend(broken_checks(&checks, has_check, change)?);
    // An unsafe change is not even mounted: what is wrong with it may be wrong for the sandbox too.
    let runs = request.host_failure.is_none()
        && change.listing.violations.is_empty()
        && !change.changes.files.is_empty();
    let proof_request = ProofRequest {
        run,
        pairs: &change.pairs,
        layer: change.layer.as_ref(),
        commands: &commands,
        is_twice: checks.contains(&ExtraCheck::ValidationTwice),
        scratch: &change.folder.validation(),
    };
    let proven = match runs {
        true => prove(workspace, &proof_request)?,
        false => ProofOutcome {
            validated: Validated { isolation: "none".to_owned(), ..Validated::default() },
            old_checks_pass: true,
            ..ProofOutcome::default()
        },
    };
    let test_changes = test_changes(workspace, request, &proven);
    violations.extend(test_changes.violation);
    let validated = proven.validated;
    let mut warnings = report.warnings;
    warnings.extend(side_effects(&validated));
    warnings.extend(dropped_files(change));
    let proof_failure = proven
        .still_shows_problem
        .then(|| "the command passes, but not every time, or its output still shows the problem".to_owned());
    let verdict = Verdict {
        proof: proven.record,
        proof_gap: proven.missing,
        proof_failure,
        review_reason: test_changes.review_reason,
        output: cut_front(&proven.output, STORED_OUTPUT).to_owned(),
        gene_created: gene.created,
        gene_reason: gene.reason.to_owned(),
        severity: report.severity.as_str().to_owned(),
        constraint_violations: violations,
        protocol_violations: protocol_violations(run, request, &personality),
        warnings,
        breakdown: change
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
        ids: validated.ids,
        limits_hit: validated.limits_hit,
        host_failure: request.host_failure.clone().or(validated.host_failure),
        is_empty: change.changes.files.is_empty(),
        ..Verdict::default()
    };
    Ok(verdict::decide(verdict, validated.sandbox_failed, validated.gate_refused))
}

/// What follows from tests that the change edits.
#[derive(Default)]
struct TestChangeVerdict {
    violation: Option<String>,
    review_reason: Option<String>,
}

fn test_changes(
    workspace: &Workspace,
    request: &SolidifyRequest,
    proven: &ProofOutcome,
) -> TestChangeVerdict {
    if let Some(weakening) = &proven.weakening {
        return TestChangeVerdict {
            violation: Some(format!("tests_weakened: {weakening}")),
            ..TestChangeVerdict::default()
        };
    }
    if proven.is_check_only && !request.approved {
        let reason = "tests_weakened: only tests and settings changed, and no command showed the problem";
        return TestChangeVerdict { violation: Some(reason.to_owned()), ..TestChangeVerdict::default() };
    }
    const OLD_CHECKS_FAIL: &str = "the tests and settings as they were fail with this change";
    let policy = workspace.config.proof.test_changes;
    let is_unattended = request.unattended && !request.approved;
    match policy.decide(proven.old_checks_pass, false, is_unattended) {
        TestChangeDecision::Accept => TestChangeVerdict::default(),
        TestChangeDecision::TestsWeakened => TestChangeVerdict {
            violation: Some(format!("tests_weakened: {OLD_CHECKS_FAIL}")),
            ..TestChangeVerdict::default()
        },
        TestChangeDecision::AwaitReview => TestChangeVerdict {
            review_reason: (!request.approved).then(|| OLD_CHECKS_FAIL.to_owned()),
            ..TestChangeVerdict::default()
        },
    }
}

/// What the commands wrote beside their verdict, in one sentence.
fn side_effects(validated: &Validated) -> Option<String> {
    let files: u64 = validated.side_effects.iter().map(|(_, files)| files).sum();
    let folders: Vec<String> =
        validated.side_effects.iter().map(|(folder, files)| format!("{folder} ({files})")).collect();
    (files > 0)
        .then(|| format!("validation wrote {files} file(s), which were discarded: {}", folders.join(", ")))
}

/// Files that the agent changed and that git ignores: they are not applied.
fn dropped_files(change: &CycleChange) -> impl Iterator<Item = String> {
    let folders = change.layer.iter().flat_map(|_| &change.listing.ignored.directories).take(5);
    folders.map(|folder| {
        let hint = if folder.path.ends_with("node_modules") { "; run `npm install`" } else { "" };
        format!("`{}`: {} ignored file(s) changed, not applied{hint}", folder.path, folder.files)
    })
}

/// What rigor asks for beyond the gene's own commands.
fn broken_checks(checks: &[ExtraCheck], has_check: bool, change: &CycleChange) -> Result<Vec<String>> {
    let mut broken = Vec::new();
    if checks.contains(&ExtraCheck::SomeValidation) && !has_check {
        broken
            .push("rigor_check some_validation: name a command under [validation] in capsid.toml".to_owned());
    }
    if checks.contains(&ExtraCheck::NoConflictMarkers) && !change.changes.files.is_empty() {
        let patch = change.patch(PatchForm::Readable)?;
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
