#![allow(clippy::disallowed_methods, clippy::needless_pass_by_value)]
mod rows;
mod stores;

use super::*;
use crate::{Tool, ToolInvocation};
use capsid_model::exact::parse;
use capsid_model::json;
use rusqlite::Connection;
use serde_json::Value;
use std::fs;
use std::path::PathBuf;
use tempfile::TempDir;

const TALK: &str = "talk";

/// A state database with one conversation.
struct State {
    folder: TempDir,
    connection: Connection,
}

impl State {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let connection = Connection::open(folder.path().join("state.vscdb")).unwrap();
        connection
            .execute_batch(
                "CREATE TABLE ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
                 CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);",
            )
            .unwrap();
        Self { folder, connection }
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("state.vscdb")
    }

    fn put(&self, key: &str, value: impl rusqlite::ToSql) {
        self.connection
            .execute("INSERT INTO cursorDiskKV VALUES (?1, ?2)", rusqlite::params![key, value])
            .unwrap();
    }

    fn bubble(&self, conversation: &str, id: &str, bubble: Value) {
        self.put(&format!("bubbleId:{conversation}:{id}"), bubble.to_string().into_bytes());
    }

    /// A conversation with these bubbles, in this order.
    fn talk(bubbles: &[Value]) -> Self {
        Self::talk_with(json!({"status": "completed"}), bubbles)
    }

    fn talk_with(mut composer: Value, bubbles: &[Value]) -> Self {
        let state = Self::new();
        let ids: Vec<String> = (0..bubbles.len()).map(|at| format!("b{at}")).collect();
        composer["fullConversationHeadersOnly"] =
            ids.iter().map(|id| json!({"bubbleId": id})).collect::<Vec<_>>().into();
        state.put(&format!("composerData:{TALK}"), composer.to_string());
        for (id, bubble) in ids.iter().zip(bubbles) {
            state.bubble(TALK, id, bubble.clone());
        }
        state
    }

    fn source(&self) -> TranscriptSource {
        TranscriptSource {
            tool: Tool::Cursor,
            session: TALK.to_owned(),
            path: self.path(),
            text_transcript: None,
            authorship: None,
            hook_fields: ExactFields::new(),
        }
    }

    fn read(&self) -> (Vec<Action>, ReadReport) {
        read_all(&self.source())
    }
}

fn read_all(source: &TranscriptSource) -> (Vec<Action>, ReadReport) {
    let mut actions = Vec::new();
    let report = read(source, &mut |action| {
        actions.push(action);
        Ok(())
    })
    .unwrap();
    (actions, report)
}

fn user(text: &str) -> Value {
    json!({"type": 1, "text": text})
}

fn tool(data: Value) -> Value {
    json!({"type": 2, "text": "", "toolFormerData": data})
}

fn exact(value: Value) -> ExactJson {
    parse(&value.to_string()).unwrap()
}

/// The action of a single call.
fn call(data: Value) -> (Action, ToolInvocation) {
    let (mut actions, _) = State::talk(&[tool(data)]).read();
    assert_eq!(actions.len(), 1);
    let mut action = actions.remove(0);
    let call = action.call.take().unwrap();
    (action, call)
}

