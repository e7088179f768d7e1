//! Calls of tools: their results, what they changed, and whether they failed.

use super::*;

#[test]
fn results_are_found_by_tool_and_input_wherever_they_stand() {
    let history = [
        called("1", "browser_action", json!({"action": "launch"}), json!("seen")),
        called("2", "read_file", json!({"path": "/r/src/b.ts"}), json!([{"type": "text", "text": "b"}])),
        called("3", "use_mcp_tool", json!({"server_name": "w", "tool_name": "today"}), json!("sunny")),
        called("4", "read_file", json!({"path": "src/a.ts"}), json!("a")),
        called("5", "execute_command", json!({"command": "ls"}), json!("Command executed.\nOutput:\nx")),
        called("6", "read_file", json!({"path": "src/a.ts"}), json!("a again")),
    ];
    let read = |ts, path: &str| say(ts, "tool", json!({"tool": "readFile", "path": path, "content": "/r/x"}));
    let messages = json!([
        read(1, "src/a.ts"),
        read(2, "src/b.ts"),
        read(3, "src/a.ts"),
        read(4, "src/none.ts"),
        ask(5, "use_mcp_server", json!({"serverName": "w", "toolName": "today"})),
        say(6, "command", "ls"),
        done(9),
    ]);
    let (actions, _) = Task::new(messages, json!(history.concat())).read();
    let results: Vec<ExactJson> =
        actions.iter().filter_map(|action| Some(action.call.as_ref()?.result.clone())).collect();
    let expected = ["a", "b", "a again"].map(ExactJson::from);
    assert_eq!(results[..3], expected);
    assert_eq!(results[3..], [ExactJson::Null, "sunny".into(), "Command executed.\nOutput:\nx".into()]);
    assert_eq!(actions[4].authority.kind, "human_approved");
}

#[test]
fn results_of_calls_in_words_are_found_too() {
    let user = |texts: &[&str]| {
        let blocks: Vec<Value> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
        json!({"role": "user", "content": blocks})
    };
    let history = [
        json!({"role": "assistant", "content": [{"type": "text", "text": "<read_file><path>a</path></read_file>"}]}),
        user(&["[read_file for 'a'] Result:", "content of a", "<environment_details>"]),
        user(&["[execute_command for 'ls'] Result:\nCommand failed with exit code 2.\nOutput:\nno"]),
    ];
    let messages =
        json!([say(1, "tool", json!({"tool": "readFile", "path": "a"})), say(2, "command", "ls"), done(9)]);
    let (actions, _) = Task::new(messages, json!(history)).read();
    assert_eq!(actions[0].call.as_ref().unwrap().result, "content of a".into());
    assert!(actions[1].has_failed());
    assert_eq!(actions[1].summary, "command: ls (error)");
}

#[test]
fn the_models_reasoning_is_taken_where_the_user_saw_none() {
    let mut history = called("1", "read_file", json!({"path": "a"}), json!("x"));
    history[0]["content"]
        .as_array_mut()
        .unwrap()
        .insert(0, json!({"type": "thinking", "thinking": "Read first."}));
    let read = say(2, "tool", json!({"tool": "readFile", "path": "a"}));
    assert_eq!(one(read.clone(), &history).reasoning, "Read first.");
    let messages = json!([say(1, "reasoning", "Read first."), say(1, "text", "so"), read, done(9)]);
    let (actions, _) = Task::new(messages, json!(history)).read();
    assert_eq!((actions[0].reasoning.as_str(), actions[1].reasoning.as_str()), ("Read first.", ""));
}

