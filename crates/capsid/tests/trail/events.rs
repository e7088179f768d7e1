//! The event log of a repository, sealed line by line.

use capsid_testkit::desk::Desk;
use capsid_testkit::program::assert_status;

fn evolved(cycles: usize) -> Desk {
    let desk = Desk::new(env!("CARGO_BIN_EXE_capsid"));
    for cycle in 0..cycles {
        assert_status(0, &desk.evolve(&["--force"], &format!("echo good {cycle} > state.txt")));
    }
    desk
}

fn log(desk: &Desk) -> String {
    std::fs::read_to_string(desk.repo.file("assets/gep/events.jsonl")).unwrap()
}

fn verdict(desk: &Desk, status: i32) -> capsid_model::Value {
    desk.program.expect(status, &desk.repo, &["events", "verify", "--json"]).json()
}

#[test]
fn every_solidified_event_is_sealed() {
    let desk = evolved(2);
    let lines = log(&desk).lines().count();
    let proved = verdict(&desk, 0);
    assert_eq!((&proved["valid"], &proved["verified"]), (&true.into(), &lines.into()));
    let listed = desk.program.expect(0, &desk.repo, &["trail", "list", "--json"]).json();
    assert_eq!(listed["chains"][0]["tool"], "capsid");
    assert_eq!(listed["chains"][0]["capsules"], lines);
    desk.program.expect(0, &desk.repo, &["trail", "verify", "--signatures"]);
    desk.program.expect(0, &desk.repo, &["trail", "verify-meta", "--deep"]);
}

#[test]
fn what_was_done_to_the_log_is_said_and_where() {
    let desk = evolved(2);
    let path = desk.repo.file("assets/gep/events.jsonl");
    let whole = log(&desk);
    let lines: Vec<&str> = whole.lines().collect();
    let joined = |lines: &[&str]| lines.iter().map(|line| format!("{line}\n")).collect::<String>();
    let edited = whole.replacen("\"success\"", "\"failed\"", 1);
    let at = lines.iter().position(|line| line.contains("\"success\"")).unwrap() + 1;
    for (text, change, line) in [
        (edited, "edited", at),
        (joined(&lines[1..]), "removed", 1),
        (joined(&lines[..lines.len() - 1]), "cut", lines.len()),
        (joined(&[&[lines[1], lines[0]], &lines[2..]].concat()), "reordered", 1),
        (joined(&[&["{\"type\":\"EvolutionEvent\"}"], &lines[..]].concat()), "inserted", 1),
    ] {
        std::fs::write(&path, text).unwrap();
        let found = verdict(&desk, 1);
        assert_eq!((found["change"].as_str().unwrap(), &found["broken_at"]), (change, &line.into()));
    }
    std::fs::write(&path, &whole).unwrap();
    verdict(&desk, 0);
}

#[test]
fn a_changed_log_is_not_sealed_over_until_its_owner_accepts_it() {
    let desk = evolved(1);
    let path = desk.repo.file("assets/gep/events.jsonl");
    let edited = log(&desk).replacen("\"success\"", "\"failed\"", 1);
    std::fs::write(&path, edited).unwrap();
    let ran = desk.program.run(&desk.repo, &["events", "seal"]);
    let lines = log(&desk).lines().count();
    // The last line may be untouched; then sealing on is harmless and the edit still shows.
    assert!(ran.status == 1 || verdict(&desk, 1)["change"] == "edited", "{ran}");
    desk.program.expect(0, &desk.repo, &["events", "seal", "--accept"]);
    assert_eq!(verdict(&desk, 0)["verified"], lines);
    assert_status(0, &desk.evolve(&["--force"], "echo better > state.txt"));
    assert_eq!(verdict(&desk, 0)["verified"], log(&desk).lines().count());
}

#[test]
fn lines_from_elsewhere_are_told_and_can_be_sealed() {
    let desk = evolved(1);
    let path = desk.repo.file("assets/gep/events.jsonl");
    std::fs::write(&path, log(&desk) + "{\"type\":\"EvolutionEvent\",\"id\":\"evt_1\"}\n").unwrap();
    assert_eq!(verdict(&desk, 1)["unsealed"], 1);
    desk.program.expect(0, &desk.repo, &["events", "seal"]);
    assert_eq!(verdict(&desk, 0)["unsealed"], 0);
}

#[test]
fn sealing_can_be_switched_off() {
    let desk = Desk::new(env!("CARGO_BIN_EXE_capsid"));
    desk.repo.write("capsid.toml", "[trail]\nseal_events = false\n");
    assert_status(0, &desk.evolve(&[], "echo good > state.txt"));
    assert!(!desk.program.home().join(".local").exists());
    assert_eq!(verdict(&desk, 1)["valid"], false);
}

#[test]
fn a_trail_that_cannot_be_written_does_not_fail_the_cycle() {
    let desk = Desk::new(env!("CARGO_BIN_EXE_capsid"));
    std::fs::write(desk.program.home().join(".local"), "in the way").unwrap();
    let ran = desk.evolve(&[], "echo good > state.txt");
    assert_status(0, &ran);
    assert!(ran.stderr.contains("not sealed:"), "{ran}");
    std::fs::remove_file(desk.program.home().join(".local")).unwrap();
    assert_status(0, &desk.evolve(&["--force"], "echo better > state.txt"));
    verdict(&desk, 0);
}