#[test]
fn a_conversation_becomes_actions_in_its_order() {
    let state = State::talk_with(
        json!({"name": "Figs", "createdAt": 1_780_308_000_000_i64, "contextTokensUsed": 5120, "status": "completed",
               "modelConfig": {"modelName": "m-1"}}),
        &[
            user("<user_query>\nRipen\n</user_query>"),
            json!({"type": 2, "text": "Looking.", "createdAt": "2026-06-01T12:00:01.000Z",
                   "tokenCount": {"inputTokens": 8, "outputTokens": 2}, "thinking": "Hm.",
                   "contextWindowStatusAtCreation": {"tokensUsed": 5, "tokenLimit": 10, "percentageRemaining": 50.0},
                   "thinkingDurationMs": 12, "turnDurationMs": 34, "modelInfo": {"modelName": "m-2"}}),
            json!({"type": 2, "text": ""}),
            json!({"type": 2, "text": "", "thinking": {"text": "As an object.", "signature": "s"}}),
            json!({"type": 2, "text": "", "allThinkingBlocks": [{"thinking": "One."}, {"thinking": "Two."}]}),
            user("and now?"),
            json!({"type": 2, "text": "x".repeat(300)}),
        ],
    );
    let mut source = state.source();
    source.hook_fields =
        hook_fields(&exact(json!({"model": "", "hook_event_name": "stop", "status": "completed",
        "cursor_version": "2.3", "workspace_roots": ["/r"], "user_email": null})));
    let (actions, report) = read_all(&source);
    assert_eq!(actions.iter().map(|a| a.key.as_str()).collect::<Vec<_>>(), ["b1", "b3", "b4", "b6"]);
    let first = &actions[0];
    assert_eq!((first.kind, first.prompt.as_str(), first.model.as_str()), (ActionKind::Chat, "Ripen", "m-1"));
    assert_eq!((first.analysis.as_str(), first.reasoning.as_str()), ("Looking.", "Hm."));
    let window = json!({"tokens_used": 5, "token_limit": 10, "percentage_remaining": 50.0});
    assert_eq!(
        ExactJson::from(first.environment.clone()),
        exact(json!({
            "cursor_version": "2.3", "workspace_roots": ["/r"], "hook_event": "stop", "status": "completed",
            "title": "Figs", "conversation_created_at_ms": 1_780_308_000_000_i64, "context_tokens_used": 5120,
            "model": "m-1", "bubble_id": "b1", "cwd": "/r", "created_at": "2026-06-01T12:00:01.000Z",
            "timestamp": "2026-06-01T12:00:01.000Z", "model_name": "m-2",
            "context_window": window, "thinking_duration_ms": 12, "turn_duration_ms": 34,
        }))
    );
    assert_eq!(
        ExactJson::from(first.usage.clone()),
        exact(json!({"input_tokens": 8, "output_tokens": 2, "context_window": window,
                     "thinking_duration_ms": 12, "turn_duration_ms": 34}))
    );
    assert_eq!(
        (actions[1].reasoning.as_str(), actions[1].summary.as_str()),
        ("As an object.", "assistant reasoning")
    );
    assert_eq!(actions[2].reasoning, "One.\n\nTwo.");
    assert_eq!(actions[3].prompt, "and now?");
    assert_eq!(actions[3].summary, format!("{}...<+20b>", "x".repeat(280)));
    assert!(report.finished && report.broken == 0 && report.unknown.is_empty());
}

#[test]
fn a_call_tells_its_arguments_and_its_result() {
    let (action, call_) = call(json!({"name": "read_file", "status": "completed",
        "rawArgs": "{\"target_file\":\"a.ts\"}", "params": "{\"relativeWorkspacePath\":\"a.ts\"}",
        "result": "{\"contents\":\"x\"}"}));
    assert_eq!((action.kind, action.summary.as_str()), (ActionKind::Tool, "read_file: a.ts"));
    assert_eq!(call_.arguments, exact(json!({"target_file": "a.ts"})));
    assert_eq!(call_.result, exact(json!({"contents": "x"})));
    assert!(!action.has_failed() && !action.open);
    // What the model sent cannot be read, what the editor made of it can.
    let (_, call_) = call(json!({"name": "grep", "rawArgs": "{\"pat", "params": "{\"pattern\":\"x\"}"}));
    assert_eq!(call_.arguments, exact(json!({"pattern": "x"})));
    let (_, call_) = call(json!({"name": "grep", "rawArgs": "words", "result": "{half"}));
    assert_eq!((call_.arguments, call_.result), (exact(json!({"_raw": "words"})), "{half".into()));
    let (action, call_) = call(json!({"tool": 5, "params": {}}));
    assert_eq!((action.summary.as_str(), call_.arguments), ("tool_5 call", exact(json!({}))));
}

#[test]
fn failures_are_told_by_the_status_the_editor_the_user_or_the_exit_code() {
    let failed = |data: Value| call(data).0.has_failed();
    for status in ["error", "failed", "cancelled", "aborted"] {
        assert!(failed(json!({"name": "t", "status": status})), "{status}");
    }
    assert!(failed(json!({"name": "t", "status": "completed", "additionalData": {"status": "error"}})));
    assert!(failed(json!({"name": "t", "status": "error", "additionalData": {"status": "success"}})));
    assert!(failed(json!({"name": "t", "status": "completed", "result": "{\"exitCode\":1}"})));
    assert!(!failed(json!({"name": "t", "status": "completed", "result": "{\"exitCode\":0}"})));
    let (action, _) = call(json!({"name": "run", "status": "error", "params": {"command": "npm\ntest"}}));
    assert_eq!(action.summary, "run: npm test (error)");
}

#[test]
fn cursor_cancelled_rejected_timeout_and_unknown_words_are_no_success() {
    let ended = |status: &str| {
        let (action, _) = call(
            json!({"name": "delete_file", "status": status, "params": {"path": "a.txt"}, "result": "{}"}),
        );
        assert!(action.side_effects.is_empty(), "{status}");
        assert_eq!(action.environment.get("unconfirmed_effects"), Some(&exact(json!(["deleted a.txt"]))));
        assert_eq!(action.environment.get("tool_status"), Some(&status.into()));
        (action.status.name(), action.summary)
    };
    for status in ["CANCELLED", "canceled", "timeout", "Timed Out"] {
        assert_eq!(ended(status).0, "failure", "{status}");
    }
    assert_eq!(ended("rejected").0, "blocked");
    let (status, summary) = ended("zombie");
    assert_eq!((status, summary.as_str()), ("pending", "delete_file: a.txt (status unknown: zombie)"));
    let (action, _) = call(json!({"name": "t", "status": "COMPLETED", "result": "{}"}));
    assert_eq!(action.status, crate::OutcomeStatus::Success);
}

