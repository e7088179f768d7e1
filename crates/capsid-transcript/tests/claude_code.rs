//! Claude Code's transcripts, rule by rule.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]
#![allow(clippy::disallowed_methods, clippy::needless_pass_by_value)]

mod jsonl_support;

use capsid_model::exact::Json;
use capsid_model::{Value, json};
use capsid_transcript::{Kind, Tool};
use jsonl_support::{Read, Transcript, exact, grows, stands_damage, text};

const TIME: &str = "2026-06-01T10:00:00.000Z";

fn line(kind: &str, uuid: &str, more: Value) -> Value {
    let mut line = json!({"type": kind, "uuid": uuid, "sessionId": "s1", "cwd": "/w", "timestamp": TIME,
        "isSidechain": false, "version": "2.1", "gitBranch": "main", "parentUuid": null});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

fn user(uuid: &str, content: Value) -> Value {
    line("user", uuid, json!({"message": {"role": "user", "content": content}}))
}

fn assistant(uuid: &str, message: &str, content: Value, output_tokens: u64) -> Value {
    line(
        "assistant",
        uuid,
        json!({"message": {"id": message, "model": "m", "content": content, "stop_reason": null,
            "usage": {"input_tokens": 10, "output_tokens": output_tokens}}}),
    )
}

fn call(uuid: &str, id: &str, tool: &str, input: Value) -> Value {
    assistant(uuid, uuid, json!([{"type": "tool_use", "id": id, "name": tool, "input": input}]), 1)
}

fn result(uuid: &str, id: &str, content: Value, payload: Value) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
    let message = json!({"role": "user", "content": [block]});
    line(
        "user",
        uuid,
        json!({"message": message, "toolUseResult": payload, "timestamp": "2026-06-01T10:00:02Z"}),
    )
}

fn read(lines: &[Value]) -> Read {
    Transcript::new(Tool::ClaudeCode, lines).read()
}

/// The summary, the result, the payload and the side effects of one call.
fn one_call(tool: &str, input: Value, content: Value, payload: Value) -> (String, Json, Json, Vec<String>) {
    let read = read(&[call("a", "t", tool, input), result("r", "t", content, payload)]);
    assert_eq!(read.keys(), ["a:0"]);
    let action = read.get("a:0").clone();
    assert_eq!(action.call.as_ref().unwrap().duration_ms, Some(2000));
    (action.summary, action.call.unwrap().result, action.result, action.side_effects)
}

#[test]
fn an_edit_shows_its_diff_and_leaves_the_whole_file_out() {
    let hunk = json!({"oldStart": 3, "oldLines": 1, "newStart": 3, "newLines": 2, "lines": ["-a", "+b", "+c", " d"]});
    let payload =
        json!({"filePath": "/f", "originalFile": "a\nd", "structuredPatch": [hunk], "userModified": false});
    let (summary, result, payload, effects) =
        one_call("MultiEdit", json!({"file_path": "/f"}), json!("done"), payload);
    assert_eq!(summary, "MultiEdit: /f (+2/-1)");
    assert_eq!(result, "@@ -3,1 +3,2 @@\n-a\n+b\n+c\n d".into());
    assert!(payload.get("originalFile").is_none() && payload.get("structuredPatch").is_some());
    assert_eq!(effects, ["edited /f"]);
    let payload = json!({"structuredPatch": [], "userModified": true});
    let (summary, result, _, effects) =
        one_call("Write", json!({"file_path": "/n"}), json!("created"), payload);
    assert_eq!((summary.as_str(), result), ("Write: /n", "created".into()));
    assert_eq!(effects, ["wrote /n", "user modified after"]);
    let notebook = json!({"original_file": "{}", "updated_file": "{}", "new_source": "x"});
    let (_, result, payload, effects) =
        one_call("NotebookEdit", json!({"notebook_path": "/n.ipynb"}), json!("ok"), notebook);
    assert_eq!((result, payload, effects.len()), ("ok".into(), exact(&json!({"new_source": "x"})), 0));
}

