//! Whole cycles, driven through the built program the way a user drives it.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]

use capsid_model::{Object, Value};
use capsid_testkit::desk::Desk;
use capsid_testkit::program::Ran;
use capsid_testkit::store;
use rustix::process::{Pid, Signal, kill_process};
use std::process::Child;
use std::time::{Duration, Instant};

const GOOD: &str = "echo good > state.txt";
const BAD: &str = "echo bad > state.txt";

fn desk() -> Desk {
    Desk::new(env!("CARGO_BIN_EXE_capsid"))
}

fn last_event(desk: &Desk) -> Object {
    store::events(&desk.repo).pop().unwrap()
}

/// Everything of the user's: all but the engine's own folders.
fn users(desk: &Desk) -> std::collections::BTreeMap<String, String> {
    let mut print = desk.repo.fingerprint();
    print.retain(|name, _| !name.starts_with("\"assets") && !name.starts_with("\"memory"));
    print
}

#[track_caller]
fn assert_status(status: i32, ran: &Ran) {
    assert_eq!(ran.status, status, "{ran}");
}

#[test]
fn a_good_change_becomes_an_event_and_a_capsule_and_every_record_verifies() {
    let desk = desk();
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
    let types: Vec<Value> = store::records(&desk.repo)
        .into_iter()
        .map(|record| record["type"].clone())
        .collect();
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
    let before = users(&desk);
    let ran = desk.evolve(
        &["--json"],
        "echo bad > state.txt; echo x >> edited.txt; echo x > staged.txt; echo x > untracked/notes.txt
         rm doomed.txt; mkdir -p new/deep; echo x > new/deep/file; mv both.txt moved.txt
         rm -r untracked; ln -s /etc/passwd link; chmod +x check.js",
    );
    assert_status(1, &ran);
    assert_eq!(users(&desk), before);
    assert_eq!(ran.json()["event"]["meta"]["failure_class"], "validation");
    assert_eq!(store::list(&desk.repo, "failed_capsules").len(), 1);
    assert!(store::list(&desk.repo, "capsules").is_empty());
}

#[test]
fn what_the_agent_staged_is_taken_back_too() {
    let desk = desk();
    desk.fill_with_work();
    let before = users(&desk);
    assert_status(
        1,
        &desk.evolve(&[], "echo bad > state.txt; echo n > new.txt; git add -A"),
    );
    assert_eq!(users(&desk), before);
}

#[test]
fn a_change_beyond_the_genes_limit_is_taken_back() {
    let desk = desk();
    let before = users(&desk);
    let ran = desk.evolve(
        &["--json"],
        "for n in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21; do echo $n > f$n.rs; done",
    );
    assert_status(1, &ran);
    assert_eq!(users(&desk), before);
    let meta = &ran.json()["event"]["meta"];
    assert_eq!(meta["failure_class"], "constraint");
    assert_eq!(meta["constraints_ok"], false);
    assert_eq!(ran.json()["event"]["blast_radius"]["files"], 21);
}

#[test]
fn forbidden_places_are_taken_back_and_named() {
    for (body, name) in [
        (
            "mkdir node_modules; echo x > node_modules/x.js",
            "node_modules",
        ),
        ("echo SECRET=1 > .env", ".env"),
        (
            "printf '#!/bin/sh\\n' > .git/hooks/post-commit; chmod +x .git/hooks/post-commit; echo good > state.txt",
            ".git/hooks/post-commit",
        ),
    ] {
        let desk = desk();
        let before = users(&desk);
        let ran = desk.evolve(&["--json"], body);
        assert_status(1, &ran);
        assert_eq!(users(&desk), before, "{name}");
        let violations = ran.json()["event"]["meta"]["constraint_violations"].to_string();
        assert!(violations.contains(name), "{violations}");
    }
}

#[test]
fn an_agent_that_fails_is_the_hosts_fault_and_not_the_genes() {
    let desk = desk();
    let before = users(&desk);
    let genes = desk.repo.read("assets/gep/genes.json");
    let ran = desk.evolve(&["--json"], "echo half > state.txt; exit 3");
    assert_status(1, &ran);
    assert_eq!(users(&desk), before);
    let event = last_event(&desk);
    assert_eq!(event["meta"]["failure_class"], "host");
    assert!(
        event["meta"]["failure_reason"]
            .to_string()
            .contains("status 3")
    );
    assert_eq!(
        desk.repo.read("assets/gep/genes.json"),
        genes,
        "the gene was not charged"
    );
}

