#![allow(clippy::disallowed_methods, clippy::needless_pass_by_value)]
use super::*;
use crate::{Authority, Tool};
use capsid_model::exact::parse;
use capsid_model::json;
use serde_json::Value;
use std::fs;
use tempfile::TempDir;

struct Task(TempDir);

impl Task {
    fn new(messages: Value, history: Value) -> Self {
        let task = Self(TempDir::new().unwrap());
        task.put(MESSAGES, &messages.to_string());
        task.put(HISTORY, &history.to_string());
        task
    }

    fn put(&self, name: &str, text: &str) {
        fs::write(self.0.path().join(name), text).unwrap();
    }

    fn source(&self) -> Source {
        Source {
            tool: Tool::Cline,
            session: "7".to_owned(),
            path: self.0.path().to_owned(),
            text_transcript: None,
            authorship: None,
            told: Fields::new(),
        }
    }

    fn try_read(&self) -> Result<(Vec<Action>, Report)> {
        let mut actions = Vec::new();
        let report = read(&self.source(), &mut |action| {
            actions.push(action);
            Ok(())
        })?;
        Ok((actions, report))
    }

    fn read(&self) -> (Vec<Action>, Report) {
        self.try_read().unwrap()
    }
}

fn exact(value: Value) -> Json {
    parse(&value.to_string()).unwrap()
}

fn say(ts: i64, kind: &str, text: impl ToString) -> Value {
    json!({"ts": ts, "type": "say", "say": kind, "text": text.to_string()})
}

fn ask(ts: i64, kind: &str, text: impl ToString) -> Value {
    json!({"ts": ts, "type": "ask", "ask": kind, "text": text.to_string()})
}

/// A call of the model and what it gave.
fn called(id: &str, name: &str, input: Value, result: Value) -> [Value; 2] {
    [
        json!({"role": "assistant", "content": [{"type": "tool_use", "id": id, "name": name, "input": input}]}),
        json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": result}]}),
    ]
}

fn done(ts: i64) -> Value {
    say(ts, "completion_result", "Done.")
}

/// The first action of a task with one message, which is finished.
fn one(message: Value, history: &[Value]) -> Action {
    Task::new(json!([message, done(9)]), json!(history)).read().0.remove(0)
}

#[test]
fn metadata_tells_where_a_task_comes_from() {
    let task = Task::new(json!([say(1, "text", "a"), done(2)]), json!([]));
    let metadata = json!({
        "files_in_context": [{"path": "a"}, {"path": "b"}],
        "model_usage": [{"model_id": "m1"}, {"model_id": "m2"}],
        "environment_history": [{"os_name": "x"}, {"os_name": "linux", "cline_version": "3.40"}],
    });
    task.put(METADATA, &metadata.to_string());
    let (actions, report) = task.read();
    assert_eq!((actions[0].key.as_str(), actions[0].kind), ("provenance", Kind::System));
    assert_eq!(actions[0].result, exact(metadata));
    assert_eq!(
        Json::from(actions[0].environment.clone()),
        exact(
            json!({"os_name": "linux", "cline_version": "3.40", "files_in_context_count": 2, "model_usage_count": 2})
        )
    );
    assert_eq!(actions[1].model, "m2");
    assert_eq!(
        Json::from(actions[1].environment.clone()),
        exact(json!({"os_name": "linux", "cline_version": "3.40"}))
    );
    assert!(report.finished);
    fs::remove_file(task.0.path().join(METADATA)).unwrap();
    assert_eq!(task.read().0[0].key, "1:0");
}

#[test]
fn messages_are_told_in_the_order_of_their_times() {
    let messages = json!([
        say(5, "text", "third"),
        say(1, "task", "do\nit"),
        say(5, "text", "fourth"),
        say(3, "user_feedback", "and this"),
        done(9)
    ]);
    let (actions, _) = Task::new(messages, json!([])).read();
    let told: Vec<_> =
        actions.iter().map(|a| (a.key.as_str(), a.prompt.as_str(), a.summary.as_str())).collect();
    assert_eq!(
        told,
        [
            ("1:0", "do\nit", "user: do it"),
            ("3:1", "and this", "user: and this"),
            ("5:2", "and this", "third"),
            ("5:3", "and this", "fourth"),
            ("9:4", "and this", "Done."),
        ]
    );
    assert_eq!(actions[0].result, exact(json!({"role": "user", "say": "task", "text": "do\nit"})));
    assert_eq!((actions[2].analysis.as_str(), &actions[2].result), ("third", &Json::from("third")));
}

