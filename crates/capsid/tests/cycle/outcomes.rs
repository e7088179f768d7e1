//! What a cycle leaves behind when it succeeds and when it does not.

use super::*;

#[test]
fn a_good_change_becomes_an_event_and_a_capsule_and_every_record_verifies() {
    let desk = broken();
    let ran = desk.evolve(&["--json"], GOOD);
    assert_status(0, &ran);
    let settled = ran.json();
    for key in ["ok", "gene", "event", "capsule", "report"] {
        assert!(!settled[key].is_null(), "{key} is missing");
    }
    assert_eq!(settled["event"]["outcome"]["status"], "success");
    assert_eq!(settled["event"]["capsule_id"], settled["capsule"]["id"]);
    assert_eq!(settled["capsule"]["success_streak"], 1);
    assert_eq!(settled["report"]["overall_ok"], true);
    assert_eq!(desk.repo.read("state.txt"), "good\n");
    let types: Vec<Value> =
        store::records(&desk.repo).into_iter().map(|record| record["type"].clone()).collect();
    assert_eq!(types, ["ValidationReport", "EvolutionEvent"]);
    let git = &settled["event"]["meta"]["git"];
    let head = desk.repo.git(&["rev-parse", "HEAD"]);
    assert_eq!(git["head"], head.trim());
    assert_eq!(git["files"], capsid_model::json!(["state.txt"]));
    assert!(git["patch_sha256"].is_string());
    let verified = desk.program.expect(
        0,
        &desk.repo,
        &[
            "asset",
            "verify",
            "--json",
            "assets/gep/genes.json",
            "assets/gep/capsules.json",
            "assets/gep/events.jsonl",
        ],
    );
    assert_eq!(verified.json()["verified"], 5);
}

#[test]
fn every_record_of_a_failure_verifies_too() {
    let desk = desk();
    assert_status(1, &desk.evolve(&[], BAD));
    let ran = desk.program.run(
        &desk.repo,
        &[
            "asset",
            "verify",
            "assets/gep/genes.json",
            "assets/gep/failed_capsules.json",
            "assets/gep/events.jsonl",
        ],
    );
    assert_status(0, &ran);
}

#[test]
fn a_failing_validation_leaves_everything_exactly_as_the_user_had_it() {
    let desk = desk();
    desk.fill_with_work();
    let before = desk.repo.user_files();
    let ran = desk.evolve(
        &["--json"],
        "echo bad > state.txt; echo x >> edited.txt; echo x > staged.txt; echo x > untracked/notes.txt
         rm doomed.txt; mkdir -p new/deep; echo x > new/deep/file; mv both.txt moved.txt
         rm -r untracked; ln -s check.js link; chmod +x check.js",
    );
    assert_status(1, &ran);
    assert_eq!(desk.repo.user_files(), before);
    assert_eq!(ran.json()["event"]["meta"]["failure_class"], "validation");
    assert_eq!(store::list(&desk.repo, "failed_capsules").len(), 1);
    assert!(store::list(&desk.repo, "capsules").is_empty());
}

#[test]
fn what_the_agent_staged_is_taken_back_too() {
    let desk = desk();
    desk.fill_with_work();
    let before = desk.repo.user_files();
    assert_status(1, &desk.evolve(&[], "echo bad > state.txt; echo n > new.txt; git add -A"));
    assert_eq!(desk.repo.user_files(), before);
}

#[test]
fn a_change_beyond_the_genes_limit_is_taken_back() {
    let desk = desk();
    let before = desk.repo.user_files();
    let ran = desk.evolve(
        &["--json"],
        "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do echo $n > f$n.rs; done",
    );
    assert_status(1, &ran);
    assert_eq!(desk.repo.user_files(), before);
    let meta = &ran.json()["event"]["meta"];
    assert_eq!(meta["failure_class"], "constraint");
    assert_eq!(meta["constraints_ok"], false);
    assert_eq!(ran.json()["event"]["blast_radius"]["files"], 21);
}