#[test]
fn an_agent_that_takes_too_long_is_stopped_with_all_it_started() {
    let desk = desk();
    let before = users(&desk);
    let start = Instant::now();
    let ran = desk.evolve(
        &["--json", "--agent-timeout", "1"],
        "echo half > state.txt; sleep 600 & sleep 600",
    );
    assert_status(1, &ran);
    assert!(start.elapsed() < Duration::from_secs(30));
    assert_eq!(users(&desk), before);
    assert_eq!(last_event(&desk)["meta"]["failure_class"], "host");
    capsid_testkit::kill::wait_until_quiet(desk.repo.path());
}

#[test]
fn a_signal_while_the_agent_works_stops_it_and_takes_its_half_done_change_back() {
    let desk = desk();
    desk.fill_with_work();
    let before = users(&desk);
    let agent = desk.agent("echo half > state.txt; rm edited.txt; sleep 600");
    let args = [
        "evolve",
        "--no-sessions",
        "--log",
        "app.log",
        "--agent",
        &agent,
    ];
    let child = desk.program.start(&desk.repo, &args);
    until("the agent's first edit", || {
        desk.repo.read("state.txt") == "half\n" && !desk.repo.file("edited.txt").exists()
    });
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::INT).unwrap();
    assert_status(1, &Ran::of(child.wait_with_output().unwrap()));
    capsid_testkit::kill::wait_until_quiet(desk.repo.path());
    assert_eq!(users(&desk), before);
    assert_eq!(last_event(&desk)["meta"]["failure_class"], "host");
}

#[test]
fn an_agent_that_is_not_there_is_a_recorded_failure() {
    let desk = desk();
    let args = [
        "evolve",
        "--no-sessions",
        "--log",
        "app.log",
        "--agent",
        "./no-such-agent",
    ];
    let ran = desk.program.run(&desk.repo, &args);
    assert_status(1, &ran);
    assert!(ran.stdout.contains("no-such-agent"), "{ran}");
    assert_eq!(last_event(&desk)["meta"]["failure_class"], "host");
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
    let desk = desk();
    let first = desk.evolve(&["--json"], "echo good1 > state.txt").json();
    let id = &first["capsule"]["id"];
    assert_eq!(first["capsule"]["a2a"]["eligible_to_broadcast"], false);
    let ran = desk.evolve(&["--json", "--force"], "echo good2 > state.txt");
    assert_status(0, &ran);
    let second = ran.json();
    assert_eq!(&second["capsule"]["id"], id);
    assert_eq!(second["capsule"]["success_streak"], 2);
    assert_eq!(second["capsule"]["a2a"]["eligible_to_broadcast"], true);
    assert_eq!(second["event"]["source_type"], "reused");
    assert_eq!(
        store::list(&desk.repo, "capsules").len(),
        1,
        "grown in place"
    );
    let ran = desk.evolve(&["--json", "--force"], BAD);
    assert_status(1, &ran);
    let capsule = store::list(&desk.repo, "capsules").pop().unwrap();
    assert_eq!(&capsule["id"], id);
    assert_eq!(capsule["success_streak"], 0);
    assert_eq!(capsule["a2a"]["eligible_to_broadcast"], false);
    store::assert_verifies(&capsule);
}

