//! Rollouts that repeat another one.

use super::build::*;
use crate::jsonl_support::*;
use capsid_model::{Value, json};
use capsid_transcript::{Tool, codex};

fn parent() -> Vec<Value> {
    let mut lines = vec![
        meta(json!({"id": "s0", "base_instructions": "obey"})),
        line("turn_context", json!({"model": "g1"})),
        asked("old"),
        call("c1", "f", json!({})),
        output("c1", json!("x")),
        tokens(100, 100),
        said("old answer"),
        event(json!({"type": "task_complete"})),
        asked("not in the fork"),
        said("neither"),
    ];
    lines[0]["payload"]["id"] = json!("s0");
    lines
}

fn fork() -> Vec<Value> {
    let mut lines = vec![meta(json!({"forked_from_id": "s0"}))];
    lines.extend(parent().into_iter().take(8).map(|mut line| {
        line["timestamp"] = json!("2026-06-02T08:00:00.000Z");
        line
    }));
    lines.extend([asked("new"), said("old answer"), tokens(130, 30)]);
    lines
}

#[test]
fn a_fork_does_not_repeat_its_parent() {
    let transcript = Transcript::new(Tool::Codex, &fork()).with("rollout-2026-s0.jsonl", text(&parent()));
    let read = transcript.read();
    assert_eq!(read.keys(), ["fork:0", "msg:10"]);
    assert_eq!(read.get("fork:0").result.get("repeated_lines").unwrap().as_i64(), Some(8));
    let own = read.get("msg:10");
    assert_eq!((own.prompt.as_str(), own.model.as_str()), ("new", "g1"));
    assert_eq!(read.sum("input_tokens"), 30);
    assert!(!read.report.finished);
    assert_eq!(codex::session_id(&transcript.path).as_deref(), Some("s1"));
}

#[test]
fn a_fork_finds_its_parent_in_the_store() {
    let home = tempfile::tempdir().unwrap();
    let put = |name: &str, lines: &[Value]| {
        let path = home.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, text(lines)).unwrap();
        path
    };
    let own = put("sessions/2026/06/02/rollout-a-s1.jsonl", &fork());
    put("sessions/2026/05/30/rollout-b-s2.jsonl", &parent());
    assert_eq!(read(Tool::Codex, &own).keys().len(), 4, "the parent is not there");
    put("archived_sessions/rollout-a-s0.jsonl", &parent());
    assert_eq!(read(Tool::Codex, &own).keys(), ["fork:0", "msg:10"]);
}

#[test]
fn an_orphaned_fork_says_that_it_may_repeat() {
    let read = read_lines(&fork());
    assert_eq!(read.keys(), ["fork:0", "c1", "msg:7", "msg:10"]);
    assert!(read.get("fork:0").summary.contains("cannot be told apart"));
    assert_eq!(read.get("c1").environment.get("forked_from_id"), Some(&"s0".into()));
}
