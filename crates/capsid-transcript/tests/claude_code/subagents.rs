//! The files of subagents.

use super::build::*;
use crate::jsonl_support::*;
use capsid_model::{Value, json};
use capsid_transcript::Tool;

fn side(mut lines: Vec<Value>, agent: &str) -> String {
    for line in &mut lines {
        line["isSidechain"] = json!(true);
        line["agentId"] = json!(agent);
    }
    text(&lines)
}

#[test]
fn subagents_are_read_after_the_calls_that_started_them() {
    let reply =
        |uuid: &str, message: &str| assistant(uuid, message, json!([{"type": "text", "text": uuid}]), 7);
    let main = [
        user("p", json!("main task")),
        call("a", "t1", "Task", json!({"description": "one"})),
        call("b", "t2", "Task", json!({"description": "two"})),
        result("r2", "t2", json!("done"), json!({"agentId": "two"})),
        reply("z", "mz"),
    ];
    let one = vec![
        user("1p", json!("sub task")),
        reply("1a", "m1"),
        call("1b", "t3", "Task", json!({"description": "nested"})),
        reply("z", "mz"),
    ];
    let nested =
        vec![reply("3a", "m3"), json!({"type": "assistant", "message": {"id": "mn", "content": "no uuid"}})];
    let meta =
        |call: &str| json!({"agentType": "Explore", "description": "d", "toolUseId": call}).to_string();
    let transcript = Transcript::new(Tool::ClaudeCode, &main)
        .with("s1/subagents/agent-one.jsonl", side(one, "one"))
        .with("s1/subagents/agent-one.meta.json", meta("t1"))
        .with("s1/subagents/agent-two.jsonl", side(vec![reply("2a", "m2"), reply("2b", "m2")], "two"))
        .with("s1/subagents/deeper/agent-nested.jsonl", side(nested, "nested"))
        .with("s1/subagents/deeper/agent-nested.meta.json", meta("t3"))
        .with("s1/subagents/agent-lost.jsonl", side(vec![reply("4a", "m4")], "lost"))
        .with("agent-old.jsonl", side(vec![reply("5a", "m5")], "old"))
        .with("agent-foreign.jsonl", side(vec![reply("6a", "m6")], "foreign").replace("\"s1\"", "\"s2\""));
    let read = transcript.read();
    let expected =
        ["a:0", "1a:resp", "1b:0", "3a:resp", "agent-nested:1:resp", "z:resp", "b:0", "2a:resp", "2b:resp"];
    assert_eq!(read.keys()[..9], expected);
    assert_eq!(read.keys()[9..], ["5a:resp", "4a:resp"]);
    let sub = read.get("1a:resp");
    assert_eq!((sub.agent_id.as_str(), sub.prompt.as_str()), ("claude-code-subagent", "sub task"));
    let about = sub.environment.get("subagent").unwrap();
    assert_eq!(
        (about.text("id"), about.text("type"), about.text("tool_use_id")),
        (Some("one"), Some("Explore"), Some("t1"))
    );
    assert_eq!(read.get("2a:resp").prompt, "main task");
    assert_eq!(read.sum("output_tokens"), 7 * 6 + 3, "a line or message that two files hold is counted once");
    assert_eq!(transcript.read().keys(), read.keys());
}
