//! Known defects of engines that came before, each with the test that shows this one has it not.
//!
//! The numbers are those of the list that reviewers use; those of the network side have their tests there.
#![cfg(unix)]
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods
)]

use capsid_model::{Object, Value, json};
use capsid_testkit::desk::{CHECK, Desk};
use capsid_testkit::program::Ran;
use capsid_testkit::store;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::process::Child;

const GOOD: &str = "echo good > state.txt";
const BAD: &str = "echo bad > state.txt";

fn desk() -> Desk {
    Desk::new(env!("CARGO_BIN_EXE_capsid"))
}

#[track_caller]
fn assert_status(status: i32, ran: &Ran) {
    assert_eq!(ran.status, status, "{ran}");
}

/// What would be chosen for signals.
fn selected(desk: &Desk, signals: &[&str], options: &[&str]) -> Value {
    let mut args = vec!["select", "--json"];
    for signal in signals {
        args.extend(["--signal", signal]);
    }
    args.extend(options);
    desk.program.expect(0, &desk.repo, &args).json()["selected"].clone()
}

fn graph(desk: &Desk) -> Vec<Object> {
    let path = desk.repo.file("memory/evolution/memory_graph.jsonl");
    let text = std::fs::read_to_string(&path).unwrap();
    text.lines()
        .map(|line| store::parse_line(line, &path))
        .collect()
}

fn users(desk: &Desk) -> std::collections::BTreeMap<String, String> {
    let mut print = desk.repo.fingerprint();
    print.retain(|name, _| !name.starts_with("\"assets") && !name.starts_with("\"memory"));
    print
}

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
    assert!(
        gene["epigenetic_marks"].is_array(),
        "the gene was changed, and stamped anew"
    );
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
        assert_eq!(
            settled["report"]["isolation"], "none",
            "nothing was started"
        );
    }
}

#[test]
fn defect_03_bans_hold_in_a_pool_of_any_size() {
    let desk = desk();
    let strong = store::gene("gene_strong", "repair", &["log_error", "error"], &[CHECK]);
    let weak = store::gene("gene_weak", "repair", &["log_error"], &[CHECK]);
    store::write_store(&desk.repo, &[strong.clone(), weak]);
    assert_eq!(selected(&desk, &["log_error"], &[]), "gene_strong");
    let failed = |id: &str| store::failed_capsule(id, "gene_strong", &["log_error"]);
    store::write_list(
        &desk.repo,
        "failed_capsules",
        &[failed("failed_1"), failed("failed_2")],
    );
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
    assert_eq!(
        selected(&desk, &["log_error", "timeout"], &[]),
        "gene_better"
    );
}

#[test]
fn defect_05_a_ban_signal_does_not_match_the_gene_it_bans() {
    let desk = desk();
    let gene = |id| store::gene(id, "repair", &["error"], &[CHECK]);
    let banned = "gene_gep_repair_from_errors";
    store::write_store(&desk.repo, &[gene(banned), gene("gene_other")]);
    let ban = format!("ban_gene:{banned}");
    assert_eq!(
        selected(&desk, &[&ban], &[]),
        Value::Null,
        "steering matches no pattern"
    );
    assert_eq!(selected(&desk, &[&ban, "log_error"], &[]), "gene_other");
}

#[test]
fn defect_06_three_failed_repairs_in_a_row_make_the_next_cycle_innovate() {
    let desk = desk();
    let intended = |desk: &Desk| {
        desk.prepare(&["--force", "--dry-run", "--json"]).json()["mutation"]["category"].clone()
    };
    assert_eq!(intended(&desk), "repair");
    let repairs = (0..3).map(|n| {
        store::event(
            &format!("evt_{n}"),
            "repair",
            "gene_repair",
            &["log_error"],
            false,
        )
    });
    let report = |n| {
        store::stamped(
            json!({"type": "ValidationReport", "id": format!("vr_{n}"), "overall_ok": false, "commands": []}),
        )
    };
    // Reports lie between events, as they do in every real log.
    for (n, repair) in repairs.enumerate() {
        store::append_events(&desk.repo, &[report(n), repair]);
    }
    assert_eq!(intended(&desk), "innovate");
}