#[test]
fn an_edit_shows_its_change_and_its_size() {
    let blocks = "<<<<<<< SEARCH\na\n=======\nb\nc\n>>>>>>> REPLACE\n";
    let edit = json!({"tool": "editedExistingFile", "path": "f", "diff": blocks, "odd": 1});
    let saved = called("1", "replace_in_file", json!({"path": "f"}), json!("saved"));
    let action = one(ask(1, "tool", &edit), &saved);
    assert_eq!(
        (action.summary.as_str(), action.side_effects.as_slice()),
        ("editedExistingFile: f (+2/-1)", &["edited f".to_owned()][..])
    );
    assert_eq!(action.authority, Authority::approved(""));
    let call = action.call.unwrap();
    assert_eq!((call.arguments, call.result), (exact(json!({"path": "f", "diff": blocks})), blocks.into()));
    let new = json!({"tool": "newFileCreated", "path": "n", "content": "text"});
    let action = one(say(1, "tool", &new), &[]);
    assert_eq!((action.authority, action.side_effects), (Authority::default(), Vec::new()));
    assert_eq!(action.status, crate::OutcomeStatus::Pending, "nothing says that it was written");
    assert_eq!(action.environment.get("unconfirmed_effects"), Some(&exact(json!(["wrote n"]))));
    assert_eq!(action.call.unwrap().result, "text".into());
    let deleted = called("1", "delete_file", json!({"path": "n"}), json!("deleted"));
    let gone = one(say(1, "tool", json!({"tool": "fileDeleted", "path": "n"})), &deleted);
    assert_eq!(gone.side_effects, ["deleted n"]);
    let read = one(say(1, "tool", json!({"tool": "readFile", "path": "n", "content": "/r/n"})), &[]);
    assert!(read.call.unwrap().result.is_null());
    let words = one(say(1, "tool", "{half"), &[]);
    assert_eq!(
        (words.summary.as_str(), words.call.unwrap().arguments),
        ("tool: {half", exact(json!({"text": "{half"})))
    );
}

#[test]
fn failures_and_refusals_are_told_by_the_result() {
    let edit = json!({"tool": "editedExistingFile", "path": "f", "diff": "@@ -1 +1 @@\n-a\n+b"});
    let with = |result: Value| {
        one(ask(1, "tool", &edit), &called("1", "replace_in_file", json!({"path": "f"}), result))
    };
    let failed =
        with(json!("The tool execution failed with the following error:\n<error>\nno match\n</error>"));
    assert!(failed.has_failed() && failed.side_effects.is_empty());
    assert_eq!(failed.summary, "editedExistingFile: f (error)");
    assert!(failed.call.unwrap().result.as_str().unwrap().contains("no match"));
    let denied = with(json!([{"type": "text", "text": "The user denied this operation."}]));
    assert_eq!(denied.status, crate::OutcomeStatus::Blocked);
    assert_eq!(
        (denied.authority.kind, denied.authority.policy_reference.as_str()),
        ("escalated", "user_decision=denied")
    );
    assert!(!with(json!("saved")).has_failed());
    let mut marked = called("1", "replace_in_file", json!({"path": "f"}), json!("bad"));
    marked[1]["content"][0]["is_error"] = true.into();
    assert!(one(ask(1, "tool", &edit), &marked).has_failed());
    // A file may speak of errors.
    let read = json!({"tool": "readFile", "path": "f"});
    let content = json!("about\n<error>\nand exit code 1");
    assert!(
        !one(say(1, "tool", &read), &called("1", "read_file", json!({"path": "f"}), content)).has_failed()
    );
}

#[test]
fn a_command_has_all_of_its_output() {
    let messages = json!([
        ask(1, "command", "npm test REQ_APP"),
        say(2, "command_output", "one\n"),
        say(3, "text", "meanwhile"),
        ask(4, "command_output", "two"),
        say(5, "command", "ls"),
        say(6, "command_output", "Exit code: 1"),
        done(9),
    ]);
    let (actions, _) = Task::new(messages, json!([])).read();
    let call = actions[0].call.as_ref().unwrap();
    assert_eq!(
        (&call.arguments, &call.result),
        (&exact(json!({"command": "npm test "})), &"one\ntwo".into())
    );
    assert_eq!(actions[0].side_effects, ["ran npm test"]);
    assert!(!actions[0].has_failed() && !actions[0].open);
    assert!(actions[2].has_failed() && actions[2].call.as_ref().unwrap().result == "Exit code: 1".into());
}