#[test]
fn a_question_is_the_agents_and_not_the_users_request() {
    let messages = json!([
        say(1, "task", "prune"),
        ask(2, "followup", json!({"question": "Vines too?", "options": ["yes", "no"]})),
        say(3, "text", "waiting"),
        ask(4, "plan_mode_respond", json!({"response": "First this."})),
        done(9)
    ]);
    let (actions, _) = Task::new(messages, json!([])).read();
    let question = &actions[1];
    assert_eq!((question.kind, question.prompt.as_str()), (Kind::Chat, "prune"));
    assert_eq!((question.analysis.as_str(), question.summary.as_str()), ("Vines too?", "Vines too?"));
    assert_eq!(question.result, exact(json!({"question": "Vines too?", "options": ["yes", "no"]})));
    assert_eq!(actions[2].prompt, "prune");
    assert_eq!((actions[3].analysis.as_str(), &actions[3].result), ("First this.", &"First this.".into()));
}

#[test]
fn what_a_request_cost_goes_to_the_next_action_of_the_agent() {
    let request = |ts, text: Value| say(ts, "api_req_started", text);
    let mut checkpoint = say(2, "checkpoint_created", "");
    checkpoint["lastCheckpointHash"] = "abc".into();
    checkpoint["isCheckpointCheckedOut"] = false.into();
    let messages = json!([
        say(1, "task", "go"),
        checkpoint,
        request(
            3,
            json!({"tokensIn": 10, "tokensOut": 1, "cost": 0.5, "cancelReason": "streaming_failed",
                          "streamingFailedMessage": " socket\nclosed "})
        ),
        request(4, json!({"tokensIn": 5, "tokensOut": 2, "cacheReads": 7, "cost": 0.25})),
        say(5, "reasoning", "Hm."),
        say(6, "user_feedback", "hurry"),
        say(7, "text", "answer"),
        request(8, json!({"request": "still under way"})),
        say(9, "text", "more"),
    ]);
    let (actions, _) = Task::new(messages, json!([])).read();
    assert!(actions[0].usage.is_empty() && actions[1].usage.is_empty() && actions[1].reasoning.is_empty());
    assert_eq!(
        Json::from(actions[1].environment.clone()),
        exact(json!({"last_checkpoint_hash": "abc", "is_checkpoint_checked_out": false,
            "cancel_reason": "streaming_failed", "streaming_failed_message": "socket closed"}))
    );
    // Two requests, one action: nothing is lost and nothing is counted twice.
    assert_eq!(
        Json::from(actions[2].usage.clone()),
        exact(
            json!({"input_tokens": 15, "output_tokens": 3, "cache_writes": null, "cache_reads": 7, "cost": 0.75,
            "cancel_reason": "streaming_failed", "streaming_failed": true})
        )
    );
    assert_eq!(actions[2].reasoning, "Hm.");
    assert!(actions[3].usage.is_empty());
}

#[test]
fn what_no_action_follows_is_told_at_the_end() {
    let messages =
        json!([done(1), say(2, "api_req_started", json!({"tokensIn": 3})), say(3, "reasoning", "Hm.")]);
    let (actions, report) = Task::new(messages, json!([])).read();
    let rest = &actions[1];
    assert_eq!((rest.key.as_str(), rest.summary.as_str()), ("trailing:3", "trailing usage/reasoning"));
    assert_eq!((rest.usage.get("input_tokens"), rest.reasoning.as_str()), (Some(&3_i64.into()), "Hm."));
    assert!(report.finished && !rest.open);
    let (actions, _) = Task::new(json!([say(1, "reasoning", "Hm.")]), json!([])).read();
    assert!(actions[0].open);
    let thought =
        Task::new(json!([say(1, "reasoning", "Hm."), say(2, "text", ""), done(3)]), json!([])).read().0;
    assert_eq!((thought[0].summary.as_str(), thought[0].reasoning.as_str()), ("assistant reasoning", "Hm."));
}

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
    let results: Vec<Json> =
        actions.iter().filter_map(|action| Some(action.call.as_ref()?.result.clone())).collect();
    let expected = ["a", "b", "a again"].map(Json::from);
    assert_eq!(results[..3], expected);
    assert_eq!(results[3..], [Json::Null, "sunny".into(), "Command executed.\nOutput:\nx".into()]);
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
    assert!(actions[1].failed);
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
    assert_eq!(action.authority, Authority { kind: "human_approved", policy_reference: String::new() });
    let call = action.call.unwrap();
    assert_eq!((call.arguments, call.result), (exact(json!({"path": "f", "diff": blocks})), blocks.into()));
    let new = json!({"tool": "newFileCreated", "path": "n", "content": "text"});
    let action = one(say(1, "tool", &new), &[]);
    assert_eq!((action.authority, action.side_effects), (Authority::default(), vec!["wrote n".to_owned()]));
    assert_eq!(action.call.unwrap().result, "text".into());
    let gone = one(say(1, "tool", json!({"tool": "fileDeleted", "path": "n"})), &[]);
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
    assert!(failed.failed && failed.side_effects.is_empty());
    assert_eq!(failed.summary, "editedExistingFile: f (error)");
    assert!(failed.call.unwrap().result.as_str().unwrap().contains("no match"));
    let denied = with(json!([{"type": "text", "text": "The user denied this operation."}]));
    assert!(denied.failed);
    assert_eq!(
        (denied.authority.kind, denied.authority.policy_reference.as_str()),
        ("policy", "user_decision=denied")
    );
    assert!(!with(json!("saved")).failed);
    let mut marked = called("1", "replace_in_file", json!({"path": "f"}), json!("bad"));
    marked[1]["content"][0]["is_error"] = true.into();
    assert!(one(ask(1, "tool", &edit), &marked).failed);
    // A file may speak of errors.
    let read = json!({"tool": "readFile", "path": "f"});
    let content = json!("about\n<error>\nand exit code 1");
    assert!(!one(say(1, "tool", &read), &called("1", "read_file", json!({"path": "f"}), content)).failed);
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
    assert!(!actions[0].failed && !actions[0].open);
    assert!(actions[2].failed && actions[2].call.as_ref().unwrap().result == "Exit code: 1".into());
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
        ("mcp_server_response: sunny", Json::Null)
    );
}

