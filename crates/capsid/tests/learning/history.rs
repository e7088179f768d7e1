//! What earlier cycles mean for the next one.

use super::*;

#[test]
fn after_three_successful_repairs_a_live_error_passed_by_log_is_not_suppressed() {
    let desk = broken();
    let error = desk.prepare(&["--dry-run", "--json"]).json()["signals"][1].as_str().unwrap().to_owned();
    let repairs: Vec<Object> = (0..3)
        .map(|n| store::event(&format!("evt_{n}"), "repair", "gene_repair", &["log_error", &error], true))
        .collect();
    store::append_events(&desk.repo, &repairs);
    let next = desk.prepare(&["--dry-run", "--json"]).json();
    assert_eq!(next["mutation"]["category"], "repair", "{next:#}");
    let signals = next["signals"].as_array().unwrap();
    assert!(signals.contains(&json!("log_error")) && signals.contains(&json!(error)), "{signals:?}");
}

#[test]
fn printing_a_prompt_four_times_bans_no_gene() {
    let desk = broken();
    for _ in 0..4 {
        let prepared = desk.prepare(&["--force", "--json"]).json();
        assert_eq!(
            prepared["gene"]["id"].as_str().or(prepared["gene"].as_str()),
            Some("gene_repair"),
            "{prepared:#}"
        );
        desk.program.run(&desk.repo, &["review", "--reject"]);
    }
    assert_status(0, &desk.evolve(&["--force"], GOOD));
    assert_eq!(last_event(&desk)["genes_used"], json!(["gene_repair"]));
}

#[test]
fn a_fix_that_was_reverted_runs_again_without_force() {
    let desk = broken();
    assert_status(0, &desk.evolve(&[], GOOD));
    desk.repo.write("state.txt", "start\n");
    let ran = desk.evolve(&["--json"], GOOD);
    assert_status(0, &ran);
    assert_ne!(ran.json()["skipped"], true, "{ran}");
    assert_eq!(desk.repo.read("state.txt"), "good\n");
    assert_eq!(store::events(&desk.repo).len(), 2);
}

#[test]
fn an_obedient_agent_that_changes_nothing_charges_no_gene() {
    let desk = broken();
    for _ in 0..2 {
        assert_status(1, &desk.evolve(&["--force"], "true"));
    }
    let ran = desk.evolve(&["--json", "--force"], GOOD);
    assert_status(0, &ran);
    assert_eq!(last_event(&desk)["genes_used"], json!(["gene_repair"]), "{ran}");
}

#[test]
fn after_repeated_failures_a_proven_fix_is_not_refused_for_its_new_gene() {
    let desk = broken();
    for _ in 0..3 {
        assert_status(1, &desk.evolve(&["--force"], BAD));
    }
    let ran = desk.evolve(&["--json", "--force"], GOOD);
    assert_status(0, &ran);
    assert_eq!(capsules(&desk)[0]["proof"]["grade"], "fail_to_pass_reverts", "{ran}");
}

#[test]
fn a_command_that_only_shows_something_changes_nothing() {
    let desk = broken();
    let before = desk.repo.user_files();
    desk.prepare(&["--dry-run"]);
    for words in [
        &["signals", "--no-sessions", "--log", "app.log"][..],
        &["select", "--signal", "log_error"],
        &["status"],
        &["capsules"],
    ] {
        desk.program.expect(0, &desk.repo, words);
    }
    assert_eq!(desk.repo.user_files(), before);
    assert!(!desk.state_file("pending.json").exists());
    assert!(!desk.repo.file("memory").exists());
}