#[test]
fn a_dry_run_writes_nothing_at_all() {
    let desk = desk();
    let everything = || {
        let mut print = desk.repo.fingerprint();
        let listing = desk.repo.path().join(".git");
        for entry in walk(&listing) {
            print.insert(
                entry.display().to_string(),
                std::fs::read(&entry).map_or(0, |b| b.len()).to_string(),
            );
        }
        print
    };
    let before = everything();
    let ran = desk.prepare(&["--dry-run", "--json"]);
    assert_eq!(ran.json()["dry_run"], true);
    assert!(
        ran.json()["prompt"]
            .as_str()
            .unwrap()
            .contains("TypeError: x is not a function")
    );
    assert_eq!(everything(), before);
    desk.prepare(&[]);
    desk.repo.write("state.txt", "bad\n");
    let before = desk.repo.fingerprint();
    let ran = desk
        .program
        .expect(1, &desk.repo, &["solidify", "--dry-run", "--json"]);
    assert_eq!(ran.json()["dry_run"], true);
    assert_eq!(ran.json()["ok"], false);
    let mut after = desk.repo.fingerprint();
    after.retain(|name, _| !name.contains(".store.lock"));
    let mut before = before;
    before.retain(|name, _| !name.contains(".store.lock"));
    assert_eq!(after, before);
    desk.program.expect(1, &desk.repo, &["solidify"]);
}

fn walk(folder: &std::path::Path) -> Vec<std::path::PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            found.extend(walk(&path));
        }
        found.push(path);
    }
    found
}

#[test]
fn commit_takes_exactly_the_cycles_files() {
    let desk = desk();
    desk.fill_with_work();
    let ran = desk.evolve(
        &["--commit", "--json"],
        "echo good > state.txt; mkdir made; echo new > made/new.txt; git rm -q doomed.txt",
    );
    assert_status(0, &ran);
    let repo = &desk.repo;
    assert_eq!(
        ran.json()["commit"],
        repo.git(&["rev-parse", "HEAD"]).trim()
    );
    let names = repo.git(&[
        "show",
        "--name-status",
        "--format=",
        "--no-renames",
        "-z",
        "HEAD",
    ]);
    assert_eq!(names, "D\0doomed.txt\0A\0made/new.txt\0M\0state.txt\0");
    let staged = repo.git(&["diff", "--cached", "--name-only"]);
    assert_eq!(
        staged, "both.txt\nstaged.txt\n",
        "other staged edits stay staged"
    );
    assert_eq!(
        repo.git(&["diff", "--name-only", "--", ":!assets"]),
        "both.txt\nedited.txt\n",
        "and unstaged ones unstaged"
    );
}

#[test]
fn commit_refuses_a_file_that_held_edits_of_the_users_own() {
    let desk = desk();
    desk.repo.write("state.txt", "mine\n");
    let head = desk.repo.git(&["rev-parse", "HEAD"]);
    let ran = desk.evolve(&["--commit", "--json"], "echo good >> state.txt");
    assert_status(1, &ran);
    assert_eq!(ran.json()["commit_problem"]["code"], "commit_refused");
    assert_eq!(ran.code(), "commit_refused");
    assert_eq!(desk.repo.git(&["rev-parse", "HEAD"]), head);
    assert_eq!(
        desk.repo.read("state.txt"),
        "mine\ngood\n",
        "the change is kept"
    );
    assert_eq!(last_event(&desk)["outcome"]["status"], "success");
}

#[test]
fn review_without_a_terminal_keeps_the_run_waiting_until_it_is_approved() {
    let desk = desk();
    let ran = desk.evolve(&["--review"], GOOD);
    assert_status(1, &ran);
    assert!(ran.stdout.contains("+good"), "{ran}");
    assert!(store::events(&desk.repo).is_empty());
    let waiting = desk
        .program
        .expect(0, &desk.repo, &["review", "--json"])
        .json();
    assert_eq!(waiting["gene"], "gene_repair");
    assert_eq!(waiting["blast_radius"]["files"], 1);
    let again = desk.evolve(&[], GOOD);
    assert_status(1, &again);
    assert_eq!(again.code(), "run_pending");
    desk.program
        .expect(0, &desk.repo, &["review", "--approve", "--json"]);
    assert_eq!(last_event(&desk)["outcome"]["status"], "success");
}

#[test]
fn a_rejected_run_is_taken_back_and_its_patch_is_kept() {
    let desk = desk();
    desk.fill_with_work();
    let before = users(&desk);
    assert_status(
        1,
        &desk.evolve(
            &["--review"],
            "echo good > state.txt; echo x >> edited.txt; rm -r untracked",
        ),
    );
    let ran = desk
        .program
        .expect(0, &desk.repo, &["review", "--reject", "--json"])
        .json();
    assert_eq!(users(&desk), before);
    let patch = std::fs::read_to_string(ran["patch"].as_str().unwrap()).unwrap();
    assert!(patch.contains("+good"), "{patch}");
    assert!(store::events(&desk.repo).is_empty());
    let nothing = desk
        .program
        .expect(1, &desk.repo, &["review", "--reject", "--json"]);
    assert_eq!(nothing.json()["error"]["code"], "nothing_pending");
}

