use super::*;

fn command(ok: bool, stderr: &str) -> CommandResult {
    CommandResult { command: "npm test".into(), ok, stdout: String::new(), stderr: stderr.into() }
}

#[test]
fn the_class_names_who_is_to_blame() {
    let class = |verdict: Verdict, sandbox, gate| decide(verdict, sandbox, gate).failure_class;
    let fine = Verdict { commands: vec![command(true, "")], ..Verdict::default() };
    assert_eq!(class(fine.clone(), false, false), None);
    assert!(decide(fine.clone(), false, false).ok);
    assert_eq!(class(Verdict { is_empty: true, ..fine.clone() }, false, false), Some(FailureClass::Gene));
    let failed = Verdict { commands: vec![command(false, "boom")], ..Verdict::default() };
    assert_eq!(class(failed.clone(), false, false), Some(FailureClass::Validation));
    assert_eq!(class(failed.clone(), true, false), Some(FailureClass::Sandbox));
    assert_eq!(class(failed.clone(), false, true), Some(FailureClass::Gene));
    let offline = Verdict { commands: vec![command(false, "getaddrinfo ENOTFOUND")], ..Verdict::default() };
    assert_eq!(class(offline, false, false), Some(FailureClass::Network));
    let host = Verdict { host_failure: Some("agent exited with 1".into()), ..failed };
    assert_eq!(class(host, false, false), Some(FailureClass::Host));
    let broken = Verdict { constraint_violations: vec!["max_files exceeded: 9 > 5".into()], ..fine };
    assert_eq!(class(broken, false, false), Some(FailureClass::Constraint));
}

#[test]
fn a_failure_always_has_a_reason() {
    assert_eq!(Verdict::default().reason(), "unknown");
    let verdict = Verdict { commands: vec![command(false, " boom \n")], ..Verdict::default() };
    assert_eq!(verdict.reason(), "validation_failed: npm test => boom");
}
