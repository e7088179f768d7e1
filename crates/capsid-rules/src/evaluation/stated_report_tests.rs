use super::*;
use ReportContradiction as Wrong;

fn command(text: &str, ok: bool) -> StatedCommand {
    let command = Some(text.to_owned());
    StatedCommand { command, ok, exit_code: Some(i64::from(!ok)), timed_out: false, has_measurements: true }
}

fn passed(commands: &[&str]) -> StatedReport {
    let commands = commands.iter().map(|text| command(text, true)).collect();
    StatedReport { overall_ok: true, commands: Some(commands), ..StatedReport::default() }
}

fn asked(commands: &[&str]) -> Vec<String> {
    commands.iter().map(|text| (*text).to_owned()).collect()
}

fn proof(grade: &str, runs: &str) -> Option<ProofRecord> {
    serde_json::from_str(&format!(r#"{{"v":1,"grade":"{grade}","command":"npm test","runs":[{runs}]}}"#)).ok()
}

const BEFORE: &str = r#"{"run":"before","ok":false,"exit_code":1,"duration_ms":7}"#;
const AFTER: &str = r#"{"run":"after","ok":true,"exit_code":0,"duration_ms":7}"#;

#[test]
fn an_honest_report_contradicts_nothing() {
    let two = asked(&["node a.js", "node b.js"]);
    assert_eq!(find_contradiction(&StatedReport::default(), Some(&two)), None, "it says nothing");
    assert_eq!(find_contradiction(&passed(&["node a.js", "node b.js"]), Some(&two)), None);
    let stopped = StatedReport {
        commands: Some(vec![command("node a.js", false)]),
        commands_passed: Some(0),
        commands_total: Some(2),
        ..StatedReport::default()
    };
    assert_eq!(find_contradiction(&stopped, Some(&two)), None, "a run ends at the first failure");
    let elsewhere = passed(&["make check"]);
    assert_eq!(find_contradiction(&elsewhere, None), None, "whoever was not asked runs what it likes");
    let long = format!("node a.js {}", "x".repeat(300));
    let cut: String = long.chars().take(200).collect();
    assert_eq!(find_contradiction(&passed(&[&cut]), Some(&[long])), None);
}

#[test]
fn each_contradiction_is_found() {
    let one = asked(&["node a.js"]);
    let report = passed(&["node a.js"]);
    let found = |report: &StatedReport| find_contradiction(report, Some(&one));
    let with = |commands: Vec<StatedCommand>| StatedReport { commands: Some(commands), ..report.clone() };
    assert_eq!(found(&with(vec![command("node a.js", false)])), Some(Wrong::PassWithFailedCommand));
    assert_eq!(
        found(&StatedReport { overall_ok: false, ..report.clone() }),
        Some(Wrong::FailureWithoutFailedCommand)
    );
    let odd = StatedCommand { exit_code: Some(3), ..command("node a.js", true) };
    assert_eq!(found(&with(vec![odd])), Some(Wrong::PassWithExitCode));
    assert_eq!(found(&StatedReport { commands_total: Some(0), ..report.clone() }), Some(Wrong::CountsDiffer));
    let fewer = StatedReport { commands_passed: Some(1), commands_total: Some(2), ..report.clone() };
    assert_eq!(found(&fewer), Some(Wrong::PassWithFailedCommand));
    assert_eq!(found(&passed(&["node b.js"])), Some(Wrong::OtherCommands));
    assert_eq!(
        find_contradiction(&passed(&["node b.js", "node a.js"]), Some(&asked(&["node a.js", "node b.js"]))),
        Some(Wrong::OtherCommands),
        "the order counts"
    );
    assert_eq!(
        find_contradiction(&report, Some(&asked(&["node a.js", "node b.js"]))),
        Some(Wrong::OtherCommands),
        "a pass has run everything"
    );
}

#[test]
fn files_have_one_hash_whatever_their_order() {
    let file = |path: &str, hash: &str| (path.to_owned(), hash.to_owned());
    let files = vec![file("b.js", "22"), file("a.js", "11")];
    let turned = vec![file("a.js", "11"), file("b.js", "22")];
    assert_eq!(hash_files(&files), hash_files(&turned));
    let report = StatedReport {
        overall_ok: true,
        files_sha256: Some(hash_files(&files)),
        files: Some(files),
        ..StatedReport::default()
    };
    assert_eq!(find_contradiction(&report, None), None);
    let other = StatedReport { files_sha256: Some("0".repeat(64)), ..report };
    assert_eq!(find_contradiction(&other, None), Some(Wrong::FilesDiffer));
}

#[test]
fn a_proof_shows_its_grade_by_its_runs() {
    let both = format!("{BEFORE},{AFTER}");
    let report = |ok, proof| StatedReport { overall_ok: ok, proof, ..StatedReport::default() };
    assert_eq!(find_contradiction(&report(true, proof("fail_to_pass", &both)), None), None);
    assert_eq!(
        find_contradiction(&report(false, proof("fail_to_pass", &both)), None),
        Some(Wrong::ProofDiffers)
    );
    for runs in ["", BEFORE, AFTER] {
        let claimed = report(true, proof("fail_to_pass_reverts", runs));
        assert_eq!(find_contradiction(&claimed, None), Some(Wrong::ProofWithoutRuns), "{runs}");
    }
    assert_eq!(find_contradiction(&report(true, proof("passes", AFTER)), None), None);
}

#[test]
fn a_command_that_passed_has_an_exit_code_and_every_command_is_measured() {
    let with = |command: StatedCommand| StatedReport { commands: Some(vec![command]), ..passed(&[]) };
    assert!(passed(&["node a.js"]).has_measurements());
    let passes = command("node a.js", true);
    assert!(!with(StatedCommand { exit_code: None, ..passes.clone() }).has_measurements());
    assert!(!with(StatedCommand { has_measurements: false, ..passes }).has_measurements());
    let stopped = StatedCommand { exit_code: None, timed_out: true, ..command("node a.js", false) };
    assert!(with(stopped).has_measurements(), "what was stopped has none");
}
