//! What was lost before: each test is named after what the reader keeps now.

use super::*;

fn keys(actions: &[Action]) -> Vec<&str> {
    actions.iter().map(|action| action.key.as_str()).collect()
}

fn answer(text: &str) -> Value {
    json!({"type": 2, "text": text})
}

#[test]
fn cursor_text_around_user_query_and_two_of_them_are_kept() {
    let raw = "See this: <user_query>Ripen</user_query> slowly";
    let two = "<user_query>One</user_query>\n<user_query>Two</user_query>";
    let bubbles = [
        user(raw),
        answer("a"),
        answer("b"),
        user(two),
        answer("c"),
        user("<user_query>\nPlain\n</user_query>"),
        answer("d"),
    ];
    let (actions, _) = State::talk(&bubbles).read();
    let of = |at: usize| (actions[at].prompt.as_str(), actions[at].environment.get("request_raw").cloned());
    assert_eq!(of(0), ("See this: Ripen slowly", Some(raw.into())));
    assert_eq!(of(1), ("See this: Ripen slowly", None));
    assert_eq!(of(2), ("One\nTwo", Some(two.into())));
    assert_eq!(of(3), ("Plain", None));
}

#[test]
fn cursor_user_bubble_with_images_or_file_selections_only_is_a_system_record() {
    let image = json!({"type": 1, "text": "", "images": [{"path": "/tmp/fig.png"}]});
    let files = json!({"type": 1, "context": {"fileSelections": [{"uri": "file:///fig.ts"}]}});
    let (actions, report) = State::talk(&[image.clone(), files, user(""), answer("a")]).read();
    assert_eq!(keys(&actions), ["b0", "b1", "b3"]);
    assert_eq!((actions[0].kind, actions[0].trigger.name()), (ActionKind::System, "system"));
    assert_eq!(actions[0].result, exact(image));
    assert_eq!(report.noted.get("user message without text"), Some(&2));
}

#[test]
fn cursor_code_blocks_and_a_second_thinking_block_are_kept() {
    let bubble = json!({"type": 2, "text": "Look.", "thinking": {"text": "One."},
        "allThinkingBlocks": [{"thinking": "One."}, {"thinking": "Two."}],
        "codeBlocks": [{"content": "let ripeness = 0"}], "suggestedCodeBlocks": [{"content": "let sweetness = 1"}]});
    let (actions, _) = State::talk(&[bubble]).read();
    assert_eq!(actions[0].reasoning, "One.\n\nTwo.");
    let other = json!([{"codeBlocks": [{"content": "let ripeness = 0"}], "suggestedCodeBlocks": [{"content": "let sweetness = 1"}]}]);
    assert_eq!(actions[0].environment.get("other"), Some(&exact(other)));
}

#[test]
fn cursor_call_without_a_name_header_without_a_bubble_and_unreadable_bubble_are_system_records() {
    let nameless = tool(json!({"status": "completed", "params": {"q": "x"}}));
    let state = State::talk(&[nameless.clone(), answer("gone"), answer("cut")]);
    state.connection.execute("DELETE FROM cursorDiskKV WHERE key LIKE '%:b1'", []).unwrap();
    state
        .connection
        .execute("UPDATE cursorDiskKV SET value = '{\"type\": 2, \"te' WHERE key LIKE '%:b2'", [])
        .unwrap();
    let (actions, report) = state.read();
    assert_eq!(keys(&actions), ["b0", "b1:absent", "b2:broken"]);
    assert!(actions.iter().all(|action| action.kind == ActionKind::System));
    assert_eq!(actions[0].result, exact(nameless));
    assert_eq!(actions[2].result, "{\"type\": 2, \"te".into());
    assert_eq!(report.noted.values().sum::<u64>(), 2);
}

#[test]
fn cursor_raw_arguments_beside_params_are_both_kept_if_they_differ() {
    let (action, call_) = call(json!({"name": "t", "rawArgs": "{\"a\":1}", "params": {"b": 2}}));
    assert_eq!(call_.arguments, exact(json!({"b": 2})));
    assert_eq!(action.environment.get("raw_arguments"), Some(&exact(json!({"a": 1}))));
    let (action, call_) = call(json!({"name": "t", "rawArgs": "{\"a\":1}", "params": "{\"b\":2}"}));
    assert_eq!(call_.arguments, exact(json!({"a": 1})));
    assert_eq!(action.environment.get("editor_arguments"), Some(&exact(json!({"b": 2}))));
    let (action, _) = call(json!({"name": "t", "rawArgs": "{\"a\":1}", "params": {"a": 1}}));
    assert!(
        !action.environment.contains_key("raw_arguments")
            && !action.environment.contains_key("editor_arguments")
    );
}