#[test]
fn cursor_an_additional_status_does_not_hide_the_status() {
    let (action, _) =
        call(json!({"name": "t", "status": "cancelled", "additionalData": {"status": "success"}}));
    assert_eq!(action.status, crate::OutcomeStatus::Failure);
    assert_eq!(action.environment.get("tool_status"), Some(&exact(json!(["cancelled", "success"]))));
}

#[test]
fn cursor_a_decision_in_any_case_an_exit_code_as_text_and_loading_with_a_result_count() {
    let (action, _) = call(json!({"name": "t", "status": "completed", "userDecision": "Rejected"}));
    assert_eq!(action.status, crate::OutcomeStatus::Blocked);
    assert_eq!((action.authority.kind, action.authority.decision.as_str()), ("escalated", "Rejected"));
    let (action, _) = call(json!({"name": "t", "status": "completed", "result": {"exitCode": "2"}}));
    assert_eq!(action.status, crate::OutcomeStatus::Failure);
    let (action, _) = call(json!({"name": "t", "status": "loading", "result": {"a": 1}}));
    assert_eq!((action.status, action.open), (crate::OutcomeStatus::Pending, false));
}

#[test]
fn who_decided_is_told() {
    let authority = |decision: &str| call(json!({"name": "t", "userDecision": decision})).0;
    let accepted = authority("accepted");
    assert_eq!(accepted.authority.kind, "human_approved");
    assert_eq!(accepted.authority.policy_reference, "user_decision=accepted");
    let rejected = authority("rejected");
    assert_eq!((rejected.authority.kind, rejected.has_failed()), ("escalated", true));
    assert_eq!(authority("pending").authority, crate::Authority::default());
}

#[test]
fn a_change_of_a_file_is_shown_as_a_diff() {
    let edited = |name: &str, params: Value, result: &str| {
        let (action, call) =
            call(json!({"name": name, "status": "completed", "params": params, "result": result}));
        (action.summary, action.side_effects, call.result)
    };
    let (summary, effects, result) =
        edited("Edit_File_v2", json!({"target_file": "f", "old_string": "a", "new_string": "b\nc"}), "{}");
    assert_eq!((summary.as_str(), result), ("Edit_File_v2: f (+2/-1)", "-a\n+b\n+c".into()));
    assert_eq!(effects, ["edited f"]);
    let diff = "--- a\n+++ b\n@@ -1 +1 @@\n-a\n+b";
    let (summary, _, result) =
        edited("search_replace", json!({"file_path": "f"}), &json!({"diff": diff}).to_string());
    assert_eq!((summary.as_str(), result), ("search_replace: f (+1/-1)", diff.into()));
    let chunks = json!({"diff": {"chunks": [{"diffString": "-a\n+b"}, {"diffString": "+c"}]}}).to_string();
    let (summary, _, result) = edited("edit_file_v2", json!({"path": "f"}), &chunks);
    assert_eq!((summary.as_str(), result), ("edit_file_v2: f (+2/-1)", "-a\n+b\n+c".into()));
    let (summary, effects, _) = edited("delete_file", json!({"target_file": "f"}), "{}");
    assert_eq!((summary.as_str(), effects), ("delete_file: f", vec!["deleted f".to_owned()]));
    // What failed changed nothing.
    let (action, call) = call(json!({"name": "write", "status": "error", "result": "no space",
        "params": {"file_path": "f", "contents": "a"}}));
    assert_eq!((action.summary.as_str(), call.result), ("write: f (error)", "no space".into()));
    assert!(action.side_effects.is_empty());
}

#[test]
fn what_is_under_way_is_open() {
    assert!(call(json!({"name": "t", "status": "loading"})).0.open);
    assert!(!call(json!({"name": "t", "status": "loading", "result": "{}"})).0.open);
    let say = |composer: Value| {
        State::talk_with(composer, &[json!({"type": 2, "text": "a"}), json!({"type": 2, "text": "b"})]).read()
    };
    let (actions, report) = say(json!({"status": "completed", "generatingBubbleIds": ["b1"]}));
    assert_eq!(actions.iter().map(|action| action.open).collect::<Vec<_>>(), [false, true]);
    assert!(!report.finished);
    assert!(!say(json!({"status": "none"})).0[1].open);
}

