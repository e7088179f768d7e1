//! Requests, messages and calls.

use super::build::*;
use crate::jsonl_support::*;
use capsid_model::exact::ExactJson;
use capsid_model::{Value, json};
use capsid_transcript::{ActionKind, Tool, codex};

#[test]
fn the_session_and_the_turn_give_the_environment() {
    let read = read_lines(&[
        meta(json!({"git": {"commit_hash": "c0", "branch": "b"}, "base_instructions": {"text": "obey"},
            "instructions": "be kind"})),
        line(
            "turn_context",
            json!({"model": "g1", "approval_policy": "on-request", "sandbox_policy": "read-only",
            "effort": "high", "summary": "", "timezone": null}),
        ),
        asked("<environment_context>\n<cwd>/w</cwd>"),
        asked("work"),
        call("c1", "shell", json!({"command": ["ls", "-l"], "cmd": "no"})),
        line(
            "turn_context",
            json!({"model": "g2", "approval_policy": "never", "sandbox_policy": {"mode": "x"}}),
        ),
        call("c2", "read", json!({"path": "/f"})),
    ]);
    assert_eq!(read.keys(), ["sysprompt:0", "instructions:0", "msg:2", "c1", "c2"]);
    let first = read.get("sysprompt:0");
    assert_eq!(
        (first.analysis.as_str(), first.prompt.as_str(), first.kind),
        ("obey", "", ActionKind::System)
    );
    assert_eq!(first.summary, "session base instructions (system prompt)");
    let c1 = read.get("c1");
    let expected = json!({"cwd": "/w", "cli_version": "0.80.0", "originator": "cli", "model_provider": "",
        "forked_from_id": "", "git_sha": "c0", "git_branch": "b", "git_origin_url": "", "model": "g1",
        "approval_policy": "on-request", "sandbox_policy": "read-only", "reasoning_effort": "high",
        "timestamp": "2026-06-01T10:00:00.000Z", "call_id": "c1"});
    assert_eq!(ExactJson::from(c1.environment.clone()), exact(&expected));
    assert_eq!((c1.prompt.as_str(), c1.model.as_str()), ("work", "g1"));
    assert_eq!(
        (c1.authority.kind, c1.authority.policy_reference.as_str()),
        ("policy", "approval_policy=on-request")
    );
    assert_eq!(c1.summary, "shell: ls -l");
    let c2 = read.get("c2");
    assert_eq!(
        (c2.authority.kind, c2.authority.policy_reference.as_str()),
        ("autonomous", "approval_policy=never")
    );
    assert_eq!(c2.environment.get("sandbox_policy").unwrap().text("mode"), Some("x"));
}

#[test]
fn every_kind_of_call_is_told_with_its_output() {
    let patch = "*** Begin Patch\n*** Add File: a\n+x\n*** End Patch";
    let read = read_lines(&[
        item(json!({"type": "custom_tool_call", "call_id": "c1", "name": "apply_patch", "input": patch})),
        item(json!({"type": "custom_tool_call_output", "call_id": "c1", "output": "Success."})),
        item(
            json!({"type": "local_shell_call", "call_id": "c2", "action": {"type": "exec", "command": ["ls"]}}),
        ),
        output("c2", json!([{"type": "input_text", "text": "a"}, {"type": "input_text", "text": "b"}])),
        item(json!({"type": "function_call", "name": "f", "arguments": "not json"})),
        call("c3", "apply_patch", json!({"input": patch})),
        output("c3", json!({"output": "bad context", "metadata": {"exit_code": 1}})),
        call("c4", "view", json!({"path": "/f"})),
        output("c4", json!({"content": "gone", "success": false})),
        output("c9", json!("of nobody")),
        item(
            json!({"type": "image_generation_call", "id": "i1", "revised_prompt": "a pear", "result": "AAAA"}),
        ),
        said("done"),
    ]);
    assert_eq!(read.keys(), ["c1", "c2", "call:4", "c3", "c4", "output:9", "i1", "msg:11"]);
    assert_eq!(read.result("c1"), &"--- added: a\n+x".into());
    assert_eq!(read.get("c1").side_effects, ["added a"]);
    assert!(read.get("c1").summary.ends_with("*** End Patch (+1/-0)"));
    assert_eq!(read.get("c1").call.as_ref().unwrap().arguments.text("input"), Some(patch));
    assert_eq!((read.get("c2").summary.as_str(), read.result("c2")), ("local_shell: ls", &"a\nb".into()));
    assert_eq!(read.get("call:4").call.as_ref().unwrap().arguments, exact(&json!({"_raw": "not json"})));
    assert_eq!(read.get("call:4").summary, "f call");
    let failed = read.get("c3");
    assert!(
        failed.has_failed()
            && failed.side_effects.is_empty()
            && failed.summary.ends_with(" (+1/-0) (failed)")
    );
    assert_eq!(read.result("c3"), &"bad context".into());
    assert!(read.get("c4").has_failed());
    assert_eq!(read.get("output:9").result.text("output"), Some("of nobody"));
    assert_eq!(read.result("i1").get("base64_length").unwrap().as_i64(), Some(4));
}

