//! Lines that cannot be read, and files that grow.

use super::build::*;
use crate::jsonl_support::*;
use capsid_model::{Value, json};
use capsid_transcript::Tool;

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
    let keys = ["a:resp", "1:broken", "3:broken", "l:resp", "5:broken", "z:resp", "7:broken", "8:broken"];
    assert_eq!(read.keys(), keys);
    assert!(read.get("8:broken").open && !read.get("7:broken").open);
    assert_eq!(read.get("5:broken").result, "no json".into());
    assert_eq!(read.get("l:resp").analysis, "\u{fffd}!");
    assert_eq!(read.report.broken, 4, "half a last line is not broken");
    let complete = good.replace("\"a\"", "\"h\"");
    let read = Transcript::raw(Tool::ClaudeCode, complete.as_bytes()).read();
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
    let source = capsid_transcript::TranscriptSource {
        tool: Tool::ClaudeCode,
        session: "s".into(),
        path,
        text_transcript: None,
        authorship: None,
        hook_fields: capsid_model::fields! {},
    };
    let problem = capsid_transcript::claude_code::read(&source, &mut |_| Ok(())).unwrap_err();
    assert_eq!(problem.code, capsid_model::Code::FileNotFound);
    assert!(problem.message.contains("no/such.jsonl"));
}
