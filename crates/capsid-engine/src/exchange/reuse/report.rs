//! What a hub is told of a run that built on one of its assets: a validation report. Pure.

use super::ReuseMode;
use crate::run::Run;
use crate::run::verdict::{FailureClass, Verdict};
use capsid_model::redact::{RedactProfile, redact_value};
use capsid_model::text::cut_front;
use capsid_model::{Object, Time, Value, json};

/// The most commands that are listed, and the most that is told of what a failed one complained.
const COMMANDS: usize = 50;
const TAIL: usize = 400;

/// The report on the asset that a run built on, to be queued; none where the run says nothing about one.
pub fn build_report(run: &Run, verdict: &Verdict, local: &Object, now: Time) -> Option<Object> {
    let told = |name: &str| run.reuse.get(name).and_then(Value::as_str);
    let (asset_id, hub, mode) = (told("asset_id")?, told("hub")?, told("mode")?);
    let failure_class = class(verdict, mode == ReuseMode::Direct.as_str())?;
    let commands: Vec<Value> = verdict.commands.iter().take(COMMANDS).map(command).collect();
    let passed = verdict.commands.iter().filter(|command| command.ok).count();
    let mut report = json!({
        "report_id": local.get("id"),
        "overall_ok": verdict.ok,
        "env_fingerprint": place(local),
        "env_fingerprint_key": local.get("env_fingerprint_key"),
        "commands": commands,
        "commands_passed": passed,
        "commands_total": verdict.commands.len(),
        "duration_ms": verdict.duration_ms,
        "isolation": verdict.isolation,
        "reuse_mode": mode,
    });
    if mode == ReuseMode::Direct.as_str() {
        report["reproduction_score"] = if verdict.ok { 1.0 } else { 0.0 }.into();
    }
    if !failure_class.is_empty() {
        report["failure_class"] = failure_class.into();
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

/// The class of a failure in words that a hub weighs: `env_` and `sandbox_` are not held against an asset. Empty for a
/// success; none where nothing was validated, or where what failed was not the solution.
fn class(verdict: &Verdict, direct: bool) -> Option<&'static str> {
    if verdict.commands.is_empty() {
        return None;
    }
    match verdict.failure_class {
        None => Some(""),
        Some(FailureClass::Host) => Some("env_host"),
        Some(FailureClass::Network) => Some("env_network"),
        Some(FailureClass::Sandbox) => Some("sandbox_unavailable"),
        Some(FailureClass::Validation) if direct => Some("validation"),
        // What was written after a model is not the model.
        Some(FailureClass::Validation) => Some("env_adapted"),
        Some(FailureClass::Gene | FailureClass::Constraint) => None,
    }
}

#[cfg(test)]
#[path = "report_tests.rs"]
mod tests;