#[test]
fn errors_are_told_and_what_is_unknown_is_kept() {
    let messages = json!([say(1, "diff_error", "f"), say(2, "task_progress", "- [x] a"),
        {"ts": 3, "type": "say", "say": "new_kind", "text": "t", "more": [1]}, {"ts": 4}, done(9)]);
    let (actions, report) = Task::new(messages, json!([])).read();
    assert!(actions[0].failed && actions[0].kind == Kind::System);
    assert_eq!(actions[0].summary, "diff_error: f");
    assert_eq!((actions[1].kind, &actions[1].result), (Kind::System, &"- [x] a".into()));
    assert_eq!(
        actions[2].result,
        exact(json!({"ts": 3, "type": "say", "say": "new_kind", "text": "t", "more": [1]}))
    );
    assert_eq!(report.unknown, [("none".to_owned(), 1), ("say new_kind".to_owned(), 1)].into());
}

#[test]
fn a_broken_message_costs_only_itself() {
    let task = Task::new(json!([]), json!([]));
    task.put(
        MESSAGES,
        "[{\"ts\":1,\"say\":\"text\",\"text\":\"a\\ud83d\"}, 7, {\"ts\":2,\"say\":}, {\"ts\":\"x\",\"say\":[],\"text\":{}},
          {\"ts\":3,\"say\":\"completion_result\",\"text\":\"b\"}]",
    );
    let (actions, report) = task.read();
    assert_eq!(actions.len(), 3);
    assert_eq!((actions[1].analysis.as_str(), actions[2].analysis.as_str()), ("a\u{FFFD}", "b"));
    assert_eq!(report.broken, 2);
}

#[test]
fn a_half_written_file_is_left_for_another_time() {
    for name in [MESSAGES, HISTORY, METADATA] {
        let task = Task::new(json!([say(1, "text", "a")]), json!([{"role": "user", "content": []}]));
        task.put(METADATA, "{\"model_usage\": []}");
        let whole = fs::read(task.0.path().join(name)).unwrap();
        for end in 0..whole.len() {
            fs::write(task.0.path().join(name), &whole[..end]).unwrap();
            let problem = task.try_read().unwrap_err();
            assert_eq!(problem.code, Code::TranscriptUnreadable, "{name} {end}");
            assert!(problem.message.contains(name) && problem.fix.is_some());
        }
        fs::write(task.0.path().join(name), &whole).unwrap();
        assert_eq!(task.read().0.len(), 2);
    }
    let task = Task::new(json!([]), json!([]));
    fs::remove_file(task.0.path().join(MESSAGES)).unwrap();
    assert_eq!(task.try_read().unwrap_err().code, Code::FileNotFound);
}

#[test]
fn random_bytes_never_panic() {
    let seed = 20_261_115;
    let mut random = fastrand::Rng::with_seed(seed);
    let whole = json!([
        say(1, "tool", json!({"tool": "readFile", "path": "a"})),
        ask(2, "command", "ls"),
        say(3, "api_req_started", json!({"tokensIn": 1})),
        say(4, "browser_action", "{}"),
        done(9)
    ])
    .to_string();
    for round in 0..300 {
        let mut bytes = whole.clone().into_bytes();
        for _ in 0..random.usize(1..6) {
            let at = random.usize(..bytes.len());
            bytes[at] = random.u8(..);
        }
        let task = Task::new(json!([]), json!([]));
        fs::write(task.0.path().join(MESSAGES), &bytes).unwrap();
        if let Err(problem) = task.try_read() {
            assert_eq!(problem.code, Code::TranscriptUnreadable, "seed {seed}, round {round}");
        }
    }
}

#[test]
fn the_folder_of_a_task_is_in_its_first_message() {
    let task = Task::new(
        json!([]),
        json!([{"role": "user", "content": [{"type": "text", "text": "<task>go</task>"},
        {"type": "text", "text": "<environment_details>\n# Current Working Directory (/r/a (b)) Files\nx"}]}]),
    );
    assert_eq!(working_folders(task.0.path()), [PathBuf::from("/r/a (b)")]);
    assert!(working_folders(Path::new("/no/such/task")).is_empty());
}
