//! The event log of a repository, sealed line by line.

use capsid_seal::SigningKey;
use capsid_seal::keys::file;
use capsid_testkit::program::assert_status;
use capsid_testkit::program_repo::ProgramRepo;

fn evolved(cycles: usize) -> ProgramRepo {
    let desk = ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"));
    for cycle in 0..cycles {
        assert_status(0, &desk.evolve(&["--force"], &format!("echo good {cycle} > state.txt")));
    }
    desk
}

fn log(desk: &ProgramRepo) -> String {
    std::fs::read_to_string(desk.repo.file("assets/gep/events.jsonl")).unwrap()
}

fn verdict(desk: &ProgramRepo, status: i32) -> capsid_model::Value {
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

fn trail_home(desk: &ProgramRepo) -> std::path::PathBuf {
    desk.program.home().join(".local/share/capsid/trail")
}

#[test]
fn sealing_can_be_switched_off() {
    let desk = ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"));
    desk.repo.write("capsid.toml", "[trail]\nseal_events = false\n");
    assert_status(0, &desk.evolve(&[], "echo good > state.txt"));
    assert!(!trail_home(&desk).exists());
    assert_eq!(verdict(&desk, 1)["valid"], false);
}

#[test]
fn a_trail_that_cannot_be_written_does_not_fail_the_cycle() {
    let desk = ProgramRepo::new(env!("CARGO_BIN_EXE_capsid"));
    std::fs::create_dir_all(trail_home(&desk).parent().unwrap()).unwrap();
    std::fs::write(trail_home(&desk), "in the way").unwrap();
    let ran = desk.evolve(&[], "echo good > state.txt");
    assert_status(0, &ran);
    assert!(ran.stderr.contains("not sealed:"), "{ran}");
    std::fs::remove_file(trail_home(&desk)).unwrap();
    assert_status(0, &desk.evolve(&["--force"], "echo better > state.txt"));
    verdict(&desk, 0);
}

#[test]
fn what_an_owner_accepted_is_told_for_ever() {
    let desk = evolved(2);
    let path = desk.repo.file("assets/gep/events.jsonl");
    assert_eq!(verdict(&desk, 0)["accepted"], capsid_model::json!([]));
    let line = log(&desk).lines().position(|line| line.contains("\"success\"")).unwrap() + 1;
    std::fs::write(&path, log(&desk).replacen("\"success\"", "\"failed\"", 1)).unwrap();
    let id = verdict(&desk, 1)["id"].clone();
    desk.program.expect(0, &desk.repo, &["events", "seal", "--accept"]);
    let accepted = verdict(&desk, 0)["accepted"].clone();
    assert_eq!(accepted.as_array().unwrap().len(), 1);
    let one = &accepted[0];
    assert_eq!((&one["change"], &one["line"], &one["id"]), (&"edited".into(), &line.into(), &id));
    assert!(one["at"].as_str().unwrap().starts_with("20"), "{one}");
    let shown = desk.program.expect(0, &desk.repo, &["events", "verify"]);
    let note = format!("accepted 1 time: line {line} was edited (20");
    assert!(shown.stdout.contains("[OK]") && shown.stdout.contains(&note), "{shown}");
    // With nothing to accept, nothing is; and what was accepted once stays told.
    let again = desk.program.expect(0, &desk.repo, &["events", "seal", "--accept", "--json"]).json();
    assert_eq!(again["appended"], 0);
    std::fs::write(&path, log(&desk).lines().skip(1).map(|line| format!("{line}\n")).collect::<String>())
        .unwrap();
    desk.program.expect(0, &desk.repo, &["events", "seal", "--accept"]);
    assert_status(0, &desk.evolve(&["--force"], "echo better > state.txt"));
    let accepted = verdict(&desk, 0)["accepted"].clone();
    assert_eq!((accepted.as_array().unwrap().len(), &accepted[1]["change"]), (2, &"changed".into()));
}

/// The database of the repository's chain.
fn chain(desk: &ProgramRepo) -> std::path::PathBuf {
    let session = verdict(desk, 0)["chain"]["session"].as_str().unwrap().to_owned();
    let listed = desk.program.expect(0, &desk.repo, &["trail", "list", "--json"]).json();
    assert_eq!(listed["chains"][0]["session"].as_str(), Some(session.as_str()));
    listed["chains"][0]["path"].as_str().unwrap().into()
}

/// Takes the last records out of a chain, and all that stands beside them.
fn cut(chain: &std::path::Path, records: usize, keys: bool) {
    let database = rusqlite::Connection::open(chain).unwrap();
    let last = format!("sequence > (SELECT max(sequence) FROM capsules) - {records}");
    if keys {
        database.execute(&format!("DELETE FROM capsid_keys WHERE {last}"), []).unwrap();
    }
    assert_eq!(database.execute(&format!("DELETE FROM capsules WHERE {last}"), []).unwrap(), records);
}

#[test]
fn a_log_that_is_cut_together_with_its_chain_is_seen() {
    for keys in [true, false] {
        let desk = evolved(2);
        let path = desk.repo.file("assets/gep/events.jsonl");
        let chain = chain(&desk);
        let whole = log(&desk);
        let lines: Vec<&str> = whole.lines().collect();
        cut(&chain, 1, keys);
        let shorter: String = lines[..lines.len() - 1].iter().map(|line| format!("{line}\n")).collect();
        std::fs::write(&path, &shorter).unwrap();
        let found = verdict(&desk, 1);
        assert_eq!((&found["valid"], &found["change"]), (&false.into(), &"chain_cut".into()));
        let shown = desk.program.expect(1, &desk.repo, &["events", "verify"]);
        assert!(shown.stdout.contains("[BROKEN] the chain was cut"), "{shown}");
        assert!(!shown.stdout.contains("[OK]"), "{shown}");
        // Sealing on would hide it, so the next cycle does not.
        let refused = desk.program.run(&desk.repo, &["events", "seal"]);
        assert_eq!((refused.status, refused.code()), (1, "chain_broken"), "{refused}");
        assert!(desk.evolve(&["--force"], "echo on > state.txt").stderr.contains("not sealed:"));
        assert_eq!(verdict(&desk, 1)["change"], "chain_cut");
        desk.program.expect(0, &desk.repo, &["events", "seal", "--accept"]);
        let accepted = verdict(&desk, 0);
        assert_eq!(accepted["accepted"][0]["change"], "chain_cut");
        assert_eq!(accepted["accepted"][0]["line"], lines.len());
    }
}

#[test]
fn a_chain_that_is_gone_is_missing_and_not_new() {
    let desk = evolved(1);
    std::fs::remove_file(chain(&desk)).unwrap();
    assert_eq!(verdict(&desk, 1)["change"], "chain_missing");
    let shown = desk.program.expect(1, &desk.repo, &["events", "verify"]);
    assert!(shown.stdout.contains("[BROKEN] the chain is missing"), "{shown}");
    desk.program.expect(1, &desk.repo, &["events", "seal"]);
    desk.program.expect(0, &desk.repo, &["events", "seal", "--accept"]);
    assert_eq!(verdict(&desk, 0)["accepted"][0]["change"], "chain_missing");
}

#[test]
fn sealing_on_after_an_earlier_edit_does_not_hide_it() {
    let desk = evolved(2);
    let path = desk.repo.file("assets/gep/events.jsonl");
    let whole = log(&desk);
    let first = whole.lines().next().unwrap();
    // Of the same length, so that the last line stays where it was.
    let edited = first.replacen(|c: char| c.is_ascii_digit(), "x", 1);
    let text = whole.replacen(first, &edited, 1) + "{\"type\":\"EvolutionEvent\",\"id\":\"evt_1\"}\n";
    std::fs::write(&path, text).unwrap();
    desk.program.expect(0, &desk.repo, &["events", "seal"]);
    let found = verdict(&desk, 1);
    assert_eq!((&found["change"], &found["broken_at"]), (&"edited".into(), &1.into()));
}

/// Signs the last record of a chain anew.
fn sign_last(chain: &std::path::Path, key: &SigningKey) {
    let connection = rusqlite::Connection::open(chain).unwrap();
    let last: String = connection
        .query_row("SELECT hash FROM capsules ORDER BY sequence DESC LIMIT 1", [], |row| row.get(0))
        .unwrap();
    let words = (key.sign(&last), key.public().fingerprint(), last);
    connection.execute("UPDATE capsules SET signature = ?1, signed_by = ?2 WHERE hash = ?3", words).unwrap();
}

#[test]
fn the_log_is_proven_only_by_the_key_that_was_the_homes_own_then() {
    let desk = evolved(1);
    let old = file::load(&trail_home(&desk).join("key")).unwrap().unwrap();
    let chain = chain(&desk);
    let stranger = SigningKey::from_seed(&[9; 32]);
    desk.program.expect(0, &desk.repo, &["key", "add", &stranger.public().hex()]);
    sign_last(&chain, &stranger);
    let found = verdict(&desk, 1);
    assert_eq!(found["valid"], false, "a key that is only known: {found}");
    sign_last(&chain, &old);
    verdict(&desk, 0);
    // The old key signs what came after its rotation.
    desk.program.expect(0, &desk.repo, &["key", "rotate"]);
    verdict(&desk, 0);
    assert_status(0, &desk.evolve(&["--force"], "echo better > state.txt"));
    verdict(&desk, 0);
    sign_last(&chain, &old);
    let found = verdict(&desk, 1);
    assert_eq!(found["valid"], false, "a retired key: {found}");
}
