#![allow(clippy::disallowed_methods, clippy::needless_pass_by_value)]
mod calls;
mod rows;

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

    fn source(&self) -> TranscriptSource {
        TranscriptSource {
            tool: Tool::Cline,
            session: "7".to_owned(),
            path: self.0.path().to_owned(),
            text_transcript: None,
            authorship: None,
            hook_fields: ExactFields::new(),
        }
    }

    fn try_read(&self) -> Result<(Vec<Action>, ReadReport)> {
        let mut actions = Vec::new();
        let report = read(&self.source(), &mut |action| {
            actions.push(action);
            Ok(())
        })?;
        Ok((actions, report))
    }

    fn read(&self) -> (Vec<Action>, ReadReport) {
        self.try_read().unwrap()
    }
}

fn exact(value: Value) -> ExactJson {
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
    assert_eq!((actions[0].key.as_str(), actions[0].kind), ("provenance", ActionKind::System));
    assert_eq!(actions[0].result, exact(metadata));
    assert_eq!(
        ExactJson::from(actions[0].environment.clone()),
        exact(
            json!({"os_name": "linux", "cline_version": "3.40", "files_in_context_count": 2, "model_usage_count": 2})
        )
    );
    assert_eq!(actions[1].model, "m2");
    assert_eq!(
        ExactJson::from(actions[1].environment.clone()),
        exact(json!({"os_name": "linux", "cline_version": "3.40", "timestamp": "1970-01-01T00:00:00.001Z"}))
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
    let actual: Vec<_> =
        actions.iter().map(|a| (a.key.as_str(), a.prompt.as_str(), a.summary.as_str())).collect();
    assert_eq!(
        actual,
        [
            ("1:0", "do\nit", "user: do it"),
            ("3:1", "and this", "user: and this"),
            ("5:2", "and this", "third"),
            ("5:3", "and this", "fourth"),
            ("9:4", "and this", "Done."),
        ]
    );
    assert_eq!(actions[0].result, exact(json!({"role": "user", "say": "task", "text": "do\nit"})));
    assert_eq!((actions[2].analysis.as_str(), &actions[2].result), ("third", &ExactJson::from("third")));
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
    assert_eq!((question.kind, question.prompt.as_str()), (ActionKind::Chat, "prune"));
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
        ExactJson::from(actions[1].environment.clone()),
        exact(json!({"last_checkpoint_hash": "abc", "is_checkpoint_checked_out": false,
            "cancel_reason": "streaming_failed", "streaming_failed_message": "socket closed",
            "timestamp": "1970-01-01T00:00:00.006Z"}))
    );
    // Two requests, one action: nothing is lost and nothing is counted twice.
    assert_eq!(
        ExactJson::from(actions[2].usage.clone()),
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
fn errors_are_told_and_what_is_unknown_is_kept() {
    let messages = json!([say(1, "diff_error", "f"), say(2, "task_progress", "- [x] a"),
        {"ts": 3, "type": "say", "say": "new_kind", "text": "t", "more": [1]}, {"ts": 4}, done(9)]);
    let (actions, report) = Task::new(messages, json!([])).read();
    assert!(actions[0].has_failed() && actions[0].kind == ActionKind::System);
    assert_eq!(actions[0].summary, "diff_error: f");
    assert_eq!((actions[1].kind, &actions[1].result), (ActionKind::System, &"- [x] a".into()));
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
    assert_eq!(actions.len(), 5);
    let broken: Vec<_> = actions[..2].iter().map(|a| a.result.clone()).collect();
    assert_eq!(broken, ["7".into(), "{\"ts\":2,\"say\":}".into()]);
    assert_eq!((actions[3].analysis.as_str(), actions[4].analysis.as_str()), ("a\u{FFFD}", "b"));
    assert_eq!(report.broken, 2);
}

#[test]
fn a_half_written_file_is_left_for_another_time() {
    for name in [MESSAGES, HISTORY, METADATA] {
        let task = Task::new(json!([say(1, "text", "a")]), json!([{"role": "user", "content": []}]));
        task.put(METADATA, "{\"model_usage\": []}");
        let bytes = fs::read(task.0.path().join(name)).unwrap();
        for end in 0..bytes.len() {
            fs::write(task.0.path().join(name), &bytes[..end]).unwrap();
            let problem = task.try_read().unwrap_err();
            assert_eq!(problem.code, Code::TranscriptUnreadable, "{name} {end}");
            assert!(problem.message.contains(name) && problem.fix.is_some());
        }
        fs::write(task.0.path().join(name), &bytes).unwrap();
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
    let document = json!([
        say(1, "tool", json!({"tool": "readFile", "path": "a"})),
        ask(2, "command", "ls"),
        say(3, "api_req_started", json!({"tokensIn": 1})),
        say(4, "browser_action", "{}"),
        done(9)
    ])
    .to_string();
    for round in 0..300 {
        let mut bytes = document.clone().into_bytes();
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
