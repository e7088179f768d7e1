//! What is validated, counted, taken back and recorded.

use super::*;

#[test]
fn defect_01_every_id_on_disk_passes_its_own_verification() {
    let desk = desk();
    assert_status(0, &desk.evolve(&[], "echo good1 > state.txt"));
    assert_status(0, &desk.evolve(&["--force"], "echo good2 > state.txt"));
    assert_status(1, &desk.evolve(&["--force"], BAD));
    let files = [
        "assets/gep/genes.json",
        "assets/gep/capsules.json",
        "assets/gep/failed_capsules.json",
        "assets/gep/events.jsonl",
    ];
    let mut args = vec!["asset", "verify", "--json"];
    args.extend(files);
    let verified = desk.program.expect(0, &desk.repo, &args).json();
    assert_eq!(verified["verified"], verified["total"]);
    let gene = &store::list(&desk.repo, "genes")[0];
    assert!(gene["epigenetic_marks"].is_array(), "the gene was changed, and stamped anew");
}

#[test]
fn defect_02_no_newline_and_no_mixed_quotes_get_through_the_gate() {
    for command in [
        "node check.js\ntouch canary",
        "node check.js\rtouch canary",
        "node check.js 'a\"b' ; touch canary \"d'e\"",
        "node -pe \"require('fs').writeFileSync('canary','')\"",
        "npm exec -- node -e \"require('fs').writeFileSync('canary','')\"",
        "node check.js && touch canary",
        "node check.js $(touch canary)",
    ] {
        let desk = desk();
        let gene = store::gene("gene_repair", "repair", &["log_error"], &[command]);
        store::write_store(&desk.repo, &[gene]);
        let ran = desk.evolve(&["--json"], GOOD);
        assert_status(1, &ran);
        assert!(!desk.repo.file("canary").exists(), "{command:?} ran");
        let settled = ran.json();
        assert_eq!(settled["report"]["commands"][0]["ok"], false, "{command:?}");
        assert_eq!(settled["report"]["isolation"], "none", "nothing was started");
    }
}

#[test]
fn defect_07_rollback_never_erases_the_audit_log() {
    let desk = desk();
    desk.repo.commit("The store is tracked");
    assert_status(0, &desk.evolve(&[], GOOD));
    let kept = ["assets/gep/events.jsonl", "assets/gep/capsules.json", "assets/gep/genes.json"];
    let before = kept.map(|name| desk.repo.read(name));
    assert_status(1, &desk.evolve(&["--force"], BAD));
    let log = desk.repo.read(kept[0]);
    assert!(log.starts_with(&before[0]) && log.len() > before[0].len());
    assert_eq!(store::list(&desk.repo, "capsules").len(), 1);
    assert_ne!(desk.repo.read(kept[2]), before[2], "the gene learned from the failure");
}

#[test]
fn defect_07_an_agent_that_empties_or_forges_the_log_is_undone_and_said() {
    for attack in [
        ": > assets/gep/events.jsonl",
        "rm assets/gep/events.jsonl",
        "git checkout -q -- assets",
        "git reset -q --hard",
        "echo '{\"type\":\"EvolutionEvent\",\"id\":\"evt_forged\"}' >> assets/gep/events.jsonl",
    ] {
        let desk = desk();
        desk.repo.commit("The store is tracked");
        assert_status(0, &desk.evolve(&[], GOOD));
        let before = desk.repo.read("assets/gep/events.jsonl");
        let ran = desk.evolve(&["--json", "--force"], &format!("echo more >> state.txt; {attack}"));
        assert_status(1, &ran);
        let log = desk.repo.read("assets/gep/events.jsonl");
        assert!(log.starts_with(&before), "{attack}: {log}");
        assert!(!log.contains("evt_forged"), "{attack}");
        assert_eq!(store::events(&desk.repo).len(), 2, "{attack}");
        let violations = ran.json()["event"]["meta"]["constraint_violations"].to_string();
        assert!(violations.contains("events.jsonl"), "{attack}: {violations}");
    }
}