#[test]
fn defect_06_three_real_cycles_that_failed_make_the_next_one_innovate() {
    let desk = desk();
    // Whatever gene is chosen or made, the check runs.
    desk.repo.write(
        "capsid.toml",
        format!("[validation]\ncommands = [\"{CHECK}\"]\n"),
    );
    for n in 0..3 {
        desk.repo
            .write("app.log", format!("error: number {n} is wrong\n"));
        let ran = desk.evolve(&["--json"], BAD);
        assert_status(1, &ran);
    }
    desk.repo.write("app.log", "error: yet another\n");
    let next = desk.prepare(&["--json"]).json();
    assert_eq!(next["mutation"]["category"], "innovate", "{next}");
}

#[test]
fn defect_07_rollback_never_erases_the_audit_log() {
    let desk = desk();
    desk.repo.commit("The store is tracked");
    assert_status(0, &desk.evolve(&[], GOOD));
    let kept = [
        "assets/gep/events.jsonl",
        "assets/gep/capsules.json",
        "assets/gep/genes.json",
    ];
    let before = kept.map(|name| desk.repo.read(name));
    assert_status(1, &desk.evolve(&["--force"], BAD));
    let log = desk.repo.read(kept[0]);
    assert!(log.starts_with(&before[0]) && log.len() > before[0].len());
    assert_eq!(store::list(&desk.repo, "capsules").len(), 1);
    assert_ne!(
        desk.repo.read(kept[2]),
        before[2],
        "the gene learned from the failure"
    );
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
        let ran = desk.evolve(
            &["--json", "--force"],
            &format!("echo more >> state.txt; {attack}"),
        );
        assert_status(1, &ran);
        let log = desk.repo.read("assets/gep/events.jsonl");
        assert!(log.starts_with(&before), "{attack}: {log}");
        assert!(!log.contains("evt_forged"), "{attack}");
        assert_eq!(store::events(&desk.repo).len(), 2, "{attack}");
        let violations = ran.json()["event"]["meta"]["constraint_violations"].to_string();
        assert!(
            violations.contains("events.jsonl"),
            "{attack}: {violations}"
        );
    }
}

fn run_loop(desk: &Desk, agent: Option<&str>) -> Ran {
    let mut args = vec![
        "evolve",
        "--loop",
        "--force",
        "--max-cycles",
        "2",
        "--no-sessions",
        "--log",
        "app.log",
    ];
    if let Some(agent) = agent {
        args.extend(["--agent", agent]);
    }
    let mut command = desk.program.command(desk.repo.path(), &args);
    command
        .env("EVOLVER_MIN_SLEEP_MS", "20")
        .env("EVOLVER_MAX_SLEEP_MS", "50");
    Ran::of(command.output().unwrap())
}

#[test]
fn defect_08_the_loop_never_wipes_the_users_work() {
    let desk = desk();
    desk.fill_with_work();
    let before = users(&desk);
    let agent = desk.agent("echo bad > state.txt; rm -r untracked; echo x >> edited.txt");
    assert_status(0, &run_loop(&desk, Some(&agent)));
    assert_eq!(store::events(&desk.repo).len(), 2);
    assert_eq!(users(&desk), before);
}

#[test]
fn defect_08_a_loop_without_an_agent_leaves_a_waiting_run_and_its_edits_alone() {
    let desk = desk();
    desk.prepare(&[]);
    desk.repo.write("state.txt", "half done\n");
    desk.repo.write("new.txt", "half done\n");
    let before = users(&desk);
    let args = ["evolve", "--loop", "--no-sessions", "--log", "app.log"];
    let mut command = desk.program.command(desk.repo.path(), &args);
    command.env("EVOLVER_MIN_SLEEP_MS", "20");
    let child = command.spawn().unwrap();
    std::thread::sleep(std::time::Duration::from_millis(700));
    terminate(&child);
    let ran = Ran::of(child.wait_with_output().unwrap());
    assert_status(0, &ran);
    assert!(ran.stderr.contains("waits to be settled"), "{ran}");
    assert_eq!(users(&desk), before);
    desk.program.expect(0, &desk.repo, &["solidify"]);
}