#[test]
fn what_a_tool_gave_is_shaped_by_the_tool() {
    let bash = |payload: Value| one_call("Bash", json!({"command": "make\n all"}), json!("raw"), payload);
    let (summary, result, ..) = bash(json!({"stdout": "out", "stderr": "err", "interrupted": true}));
    assert_eq!((summary.as_str(), result), ("Bash: make  all (interrupted)", "out\n[stderr]\nerr".into()));
    let (summary, result, ..) = bash(json!({"stdout": "", "stderr": ""}));
    assert_eq!((summary.as_str(), result), ("Bash: make  all", "".into()));
    let (_, result, payload, _) = bash(json!("Error: text"));
    assert_eq!((result, payload), ("raw".into(), exact(&json!({}))));

    let file = json!({"type": "text", "file": {"content": "x\ny", "numLines": 2}});
    let (summary, result, ..) = one_call("Read", json!({"file_path": "/f"}), json!("1 x"), file);
    assert_eq!((summary.as_str(), result), ("Read: /f (2 lines)", "x\ny".into()));

    let pages: Vec<Value> = (0..40).map(|n| json!({"url": format!("u{n}")})).collect();
    let payload = json!({"query": "q", "results": [{"content": pages}, "text", {"content": "none"}]});
    let (summary, result, ..) = one_call("WebSearch", json!({"query": "q"}), json!(""), payload);
    assert_eq!(summary, "WebSearch: q (40 results)");
    assert_eq!(result.get("urls").unwrap().as_array().unwrap().len(), 30);

    let payload = json!({"code": 404, "result": "gone"});
    let (summary, result, ..) =
        one_call("WebFetch", json!({"url": "u", "prompt": "p"}), json!("raw"), payload);
    assert_eq!((summary.as_str(), result), ("WebFetch: u (HTTP 404)", "gone".into()));

    let stats = json!({"editFileCount": 2, "linesAdded": 14, "linesRemoved": 3});
    let payload =
        json!({"agentType": "Explore", "totalToolUseCount": 9, "toolStats": stats, "content": [{}, {}]});
    let (summary, _, payload, effects) =
        one_call("Agent", json!({"description": "look"}), json!("raw"), payload);
    assert_eq!(summary, "Agent: look [Explore: 2 edits, +14/-3, 9 tool calls]");
    assert_eq!(effects, ["delegated to Explore subagent (2 messages)"]);
    assert!(payload.get("content").is_none());
    assert_eq!(payload.get("subagent_message_count").unwrap().as_i64(), Some(2));
    let (summary, ..) = one_call("Task", json!({"subagent_type": "Plan"}), json!("raw"), json!({}));
    assert_eq!(summary, "Task call [Plan: 0 edits, +0/-0, 0 tool calls]");

    let (summary, result, ..) =
        one_call("mcp__x__y", json!({}), json!([{"type": "text", "text": "z"}]), json!([]));
    assert_eq!(summary, "mcp__x__y call");
    assert_eq!(result, exact(&json!([{"type": "text", "text": "z"}])));
}

#[test]
fn images_and_very_long_results_are_cut() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(999)}});
    let file =
        json!({"type": "image", "file": {"base64": "A".repeat(999), "type": "image/png", "originalSize": 7}});
    let (_, result, payload, _) = one_call("Read", json!({"file_path": "/i.png"}), json!([image]), file);
    let left = exact(&json!({"type": "image", "media_type": "image/png", "base64_length": 999}));
    assert_eq!(result, Json::from(vec![left.clone()]));
    assert_eq!(payload.get("file"), Some(&left));
    let (_, result, payload, _) =
        one_call("Grep", json!({}), json!("ü".repeat(200_009)), json!({"content": "x".repeat(200_000)}));
    assert!(result.as_str().unwrap().ends_with("ü...<+9b>"));
    let cut = payload.text("_truncated").unwrap();
    assert!(
        cut.starts_with("{\"content\": \"xxx") && cut.ends_with("x...<+15b>"),
        "{}",
        &cut[cut.len() - 20..]
    );
}

#[test]
fn a_failure_is_one() {
    let failed = json!({"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": true});
    let read = read(&[call("a", "t", "Bash", json!({"command": "x"})), user("r", json!([failed]))]);
    let action = read.get("a:0");
    assert!(action.failed && !action.open);
    assert_eq!(action.summary, "Bash: x (error)");
}

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
    let got = read(&lines);
    assert_eq!(got.keys(), ["b:resp", "c:0", "d:resp", "f:usage"]);
    assert_eq!(got.get("b:resp").usage.get("output_tokens").unwrap().as_i64(), Some(77));
    assert!(got.get("c:0").usage.is_empty());
    assert_eq!((got.sum("output_tokens"), got.sum("input_tokens")), (77 + 5 + 3, 30));
    assert!(!got.get("f:usage").open);
    assert!(read(&lines[..7]).get("f:usage").open, "the message may go on");
    let environment = &got.get("b:resp").environment;
    assert_eq!(environment.get("thinking_blocks").unwrap().as_i64(), Some(1));
    assert_eq!(environment.get("thinking_signatures"), Some(&Json::from(vec!["s".repeat(24)])));
    assert_eq!(environment.get("thinking_redacted"), Some(&true.into()));
    assert_eq!(got.get("c:0").environment.get("thinking_redacted"), Some(&false.into()));
    assert_eq!(environment.get("stop_reason"), Some(&Json::Null), "null stays null");
    assert_eq!(environment.get("request_id"), Some(&"".into()), "what is missing is empty");
}