fn run_loop(desk: &ProgramRepo, agent: Option<&str>) -> ProgramOutput {
    let mut args =
        vec!["evolve", "--loop", "--force", "--max-cycles", "2", "--no-sessions", "--log", "app.log"];
    if let Some(agent) = agent {
        args.extend(["--agent", agent]);
    }
    let mut command = desk.program.command(desk.repo.path(), &args);
    command.env("EVOLVER_MIN_SLEEP_MS", "20").env("EVOLVER_MAX_SLEEP_MS", "50");
    ProgramOutput::from_output(command.output().unwrap())
}

#[test]
fn defect_08_the_loop_never_wipes_the_users_work() {
    let desk = desk();
    desk.fill_with_work();
    let before = desk.repo.user_files();
    let agent = desk.agent("echo bad > state.txt; rm -r untracked; echo x >> edited.txt");
    assert_status(0, &run_loop(&desk, Some(&agent)));
    assert_eq!(store::events(&desk.repo).len(), 2);
    assert_eq!(desk.repo.user_files(), before);
}

#[test]
fn defect_08_a_loop_without_an_agent_leaves_a_waiting_run_and_its_edits_alone() {
    let desk = desk();
    desk.prepare(&[]);
    desk.repo.write("state.txt", "half done\n");
    desk.repo.write("new.txt", "half done\n");
    let before = desk.repo.user_files();
    let args = ["evolve", "--loop", "--no-sessions", "--log", "app.log"];
    let mut command = desk.program.command(desk.repo.path(), &args);
    command.env("EVOLVER_MIN_SLEEP_MS", "20");
    let running = LoggedChild::start(command);
    running.wait_for("waits to be finished", 1);
    running.wait_for("next look in", 3);
    let ran = running.stop();
    assert_status(0, &ran);
    assert_eq!(desk.repo.user_files(), before);
    desk.program.expect(0, &desk.repo, &["solidify"]);
}

#[test]
fn defect_10_a_change_in_any_language_counts() {
    let desk = desk();
    let names = [
        "main.rs",
        "tool.py",
        "server.go",
        "notes.md",
        "my_capsule.txt",
        "logs/today.txt",
        "ü.js",
        "Makefile",
    ];
    let mut body = String::from("mkdir logs; printf '\\0\\1' > image.bin\n");
    for name in names {
        writeln!(body, "printf 'a\\nb\\n' > '{name}'").unwrap();
    }
    let ran = desk.evolve(&["--json"], &body);
    assert_status(0, &ran);
    let event = &ran.json()["event"];
    assert_eq!(event["blast_radius"]["files"], names.len() + 1);
    assert_eq!(event["blast_radius"]["lines"], 2 * names.len());
}

#[test]
fn defect_17_a_small_change_has_no_empty_warning() {
    let desk = desk();
    let ran = desk.evolve(&["--json"], GOOD);
    assert_status(0, &ran);
    assert_eq!(ran.json()["event"]["meta"]["constraint_warnings"], json!([]));
}

#[test]
fn defect_20_an_intent_that_its_mutation_does_not_allow_fails_the_cycle() {
    let desk = desk();
    let before = desk.repo.user_files();
    let ready = desk.prepare(&["--json"]).json();
    assert_eq!(ready["mutation"]["category"], "repair");
    desk.repo.write("state.txt", "good\n");
    let ran = desk.program.expect(1, &desk.repo, &["solidify", "--intent", "innovate", "--json"]);
    let event = &ran.json()["event"];
    assert_eq!(event["outcome"]["status"], "failed");
    assert_eq!(
        event["meta"]["protocol_violations"],
        json!(["intent_mismatch_with_mutation:innovate!=repair"])
    );
    assert_eq!(desk.repo.read("state.txt"), "good\n", "and the change stays until its owner decides");
    desk.program.expect(0, &desk.repo, &["review", "--rollback", "--all"]);
    assert_eq!(desk.repo.user_files(), before);
}
