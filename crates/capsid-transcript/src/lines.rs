//! Converts one record of a session to lines of text: messages, calls of tools, and their results.

use capsid_model::Value;
use capsid_model::text::{collapse, cut};

/// Longest message, and longest result of a tool.
const MESSAGE_MAX: usize = 300;
const RESULT_MAX: usize = 200;

/// Messages that agents put in the user's mouth: they are set-up, not wishes.
const SET_UP: [&str; 4] =
    ["<environment_context>", "<user_instructions>", "# AGENTS.md instructions", "<system-reminder>"];

/// The lines of a record; none for kinds that say nothing about the work. An unreadable record is `None`.
pub(crate) fn lines_of(record: &str) -> Option<Vec<String>> {
    let record: Value = serde_json::from_str(record).ok()?;
    let kind = text_of(&record, "type");
    let payload = &record["payload"];
    Some(match kind {
        _ if record["isMeta"] == true => Vec::new(),
        "message" | "user" | "assistant" => message(&record["message"]),
        "tool_result" => tool_result(&record).into_iter().collect(),
        "response_item" => response_item(payload),
        _ => Vec::new(),
    })
}

/// The folder a record was written in, if it names one.
pub(crate) fn cwd_of(record: &str) -> Option<String> {
    let record: Value = serde_json::from_str(record).ok()?;
    let cwd = record["cwd"].as_str().or(record["payload"]["cwd"].as_str());
    cwd.map(str::to_owned)
}

fn text_of<'v>(value: &'v Value, name: &str) -> &'v str {
    value[name].as_str().unwrap_or_default()
}

/// A message of OpenClaw or Claude Code: its own line, and one for each tool result inside.
fn message(message: &Value) -> Vec<String> {
    let mut lines = Vec::new();
    let mut texts = Vec::new();
    match &message["content"] {
        Value::String(text) => texts.push(text.clone()),
        Value::Array(parts) => {
            for part in parts {
                match text_of(part, "type") {
                    "text" | "input_text" | "output_text" => {
                        texts.push(text_of(part, "text").to_owned());
                    }
                    "toolCall" | "tool_use" => texts.push(tool_call(part)),
                    "tool_result" => lines.extend(tool_result(part)),
                    _ => {}
                }
            }
        }
        _ => {}
    }
    let text = match message["errorMessage"].as_str() {
        Some(error) => format!("[LLM ERROR] {error}"),
        None => texts.join(" "),
    };
    lines.extend(spoken(text_of(message, "role"), &text));
    lines
}

/// A message in one line; none for what is not new.
pub(crate) fn spoken(role: &str, text: &str) -> Option<String> {
    let text = collapse(text);
    let is_noise = text.is_empty()
        || text == "HEARTBEAT_OK"
        || text.contains("NO_REPLY")
        || SET_UP.iter().any(|start| text.starts_with(start));
    (!is_noise).then(|| format!("**{}**: {}", role.to_uppercase(), cut(&text, MESSAGE_MAX)))
}

fn tool_call(part: &Value) -> String {
    format!("[TOOL: {}]", text_of(part, "name"))
}

/// A result of Claude Code, or a bare one of OpenClaw.
fn tool_result(part: &Value) -> Option<String> {
    let failed = part["is_error"] == true || part["isError"] == true;
    attach_result(&flat(&part["content"]), failed)
}

/// Codex: messages, calls and their outputs.
fn response_item(item: &Value) -> Vec<String> {
    match text_of(item, "type") {
        "message" if matches!(text_of(item, "role"), "user" | "assistant") => message(item),
        "function_call" | "custom_tool_call" => vec![format!("**ASSISTANT**: {}", tool_call(item))],
        "function_call_output" | "custom_tool_call_output" => output(&item["output"]).into_iter().collect(),
        _ => Vec::new(),
    }
}

/// A Codex output is a text, an object with the text and its exit code, or that object as a text.
fn output(output: &Value) -> Option<String> {
    let parsed = output.as_str().and_then(|text| serde_json::from_str::<Value>(text).ok());
    let output = parsed.as_ref().filter(|inner| inner.is_object()).unwrap_or(output);
    let failed = output["metadata"]["exit_code"].as_i64().is_some_and(|code| code != 0);
    let text = if output.is_object() { flat(&output["output"]) } else { flat(output) };
    attach_result(&text, failed)
}

/// A text, or the texts of a list of parts.
fn flat(content: &Value) -> String {
    match content {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            let texts: Vec<&str> = parts.iter().map(|part| text_of(part, "text")).collect();
            texts.join(" ")
        }
        _ => String::new(),
    }
}