#[test]
fn what_a_fork_repeats_is_not_counted() {
    let mut repeated = assistant("a", "m1", json!([{"type": "text", "text": "hm"}]), 5);
    repeated["forkedFrom"] = json!({"sessionId": "s0", "messageUuid": "a"});
    let read = read(&[repeated, assistant("b", "m2", json!([{"type": "text", "text": "new"}]), 3)]);
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
    let said = |uuid: &str| assistant(uuid, uuid, json!([{"type": "text", "text": "yes"}]), 1);
    let read = read(&[
        user("p", json!([image, {"type": "text", "text": "count"}, {"type": "text", "text": "second"}])),
        said("a"),
        side,
        side_answer,
        meta,
        compact,
        user("i", json!([{"type": "text", "text": "[Request interrupted by user for tool use]"}])),
        said("b"),
    ]);
    assert_eq!(read.keys(), ["a:resp", "x:resp", "m:meta", "c:compact", "i:interrupted", "b:resp"]);
    assert_eq!(read.get("b:resp").prompt, "count");
    assert_eq!(read.get("x:resp").prompt, "look for pears");
    assert_eq!(read.get("x:resp").agent_id, "claude-code-subagent");
    assert_eq!(read.get("m:meta").result, "<caveat>".into());
    assert_eq!(read.get("m:meta").kind, Kind::System);
}

