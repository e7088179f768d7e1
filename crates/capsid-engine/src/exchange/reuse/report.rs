//! The validation report on an asset of a hub that a run applied. Pure.

use crate::run::Run;
use crate::run::verdict::Verdict;
use capsid_model::redact::{RedactProfile, redact_value};
use capsid_model::text::cut_front;
use capsid_model::{Object, Time, Value, json};
use capsid_rules::learning::proof::ProofRecord;
use capsid_rules::learning::reuse_outcome::ReuseOutcome;

/// The most commands that are listed, and the most that is told of what a failed one complained.
const COMMANDS: usize = 50;
const TAIL: usize = 400;

/// The report on the asset that a run applied, to be queued. None where the run did not apply one: a solution that was
/// only shown was not tried, and a report would say that it was. Another solution that was proven names the shown one as
/// its parent when it is published.
pub fn build_report(
    run: &Run,
    verdict: &Verdict,
    local: &Object,
    outcome: ReuseOutcome,
    now: Time,
) -> Option<Object> {
    let is_ok = match outcome {
        ReuseOutcome::Reused => true,
        ReuseOutcome::Failed => false,
        ReuseOutcome::Alternative | ReuseOutcome::Unchanged => return None,
    };
    let told = |name: &str| run.reuse.get(name).and_then(Value::as_str);
    let (asset_id, hub) = (told("asset_id")?, told("hub")?);
    if verdict.commands.is_empty() {
        return None;
    }
    let mut report = json!({
        "report_id": local.get("id"),
        "overall_ok": is_ok,
        "env_fingerprint": place(local),
        "env_fingerprint_key": local.get("env_fingerprint_key"),
        "duration_ms": verdict.duration_ms,
        "isolation": verdict.isolation,
        "reuse_mode": outcome.report_kind(),
    });
    // The commands of a run that an agent saved are not about the patch that had failed.
    if verdict.ok == is_ok {
        let commands: Vec<Value> = verdict.commands.iter().take(COMMANDS).map(command).collect();
        report["commands"] = commands.into();
        report["commands_passed"] = verdict.commands.iter().filter(|command| command.ok).count().into();
        report["commands_total"] = verdict.commands.len().into();
    }
    if let Some(score) = outcome.reproduction_score() {
        report["reproduction_score"] = score.into();
    }
    // What shows that the problem was here, and that this change removed it.
    if let Some(proof) = verdict.proof.as_ref().filter(|proof| is_ok && proof.grade.is_proven()) {
        let proof = ProofRecord { check_files: Vec::new(), ..proof.clone() };
        report["proof"] = serde_json::to_value(proof).unwrap_or_default();
    }
    if let Some(class) = outcome.failure_class() {
        report["failure_class"] = class.into();
    }
    redact_value(&mut report, RedactProfile::Publish);
    let entry = json!({
        "kind": "report",
        "run_id": run.run_id,
        "hub": hub,
        "asset_id": asset_id,
        "queued_at": now.iso(),
        "report": report,
    });
    entry.as_object().cloned()
}

/// The kind of machine, which is all that a hub has to know of it: the key alone says nothing to anyone else.
fn place(local: &Object) -> Option<Value> {
    let part = |name: &str| local.get("env_fingerprint")?.get(name)?.as_str();
    Some(json!({"platform": part("platform")?, "arch": part("arch")?}))
}

fn command(result: &capsid_model::report::CommandResult) -> Value {
    let mut told = json!({"command": result.command, "ok": result.ok});
    if !result.ok {
        told["stderr_tail"] = cut_front(result.stderr.trim(), TAIL).into();
    }
    told
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