#[test]
fn the_last_call_is_open_while_the_task_goes_on() {
    let open = |messages: Value, history: Value| {
        Task::new(messages, history).read().0.iter().map(|action| action.open).collect::<Vec<_>>()
    };
    let command = [say(1, "command", "ls"), say(2, "command_output", "x")];
    assert_eq!(open(json!(command), json!([])), [true]);
    assert_eq!(open(json!([command[0], command[1], say(3, "text", "so")]), json!([])), [false, false]);
    assert_eq!(open(json!([command[0], command[1], done(3)]), json!([])), [false, false]);
    let read = say(1, "tool", json!({"tool": "readFile", "path": "a"}));
    assert_eq!(open(json!([read]), json!([])), [true]);
    assert_eq!(
        open(json!([read]), json!(called("1", "read_file", json!({"path": "a"}), json!("x")))),
        [false]
    );
    let mut half = say(1, "text", "I th");
    half["partial"] = true.into();
    assert_eq!(open(json!([half]), json!([])), [true]);
    assert_eq!(open(json!([half, say(2, "text", "b")]), json!([])), [false, false]);
}

#[test]
fn screenshots_and_images_are_told_and_left_out() {
    let shot = format!("data:image/webp;base64,{}", "QUJD".repeat(200));
    let messages = json!([
        say(1, "browser_action_launch", "https://e.org"),
        say(2, "browser_action", json!({"action": "launch", "text": "https://e.org"})),
        say(
            3,
            "browser_action_result",
            json!({"screenshot": shot, "logs": "ok", "currentUrl": "https://e.org/"})
        ),
        say(4, "browser_action", json!({"action": "close"})),
        done(9),
    ]);
    let (actions, _) = Task::new(messages, json!([])).read();
    let result = &actions[0].call.as_ref().unwrap().result;
    assert_eq!(
        result,
        &exact(json!({"currentUrl": "https://e.org/", "logs": "ok", "has_screenshot": true,
        "screenshot_bytes": shot.len()}))
    );
    assert_eq!(actions[0].summary, "browser_action: https://e.org/");
    assert_eq!(actions[0].side_effects, ["captured screenshot of https://e.org/"]);
    assert_eq!(actions[1].summary, "browser_action: close");
    let mut answer = say(1, "mcp_server_response", "s".repeat(1200));
    answer["images"] = json!([shot, shot]);
    let call = one(answer, &[]).call.unwrap();
    assert_eq!(call.arguments, exact(json!({"text": "s".repeat(1000), "image_count": 2})));
    assert_eq!(call.result, "s".repeat(1200).into());
    let short = one(say(1, "mcp_server_response", "sunny"), &[]);
    assert_eq!(
        (short.summary.as_str(), short.call.unwrap().result),
        ("mcp_server_response: sunny", ExactJson::Null)
    );
}

#[test]
fn a_long_result_is_cut() {
    let (action, long) = (say(1, "command", "ls"), "y".repeat(300_000));
    let messages = json!([action, say(2, "command_output", &long), done(9)]);
    let (actions, _) = Task::new(messages, json!([])).read();
    let result = actions[0].call.as_ref().unwrap().result.clone();
    assert_eq!(result, format!("{}...<+100000b>", "y".repeat(200_000)).into());
}

#[test]
fn work_that_is_handed_to_subagents_is_an_action_of_the_type_agent() {
    let prompts = json!({"prompts": ["find the parser", "find its tests"]});
    let history =
        called("t1", "use_subagents", json!({"prompt_1": "find the parser"}), json!("in src/parse.rs"));
    let status = json!({"status": "completed", "total": 2, "successes": 2});
    let messages = json!([say(1, "use_subagents", &prompts), say(2, "subagent", status), done(9)]);
    let (actions, report) = Task::new(messages, json!(history)).read();
    let delegated = &actions[0];
    assert_eq!((delegated.kind, delegated.status), (ActionKind::Agent, crate::OutcomeStatus::Success));
    assert_eq!(delegated.summary, "use_subagents: find the parser");
    assert_eq!(delegated.side_effects, ["delegated to 2 subagent(s)"]);
    let call = delegated.call.as_ref().unwrap();
    assert_eq!((&call.arguments, &call.result), (&exact(prompts), &"in src/parse.rs".into()));
    assert_eq!(actions[1].kind, ActionKind::System);
    assert!(report.unknown.is_empty(), "{report:?}");
    // A user who says no is asked first, and then nothing was delegated.
    let history = called("t1", "use_subagents", json!({}), json!("The user denied this operation."));
    let refused = one(ask(1, "use_subagents", json!({"prompts": ["x"]})), &history);
    assert_eq!((refused.kind, refused.status), (ActionKind::Agent, crate::OutcomeStatus::Blocked));
    assert!(refused.side_effects.is_empty());
}