fn terminate(child: &Child) {
    use rustix::process::{Pid, Signal, kill_process};
    let pid = Pid::from_raw(i32::try_from(child.id()).unwrap()).unwrap();
    kill_process(pid, Signal::TERM).unwrap();
}

#[test]
fn defect_09_the_recorded_event_decides_the_outcome_and_not_a_quiet_log() {
    let desk = desk();
    assert_status(1, &desk.evolve(&[], BAD));
    desk.repo.write("app.log", "all is well\n");
    desk.prepare(&[]);
    let outcomes: Vec<Object> = graph(&desk)
        .into_iter()
        .filter(|record| record["kind"] == "outcome")
        .collect();
    assert_eq!(outcomes.len(), 1, "an action has one outcome");
    assert_eq!(outcomes[0]["outcome"]["status"], "failed");
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
    desk.repo.write(
        "USER.md",
        format!("I want a new feature: {marker} please\n"),
    );
    desk.repo.write("MEMORY.md", format!("{marker}\n"));
    assert_status(0, &desk.evolve(&[], "echo good > state.txt"));
    assert_status(1, &desk.evolve(&["--force"], BAD));
    let graph = desk.repo.read("memory/evolution/memory_graph.jsonl");
    assert!(graph.lines().count() >= 8);
    assert!(!graph.contains(marker), "{graph}");
    let state = desk.repo.read("memory/evolution/memory_graph_state.json");
    assert!(!state.contains(marker), "{state}");
}

/// Runs the program and gives the most memory it had in use, in KiB.
fn peak_kib(desk: &Desk, args: &[&str]) -> (Ran, u64) {
    let mut child = desk.program.start(&desk.repo, args);
    let status = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    // The output is small enough to wait in its pipes.
    while child.try_wait().unwrap().is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let line = text.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        let now = line.and_then(|line| line.trim().trim_end_matches(" kB").parse().ok());
        peak = peak.max(now.unwrap_or(0));
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    (Ran::of(child.wait_with_output().unwrap()), peak)
}

/// A record again and again on lines of its own, each with another number after `prefix`, up to a size.
fn repeated(record: &str, prefix: &str, size: usize) -> String {
    let (head, tail) = record.split_once(&format!("{prefix}0")).unwrap();
    let mut text = String::with_capacity(size + 2 * record.len());
    for number in 1.. {
        if text.len() >= size {
            break;
        }
        writeln!(text, "{head}{prefix}{number}{tail}").unwrap();
    }
    text
}

#[test]
fn defect_14_large_logs_are_read_in_bounded_memory() {
    const SIZE: usize = 50 * 1024 * 1024;
    let desk = desk();
    let event = store::event("evt_0", "repair", "gene_repair", &["log_error"], true);
    desk.repo.write(
        "assets/gep/events.jsonl",
        repeated(&Value::Object(event).to_string(), "evt_", SIZE),
    );
    // Existing stores hold the end of a transcript in each record.
    let outcome = json!({
        "type": "MemoryGraphEvent",
        "kind": "outcome",
        "id": "mge_0",
        "ts": "2026-01-01T00:00:00.000Z",
        "signal": {"key": "log_error", "signals": ["log_error"], "error_signature": null},
        "gene": {"id": "gene_repair", "category": "repair"},
        "outcome": {"status": "success", "score": 0.85, "note": "stable_no_error"},
        "observed": {"evidence": {"recent_session_tail": "x".repeat(6000)}},
    });
    desk.repo.write(
        "memory/evolution/memory_graph.jsonl",
        repeated(&outcome.to_string(), "mge_", SIZE),
    );
    let evolve = ["evolve", "--no-sessions", "--log", "app.log", "--json"];
    let solidify = ["solidify", "--json"];
    for (args, edit) in [(&evolve[..], false), (&solidify[..], true)] {
        if edit {
            desk.repo.write("state.txt", "good\n");
        }
        let start = std::time::Instant::now();
        let (ran, peak) = peak_kib(&desk, args);
        assert_status(0, &ran);
        println!(
            "capsid {}: {peak} KiB at most, {:?}",
            args[0],
            start.elapsed()
        );
        assert!(peak > 0 && peak < 64 * 1024, "{peak} KiB: {args:?}");
    }
    let graph = desk.repo.file("memory/evolution/memory_graph.jsonl");
    let size = graph.metadata().unwrap().len();
    assert!(size < 8 * 1024 * 1024, "the graph is folded: {size}");
    let log = desk.repo.file("assets/gep/events.jsonl");
    assert!(
        log.metadata().unwrap().len() > SIZE as u64,
        "the audit log is never folded"
    );
}

