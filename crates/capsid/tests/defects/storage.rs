//! Files, locks, memory and the network.

use super::*;

/// Runs the program and gives the most memory it had in use, in KiB.
fn peak_kib(desk: &ProgramRepo, args: &[&str]) -> (ProgramOutput, u64) {
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
    (ProgramOutput::from_output(child.wait_with_output().unwrap()), peak)
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
    desk.repo.write("assets/gep/events.jsonl", repeated(&Value::Object(event).to_string(), "evt_", SIZE));
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
    desk.repo.write("memory/evolution/memory_graph.jsonl", repeated(&outcome.to_string(), "mge_", SIZE));
    let evolve = ["evolve", "--no-sessions", "--log", "app.log", "--json"];
    let solidify = ["solidify", "--json"];
    // What the program takes before it reads anything depends on how it was built.
    let (_, idle) = peak_kib(&desk, &["genes", "--json"]);
    for (args, edit) in [(&evolve[..], false), (&solidify[..], true)] {
        if edit {
            desk.repo.write("state.txt", "good\n");
        }
        let start = std::time::Instant::now();
        let (ran, peak) = peak_kib(&desk, args);
        assert_status(0, &ran);
        println!("capsid {}: {peak} KiB at most, {:?}", args[0], start.elapsed());
        assert!(peak > idle && peak - idle < 44 * 1024, "{peak} KiB, {idle} KiB of them idle: {args:?}");
    }
    let graph = desk.repo.file("memory/evolution/memory_graph.jsonl");
    let size = graph.metadata().unwrap().len();
    assert!(size < 8 * 1024 * 1024, "the graph is folded: {size}");
    let log = desk.repo.file("assets/gep/events.jsonl");
    assert!(log.metadata().unwrap().len() > SIZE as u64, "the audit log is never folded");
}

fn all_at_once(desk: &ProgramRepo, count: usize, args: &[&str]) -> Vec<ProgramOutput> {
    let started: Vec<std::process::Child> =
        (0..count).map(|_| desk.program.start(&desk.repo, args)).collect();
    started.into_iter().map(|child| ProgramOutput::from_output(child.wait_with_output().unwrap())).collect()
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
        assert!(matches!(ran.code(), "nothing_pending" | "store_locked"), "{ran}");
    }
    assert_eq!(store::events(&desk.repo).len(), 1);
    assert_eq!(store::list(&desk.repo, "capsules").len(), 1);
}

#[test]
fn defect_15_eight_cycles_begun_at_once_do_not_lose_each_others_updates() {
    let desk = desk();
    let args = ["evolve", "--force", "--no-sessions", "--log", "app.log", "--json"];
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
    assert_eq!(cycles, (1..=count).collect(), "no count is lost or taken twice");
    assert_eq!(graph(&desk).iter().filter(|record| record["kind"] == "attempt").count() as u64, count);
}

/// Runs a whole cycle under strace; gives its lines, or nothing where there is no strace.
fn traced(desk: &ProgramRepo, calls: &str) -> Option<String> {
    let agent = desk.agent(GOOD);
    let file = desk.program.home().join("trace");
    let file_name = file.display().to_string();
    let calls = format!("trace={calls}");
    let words = ["strace", "-f", "-y", "-s", "256", "-e", &calls, "-o", &file_name];
    let args = ["evolve", "--no-sessions", "--log", "app.log", "--agent", &agent];
    let ran = desk.program.command_under(&words, desk.repo.path(), &args).output();
    match ran {
        Ok(output) if output.status.success() => Some(std::fs::read_to_string(&file).unwrap()),
        Ok(output) if String::from_utf8_lossy(&output.stderr).contains("ptrace") => {
            println!("skipped: this machine does not allow tracing");
            None
        }
        Ok(output) => panic!("{}", ProgramOutput::from_output(output)),
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
        let ours = ["/assets/gep/", "/memory/evolution/", "/solidify_journal.json"]
            .iter()
            .any(|part| to.contains(part));
        if !line.contains("rename") || !ours {
            continue;
        }
        assert!(temporaries.insert(from.to_owned()), "{from} is used twice");
        let synced = |line: &&str, path: &str| line.contains("sync(") && line.contains(&format!("<{path}>"));
        assert!(lines[..place].iter().any(|line| synced(line, from)), "not synced before: {line}");
        let folder = to.rsplit_once('/').unwrap().0;
        assert!(lines[place..].iter().any(|line| synced(line, folder)), "folder not synced after: {line}");
        rewritten.insert(to.rsplit('/').next().unwrap().to_owned());
    }
    for name in ["genes.json", "capsules.json", "evolution_solidify_state.json", "solidify_journal.json"] {
        assert!(rewritten.contains(name), "{name} was not seen: {rewritten:?}");
    }
    assert!(
        lines.iter().any(|line| line.contains("sync(") && line.contains("/events.jsonl>")),
        "the event log is synced"
    );
}

#[test]
fn defect_16_the_first_cycle_is_counted() {
    let desk = desk();
    assert!(!desk.repo.file("memory").exists());
    assert_eq!(desk.prepare(&["--json"]).json()["cycle"], 1);
    assert_eq!(desk.prepare(&["--json"]).json()["cycle"], 2);
    let state: Value = desk.repo.read("memory/evolution/evolution_state.json").parse().unwrap();
    assert_eq!(state["cycleCount"], 2);
}

#[test]
fn defect_19_no_network_is_used_while_no_hub_is_configured() {
    let desk = desk();
    let Some(trace) = traced(&desk, "network") else {
        return;
    };
    assert!(trace.contains("exited with 0"), "something was traced");
    // Opening a socket reaches nobody: the sandbox does it to look at its own loopback.
    let calls = ["connect(", "sendto(", "sendmsg(", "sendmmsg(", "bind("];
    for line in trace.lines().filter(|line| line.contains("AF_INET")) {
        assert!(!calls.iter().any(|call| line.contains(call)), "{line}");
    }
}
