//! Requests, messages and calls.

use super::build::*;
use crate::jsonl_support::*;
use capsid_model::exact::ExactJson;
use capsid_model::{Value, json};
use capsid_transcript::{Action, ActionKind};

#[test]
fn tokens_of_a_message_are_counted_once_and_at_their_last_value() {
    let lines = [
        assistant("a", "m1", json!([{"type": "thinking", "thinking": "", "signature": "s".repeat(40)}]), 1),
        assistant("b", "m1", json!([{"type": "text", "text": "hm"}]), 1),
        assistant("c", "m1", json!([{"type": "tool_use", "id": "t", "name": "X", "input": {}}]), 77),
        result("r", "t", json!("ok"), json!({})),
        assistant("d", "m2", json!([{"type": "text", "text": "done"}]), 5),
        assistant("e", "m3", json!([{"type": "thinking", "thinking": ""}]), 2),
        assistant("f", "m3", json!([{"type": "thinking", "thinking": ""}]), 3),
        user("u", json!("thanks")),
    ];
    let got = read_lines(&lines);
    assert_eq!(got.keys(), ["b:resp", "c:0", "d:resp", "f:usage", "f:thinking", "u:prompt"]);
    assert_eq!(got.get("b:resp").usage.get("output_tokens").unwrap().as_i64(), Some(77));
    assert!(got.get("c:0").usage.is_empty());
    assert_eq!((got.sum("output_tokens"), got.sum("input_tokens")), (77 + 5 + 3, 30));
    assert!(!got.get("f:usage").open);
    assert!(read_lines(&lines[..7]).get("f:usage").open, "the message may go on");
    let environment = &got.get("b:resp").environment;
    assert_eq!(environment.get("thinking_blocks").unwrap().as_i64(), Some(1));
    assert_eq!(environment.get("thinking_signatures"), Some(&ExactJson::from(vec!["s".repeat(40)])));
    assert_eq!(environment.get("thinking_redacted"), Some(&true.into()));
    assert_eq!(got.get("c:0").environment.get("thinking_redacted"), Some(&false.into()));
    assert_eq!(environment.get("stop_reason"), Some(&ExactJson::Null), "null stays null");
    assert_eq!(environment.get("request_id"), Some(&"".into()), "what is missing is empty");
}

#[test]
fn what_a_fork_repeats_is_not_counted() {
    let mut repeated = assistant("a", "m1", json!([{"type": "text", "text": "hm"}]), 5);
    repeated["forkedFrom"] = json!({"sessionId": "s0", "messageUuid": "a"});
    let read = read_lines(&[repeated, assistant("b", "m2", json!([{"type": "text", "text": "new"}]), 3)]);
    assert_eq!(read.sum("output_tokens"), 3);
    assert_eq!(read.get("a:resp").environment.get("forked_from").unwrap().text("sessionId"), Some("s0"));
}

#[test]
fn only_the_user_sets_the_prompt() {
    let mut side = user("s", json!("look for pears"));
    side["isSidechain"] = json!(true);
    let mut side_answer = assistant("x", "mx", json!([{"type": "text", "text": "none"}]), 1);
    side_answer["isSidechain"] = json!(true);
    let mut meta = user("m", json!("<caveat>"));
    meta["isMeta"] = json!(true);
    let mut compact = user("c", json!("This session is being continued"));
    compact["isCompactSummary"] = json!(true);
    let image = json!({"type": "image", "source": {"data": "A", "media_type": "image/png"}});
    let reply = |uuid: &str| assistant(uuid, uuid, json!([{"type": "text", "text": "yes"}]), 1);
    let read = read_lines(&[
        user("p", json!([image, {"type": "text", "text": "count"}, {"type": "text", "text": "second"}])),
        reply("a"),
        side,
        side_answer,
        meta,
        compact,
        user("i", json!([{"type": "text", "text": "[Request interrupted by user for tool use]"}])),
        reply("b"),
    ]);
    assert_eq!(read.keys(), ["a:resp", "x:resp", "m:meta", "c:compact", "i:interrupted", "b:resp"]);
    assert_eq!(read.get("b:resp").prompt, "count\nsecond");
    assert_eq!(read.get("x:resp").prompt, "look for pears");
    assert_eq!(read.get("x:resp").agent_id, "claude-code-subagent");
    assert_eq!(read.get("m:meta").result, "<caveat>".into());
    assert_eq!(read.get("m:meta").kind, ActionKind::System);
}