/// A short "done" carries no information; a failure that does not begin with `error:` is marked as one.
pub(crate) fn attach_result(text: &str, failed: bool) -> Option<String> {
    let text = collapse(text);
    let lower = text.to_lowercase();
    let is_noise = text.is_empty()
        || (!failed && text.len() < 50 && (lower.contains("success") || lower.contains("done")));
    let mark = if failed && !lower.starts_with("error:") { "[ERROR] " } else { "" };
    (!is_noise).then(|| format!("[TOOL RESULT] {mark}{}", cut(&text, RESULT_MAX)))
}

#[cfg(test)]
#[allow(clippy::needless_pass_by_value)]
mod tests {
    use super::*;
    use capsid_model::json;

    fn lines(record: Value) -> Vec<String> {
        lines_of(&record.to_string()).unwrap()
    }

    #[test]
    fn openclaw_messages_are_read() {
        let lines_of = |message: Value| lines(json!({"type": "message", "message": message}));
        assert_eq!(
            lines_of(json!({"role": "assistant", "content": [
                {"type": "thinking", "thinking": "hm"},
                {"type": "text", "text": "let me\n look"},
                {"type": "toolCall", "name": "exec", "arguments": {}},
            ]})),
            ["**ASSISTANT**: let me look [TOOL: exec]"]
        );
        assert_eq!(
            lines_of(
                json!({"role": "toolResult", "content": [{"type": "text", "text": "{ \"status\": \"error\" }"}]})
            ),
            ["**TOOLRESULT**: { \"status\": \"error\" }"]
        );
        assert_eq!(
            lines_of(json!({"role": "assistant", "content": [], "errorMessage": "429 slow down"})),
            ["**ASSISTANT**: [LLM ERROR] 429 slow down"]
        );
        assert!(lines_of(json!({"role": "user", "content": "HEARTBEAT_OK"})).is_empty());
        assert!(lines_of(json!({"role": "user", "content": "so NO_REPLY then"})).is_empty());
        assert_eq!(lines_of(json!({"role": "user", "content": "x".repeat(400)}))[0].len(), 310);
    }

    #[test]
    fn claude_code_messages_are_read() {
        let user = |content: Value| {
            lines(json!({"type": "user", "cwd": "/r", "message": {"role": "user", "content": content}}))
        };
        assert_eq!(user(json!("fix it")), ["**USER**: fix it"]);
        assert_eq!(
            user(json!([
                {"type": "tool_result", "content": "exit code 2", "is_error": true},
                {"type": "tool_result", "content": "Error: no", "is_error": true},
                {"type": "tool_result", "content": [{"type": "text", "text": "three files"}]},
                {"type": "tool_result", "content": "File created successfully"},
                {"type": "text", "text": "and now?"},
            ])),
            [
                "[TOOL RESULT] [ERROR] exit code 2",
                "[TOOL RESULT] Error: no",
                "[TOOL RESULT] three files",
                "**USER**: and now?"
            ]
        );
        let long = user(json!([{"type": "tool_result", "content": "y".repeat(400)}]));
        assert_eq!(long[0].len(), "[TOOL RESULT] ".len() + 200);
        assert!(
            lines(json!({"type": "user", "isMeta": true, "message": {"role": "user", "content": "x"}}))
                .is_empty()
        );
        assert!(lines(json!({"type": "summary", "summary": "x"})).is_empty());
    }

    #[test]
    fn codex_items_are_read() {
        let item = |payload: Value| lines(json!({"type": "response_item", "payload": payload}));
        assert_eq!(
            item(
                json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]})
            ),
            ["**USER**: go"]
        );
        assert!(
            item(json!({"type": "message", "role": "user", "content": [
                {"type": "input_text", "text": "<environment_context>\n<cwd>/r</cwd>"}]}))
            .is_empty()
        );
        assert!(item(json!({"type": "message", "role": "developer", "content": "obey"})).is_empty());
        assert_eq!(
            item(json!({"type": "function_call", "name": "shell", "arguments": "{}"})),
            ["**ASSISTANT**: [TOOL: shell]"]
        );
        for output in [
            json!({"output": "it broke", "metadata": {"exit_code": 1}}),
            json!("{\"output\":\"it broke\",\"metadata\":{\"exit_code\":1}}"),
        ] {
            assert_eq!(
                item(json!({"type": "function_call_output", "output": output})),
                ["[TOOL RESULT] [ERROR] it broke"]
            );
        }
        assert_eq!(
            item(json!({"type": "custom_tool_call_output", "output": "plain words"})),
            ["[TOOL RESULT] plain words"]
        );
        assert!(
            lines(json!({"type": "event_msg", "payload": {"type": "agent_message", "message": "x"}}))
                .is_empty()
        );
    }

    #[test]
    fn what_is_no_record_is_told_apart_from_one_that_says_nothing() {
        assert_eq!(lines_of("{\"type\":\"user\",\"mess"), None);
        assert_eq!(lines_of("[1,2]"), Some(Vec::new()));
        assert_eq!(lines_of("{\"type\":\"message\",\"message\":7}"), Some(Vec::new()));
    }
}
