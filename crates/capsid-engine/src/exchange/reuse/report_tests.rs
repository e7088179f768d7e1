use super::*;
use capsid_model::env::EnvFingerprint;
use capsid_model::report::CommandResult;

fn entry(outcome: ReuseOutcome, stderr: &str) -> Option<Object> {
    let run = Run {
        run_id: "run_1".to_owned(),
        reuse: json!({"asset_id": "sha256:ab", "hub": "http://127.0.0.1:1", "mode": "reference"}),
        ..Run::default()
    };
    let is_ok = outcome == ReuseOutcome::Reused;
    let command = CommandResult {
        command: "node /home/ann/check.js".to_owned(),
        ok: is_ok,
        stdout: "printed".to_owned(),
        stderr: stderr.to_owned(),
    };
    let verdict = Verdict { ok: is_ok, commands: vec![command], ..Verdict::default() };
    let mut print = EnvFingerprint::new("6.1.0-ann", Time(0));
    (print.platform, print.arch) = ("linux".to_owned(), "x64".to_owned());
    let local = json!({"id": "vr_1", "env_fingerprint_key": "k", "env_fingerprint": print.to_object()});
    let local = local.as_object().cloned().unwrap();
    build_report(&run, &verdict, &local, outcome, Time(0))
}

#[test]
fn a_report_tells_what_ran_and_nothing_of_the_machine() {
    let sent = entry(ReuseOutcome::Reused, "").unwrap();
    assert_eq!(sent["report"]["overall_ok"], true);
    assert_eq!(sent["report"]["reproduction_score"], 1.0);
    assert_eq!(sent["report"]["reuse_mode"], "reused");
    assert_eq!(sent["report"]["report_id"], "vr_1");
    assert_eq!(sent["report"]["env_fingerprint"], json!({"platform": "linux", "arch": "x64"}));
    let long = format!("{}token=ghp_{}", "x".repeat(5000), "a1B2".repeat(9));
    let failed = entry(ReuseOutcome::Failed, &long).unwrap();
    let text = Value::from(failed.clone()).to_string();
    assert_eq!(failed["report"]["failure_class"], "validation");
    assert_eq!(failed["report"]["overall_ok"], false);
    assert!(failed["report"].get("reproduction_score").is_none());
    for hidden in ["ann", "printed", "ghp_"] {
        assert!(!text.contains(hidden), "{hidden}: {text}");
    }
    assert!(text.len() < 1500, "{text}");
}

#[test]
fn only_an_applied_solution_is_reported() {
    assert_eq!(entry(ReuseOutcome::Alternative, ""), None);
    assert_eq!(entry(ReuseOutcome::Unchanged, ""), None);
}

#[test]
fn a_run_without_a_foreign_solution_or_without_a_validation_says_nothing() {
    let (own, empty) = (Run::default(), Verdict { ok: true, ..Verdict::default() });
    assert!(build_report(&own, &empty, &Object::new(), ReuseOutcome::Reused, Time(0)).is_none());
    let reuse = json!({"asset_id": "sha256:ab", "hub": "http://127.0.0.1:1", "mode": "reference"});
    let run = Run { reuse, ..Run::default() };
    assert!(build_report(&run, &empty, &Object::new(), ReuseOutcome::Reused, Time(0)).is_none());
}
