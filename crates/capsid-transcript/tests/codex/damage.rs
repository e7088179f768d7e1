//! Lines that cannot be read, and files that grow.

use super::build::*;
use crate::jsonl_support::*;
use capsid_model::{Value, json};
use capsid_transcript::Tool;

#[test]
fn broken_lines_cost_themselves_only() {
    let mut bytes = text(&[asked("go"), call("c1", "f", json!({}))]).into_bytes();
    bytes.extend(b"{\"type\":\n7\n\n");
    bytes.extend(output("c1", json!("MARK")).to_string().replace("MARK", "\\ud800x").as_bytes());
    bytes.extend(b"\n{\"type\":\"response_item\",\"payload\":{\"type\":\"message\",\"ro");
    let read = Transcript::raw(Tool::Codex, &bytes).read();
    assert_eq!(read.keys(), ["c1", "2:broken", "3:broken", "6:broken"]);
    assert_eq!(read.result("c1"), &"\u{fffd}x".into());
    assert_eq!(read.report.broken, 2);
}

fn long_talk() -> Vec<Value> {
    vec![
        meta(json!({"base_instructions": "obey"})),
        line("turn_context", json!({"model": "g1", "approval_policy": "on-request"})),
        asked("go"),
        event(json!({"type": "user_message", "message": "go"})),
        event(json!({"type": "agent_reasoning", "text": "plan"})),
        thought("plan"),
        call("c1", "shell", json!({"command": ["ls"]})),
        output("c1", json!({"output": "a 🍐", "metadata": {"exit_code": 0}})),
        tokens(10, 10),
        said_event("done"),
        said("done"),
        tokens(30, 20),
        thought("dangling"),
        event(json!({"type": "task_complete"})),
        asked("more"),
        item(json!({"type": "novelty", "x": [1, {"y": null}]})),
        line("compacted", json!({"message": "short"})),
        call("c2", "apply_patch", json!({"input": "*** Begin Patch\n*** End Patch"})),
        output("c2", json!("ok")),
        thought("last"),
        said("bye"),
    ]
}

#[test]
fn a_growing_transcript_keeps_its_keys() {
    grows(Tool::Codex, &long_talk());
}

#[test]
fn damage_never_stops_the_reading() {
    stands_damage(Tool::Codex, &long_talk());
}
