//! What calls gave.

use super::build::*;
use crate::jsonl_support::*;
use capsid_model::exact::ExactJson;
use capsid_model::{Value, json};
use capsid_transcript::{ActionKind, Tool};

#[test]
fn an_edit_shows_its_diff_and_leaves_the_whole_file_out() {
    let hunk = json!({"oldStart": 3, "oldLines": 1, "newStart": 3, "newLines": 2, "lines": ["-a", "+b", "+c", " d"]});
    let payload =
        json!({"filePath": "/f", "originalFile": "a\nd", "structuredPatch": [hunk], "userModified": false});
    let (summary, result, payload, effects) =
        one_call("MultiEdit", json!({"file_path": "/f"}), json!("done"), payload);
    assert_eq!(summary, "MultiEdit: /f (+2/-1)");
    assert_eq!(result, "@@ -3,1 +3,2 @@\n-a\n+b\n+c\n d".into());
    assert!(payload.get("originalFile").is_none() && payload.get("structuredPatch").is_some());
    assert_eq!(effects, ["edited /f"]);
    let payload = json!({"structuredPatch": [], "userModified": true});
    let (summary, result, _, effects) =
        one_call("Write", json!({"file_path": "/n"}), json!("created"), payload);
    assert_eq!((summary.as_str(), result), ("Write: /n", "created".into()));
    assert_eq!(effects, ["wrote /n", "user modified after"]);
    let notebook = json!({"original_file": "{}", "updated_file": "{}", "new_source": "x"});
    let (_, result, payload, effects) =
        one_call("NotebookEdit", json!({"notebook_path": "/n.ipynb"}), json!("ok"), notebook);
    assert_eq!((result, payload, effects.len()), ("ok".into(), exact(&json!({"new_source": "x"})), 0));
}

#[test]
fn what_a_tool_gave_is_shaped_by_the_tool() {
    let bash = |payload: Value| one_call("Bash", json!({"command": "make\n all"}), json!("raw"), payload);
    let (summary, result, ..) = bash(json!({"stdout": "out", "stderr": "err", "interrupted": true}));
    assert_eq!((summary.as_str(), result), ("Bash: make  all (interrupted)", "out\n[stderr]\nerr".into()));
    let (summary, result, ..) = bash(json!({"stdout": "", "stderr": ""}));
    assert_eq!((summary.as_str(), result), ("Bash: make  all", "".into()));
    let (_, result, payload, _) = bash(json!("Error: text"));
    assert_eq!((result, payload), ("raw".into(), exact(&json!({}))));

    let file = json!({"type": "text", "file": {"content": "x\ny", "numLines": 2}});
    let (summary, result, ..) = one_call("Read", json!({"file_path": "/f"}), json!("1 x"), file);
    assert_eq!((summary.as_str(), result), ("Read: /f (2 lines)", "x\ny".into()));

    let pages: Vec<Value> = (0..40).map(|n| json!({"url": format!("u{n}")})).collect();
    let payload = json!({"query": "q", "results": [{"content": pages}, "text", {"content": "none"}]});
    let (summary, result, ..) = one_call("WebSearch", json!({"query": "q"}), json!(""), payload);
    assert_eq!(summary, "WebSearch: q (40 results)");
    assert_eq!(result.get("urls").unwrap().as_array().unwrap().len(), 30);

    let payload = json!({"code": 404, "result": "gone"});
    let (summary, result, ..) =
        one_call("WebFetch", json!({"url": "u", "prompt": "p"}), json!("raw"), payload);
    assert_eq!((summary.as_str(), result), ("WebFetch: u (HTTP 404)", "gone".into()));

    let stats = json!({"editFileCount": 2, "linesAdded": 14, "linesRemoved": 3});
    let payload =
        json!({"agentType": "Explore", "totalToolUseCount": 9, "toolStats": stats, "content": [{}, {}]});
    let (summary, _, payload, effects) =
        one_call("Agent", json!({"description": "look"}), json!("raw"), payload);
    assert_eq!(summary, "Agent: look [Explore: 2 edits, +14/-3, 9 tool calls]");
    assert_eq!(effects, ["delegated to Explore subagent (2 messages)"]);
    assert!(payload.get("content").is_none());
    assert_eq!(payload.get("subagent_message_count").unwrap().as_i64(), Some(2));
    let (summary, ..) = one_call("Task", json!({"subagent_type": "Plan"}), json!("raw"), json!({}));
    assert_eq!(summary, "Task call [Plan: 0 edits, +0/-0, 0 tool calls]");

    let (summary, result, ..) =
        one_call("mcp__x__y", json!({}), json!([{"type": "text", "text": "z"}]), json!([]));
    assert_eq!(summary, "mcp__x__y call");
    assert_eq!(result, exact(&json!([{"type": "text", "text": "z"}])));
}

