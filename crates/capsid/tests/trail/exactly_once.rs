//! However often, from however many sides and however rudely it is sealed: each action is in the chain once.

use super::*;
use capsid_testkit::rounds::rounds;
use std::time::Duration;

const SEAL: [&str; 6] = ["trail", "seal", "--tool", "claude-code", "--session", SESSION];

/// Every record once, in order, and the chain holds.
#[track_caller]
fn is_whole(desk: &TrailUser, records: usize) {
    let chain = desk.chain(SESSION);
    let verified =
        desk.expect(0, &["trail", "verify", "--signatures", "--json", chain.to_str().unwrap()]).json();
    assert_eq!(verified["total"], records);
    let listed = desk.expect(0, &["trail", "inspect", SESSION, "--json"]).json();
    let told: Vec<String> = listed["records"]
        .as_array()
        .unwrap()
        .iter()
        .map(|record| {
            format!("{} {}", record["request"].as_str().unwrap(), record["summary"].as_str().unwrap())
        })
        .collect();
    let mut distinct = told.clone();
    distinct.dedup();
    assert_eq!(distinct, told, "a record is there twice");
    let turns: Vec<&str> = told.iter().map(|line| line.split(' ').nth(4).unwrap()).collect();
    let expected: Vec<String> = (0..records).map(|record| (record / 3).to_string()).collect();
    assert_eq!(turns, expected);
}

#[test]
fn sealing_twice_adds_nothing_and_a_longer_transcript_adds_the_rest() {
    let desk = desk();
    for turns in [2, 2, 5, 5] {
        desk.transcript(SESSION, turns);
        desk.expect(0, &SEAL);
        is_whole(&desk, turns * 3);
    }
}

#[test]
fn two_processes_at_once_make_one_chain() {
    for round in 0..rounds(10, 200) {
        let desk = desk();
        let turns = 3 + round % 5;
        desk.transcript(SESSION, turns);
        let start = || desk.program.command(desk.home(), &SEAL).spawn().unwrap();
        let running: Vec<_> = (0..2 + round % 2).map(|_| start()).collect();
        for child in running {
            assert_status(0, &ProgramOutput::from_output(child.wait_with_output().unwrap()));
        }
        is_whole(&desk, turns * 3);
    }
}