#[test]
fn a_cycle_with_nothing_new_is_skipped_unless_forced() {
    let desk = desk();
    assert_status(0, &desk.evolve(&[], GOOD));
    let ran = desk.evolve(&["--json"], "echo good2 > state.txt");
    assert_status(0, &ran);
    assert_eq!(ran.json()["skipped"], true);
    assert_eq!(
        desk.repo.read("state.txt"),
        "good\n",
        "the agent did not run"
    );
    assert_status(0, &desk.evolve(&["--force"], "echo good2 > state.txt"));
    desk.repo.write("app.log", "error: another one\n");
    assert_status(0, &desk.evolve(&[], "echo good3 > state.txt"));
    assert_eq!(store::events(&desk.repo).len(), 3);
}

#[test]
fn a_policy_that_the_agent_changed_is_taken_back_and_not_followed() {
    for ignored in ["", "capsid.toml\n"] {
        let desk = desk();
        desk.repo.write(".gitignore", ignored);
        desk.repo
            .write("capsid.toml", "[constraints]\nhard_cap_files = 30\n");
        let before = users(&desk);
        let ran = desk.evolve(
            &["--json"],
            "echo good > state.txt; printf '[validation]\\ninline_code = true\\n' > capsid.toml",
        );
        assert_status(1, &ran);
        let violations = ran.json()["event"]["meta"]["constraint_violations"].to_string();
        assert!(violations.contains("capsid.toml"), "{violations}");
        assert_eq!(users(&desk), before);
    }
}

#[test]
fn the_owner_may_change_the_policy_between_evolve_and_solidify() {
    let desk = desk();
    desk.prepare(&[]);
    desk.repo.write("state.txt", "good\n");
    desk.repo
        .write("capsid.toml", "[constraints]\nhard_cap_files = 30\n");
    let ran = desk.program.expect(2, &desk.repo, &["solidify"]);
    assert_eq!(ran.code(), "config_invalid");
    let ran = desk
        .program
        .run(&desk.repo, &["solidify", "--accept-config"]);
    assert_status(0, &ran);
}

fn start_loop(desk: &Desk, options: &[&str], body: &str) -> Child {
    let agent = desk.agent(body);
    let mut args = vec![
        "evolve",
        "--loop",
        "--force",
        "--no-sessions",
        "--log",
        "app.log",
    ];
    args.extend(options);
    args.extend(["--agent", &agent]);
    let mut command = desk.program.command(desk.repo.path(), &args);
    command.env("EVOLVER_MIN_SLEEP_MS", "20");
    command.env("EVOLVER_MAX_SLEEP_MS", "50");
    command.spawn().unwrap()
}

