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
mod tests {
    use super::*;
    use capsid_model::env::EnvFingerprint;
    use capsid_model::report::CommandResult;

    fn entry(mode: &str, class: Option<FailureClass>, stderr: &str) -> Option<Object> {
        let run = Run {
            run_id: "run_1".to_owned(),
            reuse: json!({"asset_id": "sha256:ab", "hub": "http://127.0.0.1:1", "mode": mode}),
            ..Run::default()
        };
        let command = CommandResult {
            command: "node /home/ann/check.js".to_owned(),
            ok: class.is_none(),
            stdout: "printed".to_owned(),
            stderr: stderr.to_owned(),
        };
        let verdict = Verdict {
            ok: class.is_none(),
            failure_class: class,
            commands: vec![command],
            ..Verdict::default()
        };
        let mut print = EnvFingerprint::new("6.1.0-ann", Time(0));
        (print.platform, print.arch) = ("linux".to_owned(), "x64".to_owned());
        let local = json!({"id": "vr_1", "env_fingerprint_key": "k", "env_fingerprint": print.to_object()});
        let local = local.as_object().cloned().unwrap();
        build_report(&run, &verdict, &local, Time(0))
    }

    #[test]
    fn a_report_tells_what_ran_and_nothing_of_the_machine() {
        let told = entry("direct", None, "").unwrap();
        assert_eq!(told["report"]["overall_ok"], true);
        assert_eq!(told["report"]["reproduction_score"], 1.0);
        assert_eq!(told["report"]["report_id"], "vr_1");
        assert_eq!(told["report"]["env_fingerprint"], json!({"platform": "linux", "arch": "x64"}));
        let long = format!("{}token=ghp_{}", "x".repeat(5000), "a1B2".repeat(9));
        let failed = entry("direct", Some(FailureClass::Validation), &long).unwrap();
        let text = Value::from(failed.clone()).to_string();
        assert_eq!(failed["report"]["failure_class"], "validation");
        for hidden in ["ann", "printed", "ghp_"] {
            assert!(!text.contains(hidden), "{hidden}: {text}");
        }
        assert!(text.len() < 1500, "{text}");
    }

    #[test]
    fn only_a_failed_direct_reuse_is_held_against_the_solution() {
        let class = |mode: &str, class| {
            entry(mode, Some(class), "").map(|entry| entry["report"]["failure_class"].clone())
        };
        assert_eq!(class("direct", FailureClass::Host), Some("env_host".into()));
        assert_eq!(class("direct", FailureClass::Network), Some("env_network".into()));
        assert_eq!(class("direct", FailureClass::Sandbox), Some("sandbox_unavailable".into()));
        assert_eq!(class("reference", FailureClass::Validation), Some("env_adapted".into()));
        assert_eq!(class("direct", FailureClass::Constraint), None);
        assert_eq!(class("direct", FailureClass::Gene), None);
    }

    #[test]
    fn a_run_without_a_foreign_solution_or_without_a_validation_says_nothing() {
        let (own, empty) = (Run::default(), Verdict { ok: true, ..Verdict::default() });
        assert!(build_report(&own, &empty, &Object::new(), Time(0)).is_none());
        let reuse = json!({"asset_id": "sha256:ab", "hub": "http://127.0.0.1:1", "mode": "direct"});
        let run = Run { reuse, ..Run::default() };
        assert!(build_report(&run, &empty, &Object::new(), Time(0)).is_none());
    }
}