#[test]
fn forbidden_paths_fail_a_cycle_and_are_named() {
    for (body, name) in
        [("mkdir node_modules; echo x > node_modules/x.js", "node_modules"), ("echo SECRET=1 > .env", ".env")]
    {
        let desk = desk();
        let before = desk.repo.user_files();
        let ran = desk.evolve(&["--json"], body);
        assert_status(1, &ran);
        assert_eq!(desk.repo.user_files(), before, "{name}");
        let violations = ran.json()["event"]["meta"]["constraint_violations"].to_string();
        assert!(violations.contains(name), "{violations}");
    }
}

#[test]
fn a_hook_that_an_agent_plants_is_no_part_of_its_change() {
    let desk = desk();
    let plant = "printf '#!/bin/sh\\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit";
    assert_status(0, &desk.evolve(&["--json"], &format!("{plant}; echo good > state.txt")));
    assert!(!desk.repo.file(".git/hooks/post-commit").exists());
    assert_eq!(desk.repo.read("state.txt"), "good\n");
}

#[test]
fn a_cycle_that_changes_nothing_is_a_failure() {
    let desk = desk();
    let ran = desk.evolve(&["--json"], "true");
    assert_status(1, &ran);
    let event = &ran.json()["event"];
    assert_eq!(event["outcome"]["status"], "failed");
    assert_eq!(event["meta"]["empty_cycle"], true);
    assert!(event["capsule_id"].is_null());
}

#[test]
fn a_reused_capsule_grows_its_streak_and_a_failed_reuse_breaks_it() {
    let desk = broken();
    let first = desk.evolve(&["--json"], GOOD).json();
    let id = &first["capsule"]["id"];
    assert_eq!(first["capsule"]["a2a"]["eligible_to_broadcast"], false);
    desk.repo.write("state.txt", "start\n");
    let ran = desk.evolve(&["--json"], BAD);
    assert_status(0, &ran);
    assert_eq!(desk.repo.read("state.txt"), "good\n", "no agent was needed");
    let second = ran.json();
    assert_eq!(&second["capsule"]["id"], id);
    assert_eq!(second["capsule"]["success_streak"], 2);
    assert_eq!(second["capsule"]["a2a"]["eligible_to_broadcast"], true);
    assert_eq!(second["event"]["source_type"], "reused");
    assert_eq!(&second["event"]["meta"]["reused_capsule_id"], id);
    assert_eq!(store::list(&desk.repo, "capsules").len(), 1, "grown in place");
    // The same problem has another cause now, so the stored change no longer helps.
    desk.repo.write("check.js", desk.repo.read("check.js").replace("'good'", "'better'"));
    desk.repo.write("state.txt", "start\n");
    desk.repo.commit("Ask for more");
    assert_status(1, &desk.evolve(&["--json"], BAD));
    let capsule = store::list(&desk.repo, "capsules").pop().unwrap();
    assert_eq!(&capsule["id"], id);
    assert_eq!(capsule["success_streak"], 0);
    assert_eq!(capsule["a2a"]["eligible_to_broadcast"], false);
    store::assert_verifies(&capsule);
}

#[test]
fn a_cycle_with_nothing_new_is_skipped_unless_forced() {
    let desk = desk();
    assert_status(0, &desk.evolve(&[], GOOD));
    let ran = desk.evolve(&["--json"], "echo good2 > state.txt");
    assert_status(0, &ran);
    assert_eq!(ran.json()["skipped"], true);
    assert_eq!(desk.repo.read("state.txt"), "good\n", "the agent did not run");
    assert_status(0, &desk.evolve(&["--force"], "echo good2 > state.txt"));
    desk.repo.write("app.log", "error: another one\n");
    assert_status(0, &desk.evolve(&[], "echo good3 > state.txt"));
    assert_eq!(store::events(&desk.repo).len(), 3);
}