fn all_at_once(desk: &Desk, count: usize, args: &[&str]) -> Vec<Ran> {
    let started: Vec<Child> = (0..count)
        .map(|_| desk.program.start(&desk.repo, args))
        .collect();
    started
        .into_iter()
        .map(|child| Ran::of(child.wait_with_output().unwrap()))
        .collect()
}

#[test]
fn defect_15_of_eight_commands_at_once_exactly_one_settles() {
    let desk = desk();
    desk.prepare(&[]);
    desk.repo.write("state.txt", "good\n");
    let ran = all_at_once(&desk, 8, &["solidify", "--json"]);
    let settled = ran.iter().filter(|ran| ran.status == 0).count();
    assert_eq!(settled, 1, "{ran:?}");
    for ran in ran.iter().filter(|ran| ran.status != 0) {
        assert!(
            matches!(ran.code(), "nothing_pending" | "store_locked"),
            "{ran}"
        );
    }
    assert_eq!(store::events(&desk.repo).len(), 1);
    assert_eq!(store::list(&desk.repo, "capsules").len(), 1);
}

#[test]
fn defect_15_eight_cycles_begun_at_once_do_not_lose_each_others_updates() {
    let desk = desk();
    let args = [
        "evolve",
        "--force",
        "--no-sessions",
        "--log",
        "app.log",
        "--json",
    ];
    let begun = all_at_once(&desk, 8, &args);
    let mut cycles = BTreeSet::new();
    let mut runs = BTreeSet::new();
    for ran in &begun {
        if ran.code() == "store_locked" {
            continue;
        }
        assert_status(0, ran);
        assert!(cycles.insert(ran.json()["cycle"].as_u64().unwrap()));
        assert!(runs.insert(ran.json()["run_id"].to_string()));
    }
    let count = cycles.len() as u64;
    assert!(count >= 1);
    assert_eq!(
        cycles,
        (1..=count).collect(),
        "no count is lost or taken twice"
    );
    assert_eq!(
        graph(&desk)
            .iter()
            .filter(|record| record["kind"] == "attempt")
            .count() as u64,
        count
    );
}

/// Runs a whole cycle under strace; gives its lines, or nothing where there is no strace.
fn traced(desk: &Desk, calls: &str) -> Option<String> {
    let agent = desk.agent(GOOD);
    let file = desk.program.home().join("trace");
    let file_name = file.display().to_string();
    let calls = format!("trace={calls}");
    let words = [
        "strace", "-f", "-y", "-s", "256", "-e", &calls, "-o", &file_name,
    ];
    let args = [
        "evolve",
        "--no-sessions",
        "--log",
        "app.log",
        "--agent",
        &agent,
    ];
    let ran = desk
        .program
        .command_under(&words, desk.repo.path(), &args)
        .output();
    match ran {
        Ok(output) if output.status.success() => Some(std::fs::read_to_string(&file).unwrap()),
        Ok(output) if String::from_utf8_lossy(&output.stderr).contains("ptrace") => {
            println!("skipped: this machine does not allow tracing");
            None
        }
        Ok(output) => panic!("{}", Ran::of(output)),
        Err(error) => {
            println!("skipped: strace is not installed ({error})");
            None
        }
    }
}

