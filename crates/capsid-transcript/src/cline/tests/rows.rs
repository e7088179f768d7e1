//! What was lost before: each test is named after what the reader keeps now.

use super::*;
use crate::DropReason;

fn thinking(text: &str) -> Value {
    json!({"type": "thinking", "thinking": text})
}

/// A call of the model after some thinking.
fn thought(id: &str, blocks: &[Value], path: &str) -> [Value; 2] {
    let [mut made, gave] = called(id, "read_file", json!({"path": path}), json!("content of it"));
    let mut content = blocks.to_vec();
    content.extend(made["content"].as_array().unwrap().clone());
    made["content"] = content.into();
    [made, gave]
}

fn with_summary<'a>(actions: &'a [Action], summary: &str) -> Vec<&'a Action> {
    actions.iter().filter(|action| action.summary == summary).collect()
}

#[test]
fn cline_thinking_of_the_api_beside_reasoning_of_the_page_is_joined_without_repetition() {
    let read = |ts| say(ts, "tool", json!({"tool": "readFile", "path": "a.ts"}));
    let messages = json!([say(1, "reasoning", "Look first."), read(2), done(9)]);
    let history = thought("1", &[thinking("Look first."), thinking("Then edit.")], "a.ts");
    let (actions, _) = Task::new(messages.clone(), json!(history)).read();
    assert_eq!(actions[0].reasoning, "Look first.\n\nThen edit.");
    let (actions, _) = Task::new(messages, json!(thought("1", &[thinking("Look first.")], "a.ts"))).read();
    assert_eq!(actions[0].reasoning, "Look first.");
}

#[test]
fn cline_thinking_without_a_call_is_a_record_and_redacted_thinking_is_counted() {
    let alone = json!({"role": "assistant", "content": [thinking("Thoughts that led to no call.")]});
    let redacted = json!({"type": "redacted_thinking", "data": "AAAA"});
    let mut history = thought("1", &[redacted.clone(), redacted], "a.ts").to_vec();
    history.push(alone);
    let messages = json!([say(1, "tool", json!({"tool": "readFile", "path": "a.ts"})), done(9)]);
    let (actions, report) = Task::new(messages, json!(history)).read();
    assert_eq!(actions[0].environment.get("redacted_thinking"), Some(&2_i64.into()));
    let record = with_summary(&actions, "thinking of the API without a message")[0];
    assert_eq!(record.reasoning, "Thoughts that led to no call.");
    assert!(record.open && record.kind == ActionKind::System);
    assert_eq!(report.noted.get("thinking of the API without a message"), Some(&1));
}

#[test]
fn cline_calls_and_results_that_no_message_matches_are_system_records() {
    let history = called("1", "list_names", json!({"path": "nobody matches this"}), json!("nor this result"));
    let (actions, _) = Task::new(json!([say(1, "text", "a"), done(9)]), json!(history)).read();
    let records = with_summary(&actions, "call of the API without a message");
    assert_eq!(records.len(), 2);
    assert_eq!(records[0].result, exact(json!({"content": [{"input": {"path": "nobody matches this"}}]})));
    assert_eq!(records[1].result, exact(json!({"content": [{"content": "nor this result"}]})));
    let again = Task::new(json!([say(1, "text", "a"), done(9)]), json!(history)).read().0;
    assert_eq!(again.last().unwrap().key, actions.last().unwrap().key, "the key is that of the content");
}

#[test]
fn cline_second_browser_result_and_output_without_a_command_are_system_records() {
    let shown = |ts, logs: &str| say(ts, "browser_action_result", json!({"logs": logs}));
    let messages = json!([
        say(1, "command_output", "an output of nothing"),
        say(2, "browser_action", json!({"action": "launch", "url": "u"})),
        shown(3, "first"),
        shown(4, "second"),
        done(9)
    ]);
    let (actions, report) = Task::new(messages, json!([])).read();
    let keys: Vec<&str> = actions.iter().map(|action| action.key.as_str()).collect();
    assert_eq!(keys, ["1:0:note", "2:1", "4:3:note", "9:4"]);
    assert_eq!(actions[0].result, "an output of nothing".into());
    assert_eq!(actions[2].result, exact(json!({"logs": "second"})));
    assert_eq!(actions[1].call.as_ref().unwrap().result.text("logs"), Some("first"));
    assert_eq!(report.noted.get("message without an action"), Some(&2));
}

#[test]
fn cline_warnings_and_request_text_that_is_no_json_are_system_records() {
    let messages = json!([
        say(1, "shell_integration_warning", "no integration"),
        say(2, "api_req_started", "plain words"),
        say(3, "api_req_started", json!({"request": "a whole request", "tokensIn": 1})),
        done(9)
    ]);
    let (actions, report) =
        Task::new(messages, json!([{"role": "user", "content": "a whole request"}])).read();
    assert_eq!(actions[0].result, "no integration".into());
    assert_eq!((actions[1].result.clone(), actions[1].kind), ("plain words".into(), ActionKind::System));
    assert_eq!(report.dropped.get(&DropReason::Repeated), Some(&1), "the history has the request");
}

#[test]
fn cline_message_that_cannot_be_read_is_a_system_record() {
    let task = Task::new(json!([]), json!([]));
    task.put(MESSAGES, "[{\"ts\":1,\"say\":}, {\"ts\":3,\"say\":\"completion_result\",\"text\":\"b\"}]");
    let (actions, report) = task.read();
    assert_eq!(actions[0].result, "{\"ts\":1,\"say\":}".into());
    assert_eq!((actions[0].kind, report.broken), (ActionKind::System, 1));
    assert_eq!(report.noted.get("message that cannot be read"), Some(&1));
}

#[test]
fn time_duration_and_folder_of_a_cline_action_are_recorded_where_they_are_known() {
    let start =
        "<environment_details>\n# Current Working Directory (/home/dev/kiwi) Files\n</environment_details>";
    let history = json!([{"role": "user", "content": [{"type": "text", "text": start}]}]);
    let messages = json!([
        say(1_780_308_000_123, "command", "make"),
        say(1_780_308_000_623, "command_output", "ok"),
        say(1_780_308_001_123, "text", "a"),
        say(1_780_308_002_000, "completion_result", "b"),
    ]);
    let (actions, _) = Task::new(messages, history).read();
    let of = |at: usize, name: &str| actions[at].environment.get(name).and_then(ExactJson::as_str);
    assert_eq!(of(0, "timestamp"), Some("2026-06-01T10:00:00.123Z"));
    assert_eq!(of(1, "timestamp"), Some("2026-06-01T10:00:01.123Z"));
    assert_eq!(of(0, "cwd"), Some("/home/dev/kiwi"));
    assert_eq!(actions[0].call.as_ref().unwrap().duration_ms, Some(500));
    let (actions, _) = Task::new(json!([say(1, "command", "make"), done(9)]), json!([])).read();
    assert!(!actions[0].environment.contains_key("cwd"));
    assert_eq!(actions[0].call.as_ref().unwrap().duration_ms, None);
}

#[test]
fn new_file_of_cline_has_a_diff_of_added_lines() {
    let created = say(1, "tool", json!({"tool": "newFileCreated", "path": "a.ts", "content": "one\ntwo\n"}));
    let history = called("1", "write_to_file", json!({"path": "a.ts"}), json!("The content was saved."));
    let action = one(created, &history);
    assert_eq!(action.summary, "newFileCreated: a.ts (+2/-0)");
    assert_eq!(action.call.as_ref().unwrap().result, "+one\n+two".into());
    assert_eq!(action.environment.get("other"), Some(&exact(json!([{"result": "The content was saved."}]))));
}
