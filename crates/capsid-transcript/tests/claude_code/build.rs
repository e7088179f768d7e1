//! Lines of a transcript.

use crate::jsonl_support::*;
use capsid_model::exact::ExactJson;
use capsid_model::{Value, json};
use capsid_transcript::Tool;

const TIME: &str = "2026-06-01T10:00:00.000Z";

pub fn line(kind: &str, uuid: &str, more: Value) -> Value {
    let mut line = json!({"type": kind, "uuid": uuid, "sessionId": "s1", "cwd": "/w", "timestamp": TIME,
        "isSidechain": false, "version": "2.1", "gitBranch": "main", "parentUuid": null});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

pub fn user(uuid: &str, content: Value) -> Value {
    line("user", uuid, json!({"message": {"role": "user", "content": content}}))
}

pub fn assistant(uuid: &str, message: &str, content: Value, output_tokens: u64) -> Value {
    line(
        "assistant",
        uuid,
        json!({"message": {"id": message, "model": "m", "content": content, "stop_reason": null,
            "usage": {"input_tokens": 10, "output_tokens": output_tokens}}}),
    )
}

pub fn call(uuid: &str, id: &str, tool: &str, input: Value) -> Value {
    assistant(uuid, uuid, json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]), 1)
}

pub fn result(uuid: &str, id: &str, content: Value, payload: Value) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
    let message = json!({"role": "user", "content": [block]});
    line(
        "user",
        uuid,
        json!({"message": message, "toolUseResult": payload, "timestamp": "2026-06-01T10:00:02Z"}),
    )
}

pub fn read_lines(lines: &[Value]) -> Read {
    Transcript::new(Tool::ClaudeCode, lines).read()
}

/// The summary, the result, the payload and the side effects of one call.
pub fn one_call(
    tool: &str,
    input: Value,
    content: Value,
    payload: Value,
) -> (String, ExactJson, ExactJson, Vec<String>) {
    let read = read_lines(&[call("a", "t", tool, input), result("r", "t", content, payload)]);
    assert_eq!(read.keys(), ["a:0"]);
    let action = read.get("a:0").clone();
    assert_eq!(action.call.as_ref().unwrap().duration_ms, Some(2000));
    (action.summary, action.call.unwrap().result, action.result, action.side_effects)
}