#[test]
fn defect_15_every_rewrite_has_a_name_of_its_own_and_is_synced_before_it_is_renamed() {
    let desk = desk();
    let Some(trace) = traced(&desk, "fsync,fdatasync,rename,renameat,renameat2") else {
        return;
    };
    let lines: Vec<&str> = trace.lines().collect();
    let mut temporaries = BTreeSet::new();
    let mut rewritten = BTreeSet::new();
    for (place, line) in lines.iter().enumerate() {
        let quoted: Vec<&str> = line.split('"').skip(1).step_by(2).collect();
        let [from, to] = quoted[..] else { continue };
        let ours = to.contains("/assets/gep/") || to.contains("/memory/evolution/");
        if !line.contains("rename") || !ours {
            continue;
        }
        assert!(temporaries.insert(from.to_owned()), "{from} is used twice");
        let synced =
            |line: &&str, path: &str| line.contains("sync(") && line.contains(&format!("<{path}>"));
        assert!(
            lines[..place].iter().any(|line| synced(line, from)),
            "not synced before: {line}"
        );
        let folder = to.rsplit_once('/').unwrap().0;
        assert!(
            lines[place..].iter().any(|line| synced(line, folder)),
            "folder not synced after: {line}"
        );
        rewritten.insert(to.rsplit('/').next().unwrap().to_owned());
    }
    for name in [
        "genes.json",
        "capsules.json",
        "evolution_solidify_state.json",
        "solidify_journal.json",
    ] {
        assert!(
            rewritten.contains(name),
            "{name} was not seen: {rewritten:?}"
        );
    }
    assert!(
        lines
            .iter()
            .any(|line| line.contains("sync(") && line.contains("/events.jsonl>")),
        "the event log is synced"
    );
}

#[test]
fn defect_16_the_first_cycle_is_counted() {
    let desk = desk();
    assert!(!desk.repo.file("memory").exists());
    assert_eq!(desk.prepare(&["--json"]).json()["cycle"], 1);
    assert_eq!(desk.prepare(&["--json"]).json()["cycle"], 2);
    let state: Value = desk
        .repo
        .read("memory/evolution/evolution_state.json")
        .parse()
        .unwrap();
    assert_eq!(state["cycleCount"], 2);
}

#[test]
fn defect_17_a_small_change_has_no_empty_warning() {
    let desk = desk();
    let ran = desk.evolve(&["--json"], GOOD);
    assert_status(0, &ran);
    assert_eq!(
        ran.json()["event"]["meta"]["constraint_warnings"],
        json!([])
    );
}

#[test]
fn defect_19_no_network_is_used_while_no_hub_is_configured() {
    let desk = desk();
    let Some(trace) = traced(&desk, "network") else {
        return;
    };
    for line in trace.lines() {
        let reaches_out = line.contains("AF_INET") || line.contains("sin_addr");
        assert!(!reaches_out, "{line}");
    }
}

#[test]
fn defect_20_an_intent_that_its_mutation_does_not_allow_fails_the_cycle() {
    let desk = desk();
    let before = users(&desk);
    let ready = desk.prepare(&["--json"]).json();
    assert_eq!(ready["mutation"]["category"], "repair");
    desk.repo.write("state.txt", "good\n");
    let ran = desk.program.expect(
        1,
        &desk.repo,
        &["solidify", "--intent", "innovate", "--json"],
    );
    let event = &ran.json()["event"];
    assert_eq!(event["outcome"]["status"], "failed");
    assert_eq!(
        event["meta"]["protocol_violations"],
        json!(["intent_mismatch_with_mutation:innovate!=repair"])
    );
    assert_eq!(users(&desk), before, "and is taken back");
}
