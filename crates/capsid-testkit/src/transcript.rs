//! Transcripts of coding agents, written by us.

use capsid_model::{Value, json};

/// A session of Claude Code with `turns` turns: a prompt, a command with its result, an edit with its patch, an answer.
/// Each turn makes three actions.
pub fn claude_code(session: &str, turns: usize) -> String {
    (0..turns).map(|turn| claude_code_turn(session, turn)).collect()
}

/// One turn of it.
pub fn claude_code_turn(session: &str, turn: usize) -> String {
    let mut lines = String::new();
    let mut line = |step: usize, kind: &str, message: Value, result: Option<Value>| {
        let mut record = json!({
            "type": kind,
            "uuid": uuid(turn, step),
            "parentUuid": null,
            "isSidechain": false,
            "userType": "external",
            "cwd": "/home/ada/shop",
            "sessionId": session,
            "version": "2.1.40",
            "gitBranch": "main",
            "timestamp": format!("2026-06-01T10:{:02}:{:02}.000Z", turn % 60, step),
            "message": message,
        });
        if let Some(result) = result {
            record["toolUseResult"] = result;
        }
        lines += &format!("{record}\n");
    };
    let user_message = |content: Value| json!({"role": "user", "content": content});
    let done = |step: usize, content: Value| {
        json!({
            "id": format!("msg_{turn}_{step}"), "model": "claude-opus-4-8", "role": "assistant", "content": content,
            "stop_reason": "tool_use",
            "usage": {"input_tokens": 10 + turn, "output_tokens": 5, "cache_read_input_tokens": 100},
        })
    };
    let (run, edit) = (format!("toolu_{turn}_run"), format!("toolu_{turn}_edit"));
    line(0, "user", user_message(json!(format!("Count the pears, try {turn}"))), None);
    let call = json!([{"type": "tool_use", "id": run, "name": "Bash", "input": {"command": "make test"}}]);
    line(1, "assistant", done(1, call), None);
    let output = json!([{"type": "tool_result", "tool_use_id": run, "content": "ok", "is_error": false}]);
    line(
        2,
        "user",
        user_message(output),
        Some(json!({"stdout": "ok\n", "stderr": "slow\n", "interrupted": false})),
    );
    let input = json!({"file_path": "/home/ada/shop/pear.py", "old_string": "a", "new_string": "b"});
    line(
        3,
        "assistant",
        done(3, json!([{"type": "tool_use", "id": edit, "name": "Edit", "input": input}])),
        None,
    );
    let patch =
        json!([{"oldStart": 1, "oldLines": 1, "newStart": 1, "newLines": 2, "lines": ["-a", "+b", "+c"]}]);
    let output =
        json!([{"type": "tool_result", "tool_use_id": edit, "content": "edited", "is_error": false}]);
    line(
        4,
        "user",
        user_message(output),
        Some(json!({"filePath": "/home/ada/shop/pear.py", "structuredPatch": patch})),
    );
    line(
        5,
        "assistant",
        done(5, json!([{"type": "text", "text": format!("There are {turn} pears.")}])),
        None,
    );
    lines
}

fn uuid(turn: usize, step: usize) -> String {
    format!("{turn:08x}-0000-4000-8000-{step:012x}")
}

/// The keys in a checkpoint file.
pub fn keys_of(checkpoint: &str) -> Vec<String> {
    let document: Value = checkpoint.parse().unwrap();
    let keys = document["done"].as_array().unwrap();
    keys.iter().map(|key| key.as_str().unwrap().to_owned()).collect()
}
