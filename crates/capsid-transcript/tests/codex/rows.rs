//! What was lost before: each test is named after what the reader keeps now.

use super::build::*;
use crate::jsonl_support::*;
use capsid_model::exact::ExactJson;
use capsid_model::{Value, json};
use capsid_transcript::{Action, ActionKind, DropReason, Tool};

fn at(seconds: u32, mut line: Value) -> Value {
    line["timestamp"] = json!(format!("2026-06-01T10:00:{seconds:02}.500Z"));
    line
}

#[test]
fn codex_patch_without_end_marker_goes_to_the_end_of_the_text_and_is_noted() {
    let input = json!({"input": "*** Begin Patch\n*** Update File: a\n-x\n+y\n"});
    let read = read_lines(&[call("c", "apply_patch", input), output("c", json!("Done"))]);
    let action = read.get("c");
    assert_eq!(read.result("c"), &"--- edited: a\n-x\n+y".into());
    assert_eq!(action.summary, "apply_patch: *** Begin Patch *** Update File: a -x +y (+1/-1)");
    assert_eq!(action.side_effects, ["edited a"]);
    assert_eq!(action.environment.get("patch_unterminated"), Some(&true.into()));
}

#[test]
fn codex_environment_context_and_other_set_up_messages_are_system_records() {
    let context = "<environment_context>\n<cwd>/w</cwd>";
    let read = read_lines(&[
        asked(context),
        asked("# AGENTS.md instructions for /w"),
        asked(context),
        asked("go"),
        said("ok"),
    ]);
    assert_eq!(read.keys(), ["msg:0", "msg:1", "msg:4"]);
    let first = read.get("msg:0");
    assert_eq!((first.kind, first.trigger.name()), (ActionKind::System, "system"));
    assert_eq!((first.analysis.as_str(), first.prompt.as_str()), (context, ""));
    assert_eq!(read.get("msg:4").prompt, "go");
}

#[test]
fn codex_images_of_a_user_message_are_counted() {
    let image = format!("data:image/png;base64,{}", "A".repeat(100));
    let content =
        json!([{"type": "input_text", "text": "look"}, {"type": "input_image", "image_url": image}]);
    let read = read_lines(&[
        item(json!({"type": "message", "role": "user", "content": content})),
        said("ok"),
        said("more"),
    ]);
    let environment = &read.get("msg:1").environment;
    assert_eq!(environment.get("images"), Some(&1_i64.into()));
    let other = &environment.get("other").unwrap().as_array().unwrap()[0];
    let image = &other.at(&["payload", "content"]).unwrap().as_array().unwrap()[0];
    assert_eq!(image.at(&["image_url", "base64_length"]), Some(&100_i64.into()));
    assert_eq!(read.get("msg:2").environment.get("images"), None);
}

#[test]
fn codex_end_of_a_command_is_dropped_only_if_its_call_is_in_the_file() {
    let end = |id: &str| event(json!({"type": "exec_command_end", "call_id": id, "stdout": "the output"}));
    let read = read_lines(&[call("c", "shell", json!({})), end("c"), end("other"), output("c", json!("x"))]);
    assert_eq!(read.keys(), ["c", "event:2"]);
    assert_eq!(read.get("event:2").result.text("stdout"), Some("the output"));
    assert_eq!(read.report.dropped.get(&DropReason::Repeated), Some(&1));
}

#[test]
fn codex_plan_update_is_dropped_only_if_a_call_made_the_plan() {
    let plan = json!([{"step": "weigh the plums"}]);
    let update = |plan: Value| event(json!({"type": "plan_update", "plan": plan}));
    let lines = [
        call("c", "update_plan", json!({"plan": plan})),
        output("c", json!("ok")),
        update(plan),
        update(json!([{"step": "another plan"}])),
    ];
    let read = read_lines(&lines);
    assert_eq!(read.keys(), ["c", "event:3"]);
}

#[test]
fn time_of_the_action_and_duration_of_a_codex_call_are_those_of_its_lines() {
    let lines = [
        at(1, asked("go")),
        at(2, call("c", "shell", json!({}))),
        at(5, output("c", json!("x"))),
        at(6, said("ok")),
    ];
    let read = read_lines(&lines);
    let time =
        |action: &Action| action.environment.get("timestamp").and_then(ExactJson::as_str).map(str::to_owned);
    assert_eq!(time(read.get("c")).as_deref(), Some("2026-06-01T10:00:02.500Z"));
    assert_eq!(time(read.get("msg:3")).as_deref(), Some("2026-06-01T10:00:06.500Z"));
    assert_eq!(read.get("c").call.as_ref().unwrap().duration_ms, Some(3000));
    let read = read_lines(&[at(2, call("c", "shell", json!({}))), at(6, said("ok"))]);
    assert_eq!(read.get("c").call.as_ref().unwrap().duration_ms, None, "never 0 where it is not known");
}

#[test]
fn authority_of_a_codex_call_that_was_put_to_a_person_depends_on_what_followed() {
    let request = event(json!({"type": "exec_approval_request", "call_id": "c", "command": ["make"]}));
    let read = |lines: &[Value]| {
        let read = read_lines(lines);
        let authority = &read.get("c").authority;
        (authority.kind, authority.decision.clone())
    };
    let ran = [call("c", "shell", json!({})), request.clone(), output("c", json!("x"))];
    assert_eq!(read(&ran), ("human_approved", String::new()));
    let refused =
        [call("c", "shell", json!({})), request.clone(), output("c", json!("exec command rejected by user"))];
    assert_eq!(read(&refused), ("escalated", "rejected".into()));
    assert_eq!(
        read(&[call("c", "shell", json!({})), request, said("later")]),
        ("escalated", "unknown".into())
    );
}

#[test]
fn codex_line_that_cannot_be_read_and_a_prompt_without_an_answer_are_system_records() {
    let lines = format!(
        "{}{{\"type\": \"response_item\", \"pay\n{}",
        text(&[said("ok")]),
        text(&[asked("the last one")])
    );
    let read = Transcript::raw(Tool::Codex, lines.as_bytes()).read();
    assert_eq!(read.keys(), ["msg:0", "1:broken", "prompt:2"]);
    assert_eq!(read.get("1:broken").result, "{\"type\": \"response_item\", \"pay".into());
    assert!(read.get("prompt:2").open);
    assert_eq!(read.report.noted.get("line that cannot be read"), Some(&1));
}

#[test]
fn codex_encrypted_thinking_is_stored_by_its_hash_and_flagged_only_without_a_text() {
    let item = |summary: Value| {
        item(json!({"type": "reasoning", "summary": summary, "encrypted_content": "gAAAAABsecretthinking"}))
    };
    let read = read_lines(&[item(json!([])), said("ok")]);
    let environment = &read.get("msg:1").environment;
    assert_eq!(environment.get("thinking_redacted"), Some(&true.into()));
    let hashed = &environment.get("thinking_encrypted").unwrap().as_array().unwrap()[0];
    assert_eq!(hashed.get("bytes"), Some(&21_i64.into()));
    let read = read_lines(&[item(json!([{"text": "I weigh."}])), said("ok")]);
    assert_eq!(read.get("msg:1").environment.get("thinking_redacted"), None);
}
