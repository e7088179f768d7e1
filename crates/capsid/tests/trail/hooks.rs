//! What the tools call, and how they come to call it.

use super::*;
use capsid_model::json;

fn payload(desk: &TrailUser, event: &str) -> String {
    let transcript = desk.home().join(format!(".claude/projects/-home-ada-shop/{SESSION}.jsonl"));
    json!({
        "session_id": SESSION, "transcript_path": transcript, "cwd": "/home/ada/shop", "permission_mode": "default",
        "hook_event_name": event, "stop_hook_active": false,
    })
    .to_string()
}

fn log(desk: &TrailUser) -> String {
    std::fs::read_to_string(desk.trail().join("hook.log")).unwrap_or_default()
}

#[test]
fn each_turn_is_sealed_and_the_end_of_the_session_is_noted() {
    let desk = desk();
    desk.transcript(SESSION, 2);
    let ran = desk.run_with_input(&["trail", "hook", "claude-code"], &payload(&desk, "Stop"));
    assert_status(0, &ran);
    assert_eq!(ran.stdout, "");
    assert!(
        log(&desk).contains(&format!("[claude-code] append session={SESSION} +6 total=6")),
        "{}",
        log(&desk)
    );
    desk.transcript(SESSION, 3);
    assert_status(0, &desk.run_with_input(&["trail", "hook", "claude-code"], &payload(&desk, "SessionEnd")));
    let end = format!("finalize session={SESSION} appended=3 total=9 valid=True broken_at=None head=");
    assert!(log(&desk).contains(&end), "{}", log(&desk));
    let meta = desk.expect(0, &["trail", "verify-meta", "--deep", "--signatures", "--json"]).json();
    assert_eq!(meta["conversations"][0]["status"], "intact");
}

#[test]
fn a_hook_never_fails_and_never_talks() {
    let deep = "[".repeat(200_000);
    let hostile = json!({"session_id": "../../../etc/x", "transcript_path": "/etc/passwd"}).to_string();
    let huge = json!({"session_id": "x".repeat(100_000)}).to_string();
    let missing = json!({"session_id": "a", "transcript_path": "/no/such/file"}).to_string();
    let folder = json!({"session_id": "a", "transcript_path": "/"}).to_string();
    let inputs = ["", "{", "null", "[]", "\u{feff}{}", &deep, &hostile, &huge, &missing, &folder];
    for tool in ["claude-code", "codex", "cursor", "cline"] {
        let desk = desk();
        let reply = if matches!(tool, "cursor" | "cline") { "{}" } else { "" };
        for input in inputs {
            let ran = desk.run_with_input(&["trail", "hook", tool], input);
            assert_status(0, &ran);
            assert_eq!((ran.stdout.trim_end(), ran.stderr.as_str()), (reply, ""), "{tool}");
        }
        assert!(!desk.trail().join("chains").exists(), "{tool}");
    }
}

#[test]
fn a_home_that_cannot_be_written_does_not_trouble_the_agent() {
    let desk = desk();
    desk.transcript(SESSION, 1);
    std::fs::write(desk.home().join("file"), "").unwrap();
    let home = desk.home().join("file/trail");
    let args = ["trail", "--home", home.to_str().unwrap(), "hook", "claude-code"];
    let ran = desk.run_with_input(&args, &payload(&desk, "Stop"));
    assert_status(0, &ran);
    assert_eq!(ran.stderr, "");
}

#[test]
fn codex_names_its_thread_on_the_command_line() {
    let desk = desk();
    let thread = "019e2f00-1111-7222-8333-444455556666";
    let folder = desk.home().join(".codex/sessions/2026/06/01");
    std::fs::create_dir_all(&folder).unwrap();
    let line = |kind: &str, payload: capsid_model::Value| {
        format!("{}\n", json!({"timestamp": "2026-06-01T11:00:00.000Z", "type": kind, "payload": payload}))
    };
    let rollout = [
        line("session_meta", json!({"id": thread, "cwd": "/home/ada/shop", "cli_version": "0.50.0"})),
        line(
            "response_item",
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "hi"}]}),
        ),
        line(
            "response_item",
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "hello"}]}),
        ),
    ];
    std::fs::write(folder.join(format!("rollout-2026-06-01T11-00-00-{thread}.jsonl")), rollout.concat())
        .unwrap();
    let told = json!({"type": "agent-turn-complete", "thread-id": thread, "turn-id": "1", "cwd": "/x", "input-messages": ["hi"]});
    assert_status(0, &desk.run(&["trail", "hook", "codex", &told.to_string()]));
    assert!(log(&desk).contains("finalize session=019e2f00"), "{}", log(&desk));
    let other = json!({"type": "agent-turn-complete", "thread-id": "019e2f00-0000-7222-8333-444455556666"});
    assert_status(0, &desk.run(&["trail", "hook", "codex", &other.to_string()]));
    let listed = desk.expect(0, &["trail", "list", "--json"]).json();
    assert_eq!(listed["chains"].as_array().unwrap().len(), 1, "another thread's rollout is not taken for it");
}

#[test]
fn not_even_a_wrong_command_line_troubles_the_agent() {
    let desk = desk();
    for args in [
        &["trail", "hook"][..],
        &["trail", "hook", "no-such-tool"],
        &["trail", "hook", "claude-code", "--home"],
        &["trail", "hook", "claude-code", "--no-such-option"],
        &["--color", "bad", "trail", "hook", "claude-code"],
    ] {
        let ran = desk.run(args);
        assert_status(0, &ran);
        assert_eq!((ran.stdout.as_str(), ran.stderr.as_str()), ("", ""), "{args:?}");
    }
}

#[test]
fn a_tool_that_leaves_the_pipe_open_is_not_waited_for() {
    use std::io::Write;
    use std::process::Stdio;
    let desk = desk();
    desk.transcript(SESSION, 1);
    let mut command = desk.program.command(desk.home(), &["trail", "hook", "claude-code"]);
    let mut child = command.stdin(Stdio::piped()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(payload(&desk, "Stop").as_bytes()).unwrap();
    assert_eq!(child.wait().unwrap().code(), Some(0), "the pipe is still open here");
    drop(stdin);
    assert!(log(&desk).contains("+3 total=3"), "{}", log(&desk));
}

#[test]
fn options_may_stand_before_and_after_the_payload() {
    let desk = desk();
    let told = json!({"type": "agent-turn-complete", "thread-id": "t"}).to_string();
    for (place, args) in [
        ("a", &["trail", "hook", "codex", &told, "--home", "a"][..]),
        ("b", &["trail", "hook", "codex", "--home", "b", &told]),
        ("c", &["trail", "--home", "c", "hook", "codex", &told]),
    ] {
        assert_status(0, &desk.run(args));
        assert!(desk.home().join(place).join("hook.log").exists(), "{place}");
    }
    assert!(!desk.trail().exists());
}
