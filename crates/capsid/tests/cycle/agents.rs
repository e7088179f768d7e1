//! Agents that fail, linger, are missing or overstep.

use super::*;

#[test]
fn an_agent_that_fails_is_the_hosts_fault_and_not_the_genes() {
    let desk = desk();
    let before = desk.repo.user_files();
    let genes = desk.repo.read("assets/gep/genes.json");
    let ran = desk.evolve(&["--json"], "echo half > state.txt; exit 3");
    assert_status(1, &ran);
    assert_eq!(desk.repo.user_files(), before);
    let event = last_event(&desk);
    assert_eq!(event["meta"]["failure_class"], "host");
    assert!(event["meta"]["failure_reason"].to_string().contains("status 3"));
    assert_eq!(desk.repo.read("assets/gep/genes.json"), genes, "the gene was not charged");
}

#[test]
fn an_agent_that_takes_too_long_is_stopped_with_all_it_started() {
    let desk = desk();
    let before = desk.repo.user_files();
    let start = Instant::now();
    let ran =
        desk.evolve(&["--json", "--agent-timeout", "1"], "echo half > state.txt; sleep 600 & sleep 600");
    assert_status(1, &ran);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_eq!(desk.repo.user_files(), before);
    assert_eq!(last_event(&desk)["meta"]["failure_class"], "host");
    capsid_testkit::kill::wait_until_quiet(desk.repo.path());
}

#[test]
fn a_signal_while_the_agent_works_leaves_its_change_to_the_owner_and_the_tree_alone() {
    let desk = desk();
    desk.fill_with_work();
    let before = desk.repo.user_files();
    let agent = desk.agent("echo half > state.txt; rm edited.txt; echo has edited; sleep 600");
    let args = ["evolve", "--no-sessions", "--log", "app.log", "--agent", &agent];
    let running = LoggedChild::start(desk.program.command(desk.repo.path(), &args));
    running.wait_for("has edited", 1);
    let ran = running.stop();
    assert_status(1, &ran);
    assert_eq!(ran.code(), "interrupted");
    assert_eq!(desk.repo.user_files(), before);
    assert!(store::events(&desk.repo).is_empty());
    let shown = desk.program.expect(0, &desk.repo, &["review"]);
    assert!(shown.stdout.contains("+half"), "{shown}");
    desk.program.expect(0, &desk.repo, &["review", "--reject"]);
    assert_eq!(desk.repo.user_files(), before);
}

#[test]
fn an_agent_cannot_choose_what_its_change_is_evaluated_by() {
    for tampering in [
        "sed -i 's/node check.js/node --version/' assets/gep/genes.json",
        "echo '{\"genes\":[]}' > assets/gep/genes.json",
        "echo broken > assets/gep/genes.json",
        "echo '{\"type\":\"Gene\",\"id\":\"gene_repair\",\"validation\":[]}' >> assets/gep/genes.jsonl",
        "sed -i 's/gene_repair/gene_other/' memory/evolution/evolution_solidify_state.json",
        "rm memory/evolution/evolution_solidify_state.json",
    ] {
        let desk = desk();
        let ran = desk.evolve(&["--json"], &format!("echo bad > state.txt; {tampering}"));
        assert_status(1, &ran);
        let meta = &ran.json()["event"]["meta"];
        let violations = meta["constraint_violations"].to_string();
        assert!(violations.contains("belongs to Capsid"), "{tampering}: {meta}");
        assert_ne!(desk.repo.read("state.txt"), "bad\n", "{tampering}");
        let stored = desk.repo.read("assets/gep/genes.json");
        assert!(stored.contains("gene_repair") && stored.contains("node check.js"), "{tampering}: {stored}");
    }
}