fn until(what: &str, mut done: impl FnMut() -> bool) {
    let start = Instant::now();
    while !done() {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "waited in vain: {what}"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_loop_runs_as_many_cycles_as_asked() {
    let desk = desk();
    let child = start_loop(
        &desk,
        &["--max-cycles", "2"],
        "echo \"good $CAPSID_RUN_ID\" > state.txt",
    );
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_status(0, &ran);
    assert_eq!(store::events(&desk.repo).len(), 2);
}

#[test]
fn a_loop_ends_cleanly_on_sigterm_and_only_one_runs() {
    let desk = desk();
    let child = start_loop(
        &desk,
        &[],
        "echo \"good $CAPSID_RUN_ID\" > state.txt; sleep 0.2",
    );
    until("the first cycle", || {
        desk.repo.file("assets/gep/events.jsonl").exists() && !store::events(&desk.repo).is_empty()
    });
    let second = Ran::of(start_loop(&desk, &[], "true").wait_with_output().unwrap());
    assert_status(1, &second);
    assert_eq!(second.code(), "store_locked");
    let pid = i32::try_from(child.id()).unwrap();
    assert!(
        second.stderr.contains(&format!("process {pid}")),
        "{second}"
    );
    desk.agent("echo \"good $CAPSID_RUN_ID\" > state.txt");
    kill_process(Pid::from_raw(pid).unwrap(), Signal::TERM).unwrap();
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_status(0, &ran);
    assert_eq!(desk.repo.read("memory/evolution/loop.lock"), "");
    assert!(
        !desk
            .repo
            .file("memory/evolution/solidify_journal.json")
            .exists()
    );
    let third = start_loop(&desk, &["--max-cycles", "1"], GOOD);
    assert_status(0, &Ran::of(third.wait_with_output().unwrap()));
}

#[test]
fn outside_a_repository_nothing_runs() {
    let desk = desk();
    let folder = tempfile::tempdir().unwrap();
    for args in [&["evolve", "--json"][..], &["solidify", "--json"]] {
        let ran = Ran::of(desk.program.command(folder.path(), args).output().unwrap());
        assert_status(2, &ran);
        assert_eq!(ran.code(), "not_a_git_repository");
        assert_eq!(ran.json()["error"]["code"], "not_a_git_repository");
        assert!(ran.json()["error"]["fix"].is_string());
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn without_a_store_the_fix_names_init() {
    let desk = desk();
    std::fs::remove_dir_all(desk.repo.file("assets")).unwrap();
    let ran = desk.evolve(&[], GOOD);
    assert_status(2, &ran);
    assert_eq!(ran.code(), "not_initialised");
    assert!(ran.stderr.contains("capsid init"));
}

#[test]
fn a_path_with_spaces_and_other_letters_is_as_good_as_any() {
    let desk = Desk::named(env!("CARGO_BIN_EXE_capsid"), "mein Projekt ü 日本 'q\"");
    desk.repo.write("naïve file.txt", "mine\n");
    let ran = desk.evolve(
        &["--json"],
        "echo good > state.txt; echo x > 'neue Datei é.txt'",
    );
    assert_status(0, &ran);
    assert_eq!(ran.json()["event"]["blast_radius"]["files"], 2);
    let before = users(&desk);
    assert_status(
        1,
        &desk.evolve(
            &["--force"],
            "echo bad > state.txt; rm 'naïve file.txt' 'neue Datei é.txt'",
        ),
    );
    assert_eq!(users(&desk), before);
}

#[test]
fn evolve_prints_the_documented_json() {
    let desk = desk();
    let ready = desk.prepare(&["--json"]).json();
    for key in [
        "ok",
        "dry_run",
        "run_id",
        "cycle",
        "signals",
        "signal_key",
        "selector",
        "gene",
        "capsule",
        "mutation",
        "prompt",
    ] {
        assert!(ready.get(key).is_some(), "{key} is missing");
    }
    assert_eq!(ready["selector"]["selected"], "gene_repair");
    assert!(ready["selector"]["reason"].is_array());
    assert!(ready["selector"]["alternatives"].is_array());
}

#[test]
fn nothing_colours_a_pipe_and_no_color_holds_on_a_terminal() {
    let desk = desk();
    let ran = desk.evolve(&[], GOOD);
    assert!(!format!("{ran}").contains('\x1b'), "{ran}");
    let painted = desk
        .program
        .run(&desk.repo, &["--color", "always", "solidify"]);
    assert!(painted.stderr.contains('\x1b'), "{painted}");
    let on_a_terminal = |variable: &str| {
        let line = format!(
            "'{}' solidify",
            env!("CARGO_BIN_EXE_capsid").replace('\'', "")
        );
        let mut script = std::process::Command::new("script");
        script
            .args(["-qec", &line, "/dev/null"])
            .current_dir(desk.repo.path());
        script.env_remove("NO_COLOR").env("TERM", "xterm");
        script.env(variable, "1").stdin(std::process::Stdio::null());
        script
            .output()
            .map(|output| String::from_utf8_lossy(&output.stdout).into_owned())
    };
    match on_a_terminal("CAPSID_UNUSED") {
        Ok(text) => {
            assert!(text.contains("nothing_pending"), "{text}");
            assert!(text.contains('\x1b'), "a terminal is coloured: {text}");
            let plain = on_a_terminal("NO_COLOR").unwrap();
            assert!(!plain.contains('\x1b'), "{plain}");
        }
        Err(error) => {
            println!("skipped: no terminal to try on, because `script` is not installed ({error})");
        }
    }
}

/// Runs shell lines in which `$CAPSID` is the program, where `assets/gep` is a file system of one megabyte.
fn on_a_small_disk(desk: &Desk, lines: &str) -> Option<Ran> {
    let script = format!(
        "set -e
        cp -r assets/gep saved-store
        mount -t tmpfs -o size=1m none assets/gep || exit 99
        cp saved-store/* assets/gep/
        rm -r saved-store
        set +e
        {lines}"
    );
    let mut command = std::process::Command::new("unshare");
    let ran = command
        .args(["--user", "--map-root-user", "--mount", "sh", "-c", &script])
        .current_dir(desk.repo.path())
        .env("CAPSID", env!("CARGO_BIN_EXE_capsid"))
        .env("HOME", desk.program.home())
        .output()
        .map(Ran::of);
    match ran {
        Ok(ran) if ran.status != 99 && !ran.stderr.contains("unshare:") => Some(ran),
        Ok(ran) => {
            println!(
                "skipped: no file system can be mounted here: {}",
                ran.stderr
            );
            None
        }
        Err(error) => {
            println!("skipped: `unshare` is not there: {error}");
            None
        }
    }
}

#[test]
fn a_full_disk_is_named_and_the_next_command_finishes_what_it_stopped() {
    let desk = desk();
    let agent = desk.agent("echo better > state.txt");
    let lines = format!(
        "$CAPSID evolve --no-sessions --log app.log > prompt.out 2>&1 || exit 1
        echo good > state.txt; rm prompt.out
        head -c 2000000 /dev/zero > assets/gep/fill 2> /dev/null
        # Room for the lock and for nothing else, so that the cycle is settled and its records cannot be written.
        truncate -s -4096 assets/gep/fill
        cp assets/gep/events.jsonl assets/gep/genes.json \"$HOME\"
        $CAPSID solidify; echo first $?
        cmp assets/gep/events.jsonl \"$HOME/events.jsonl\" && cmp assets/gep/genes.json \"$HOME/genes.json\" && echo nothing lost
        ls -a assets/gep | grep -c capsid-
        rm assets/gep/fill
        $CAPSID solidify; echo second $?
        grep -c EvolutionEvent assets/gep/events.jsonl
        $CAPSID evolve --no-sessions --force --log app.log --agent {agent}; echo third $?
        $CAPSID asset verify assets/gep/*.json assets/gep/events.jsonl; echo verified $?"
    );
    let Some(ran) = on_a_small_disk(&desk, &lines) else {
        return;
    };
    assert!(ran.stdout.contains("first 2"), "{ran}");
    assert!(ran.stderr.contains("error[disk_full]"), "{ran}");
    assert!(ran.stdout.contains("nothing lost\n0\n"), "{ran}");
    assert!(
        ran.stdout.contains("second 1\n1\n"),
        "the settled cycle was finished first: {ran}"
    );
    assert!(ran.stderr.contains("error[nothing_pending]"), "{ran}");
    assert!(ran.stdout.contains("third 0"), "{ran}");
    assert!(ran.stdout.contains("verified 0"), "{ran}");
}

#[test]
fn a_store_that_cannot_be_written_is_named_and_left_alone() {
    let desk = desk();
    let lines = "mount -o remount,ro assets/gep || exit 99
        $CAPSID evolve --no-sessions --log app.log; echo ended $?
        test -e memory && echo something was written
        $CAPSID evolve --dry-run --no-sessions --log app.log > /dev/null; echo dry $?";
    let Some(ran) = on_a_small_disk(&desk, lines) else {
        return;
    };
    assert!(ran.stdout.contains("ended 2"), "{ran}");
    assert!(ran.stderr.contains("error[permission_denied]"), "{ran}");
    assert!(ran.stdout.contains("dry 0"), "{ran}");
    assert!(!ran.stdout.contains("something was written"), "{ran}");
}