#[test]
fn attachments_of_any_form_are_kept() {
    let read = read_lines(&[
        line("attachment", "a", json!({"attachment": {"type": "todo"}})),
        line("attachment", "b", json!({"attachment": "a text"})),
        line("attachment", "c", json!({"attachment": null})),
        line("attachment", "d", json!({"attachment": [1]})),
    ]);
    assert_eq!(read.keys(), ["a:attach", "b:attach", "d:attach"]);
    assert_eq!(read.get("a:attach").summary, "attachment: todo");
    assert_eq!(read.get("b:attach").summary, "attachment: context");
    assert_eq!(read.get("b:attach").result, "a text".into());
}

#[test]
fn what_is_not_known_is_kept_verbatim_and_counted() {
    let new = line("hologram", "n", json!({"beam": [1, 2.5, null]}));
    let bare = json!({"type": "hologram", "x": 1});
    let block = assistant("o", "mo", json!([{"type": "server_tool_use", "id": "q"}]), 4);
    let mixed = assistant("p", "mp", json!([{"type": "text", "text": "t"}, {"type": "odd", "v": 1}]), 1);
    let read = read_lines(&[new.clone(), bare, json!({"no": "type"}), block, mixed]);
    assert_eq!(read.keys(), ["n:unknown", "1:unknown", "2:unknown", "o:unknown", "o:usage", "p:resp"]);
    assert_eq!(read.get("n:unknown").result, exact(&new));
    let counted: Vec<(&str, u64)> = read.report.unknown.iter().map(|(kind, n)| (kind.as_str(), *n)).collect();
    assert_eq!(counted, [("", 1), ("assistant", 1), ("hologram", 2)]);
    let others = read.get("p:resp").environment.get("other_blocks").unwrap();
    assert_eq!(others, &exact(&json!([{"type": "odd", "v": 1}])));
}

#[test]
fn bookkeeping_is_told_when_it_says_something_new() {
    let read = read_lines(&[
        json!({"type": "summary", "summary": "A", "leafUuid": "x"}),
        json!({"type": "summary", "summary": "A", "leafUuid": "x"}),
        json!({"type": "custom-title", "customTitle": "B"}),
        json!({"type": "summary", "summary": "C"}),
        json!({"type": "progress", "data": {}}),
        json!({"type": "queue-operation", "operation": "enqueue"}),
        json!({"type": "file-history-snapshot", "snapshot": {}}),
        line("system", "k", json!({"subtype": "compact_boundary", "content": "Conversation compacted"})),
    ]);
    assert_eq!(read.keys(), ["0:summary", "2:custom-title", "3:summary", "k:system"]);
    assert_eq!(read.get("k:system").summary, "system: compact_boundary");
    assert!(read.report.unknown.is_empty());
}

#[test]
fn the_mode_says_who_approved() {
    let reply = |uuid: &str| assistant(uuid, uuid, json!([{"type": "text", "text": "yes"}]), 1);
    let mut prompt = user("u", json!("go"));
    prompt["permissionMode"] = json!("plan");
    let read = read_lines(&[
        reply("a"),
        json!({"type": "permission-mode", "permissionMode": "default"}),
        reply("b"),
        json!({"type": "mode", "mode": "acceptEdits"}),
        reply("c"),
        prompt,
        reply("d"),
    ]);
    let authority = |key: &str| {
        let authority = &read.get(key).authority;
        (authority.kind, authority.policy_reference.clone())
    };
    assert_eq!(authority("a:resp"), ("autonomous", String::new()));
    assert_eq!(authority("b:resp"), ("policy", "permission_mode=default".into()));
    assert_eq!(authority("c:resp"), ("autonomous", "permission_mode=acceptEdits".into()));
    assert_eq!(authority("d:resp"), ("policy", "permission_mode=plan".into()));
}

#[test]
fn a_call_is_open_as_long_as_its_result_may_come() {
    let two = assistant(
        "a",
        "m",
        json!([{"type": "tool_use", "id": "t1", "name": "X", "input": {}},
               {"type": "tool_use", "id": "t2", "name": "X", "input": {}}]),
        1,
    );
    let three = assistant("b", "m", json!([{"type": "tool_use", "id": "t3", "name": "X", "input": {}}]), 1);
    let open = |lines: &[Value]| -> Vec<String> {
        let open = |action: &Action| action.open && action.kind == ActionKind::Tool;
        read_lines(lines).actions.into_iter().filter(open).map(|action| action.key).collect()
    };
    let mut lines = vec![two, three];
    assert_eq!(open(&lines), ["a:0", "a:1", "b:0"]);
    lines.push(result("r", "t2", json!("ok"), json!({})));
    lines.push(json!({"type": "progress"}));
    assert_eq!(open(&lines), ["a:0", "b:0"]);
    let mut go_on = lines.clone();
    go_on.push(assistant("c", "n", json!([{"type": "text", "text": "never mind"}]), 1));
    assert!(open(&go_on).is_empty());
    lines.push(user("u", json!("stop")));
    assert!(open(&lines).is_empty());
}
