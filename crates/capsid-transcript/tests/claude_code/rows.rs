//! What was lost before: each test is named after what the reader keeps now.

use super::build::*;
use crate::jsonl_support::*;
use capsid_model::exact::ExactJson;
use capsid_model::{Value, json};
use capsid_transcript::{Action, ActionKind, OutcomeStatus, Tool};

fn reply(uuid: &str) -> Value {
    assistant(uuid, uuid, json!([{"type": "text", "text": "yes"}]), 1)
}

fn other(action: &Action) -> &ExactJson {
    action.environment.get("other").unwrap_or(&ExactJson::Null)
}

#[test]
fn claude_code_nan_in_a_result_line_does_not_hide_a_failed_call() {
    let mut failed = result("r", "t", json!("no such tree"), json!({"ratio": "MARK"}));
    failed["message"]["content"][0]["is_error"] = true.into();
    let lines = text(&[call("a", "t", "Bash", json!({"command": "x"})), failed]).replace("\"MARK\"", "NaN");
    let read = Transcript::raw(Tool::ClaudeCode, lines.as_bytes()).read();
    assert_eq!(read.keys(), ["a:0"]);
    assert_eq!(read.get("a:0").status, OutcomeStatus::Failure);
    assert_eq!(read.result("a:0"), &"no such tree".into());
    assert_eq!((read.report.broken, read.get("a:0").open), (0, false));
}

#[test]
fn claude_code_second_text_block_documents_and_text_beside_results_are_kept() {
    let map = json!({"type": "document", "title": "the map of the garden"});
    let prompt = json!([{"type": "text", "text": "count"}, {"type": "text", "text": "and prune"}, map]);
    let read = read_lines(&[user("u", prompt), reply("a")]);
    assert_eq!(read.get("a:resp").prompt, "count\nand prune");
    assert_eq!(
        other(read.get("a:resp")),
        &exact(&json!([{"message": {"content": [{"title": "the map of the garden"}]}}]))
    );
    let beside = json!([{"type": "tool_result", "tool_use_id": "t", "content": "ok"},
        {"type": "text", "text": "leave the old tree alone"}]);
    let lines = [call("a", "t", "Bash", json!({"command": "x"})), user("r", beside), reply("b")];
    assert_eq!(read_lines(&lines).get("b:resp").prompt, "leave the old tree alone");
}

#[test]
fn claude_code_last_prompt_without_an_answer_and_queued_prompts_are_records_at_the_end() {
    let queue = |text: &str| json!({"type": "queue-operation", "operation": "enqueue", "content": text});
    let long = "water the pears and the quinces behind the shed, and then look at the old tree".to_owned();
    let mut lines = vec![
        queue(&long),
        user("u", json!(long)),
        reply("a"),
        queue("never sent at all"),
        json!({"type": "last-prompt", "lastPrompt": format!("{}…", &long[..70])}),
        user("v", json!("and now?")),
    ];
    let read = read_lines(&lines);
    assert_eq!(read.keys(), ["a:resp", "v:prompt", "3:queued"]);
    assert!(read.get("v:prompt").open && read.get("3:queued").open, "an answer may still come");
    assert_eq!(read.get("v:prompt").result, "and now?".into());
    assert_eq!(read.get("3:queued").kind, ActionKind::System);
    lines.push(reply("b"));
    assert_eq!(read_lines(&lines).keys(), ["a:resp", "b:resp", "3:queued"]);
    // Two prompts in a row: the first one is in no action.
    let read = read_lines(&[user("u", json!("first")), user("v", json!("second")), reply("a")]);
    assert_eq!(read.keys(), ["u:prompt", "a:resp"]);
    assert!(!read.get("u:prompt").open);
}