#[test]
fn broken_missing_and_unknown_bubbles_cost_only_themselves() {
    let state =
        State::talk(&[json!({"type": 2, "text": "one"}), user("x"), json!({"type": 7, "odd": [1, 2.50]})]);
    state.put(&format!("bubbleId:{TALK}:b1"), "{\"type\":2,");
    state.put(
        &format!("composerData:{TALK}"),
        b"{\"name\":\"\xFF\\ud83d\",\"fullConversationHeadersOnly\":[{\"bubbleId\":\"b0\"},{\"bubbleId\":\"b1\"},{},
          {\"bubbleId\":\"gone\"},{\"bubbleId\":\"null\"},{\"bubbleId\":\"b2\"},{\"bubbleId\":\"lone\"}]}"
            .to_vec(),
    );
    state.put(&format!("bubbleId:{TALK}:null"), rusqlite::types::Null);
    state.put(&format!("bubbleId:{TALK}:lone"), "{\"type\":2,\"text\":\"a\\ud83d!\"}");
    let (actions, report) = state.read();
    assert_eq!(
        actions.iter().map(|a| a.key.as_str()).collect::<Vec<_>>(),
        ["b0", "b1:broken", "gone:absent", "null:absent", "b2", "lone"]
    );
    assert_eq!(report.broken, 1);
    assert_eq!(report.unknown, [("bubble type 7".to_owned(), 1)].into());
    assert_eq!(
        (actions[4].kind, &actions[4].result),
        (ActionKind::System, &exact(json!({"type": 7, "odd": [1, 2.50]})))
    );
    assert_eq!(actions[5].analysis, "a\u{FFFD}!");
    assert_eq!(actions[5].environment.get("title").and_then(ExactJson::as_str), Some("\u{FFFD}\u{FFFD}"));
}

#[test]
fn a_bubble_that_is_too_large_is_said_to_be() {
    let state =
        State::talk(&[json!({"type": 2, "text": "x".repeat(9 << 20)}), json!({"type": 2, "text": "y"})]);
    let (actions, report) = state.read();
    assert_eq!((actions.len(), report.broken), (2, 1));
    assert_eq!(actions[0].kind, ActionKind::System);
    assert!(actions[0].summary.starts_with("bubble of 94"), "{}", actions[0].summary);
}

#[test]
fn conversations_of_old_versions_hold_their_bubbles_themselves() {
    let bubbles = [
        json!({"bubbleId": "i1", "type": 1, "text": "ask"}),
        json!({"bubbleId": "i2", "type": 2, "text": "say"}),
    ];
    let keys = |composer: Value| {
        let state = State::new();
        state.put(&format!("composerData:{TALK}"), composer.to_string());
        let (actions, _) = state.read();
        actions.into_iter().map(|action| (action.key, action.prompt)).collect::<Vec<_>>()
    };
    let expected = vec![("i2".to_owned(), "ask".to_owned())];
    assert_eq!(keys(json!({"conversation": bubbles})), expected);
    assert_eq!(keys(json!({"conversationMap": {"i1": bubbles[0], "i2": bubbles[1]}})), expected);
    let headers = json!([{"bubbleId": "i1"}, {"bubbleId": "i2"}]);
    assert_eq!(
        keys(json!({"fullConversationHeadersOnly": headers, "conversation": [],
                    "conversationMap": {"i2": bubbles[1], "i1": bubbles[0]}})),
        expected
    );
    assert_eq!(
        keys(json!({"conversation": [{"type": 2, "text": "a"}]})),
        [("inline:0".to_owned(), String::new())]
    );
}

#[test]
fn a_sub_agent_has_a_scorecard() {
    let state = State::talk_with(
        json!({"subagentComposerIds": ["other", "child", "gone"]}),
        &[tool(json!({"name": "task_v2", "toolCallId": "call-1", "status": "completed",
                      "params": {"description": "explore"}, "result": "{\"done\":true}"}))],
    );
    state.put("composerData:other", json!({"subagentInfo": {"toolCallId": "call-0"}}).to_string());
    state.put(
        "composerData:child",
        json!({"subagentInfo": {"toolCallId": "call-1", "subagentTypeName": "explore"},
               "fullConversationHeadersOnly": [{"bubbleId": "1"}, {"bubbleId": "2"}, {"bubbleId": "3"}]})
        .to_string(),
    );
    state.bubble("child", "1", user("look"));
    state.bubble("child", "2", tool(json!({"name": "read_file"})));
    state.bubble(
        "child",
        "3",
        tool(json!({"name": "write", "status": "completed", "params": {"path": "f", "contents": "a\nb"}})),
    );
    let (actions, _) = state.read();
    assert_eq!(actions[0].summary, "task_v2: explore [explore: 1 edits, +2/-0, 2 tool calls]");
    assert_eq!(actions[0].side_effects, ["delegated to explore subagent (3 messages)"]);
    assert_eq!(actions[0].kind, ActionKind::Agent);
}