#[test]
fn searches_are_told_once() {
    let read = read_lines(&[
        item(
            json!({"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "q"}}),
        ),
        event(json!({"type": "web_search_end", "call_id": "ws_1", "query": "q"})),
        event(json!({"type": "web_search_end", "call_id": "ws_2", "query": "r"})),
        item(
            json!({"type": "web_search_call", "id": "ws_3", "status": "failed", "action": {"type": "open_page", "url": "u"}}),
        ),
    ]);
    assert_eq!(read.keys(), ["websearch:0", "ws_2", "ws_3"]);
    assert_eq!(read.result("websearch:0"), &exact(&json!({"query": "q", "status": "completed"})));
    assert_eq!(read.result("ws_2"), &exact(&json!({"query": "r"})));
    assert_eq!(read.get("ws_3").summary, "web_search: u (failed)");
    assert!(read.get("ws_3").has_failed());
}

#[test]
fn a_message_in_two_forms_is_told_once() {
    let read = read_lines(&[
        asked("go"),
        said_event("OK"),
        said("OK"),
        said("OK"),
        said_event("OK"),
        said_event("OK"),
        asked("again"),
        said("OK"),
    ]);
    assert_eq!(read.keys(), ["msg:1", "msg:3", "msg:5", "msg:7"]);
    assert_eq!(read.get("msg:7").prompt, "again");
    assert_eq!(read.get("msg:1").result, "OK".into());
}

#[test]
fn thinking_goes_to_the_next_action_and_is_told_once() {
    let raw = |text: &str| event(json!({"type": "agent_reasoning_raw_content", "text": text}));
    let both =
        item(json!({"type": "reasoning", "summary": [{"text": "short"}], "content": [{"text": "long"}]}));
    let read = read_lines(&[
        event(json!({"type": "agent_reasoning", "text": "plan"})),
        thought("plan"),
        event(json!({"type": "agent_reasoning", "text": "only an event"})),
        event(json!({"type": "agent_reasoning", "text": "short"})),
        both,
        raw("long"),
        call("c1", "f", json!({})),
        item(json!({"type": "reasoning", "summary": [], "encrypted_content": "gAAA"})),
        said("done"),
        raw("late"),
        said("more"),
        item(json!({"type": "reasoning", "summary": [], "content": [{"text": "late"}]})),
        said("end"),
    ]);
    assert_eq!(read.get("c1").reasoning, "plan\n\nonly an event\n\nlong");
    assert_eq!(read.get("msg:8").reasoning, "");
    assert_eq!(read.get("msg:8").environment.get("thinking_redacted"), Some(&true.into()));
    assert_eq!(read.get("msg:10").reasoning, "late");
    assert_eq!(read.get("msg:12").reasoning, "");
}

#[test]
fn thinking_that_leads_to_nothing_is_kept() {
    let end = event(json!({"type": "task_complete"}));
    let lines = [thought("a"), end, asked("go"), thought("b"), thought("c")];
    let read = read_lines(&lines);
    assert_eq!(read.keys(), ["reasoning:2", "reasoning:5", "prompt:2"]);
    assert!(!read.get("reasoning:2").open);
    let last = read.get("reasoning:5");
    assert!(last.open, "an action may still follow");
    assert_eq!(
        (last.reasoning.as_str(), last.summary.as_str()),
        ("b\n\nc", "model reasoning (no following action)")
    );
}

#[test]
fn tokens_are_those_of_each_answer() {
    let only_total =
        event(json!({"type": "token_count", "info": {"total_token_usage": {"input_tokens": 190}}}));
    let read = read_lines(&[
        tokens(10, 10),
        call("c1", "f", json!({})),
        tokens(40, 30),
        tokens(40, 30),
        event(json!({"type": "token_count", "info": null, "rate_limits": {"primary": 9}})),
        line("compacted", json!({"message": "short"})),
        tokens(90, 50),
        said("done"),
        tokens(150, 60),
        only_total,
    ]);
    assert_eq!(read.keys(), ["usage:0", "c1", "compact:5", "msg:7"]);
    assert_eq!(read.sum("input_tokens"), 190, "the sum is the last total");
    let c1 = read.get("c1");
    assert_eq!(
        ExactJson::from(c1.usage.clone()),
        exact(&json!({"input_tokens": 80, "output_tokens": 2, "model_context_window": 1000}))
    );
    assert_eq!(c1.environment.get("rate_limits"), Some(&exact(&json!({"primary": {"used_percent": 50}}))));
    assert_eq!(read.get("compact:5").analysis, "short");
    assert_eq!(read.get("usage:0").summary, "token usage");
}

#[test]
fn the_rest_is_noted_or_kept_verbatim() {
    let new = item(json!({"type": "hologram", "x": [1.0]}));
    let read = read_lines(&[
        item(json!({"type": "ghost_snapshot", "ghost_commit": {"id": "abc"}})),
        event(json!({"type": "turn_aborted", "reason": "interrupted"})),
        event(json!({"type": "entered_review_mode"})),
        event(json!({"type": "exec_command_end", "stdout": "x"})),
        item(json!({"type": "message", "role": "developer", "content": [{"text": "rules"}]})),
        item(json!({"type": "message", "role": "developer", "content": [{"text": "rules"}]})),
        new.clone(),
        event(json!({"type": "flash"})),
        json!({"timestamp": "t", "type": "world_state", "payload": {}}),
        item(json!({"type": "compaction", "encrypted_content": "gAAA"})),
    ]);
    let expected = [
        "snapshot:0",
        "aborted:1",
        "event:2",
        "event:3",
        "msg:4",
        "6:unknown",
        "7:unknown",
        "8:unknown",
        "compact:9",
    ];
    assert_eq!(read.keys(), expected);
    assert_eq!(read.get("snapshot:0").summary, "ghost_snapshot: abc");
    assert_eq!(read.get("aborted:1").summary, "turn aborted: interrupted");
    assert_eq!(
        (read.get("msg:4").summary.as_str(), read.get("msg:4").analysis.as_str()),
        ("developer instructions", "rules")
    );
    assert_eq!(read.get("6:unknown").result, exact(&new));
    let counted: Vec<&str> = read.report.unknown.keys().map(String::as_str).collect();
    assert_eq!(counted, ["event_msg/flash", "response_item/hologram", "world_state"]);
    assert!(read.actions.iter().all(|action| action.kind == ActionKind::System));
}

#[test]
fn a_session_is_finished_when_its_task_is_and_nothing_follows() {
    let end = event(json!({"type": "task_complete"}));
    assert!(read_lines(&[asked("go"), said("done"), end.clone(), tokens(1, 1)]).report.finished);
    assert!(!read_lines(&[asked("go"), said("done")]).report.finished);
    assert!(!read_lines(&[said("done"), end.clone(), asked("more")]).report.finished);
    assert!(!read_lines(&[said("done"), end, said("oh, and")]).report.finished);
}

#[test]
fn a_call_is_open_as_long_as_its_output_may_come() {
    let open = |lines: &[Value]| -> Vec<String> {
        read_lines(lines).actions.into_iter().filter(|action| action.open).map(|action| action.key).collect()
    };
    let mut lines = vec![asked("go"), call("c1", "f", json!({})), call("c2", "f", json!({})), tokens(1, 1)];
    assert_eq!(open(&lines), ["c1", "c2"]);
    lines.push(output("c2", json!("x")));
    assert_eq!(open(&lines), ["c1"]);
    for after in [
        said("x"),
        thought("x"),
        call("c3", "f", json!({})),
        asked("y"),
        event(json!({"type": "turn_aborted"})),
    ] {
        let mut more = lines.clone();
        more.push(after);
        assert!(!open(&more).contains(&"c1".to_owned()));
    }
}

#[test]
fn the_first_format_is_read_too() {
    let lines = [
        json!({"id": "s1", "timestamp": "t", "instructions": null, "git": {"branch": "b"}}),
        json!({"record_type": "state"}),
        json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "go"}]}),
        json!({"type": "function_call", "name": "shell", "arguments": "{\"command\":[\"ls\"]}", "call_id": "c1"}),
        json!({"type": "function_call_output", "call_id": "c1", "output": "{\"output\":\"a\",\"metadata\":{\"exit_code\":0}}"}),
        json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "done"}]}),
    ];
    let transcript = Transcript::new(Tool::Codex, &lines);
    let read = transcript.read();
    assert_eq!(read.keys(), ["c1", "msg:5"]);
    assert_eq!((read.get("c1").prompt.as_str(), read.result("c1")), ("go", &"a".into()));
    assert_eq!(read.get("c1").environment.get("git_branch"), Some(&"b".into()));
    assert_eq!(codex::session_id(&transcript.path).as_deref(), Some("s1"));
    let none = Transcript::new(Tool::Codex, &[said("x"), meta(json!({}))]);
    assert_eq!(codex::session_id(&none.path), None);
}