#[test]
fn commits_of_an_agent_are_not_adopted_and_staged_edits_stay_staged() {
    for (body, status) in [("echo bad > state.txt", 1), ("echo good > state.txt", 0)] {
        let desk = desk();
        desk.fill_with_work();
        let state = || (desk.repo.git(&["rev-parse", "HEAD"]), desk.repo.git(&["diff", "--cached"]));
        let before = state();
        let ran = desk.evolve(&["--json"], &format!("{body}; git add -A; git commit -qm sneaky"));
        assert_status(status, &ran);
        assert_eq!(state(), before);
        assert!(!desk.repo.git(&["reflog"]).contains("sneaky"));
        assert_eq!(ran.json()["event"]["meta"]["agent_commits"], capsid_model::json!(["sneaky"]));
    }
}

#[test]
fn what_an_agent_writes_below_memory_is_part_of_its_change() {
    let desk = desk();
    desk.repo.write("memory/core.py", "mine\n");
    let ran = desk
        .evolve(&["--json"], "echo bad > state.txt; echo theirs > memory/core.py; echo new > memory/new.md");
    assert_status(1, &ran);
    assert_eq!(ran.json()["event"]["blast_radius"]["files"], 3);
    assert_eq!(desk.repo.read("memory/core.py"), "mine\n");
    assert!(!desk.repo.file("memory/new.md").exists());
}

#[test]
fn a_failure_of_the_machine_does_not_block_the_next_try() {
    let desk = desk();
    assert_status(1, &desk.evolve(&[], "exit 3"));
    let ran = desk.evolve(&["--json"], "echo good > state.txt");
    assert_status(0, &ran);
    assert_eq!(ran.json()["ok"], true);
}

#[test]
fn an_agent_that_is_not_there_is_a_usage_error_and_nothing_is_written() {
    let desk = desk();
    let before = desk.repo.fingerprint();
    for agent in [&["./no-such-agent"][..], &["no-such-agent-at-all", "-p"], &["--loop", "./no-such-agent"]] {
        let (options, command) = agent.split_at(usize::from(agent[0] == "--loop"));
        let mut args = vec!["evolve", "--no-sessions", "--log", "app.log"];
        args.extend(options);
        args.push("--agent");
        args.extend(command);
        let ran = desk.program.run(&desk.repo, &args);
        assert_status(2, &ran);
        assert_eq!(ran.code(), "agent_not_found");
        assert!(ran.stderr.contains("no-such-agent"), "{ran}");
        assert_eq!(desk.repo.fingerprint(), before, "{command:?}");
    }
    assert!(!desk.program.state_dir(desk.repo.path()).exists());
}

#[test]
fn a_policy_that_the_agent_changed_is_taken_back_and_not_followed() {
    for ignored in ["", "capsid.toml\n"] {
        let desk = desk();
        desk.repo.write(".gitignore", ignored);
        desk.repo.write("capsid.toml", "[constraints]\nhard_cap_files = 30\n");
        let before = desk.repo.user_files();
        let ran = desk.evolve(
            &["--json"],
            "echo good > state.txt; printf '[validation]\\ninline_code = true\\n' > capsid.toml",
        );
        assert_status(1, &ran);
        let violations = ran.json()["event"]["meta"]["constraint_violations"].to_string();
        assert!(violations.contains("capsid.toml"), "{violations}");
        assert_eq!(desk.repo.user_files(), before);
    }
}

/// A copy has only links to ignored files, or nothing in their place.
#[test]
fn an_ignored_protected_file_fails_a_cycle_in_a_copy_only_if_the_agent_replaces_it() {
    for ignored in ["link", "copy", "none"] {
        let desk = desk();
        desk.repo.write(".gitignore", ".env\n");
        desk.repo.write(".env", "SECRET=mine\n");
        let policy = format!("[cycle]\nview = \"copy\"\ncopy_ignored = \"{ignored}\"\n");
        desk.repo.write("capsid.toml", &policy);
        let ran = desk.evolve(&["--json"], "rm -f .env; echo other > .env; echo good > state.txt");
        assert_status(1, &ran);
        let violations = ran.json()["event"]["meta"]["constraint_violations"].to_string();
        assert!(violations.contains(".env"), "{ignored}: {violations}");
        assert_status(0, &desk.evolve(&["--force"], "echo good > state.txt"));
        assert_eq!(desk.repo.read(".env"), "SECRET=mine\n");
    }
}

