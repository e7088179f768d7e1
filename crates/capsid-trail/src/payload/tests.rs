use super::*;
use capsid_model::exact::ExactJson;

fn read(tool: Tool, stdin: &str) -> HookPayload {
    parse(tool, stdin, &[]).unwrap()
}

#[test]
fn claude_code_finalises_at_the_end_of_the_session() {
    let text = |event: &str| {
        format!(
            r#"{{"session_id":"s-1","transcript_path":"/p/s-1.jsonl","hook_event_name":"{event}","new":[1e999]}}"#
        )
    };
    let stop = read(Tool::ClaudeCode, &text("Stop"));
    assert_eq!(stop.session.as_deref(), Some("s-1"));
    assert_eq!(stop.transcript.as_deref(), Some(Path::new("/p/s-1.jsonl")));
    assert!(!stop.finalize && !stop.ignore && stop.fields.is_empty());
    assert!(read(Tool::ClaudeCode, &text("SessionEnd")).finalize);
    let unnamed = read(Tool::ClaudeCode, r#"{"session_id":{},"transcript_path":"/p/s-2.jsonl"}"#);
    assert_eq!(unnamed.session.as_deref(), Some("s-2"));
}

#[test]
fn codex_tells_by_argument_and_only_turns_count() {
    let turn = r#"{"type":"agent-turn-complete","thread-id":"t","cwd":"/x"}"#.to_owned();
    let payload = parse(Tool::Codex, "not read", &["--flag".to_owned(), turn]).unwrap();
    assert_eq!(payload.session.as_deref(), Some("t"));
    assert!(payload.finalize && !payload.ignore);
    let other = r#"{"type":"approval-requested","thread-id":"t"}"#.to_owned();
    let payload = parse(Tool::Codex, "", &[other]).unwrap();
    assert!(payload.ignore && !payload.finalize);
    assert!(parse(Tool::Codex, "", &[]).unwrap().ignore);
}

#[test]
fn cursor_tells_what_the_transcript_does_not() {
    let payload = read(
        Tool::Cursor,
        r#"{"conversation_id":"c","model":"m","hook_event_name":"stop","status":"completed","cursor_version":"",
            "workspace_roots":["/w"],"user_email":null,"transcript_path":null,"loop_count":0}"#,
    );
    assert_eq!(payload.session.as_deref(), Some("c"));
    assert_eq!(payload.transcript, None);
    assert!(payload.finalize);
    let names: Vec<&str> = payload.fields.keys().map(String::as_str).collect();
    assert_eq!(names, ["model", "workspace_roots", "hook_event", "status"]);
    assert_eq!(payload.fields["hook_event"], ExactJson::from("stop"));
    let finalises = |event: &str, status: &str| {
        let text = format!(r#"{{"conversation_id":"c","hook_event_name":"{event}","status":"{status}"}}"#);
        read(Tool::Cursor, &text).finalize
    };
    assert!(finalises("stop", "aborted") && finalises("stop", "error") && finalises("sessionEnd", ""));
    assert!(!finalises("stop", "running") && !finalises("stop", ""));
}

#[test]
fn cline_always_finalises() {
    for text in [r#"{"taskId":"178","hookName":"TaskStart"}"#, r#"{"taskId":178}"#] {
        let payload = read(Tool::Cline, text);
        assert_eq!(payload.session.as_deref(), Some("178"));
        assert!(payload.finalize && !payload.ignore);
    }
}

#[test]
fn a_mark_nothing_and_wrong_types_are_taken_as_they_are() {
    let marked = read(Tool::Cline, "\u{feff} \r\n{\"taskId\":\"1\"}\n");
    assert_eq!(marked.session.as_deref(), Some("1"));
    for text in [
        "",
        " \n",
        "\u{feff}",
        "{}",
        r#"{"taskId":[],"session_id":true,"conversation_id":1.5,"thread-id":""}"#,
    ] {
        for tool in Tool::ALL {
            let payload = parse(tool, text, &[text.to_owned()]).unwrap();
            assert!(payload.ignore && payload.session.is_none(), "{tool:?} {text:?}");
        }
    }
    for text in ["[]", "x", "{", "1", "null"] {
        assert_eq!(parse(Tool::Cline, text, &[]).unwrap_err().code, Code::JsonInvalid, "{text}");
    }
}

#[test]
fn tools_that_wait_for_an_answer_get_one() {
    assert_eq!(Tool::ALL.map(reply), ["", "", "{}", "{}"]);
}

#[test]
fn samples_of_real_payloads_are_read() {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/transcripts"));
    if !folder.is_dir() {
        eprintln!("no sample payloads on this machine: nothing compared");
        return;
    }
    let sample = |name: &str| std::fs::read_to_string(folder.join(name)).unwrap();
    let stop = read(Tool::ClaudeCode, &sample("claude-code/hook-stop.json"));
    let end = read(Tool::ClaudeCode, &sample("claude-code/hook-session-end.json"));
    assert_eq!((stop.finalize, end.finalize), (false, true));
    assert_eq!(stop.session, end.session);
    assert!(
        stop.session
            .is_some_and(|session| stop.transcript.is_some_and(|path| path.ends_with(session + ".jsonl")))
    );
    let cursor = read(Tool::Cursor, &sample("cursor/hook-stop.json"));
    assert!(cursor.finalize && cursor.session.is_some() && cursor.fields.len() == 5);
    let cline = read(Tool::Cline, &sample("cline/hook-taskcomplete.json"));
    assert_eq!(cline.session.as_deref(), Some("1780308000123"));
    let codex = parse(Tool::Codex, "", &[sample("codex/notify-argv1.json")]).unwrap();
    assert!(codex.finalize && codex.session.is_some());
}