#[test]
fn claude_code_line_that_cannot_be_read_is_a_system_record_of_4000_characters() {
    let long = format!("{{\"type\": \"user\", {}", "x".repeat(5000));
    let lines = format!("{long}\n{}\n", reply("a"));
    let read = Transcript::raw(Tool::ClaudeCode, lines.as_bytes()).read();
    assert_eq!(read.keys(), ["0:broken", "a:resp"]);
    let stored = read.get("0:broken").result.as_str().unwrap();
    assert!(stored.starts_with("{\"type\": \"user\", xxx") && stored.ends_with("...<+1017b>"), "{stored}");
    assert_eq!(read.report.noted.get("line that cannot be read"), Some(&1));
}

#[test]
fn new_file_of_claude_code_has_a_diff_of_added_lines() {
    let content = "one\ntwo\n";
    let input = json!({"file_path": "/w/new", "content": content});
    let payload = json!({"type": "create", "filePath": "/w/new", "content": content, "structuredPatch": []});
    let (summary, result, _, effects) = one_call("Write", input, json!("created"), payload);
    assert_eq!((summary.as_str(), result), ("Write: /w/new (+2/-0)", "+one\n+two".into()));
    assert_eq!(effects, ["wrote /w/new"]);
}

#[test]
fn thinking_signature_is_whole_up_to_4_kib_and_the_flag_is_set_only_without_the_text() {
    let thought = |text: &str, signature: String| {
        let content = json!([{"type": "thinking", "thinking": text, "signature": signature}, {"type": "text", "text": "x"}]);
        read_lines(&[assistant("a", "m", content, 1)]).get("a:resp").environment.clone()
    };
    let whole = thought("I count.", "s".repeat(4096));
    assert_eq!(whole.get("thinking_signatures"), Some(&ExactJson::from(vec!["s".repeat(4096)])));
    assert_eq!(whole.get("thinking_redacted"), Some(&false.into()));
    let long = thought("", "s".repeat(4097));
    assert_eq!(long.get("thinking_redacted"), Some(&true.into()));
    let digest = &long.get("thinking_signatures").unwrap().as_array().unwrap()[0];
    assert_eq!(digest.get("bytes"), Some(&4097_i64.into()));
    assert_eq!(digest.text("sha3_256").map(str::len), Some(64));
    assert_eq!(long.get("other"), None, "the hash stands for it");
}

#[test]
fn authority_of_a_plan_that_the_user_approved_is_human_approved() {
    let plan = |is_error: bool| {
        let mut answer = result("r", "t", json!("User has approved your plan."), json!({}));
        answer["message"]["content"][0]["is_error"] = is_error.into();
        let lines = [call("a", "t", "ExitPlanMode", json!({"plan": "prune"})), answer];
        read_lines(&lines).get("a:0").authority.kind
    };
    assert_eq!((plan(false), plan(true)), ("human_approved", "autonomous"));
}

#[test]
fn trigger_of_a_scheduled_prompt_is_scheduled() {
    let mut prompt = user("u", json!("water the pears"));
    prompt["origin"] = json!({"kind": "scheduled"});
    let lines = [prompt, reply("a"), user("v", json!("thanks")), reply("b")];
    let read = read_lines(&lines);
    assert_eq!(read.get("a:resp").trigger.name(), "scheduled");
    assert_eq!(read.get("b:resp").trigger.name(), "user_request");
}

#[test]
fn status_of_a_result_whose_parts_failed_in_part_is_partial() {
    let ended = |results: Value| {
        let lines =
            [call("a", "t", "Batch", json!({})), result("r", "t", json!("raw"), json!({"results": results}))];
        read_lines(&lines).get("a:0").clone()
    };
    let action = ended(json!([{"success": true}, {"status": "failed"}]));
    assert_eq!(
        (action.status, action.summary.as_str()),
        (OutcomeStatus::Partial, "Batch call (partly failed)")
    );
    assert_eq!(ended(json!([{"success": false}, {"status": "failed"}])).status, OutcomeStatus::Failure);
    assert_eq!(ended(json!([{"success": true}, "words"])).status, OutcomeStatus::Success);
}
