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
    let verdict =
        Verdict { ok: class.is_none(), failure_class: class, commands: vec![command], ..Verdict::default() };
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