#[test]
fn images_and_very_long_results_are_cut() {
    let image = json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "A".repeat(999)}});
    let file =
        json!({"type": "image", "file": {"base64": "A".repeat(999), "type": "image/png", "originalSize": 7}});
    let (_, result, payload, _) = one_call("Read", json!({"file_path": "/i.png"}), json!([image]), file);
    let left = exact(&json!({"type": "image", "media_type": "image/png", "base64_length": 999}));
    assert_eq!(result, ExactJson::from(vec![left.clone()]));
    assert_eq!(payload.get("file"), Some(&left));
    let (_, result, payload, _) =
        one_call("Grep", json!({}), json!("ü".repeat(200_009)), json!({"content": "x".repeat(200_000)}));
    assert!(result.as_str().unwrap().ends_with("ü...<+9b>"));
    let cut = payload.text("_truncated").unwrap();
    assert!(
        cut.starts_with("{\"content\": \"xxx") && cut.ends_with("x...<+15b>"),
        "{}",
        &cut[cut.len() - 20..]
    );
}

#[test]
fn a_failure_is_one() {
    let failed = json!({"type": "tool_result", "tool_use_id": "t", "content": "no", "is_error": true});
    let read = read_lines(&[call("a", "t", "Bash", json!({"command": "x"})), user("r", json!([failed]))]);
    let action = read.get("a:0");
    assert!(action.has_failed() && !action.open);
    assert_eq!(action.summary, "Bash: x (error)");
}

#[test]
fn a_result_without_a_call_is_kept() {
    let read = read_lines(&[result("r", "gone", json!("late"), json!({"a": 1}))]);
    let action = read.get("r:result:0");
    assert_eq!(action.kind, ActionKind::System);
    assert_eq!(action.result.at(&["tool_result", "content"]), Some(&"late".into()));
    assert_eq!(action.result.at(&["tool_use_result", "a"]).unwrap().as_i64(), Some(1));
}

#[test]
fn long_outputs_are_read_from_their_files() {
    let placeholder = "<persisted-output>\nOutput too large (300KB). Full output saved to: /h/s1/tool-results/b1.txt\n\nPreview";
    let windows = json!({"persistedOutputPath": "C:\\h\\s1\\tool-results\\b2.txt", "stdout": "start"});
    let outside = json!({"persistedOutputPath": "../../secret.txt", "stdout": "start"});
    let long = "line\n".repeat(60_000);
    let transcript = Transcript::new(
        Tool::ClaudeCode,
        &[
            call("a", "t1", "Bash", json!({"command": "x"})),
            result("r1", "t1", json!(placeholder), json!({"stdout": "start"})),
            call("b", "t2", "Bash", json!({"command": "y"})),
            result("r2", "t2", json!("x"), windows),
            call("c", "t3", "Bash", json!({"command": "z"})),
            result("r3", "t3", json!("x"), outside),
        ],
    )
    .with("s1/tool-results/b1.txt", &long)
    .with("s1/tool-results/b2.txt", "whole")
    .with("secret.txt", "secret");
    let read = transcript.read();
    assert!(read.result("a:0").as_str().unwrap().ends_with("...<+100000b>"));
    let about = read.get("a:0").result.get("persisted_output").unwrap();
    assert_eq!((about.text("file"), about.get("bytes").unwrap().as_i64()), (Some("b1.txt"), Some(300_000)));
    assert_eq!(about.text("sha256").unwrap().len(), 64);
    assert_eq!(read.result("b:0"), &"whole".into());
    let whole = "5d5766cf2d78701614200418ee1450690d9af12c84d52545e4802f001ad53099";
    assert_eq!(
        read.get("b:0").result.at(&["persisted_output", "sha256"]).and_then(ExactJson::as_str),
        Some(whole)
    );
    assert_eq!(read.result("c:0"), &"start".into());
}