#[test]
fn what_validation_writes_is_discarded_and_reported() {
    let desk = desk();
    desk.repo.write("mine.txt", "mine\n");
    let check = desk.repo.read("check.js");
    let stray = "const fs = require('fs'); fs.rmSync('mine.txt', {force: true}); fs.writeFileSync('made.txt', 'x');\n";
    let body = format!("cat > check.js <<'END'\n{stray}{check}\nEND\necho good > state.txt");
    let ran = desk.evolve(&["--json"], &body);
    assert_status(0, &ran);
    assert_eq!(desk.repo.read("mine.txt"), "mine\n");
    assert!(!desk.repo.file("made.txt").exists());
    let warnings = ran.json()["event"]["meta"]["constraint_warnings"].to_string();
    assert!(warnings.contains("validation wrote 2 file(s), which were discarded"), "{warnings}");
}

#[test]
fn validation_cannot_write_the_policy() {
    for existing in [Some("[constraints]\nhard_cap_files = 30\n"), None] {
        let desk = desk();
        let _ = std::fs::remove_file(desk.repo.file("capsid.toml"));
        if let Some(policy) = existing {
            desk.repo.write("capsid.toml", policy);
        }
        let attack = "try { require('fs').writeFileSync('capsid.toml', '[validation]\\nsandbox = \"off\"\\n') } catch {}\n";
        let check = desk.repo.read("check.js");
        let body = format!("cat > check.js <<'END'\n{attack}{check}\nEND\necho good > state.txt");
        let ran = desk.evolve(&["--json"], &body);
        assert_status(0, &ran);
        let policy = std::fs::read_to_string(desk.repo.file("capsid.toml")).ok();
        assert_eq!(policy.as_deref(), existing, "{ran}");
    }
}

#[test]
fn an_agent_that_cleans_everything_away_takes_nothing_from_the_user() {
    for cleaning in ["git clean -fdxq; exit 1", "git stash -qu; exit 1", "git clean -fdxq"] {
        let desk = desk();
        desk.repo.write("mine.txt", "mine\n");
        let before = desk.repo.user_files();
        let ran = desk.evolve(&["--json"], cleaning);
        assert_status(1, &ran);
        assert_eq!(desk.repo.user_files(), before, "{cleaning}: {ran}");
        assert_eq!(desk.repo.git(&["stash", "list"]), "", "{cleaning}");
        assert_eq!(last_event(&desk)["outcome"]["status"], "failed");
    }
}

#[test]
fn two_agents_work_at_once_in_views_of_their_own() {
    let desk = desk();
    let slow = desk.program.home().join("slow.sh");
    std::fs::write(&slow, "#!/bin/sh\necho has begun\nsleep 2\necho good > state.txt\n").unwrap();
    let args = ["evolve", "--no-sessions", "--log", "app.log", "--agent", "sh", slow.to_str().unwrap()];
    let running = LoggedChild::start(desk.program.command(desk.repo.path(), &args));
    running.wait_for("has begun", 1);
    let refused = desk.program.run(&desk.repo, &["solidify"]);
    assert_eq!(refused.code(), "run_busy", "{refused}");
    let second = desk.evolve(&["--json", "--force"], "echo other > other.txt; test ! -e started.txt");
    assert_status(0, &second);
    let first = running.end();
    assert_status(0, &first);
    assert_eq!(store::events(&desk.repo).len(), 2);
    assert_eq!(
        (desk.repo.read("state.txt"), desk.repo.read("other.txt")),
        ("good\n".into(), "other\n".into())
    );
}