#[test]
fn a_kill_at_any_moment_loses_nothing_and_doubles_nothing() {
    let seed = fastrand::u64(..);
    println!("seed {seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let desk = desk();
    let turns = 400;
    desk.transcript(SESSION, turns);
    let mut cut_short = 0;
    for _ in 0..rounds(10, 200) {
        let mut child = desk.program.command(desk.home(), &SEAL).spawn().unwrap();
        std::thread::sleep(Duration::from_micros(random.u64(0..120_000)));
        child.kill().unwrap();
        cut_short += usize::from(child.wait().unwrap().code().is_none());
        if desk.chain(SESSION).exists() {
            let chain = desk.chain(SESSION);
            let status = desk.run(&["trail", "verify", chain.to_str().unwrap()]);
            assert!(status.status == 0 || status.code() == "chain_unreadable", "{status}");
        }
        if random.bool() {
            let _ = std::fs::remove_dir_all(desk.trail());
        }
    }
    println!("{cut_short} runs were cut short");
    assert!(cut_short > 0);
    desk.expect(0, &SEAL);
    is_whole(&desk, turns * 3);
}

#[test]
fn a_lost_or_garbled_checkpoint_changes_nothing() {
    let desk = desk();
    let checkpoint = desk.chain(SESSION).with_extension("checkpoint.json");
    for round in 0..rounds(10, 200) {
        let turns = 1 + round / 2;
        desk.transcript(SESSION, turns);
        desk.expect(0, &SEAL);
        is_whole(&desk, turns * 3);
        let keys = capsid_testkit::transcript::keys_of(&std::fs::read_to_string(&checkpoint).unwrap());
        assert_eq!(keys.len(), turns * 3, "it is rebuilt from the chain");
        match round % 3 {
            0 => std::fs::remove_file(&checkpoint).unwrap(),
            1 => std::fs::write(&checkpoint, "{\"done\": [\"x").unwrap(),
            _ => std::fs::write(&checkpoint, "{\"done\": []}").unwrap(),
        }
    }
}

#[test]
fn a_call_waits_for_its_result_unless_the_session_is_over() {
    let desk = desk();
    let path = desk.transcript(SESSION, 1);
    let whole = std::fs::read_to_string(&path).unwrap();
    let until_call: String = whole.lines().take(2).map(|line| format!("{line}\n")).collect();
    std::fs::write(&path, &until_call).unwrap();
    let first = desk.expect(0, &[&SEAL[..], &["--json"]].concat()).json();
    assert_eq!((&first["appended"], &first["held_back"]), (&0.into(), &1.into()));
    let finished = desk.expect(0, &[&SEAL[..], &["--json", "--finalize"]].concat()).json();
    assert_eq!(finished["appended"], 1);
    std::fs::write(&path, &whole).unwrap();
    let late = desk.expect(0, &[&SEAL[..], &["--json"]].concat()).json();
    assert_eq!(late["appended"], 3, "the late result, the edit and the answer");
    let record = desk.expect(0, &["trail", "inspect", SESSION, "--seq", "1", "--json"]).json();
    assert_eq!(record["content"]["context"]["environment"]["late_result"], true);
    assert_eq!(record["content"]["execution"]["tool_calls"][0]["result"], "ok\n\n[stderr]\nslow\n");
    assert_eq!(desk.expect(0, &[&SEAL[..], &["--json"]].concat()).json()["appended"], 0);
}

#[test]
fn one_database_for_all_sessions_keeps_them_apart() {
    let desk = desk();
    let store = desk.home().join("all.db");
    let run = |status: i32, args: &[&str]| {
        let mut command = desk.program.command(desk.home(), args);
        let ran = ProgramOutput::from_output(command.env("AGENT_CAPSULE_DB", &store).output().unwrap());
        assert_status(status, &ran);
        ran
    };
    for (session, turns) in [(SESSION, 2), ("other", 3), (SESSION, 3)] {
        desk.transcript(session, turns);
        run(0, &["trail", "seal", "--tool", "claude-code", "--session", session, "--finalize"]);
    }
    let chains = run(0, &["trail", "verify", "--signatures", "--json"]).json();
    let lengths: Vec<(String, u64)> = chains["chains"]
        .as_array()
        .unwrap()
        .iter()
        .map(|chain| {
            (chain["session"].as_str().unwrap_or("meta").to_owned(), chain["total"].as_u64().unwrap())
        })
        .collect();
    for expected in [(SESSION, 9), ("other", 9)] {
        assert!(lengths.iter().any(|(name, count)| (name.as_str(), *count) == expected), "{lengths:?}");
    }
    let listed = run(0, &["trail", "list", "--json"]).json();
    assert_eq!(listed["chains"].as_array().unwrap().len(), 2);
    let meta = run(0, &["trail", "verify-meta", "--deep", "--json"]).json();
    let statuses: Vec<&str> =
        meta["conversations"].as_array().unwrap().iter().map(|one| one["status"].as_str().unwrap()).collect();
    assert_eq!(statuses, ["intact", "intact"], "{meta}");
    run(0, &["trail", "export", "--out", "bundle"]);
    desk.expect(0, &["trail", "verify", "--signatures", "bundle"]);
    assert!(!desk.trail().join("chains/claude-code").join(format!("{SESSION}.db")).exists());
}

#[test]
fn numbers_and_depths_that_no_seal_holds_cost_their_form_only() {
    let desk = desk();
    let path = desk.transcript(SESSION, 2);
    let deep = format!("{}1{}", "[".repeat(950), "]".repeat(950));
    let text = std::fs::read_to_string(&path).unwrap();
    let text = text.replacen("\"make test\"", &format!("\"make test\",\"x\":1e400,\"y\":{deep}"), 1);
    std::fs::write(&path, text).unwrap();
    let sealed = desk.expect(0, &[&SEAL[..], &["--json", "--finalize"]].concat()).json();
    assert_eq!((&sealed["appended"], &sealed["valid"]), (&6.into(), &true.into()));
    let record = desk.expect(0, &["trail", "inspect", SESSION, "--seq", "0", "--json"]).json();
    assert_eq!(record["content"]["execution"]["tool_calls"][0]["arguments"]["x"], "Infinity");
    assert_eq!(record["content"]["context"]["environment"]["values_as_text"], 2);
}
