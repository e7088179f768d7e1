//! Lines of a rollout.

use crate::jsonl_support::*;
use capsid_model::{Value, json};
use capsid_transcript::Tool;

pub fn line(kind: &str, payload: Value) -> Value {
    json!({"timestamp": "2026-06-01T10:00:00.000Z", "type": kind, "payload": payload})
}

pub fn item(payload: Value) -> Value {
    line("response_item", payload)
}

pub fn event(payload: Value) -> Value {
    line("event_msg", payload)
}

pub fn said(text: &str) -> Value {
    item(json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": text}]}))
}

pub fn said_event(text: &str) -> Value {
    event(json!({"type": "agent_message", "message": text}))
}

pub fn asked(text: &str) -> Value {
    item(json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": text}]}))
}

pub fn call(id: &str, name: &str, arguments: Value) -> Value {
    item(json!({"type": "function_call", "name": name, "arguments": arguments.to_string(), "call_id": id}))
}

pub fn output(id: &str, output: Value) -> Value {
    item(json!({"type": "function_call_output", "call_id": id, "output": output}))
}

pub fn thought(summary: &str) -> Value {
    item(
        json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": summary}], "content": null}),
    )
}

pub fn tokens(total: i64, last: i64) -> Value {
    event(json!({"type": "token_count", "info": {
        "total_token_usage": {"input_tokens": total, "output_tokens": 1},
        "last_token_usage": {"input_tokens": last, "output_tokens": 1},
        "model_context_window": 1000}, "rate_limits": {"primary": {"used_percent": last}}}))
}

pub fn meta(more: Value) -> Value {
    let mut payload = json!({"id": "s1", "cwd": "/w", "cli_version": "0.80.0", "originator": "cli"});
    payload.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line("session_meta", payload)
}

pub fn read_lines(lines: &[Value]) -> Read {
    Transcript::new(Tool::Codex, lines).read()
}