#[test]
fn cursor_unparsable_json_text_beside_arguments_that_can_be_read_is_kept() {
    let (action, call_) = call(json!({"name": "t", "rawArgs": "{\"pattern", "params": {"pattern": "x"}}));
    assert_eq!(call_.arguments, exact(json!({"pattern": "x"})));
    assert_eq!(action.environment.get("raw_arguments"), Some(&"{\"pattern".into()));
}

#[test]
fn cursor_text_blocks_that_are_neither_text_nor_call_are_in_other() {
    let folder = TempDir::new().unwrap();
    let path = folder.path().join("talk.jsonl");
    let blocks = json!([{"type": "text", "text": "Looking."}, {"type": "chart", "title": "ripeness by day"}]);
    let lines = [
        json!({"role": "user", "message": {"content": [{"type": "image", "alt": "a picture of figs"}, {"type": "text", "text": "go"}]}}),
        json!({"role": "assistant", "message": {"content": blocks}}),
        json!({"role": "user", "message": {"content": "and then?"}}),
    ];
    fs::write(&path, lines.map(|line| format!("{line}\n")).concat() + "{\"role\": \"assis").unwrap();
    let source =
        TranscriptSource { path: path.clone(), text_transcript: Some(path), ..State::new().source() };
    let (actions, report) = read_all(&source);
    assert_eq!(keys(&actions), ["line:1", "line:3:broken", "line:2:prompt"]);
    assert_eq!(
        actions[0].environment.get("other"),
        Some(&exact(json!([{"message": {"content": [{"alt": "a picture of figs"}]}},
            {"message": {"content": [{"title": "ripeness by day"}]}}])))
    );
    assert!(actions[1].open && actions[2].open && report.broken == 0, "they may still go on");
}

#[test]
fn time_folder_and_branch_of_a_cursor_action_are_recorded_where_they_are_known() {
    let bubble = json!({"type": 2, "text": "a", "createdAt": 1_780_308_000_123_i64});
    let state = State::talk_with(json!({"createdOnBranch": "figs"}), &[bubble, answer("b")]);
    let mut source = state.source();
    source.hook_fields = hook_fields(&exact(json!({"workspace_roots": ["/r"]})));
    let (actions, _) = read_all(&source);
    let of = |at: usize, name: &str| {
        actions[at].environment.get(name).and_then(ExactJson::as_str).map(str::to_owned)
    };
    assert_eq!(of(0, "timestamp").as_deref(), Some("2026-06-01T10:00:00.123Z"));
    assert_eq!((of(0, "cwd").as_deref(), of(0, "git_branch").as_deref()), (Some("/r"), Some("figs")));
    assert_eq!(of(1, "timestamp"), None);
    source.hook_fields = hook_fields(&exact(json!({"workspace_roots": ["/r", "/s"]})));
    assert!(!read_all(&source).0[0].environment.contains_key("cwd"), "of two folders none is the one");
}

#[test]
fn duration_of_a_cursor_call_is_the_one_that_the_editor_noted() {
    let took = |data: Value| call(data).1.duration_ms;
    assert_eq!(took(json!({"name": "t", "result": "{\"durationMs\": 250}"})), Some(250));
    assert_eq!(
        took(json!({"name": "t", "additionalData": {"startedAtMs": 1000, "completedAtMs": 1300}})),
        Some(300)
    );
    assert_eq!(took(json!({"name": "t", "result": "{}"})), None);
}

#[test]
fn cursor_prompt_without_an_answer_is_a_record_at_the_end() {
    let (actions, _) = State::talk(&[user("first"), answer("a"), user("second"), user("third")]).read();
    assert_eq!(keys(&actions), ["b1", "b2:prompt", "b3:prompt"]);
    assert!(!actions[1].open && actions[2].open);
    assert_eq!(actions[2].result, "third".into());
}
