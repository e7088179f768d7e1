//! What is seen, chosen and remembered.

use super::*;

#[test]
fn defect_03_bans_hold_in_a_pool_of_any_size() {
    let desk = desk();
    let strong = store::gene("gene_strong", "repair", &["log_error", "error"], &[CHECK]);
    let weak = store::gene("gene_weak", "repair", &["log_error"], &[CHECK]);
    store::write_store(&desk.repo, &[strong.clone(), weak]);
    assert_eq!(selected(&desk, &["log_error"], &[]), "gene_strong");
    let failed = |id: &str| store::failed_capsule(id, "gene_strong", &["log_error"]);
    store::write_list(&desk.repo, "failed_capsules", &[failed("failed_1"), failed("failed_2")]);
    assert_eq!(selected(&desk, &["log_error"], &[]), "gene_weak");
    for seed in 0..8 {
        let seed = seed.to_string();
        let drawn = selected(&desk, &["log_error"], &["--drift", &seed]);
        assert_eq!(drawn, "gene_weak", "chance may not lift a ban");
    }
    store::write_list(&desk.repo, "genes", &[strong]);
    assert_eq!(selected(&desk, &["log_error"], &[]), Value::Null);
}

#[test]
fn defect_04_the_first_gene_in_the_file_is_not_preferred_without_evidence() {
    let desk = desk();
    let first = store::gene("gene_first", "repair", &["log_error"], &[CHECK]);
    let better = store::gene("gene_better", "repair", &["log_error", "timeout"], &[CHECK]);
    store::write_store(&desk.repo, &[first, better]);
    assert_eq!(selected(&desk, &["log_error", "timeout"], &[]), "gene_better");
}

#[test]
fn defect_05_a_ban_signal_does_not_match_the_gene_it_bans() {
    let desk = desk();
    let gene = |id| store::gene(id, "repair", &["error"], &[CHECK]);
    let banned = "gene_gep_repair_from_errors";
    store::write_store(&desk.repo, &[gene(banned), gene("gene_other")]);
    let ban = format!("ban_gene:{banned}");
    assert_eq!(selected(&desk, &[&ban], &[]), Value::Null, "steering matches no pattern");
    assert_eq!(selected(&desk, &[&ban, "log_error"], &[]), "gene_other");
}

#[test]
fn defect_06_three_failed_repairs_in_a_row_ask_for_another_cause_and_stay_repairs() {
    let desk = desk();
    let prepared = |desk: &ProgramRepo| desk.prepare(&["--force", "--dry-run", "--json"]).json();
    let first = prepared(&desk);
    assert_eq!(first["mutation"]["category"], "repair");
    let error = first["signals"][1].as_str().unwrap().to_owned();
    let repairs = (0..3)
        .map(|n| store::event(&format!("evt_{n}"), "repair", "gene_repair", &["log_error", &error], false));
    let report = |n| {
        store::stamped(
            json!({"type": "ValidationReport", "id": format!("vr_{n}"), "overall_ok": false, "commands": []}),
        )
    };
    // Reports lie between events, as they do in every real log.
    for (n, repair) in repairs.enumerate() {
        store::append_events(&desk.repo, &[report(n), repair]);
    }
    let next = prepared(&desk);
    assert_eq!(next["mutation"]["category"], "repair", "{next}");
    let signals = next["signals"].as_array().unwrap();
    assert!(
        signals.contains(&json!("repair_loop_detected")) && signals.contains(&json!("log_error")),
        "{next}"
    );
}

#[test]
fn defect_06_failures_on_three_problems_say_nothing_about_a_fourth() {
    let desk = desk();
    // Whatever gene is chosen or made, the check runs.
    desk.repo.write("capsid.toml", format!("[validation]\ncommands = [\"{CHECK}\"]\n"));
    for n in 0..3 {
        desk.repo.write("app.log", format!("error: number {n} is wrong\n"));
        let ran = desk.evolve(&["--json"], BAD);
        assert_status(1, &ran);
    }
    desk.repo.write("app.log", "error: yet another\n");
    let next = desk.prepare(&["--json"]).json();
    assert_eq!(next["mutation"]["category"], "repair", "{next}");
    assert_eq!(next["signals"], json!(["log_error", "errsig:error: yet another"]), "{next}");
}

#[test]
fn defect_09_the_recorded_event_decides_the_outcome_and_not_a_quiet_log() {
    let desk = desk();
    assert_status(1, &desk.evolve(&[], BAD));
    desk.repo.write("app.log", "all is well\n");
    let ran = desk.program.run(&desk.repo, &["evolve", "--no-sessions", "--log", "app.log"]);
    assert_eq!((ran.status, ran.code()), (1, "no_problem_found"), "{ran}");
    desk.repo.write("app.log", "error: yet another\n");
    desk.prepare(&[]);
    let outcomes: Vec<Object> =
        graph(&desk).into_iter().filter(|record| record["kind"] == "outcome").collect();
    assert_eq!(outcomes.len(), 1, "an action has one outcome");
    assert_eq!(outcomes[0]["outcome"]["status"], "failed");
}

#[test]
fn defect_13_no_transcript_reaches_the_memory_graph() {
    let desk = desk();
    let marker = "marzipan7f3a";
    desk.repo.write(
        "app.log",
        format!(
            "started {marker}\nerror: TypeError: {marker} is not a function\n\
             please add a feature: I want {marker} export, it would be great\nslow {marker} timeout after 30 s\n"
        ),
    );
    desk.repo.write("USER.md", format!("I want a new feature: {marker} please\n"));
    desk.repo.write("MEMORY.md", format!("{marker}\n"));
    assert_status(0, &desk.evolve(&[], "echo good > state.txt"));
    assert_status(1, &desk.evolve(&["--force"], BAD));
    let graph = desk.repo.read("memory/evolution/memory_graph.jsonl");
    assert!(graph.lines().count() >= 8);
    assert!(!graph.contains(marker), "{graph}");
    let state = desk.repo.read("memory/evolution/memory_graph_state.json");
    assert!(!state.contains(marker), "{state}");
}

/// What would be chosen for signals.
fn selected(desk: &ProgramRepo, signals: &[&str], options: &[&str]) -> Value {
    let mut args = vec!["select", "--json"];
    for signal in signals {
        args.extend(["--signal", signal]);
    }
    args.extend(options);
    desk.program.expect(0, &desk.repo, &args).json()["selected"].clone()
}