#[test]
fn attachments_of_any_form_are_kept() {
    let read = read(&[
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
fn a_result_without_a_call_is_kept() {
    let read = read(&[result("r", "gone", json!("late"), json!({"a": 1}))]);
    let action = read.get("r:result:0");
    assert_eq!(action.kind, Kind::System);
    assert_eq!(action.result.at(&["tool_result", "content"]), Some(&"late".into()));
    assert_eq!(action.result.at(&["tool_use_result", "a"]).unwrap().as_i64(), Some(1));
}

#[test]
fn what_is_not_known_is_kept_verbatim_and_counted() {
    let new = line("hologram", "n", json!({"beam": [1, 2.5, null]}));
    let bare = json!({"type": "hologram", "x": 1});
    let block = assistant("o", "mo", json!([{"type": "server_tool_use", "id": "q"}]), 4);
    let mixed = assistant("p", "mp", json!([{"type": "text", "text": "t"}, {"type": "odd", "v": 1}]), 1);
    let read = read(&[new.clone(), bare, json!({"no": "type"}), block, mixed]);
    assert_eq!(read.keys(), ["n:unknown", "1:unknown", "2:unknown", "o:unknown", "o:usage", "p:resp"]);
    assert_eq!(read.get("n:unknown").result, exact(&new));
    let counted: Vec<(&str, u64)> = read.report.unknown.iter().map(|(kind, n)| (kind.as_str(), *n)).collect();
    assert_eq!(counted, [("", 1), ("assistant", 1), ("hologram", 2)]);
    let others = read.get("p:resp").environment.get("other_blocks").unwrap();
    assert_eq!(others, &exact(&json!([{"type": "odd", "v": 1}])));
}

#[test]
fn bookkeeping_is_told_when_it_says_something_new() {
    let read = read(&[
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
    let said = |uuid: &str| assistant(uuid, uuid, json!([{"type": "text", "text": "yes"}]), 1);
    let mut asked = user("u", json!("go"));
    asked["permissionMode"] = json!("plan");
    let read = read(&[
        said("a"),
        json!({"type": "permission-mode", "permissionMode": "default"}),
        said("b"),
        json!({"type": "mode", "mode": "acceptEdits"}),
        said("c"),
        asked,
        said("d"),
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
        read(lines).actions.into_iter().filter(|action| action.open).map(|action| action.key).collect()
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

#[test]
fn broken_lines_cost_themselves_only() {
    let good = assistant("a", "m", json!([{"type": "text", "text": "fine"}]), 1).to_string();
    let lone = good.replace("fine", "\\ud83d!").replace("\"a\"", "\"l\"");
    let mut bytes = format!("{good}\n{{\"type\":\"assist\n\n[1]\n{lone}\nno json\n").into_bytes();
    bytes.extend(good.replace("\"a\"", "\"z\"").replace("fine", "x\u{1}").replace('\u{1}', "").as_bytes());
    bytes.extend(b"\n\xff\xfe\n");
    let half = &good.replace("\"a\"", "\"h\"")[..60];
    bytes.extend(half.as_bytes());
    let read = Transcript::raw(Tool::ClaudeCode, &bytes).read();
    assert_eq!(read.keys(), ["a:resp", "l:resp", "z:resp"]);
    assert_eq!(read.get("l:resp").analysis, "\u{fffd}!");
    assert_eq!(read.report.broken, 4, "half a last line is not broken");
    let whole = good.replace("\"a\"", "\"h\"");
    let read = Transcript::raw(Tool::ClaudeCode, whole.as_bytes()).read();
    assert_eq!(read.keys(), ["h:resp"], "a whole last line needs no newline");
}

#[test]
fn a_lone_surrogate_in_a_result_does_not_part_it_from_its_call() {
    let lines = text(&[call("a", "t", "X", json!({})), result("r", "t", json!("MARK"), json!({}))]);
    let lines = lines.replace("MARK", "\\udc00 and more");
    let read = Transcript::raw(Tool::ClaudeCode, lines.as_bytes()).read();
    assert_eq!(read.result("a:0"), &"\u{fffd} and more".into());
}

#[test]
fn a_line_that_is_too_long_is_told() {
    let mut bytes = text(&[call("a", "t", "X", json!({}))]).into_bytes();
    bytes.extend(b"{\"type\":\"user\",\"x\":\"");
    bytes.extend(vec![b'x'; 17 << 20]);
    bytes.extend(b"\"}\n");
    bytes.extend(text(&[assistant("b", "m", json!([{"type": "text", "text": "on"}]), 1)]).as_bytes());
    let read = Transcript::raw(Tool::ClaudeCode, &bytes).read();
    assert_eq!(read.keys(), ["a:0", "1:long", "b:resp"]);
    assert_eq!(read.report.broken, 1);
}

#[test]
fn nesting_does_no_harm() {
    let deep = format!("{}1{}", "[".repeat(900), "]".repeat(900));
    let line = call("a", "t", "X", json!({"deep": "MARK"})).to_string().replace("\"MARK\"", &deep);
    let answer = result("r", "t", json!("MARK"), json!({})).to_string().replace("\"MARK\"", &deep);
    let read = Transcript::raw(Tool::ClaudeCode, format!("{line}\n{answer}\n").as_bytes()).read();
    assert!(read.result("a:0").as_array().is_some());
    let worse =
        call("a", "t", "X", json!({"deep": "MARK"})).to_string().replace("\"MARK\"", &"[".repeat(100_000));
    assert_eq!(Transcript::raw(Tool::ClaudeCode, format!("{worse}\n").as_bytes()).read().report.broken, 1);
}

fn side(mut lines: Vec<Value>, agent: &str) -> String {
    for line in &mut lines {
        line["isSidechain"] = json!(true);
        line["agentId"] = json!(agent);
    }
    text(&lines)
}

#[test]
fn subagents_are_read_after_the_calls_that_started_them() {
    let said =
        |uuid: &str, message: &str| assistant(uuid, message, json!([{"type": "text", "text": uuid}]), 7);
    let main = [
        user("p", json!("main task")),
        call("a", "t1", "Task", json!({"description": "one"})),
        call("b", "t2", "Task", json!({"description": "two"})),
        result("r2", "t2", json!("done"), json!({"agentId": "two"})),
        said("z", "mz"),
    ];
    let one = vec![
        user("1p", json!("sub task")),
        said("1a", "m1"),
        call("1b", "t3", "Task", json!({"description": "nested"})),
        said("z", "mz"),
    ];
    let nested =
        vec![said("3a", "m3"), json!({"type": "assistant", "message": {"id": "mn", "content": "no uuid"}})];
    let meta =
        |call: &str| json!({"agentType": "Explore", "description": "d", "toolUseId": call}).to_string();
    let transcript = Transcript::new(Tool::ClaudeCode, &main)
        .with("s1/subagents/agent-one.jsonl", side(one, "one"))
        .with("s1/subagents/agent-one.meta.json", meta("t1"))
        .with("s1/subagents/agent-two.jsonl", side(vec![said("2a", "m2"), said("2b", "m2")], "two"))
        .with("s1/subagents/deeper/agent-nested.jsonl", side(nested, "nested"))
        .with("s1/subagents/deeper/agent-nested.meta.json", meta("t3"))
        .with("s1/subagents/agent-lost.jsonl", side(vec![said("4a", "m4")], "lost"))
        .with("agent-old.jsonl", side(vec![said("5a", "m5")], "old"))
        .with("agent-foreign.jsonl", side(vec![said("6a", "m6")], "foreign").replace("\"s1\"", "\"s2\""));
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

#[test]
fn long_outputs_are_read_from_their_files() {
    let placeholder = "<persisted-output>\nOutput too large (300KB). Full output saved to: /h/s1/tool-results/b1.txt\n\nPreview";
    let windows = json!({"persistedOutputPath": "C:\\h\\s1\\tool-results\\b2.txt", "stdout": "start"});
    let outside = json!({"persistedOutputPath": "../../secret.txt", "stdout": "start"});
    let long = "line\n".repeat(60_000);
    let transcript = Transcript::new(
        Tool::ClaudeCode,
        &[
            call("a", "t1", "Bash", json!({"command": "x"})),
            result("r1", "t1", json!(placeholder), json!({"stdout": "start"})),
            call("b", "t2", "Bash", json!({"command": "y"})),
            result("r2", "t2", json!("x"), windows),
            call("c", "t3", "Bash", json!({"command": "z"})),
            result("r3", "t3", json!("x"), outside),
        ],
    )
    .with("s1/tool-results/b1.txt", &long)
    .with("s1/tool-results/b2.txt", "whole")
    .with("secret.txt", "secret");
    let read = transcript.read();
    assert!(read.result("a:0").as_str().unwrap().ends_with("...<+100000b>"));
    let about = read.get("a:0").result.get("persisted_output").unwrap();
    assert_eq!((about.text("file"), about.get("bytes").unwrap().as_i64()), (Some("b1.txt"), Some(300_000)));
    assert_eq!(about.text("sha256").unwrap().len(), 64);
    assert_eq!(read.result("b:0"), &"whole".into());
    let whole = "5d5766cf2d78701614200418ee1450690d9af12c84d52545e4802f001ad53099";
    assert_eq!(
        read.get("b:0").result.at(&["persisted_output", "sha256"]).and_then(Json::as_str),
        Some(whole)
    );
    assert_eq!(read.result("c:0"), &"start".into());
}

fn long_talk() -> Vec<Value> {
    vec![
        json!({"type": "permission-mode", "mode": "default"}),
        user("p", json!("task")),
        assistant("a", "m1", json!([{"type": "thinking", "thinking": "", "signature": "s"}]), 1),
        assistant("b", "m1", json!([{"type": "text", "text": "look 🍐"}]), 1),
        assistant(
            "c",
            "m1",
            json!([{"type": "tool_use", "id": "t", "name": "Read", "input": {"file_path": "/f"}}]),
            9,
        ),
        result("r", "t", json!("1 x"), json!({"file": {"content": "x", "numLines": 1}})),
        line("attachment", "at", json!({"attachment": {"type": "todo"}})),
        call("d", "t2", "Edit", json!({"file_path": "/f"})),
        result("r2", "t2", json!("ok"), json!({"structuredPatch": [{"oldStart": 1, "lines": ["-x", "+y"]}]})),
        json!({"type": "summary", "summary": "A"}),
        json!({"type": "novelty", "x": [1, {"y": null}]}),
        user("p2", json!([{"type": "text", "text": "thanks"}])),
        assistant("e", "m3", json!([{"type": "text", "text": "bye"}]), 2),
    ]
}

#[test]
fn a_growing_transcript_keeps_its_keys() {
    grows(Tool::ClaudeCode, &long_talk());
}

#[test]
fn damage_never_stops_the_reading() {
    stands_damage(Tool::ClaudeCode, &long_talk());
}

#[test]
fn a_missing_transcript_is_named() {
    let path = std::path::PathBuf::from("no/such.jsonl");
    let source = capsid_transcript::Source {
        tool: Tool::ClaudeCode,
        session: "s".into(),
        path,
        text_transcript: None,
        authorship: None,
        told: capsid_model::fields! {},
    };
    let problem = capsid_transcript::claude_code::read(&source, &mut |_| Ok(())).unwrap_err();
    assert_eq!(problem.code, capsid_model::Code::FileNotFound);
    assert!(problem.message.contains("no/such.jsonl"));
}
