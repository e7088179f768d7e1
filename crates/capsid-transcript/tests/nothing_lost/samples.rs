//! One session of each agent, with every kind of entry that the readers know and some that they do not.
#![allow(clippy::needless_pass_by_value)]

use capsid_model::{Value, json};

fn claude(kind: &str, n: u32, more: Value) -> Value {
    let mut line = json!({"type": kind, "uuid": format!("00000000-0000-4000-8000-{n:012}"), "sessionId": "5f0c1b9e-7a52",
        "parentUuid": format!("00000000-0000-4000-8000-{:012}", n.saturating_sub(1)), "cwd": "/home/dev/orchard",
        "timestamp": format!("2026-06-01T10:00:{n:02}.000Z"), "isSidechain": false, "version": "2.1.40-stable",
        "gitBranch": "feature/pears", "userType": "external-user"});
    line.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    line
}

fn answer(n: u32, content: Value) -> Value {
    claude(
        "assistant",
        n,
        json!({"requestId": format!("req_0123456789_{n}"), "message": {"id": format!("msg_0123456789_{n}"),
        "role": "assistant", "model": "some-model-4-8", "stop_reason": "tool_use_or_end", "content": content,
        "usage": {"input_tokens": 10, "output_tokens": n, "service_tier": "standard-tier"}}}),
    )
}

fn result(n: u32, id: &str, content: Value, payload: Value) -> Value {
    let block = json!({"type": "tool_result", "tool_use_id": id, "content": content});
    claude("user", n, json!({"message": {"role": "user", "content": [block]}, "toolUseResult": payload}))
}

pub fn claude_code() -> Vec<Value> {
    let call = |id: &str, name: &str, input: Value| json!({"type": "tool_use", "id": id, "name": name, "input": input});
    vec![
        json!({"type": "permission-mode", "permissionMode": "acceptEdits", "sessionId": "5f0c1b9e-7a52"}),
        claude(
            "user",
            1,
            json!({"message": {"role": "user", "content": [
            {"type": "text", "text": "Count the pears in the garden"},
            {"type": "text", "text": "and the quinces behind the shed"},
            {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgoAAAANSUhEUg"}},
            {"type": "document", "title": "the map of the garden", "source": {"type": "text", "text": "north is where the shed is"}}]}}),
        ),
        answer(
            2,
            json!([{"type": "thinking", "thinking": "", "signature": "EqQBCkYICxgCKkBsYW1iZGEtc2lnbmF0dXJl"}]),
        ),
        answer(3, json!([{"type": "text", "text": "I read the list of trees first."}])),
        answer(
            4,
            json!([call("toolu_000000001", "Read", json!({"file_path": "/home/dev/orchard/trees.txt"}))]),
        ),
        result(
            5,
            "toolu_000000001",
            json!(
                "     1\told pear by the wall\n     2\tquince behind the shed\n<system-reminder>keep to the paths</system-reminder>"
            ),
            json!({"type": "text", "file": {"filePath": "/home/dev/orchard/trees.txt", "content": "old pear by the wall\nquince behind the shed\n", "numLines": 2}}),
        ),
        answer(
            6,
            json!([
                call(
                    "toolu_000000002",
                    "Edit",
                    json!({"file_path": "/home/dev/orchard/count.py", "old_string": "return len(trees) + 1", "new_string": "return len(trees)"})
                ),
                call(
                    "toolu_000000003",
                    "Write",
                    json!({"file_path": "/home/dev/orchard/test_count.py", "content": "def test_count():\n    assert count([1, 2]) == 2\n"})
                )
            ]),
        ),
        result(
            7,
            "toolu_000000002",
            json!("The file has been updated."),
            json!({"filePath": "/home/dev/orchard/count.py", "originalFile": "def count(trees):\n    return len(trees) + 1\n",
            "structuredPatch": [{"oldStart": 1, "oldLines": 2, "newStart": 1, "newLines": 2, "lines": [" def count(trees):", "-    return len(trees) + 1", "+    return len(trees)"]}]}),
        ),
        result(
            8,
            "toolu_000000003",
            json!("File created successfully"),
            json!({"type": "create", "filePath": "/home/dev/orchard/test_count.py", "content": "def test_count():\n    assert count([1, 2]) == 2\n", "structuredPatch": []}),
        ),
        claude("progress", 9, json!({"data": {"message": "still running the tests"}})),
        answer(10, json!([call("toolu_000000004", "Bash", json!({"command": "python -m pytest -q"}))])),
        result(
            11,
            "toolu_000000004",
            json!("2 passed in 0.03s"),
            json!({"stdout": "2 passed in 0.03s", "stderr": "a warning about the cache", "durationSeconds": 1.5}),
        ),
        claude(
            "attachment",
            12,
            json!({"attachment": {"type": "todo_reminder", "content": ["water the quinces"]}}),
        ),
        claude("system", 13, json!({"subtype": "compact_boundary", "content": "Conversation was compacted"})),
        json!({"type": "queue-operation", "operation": "enqueue", "content": "and then prune the old pear", "timestamp": "2026-06-01T10:00:13Z"}),
        json!({"type": "summary", "summary": "Pears are counted right", "leafUuid": "00000000-0000-4000-8000-000000000011"}),
        claude(
            "user",
            14,
            json!({"message": {"role": "user", "content": [
            {"type": "tool_result", "tool_use_id": "toolu_of_nobody", "content": "a result without its call"},
            {"type": "text", "text": "words beside the results"}]}}),
        ),
        answer(
            15,
            json!([{"type": "server_tool_use", "id": "srvtoolu_01", "input": {"query": "how heavy is a quince"}}, {"type": "text", "text": "Two trees, three pears."}]),
        ),
        claude("hologram", 16, json!({"beam": "a kind of line from the future"})),
        json!({"type": "last-prompt", "lastPrompt": "a prompt that never was sent"}),
        claude(
            "user",
            17,
            json!({"message": {"role": "user", "content": "thank you, that is all for today"}}),
        ),
    ]
}

fn codex_line(n: u32, kind: &str, payload: Value) -> Value {
    json!({"timestamp": format!("2026-06-01T11:00:{n:02}.000Z"), "type": kind, "payload": payload})
}

pub fn codex() -> Vec<Value> {
    let item = |n, payload: Value| codex_line(n, "response_item", payload);
    let event = |n, payload: Value| codex_line(n, "event_msg", payload);
    let message = |n, role: &str, text: &str| {
        item(n, json!({"type": "message", "role": role, "content": [{"type": "input_text", "text": text}]}))
    };
    vec![
        codex_line(
            0,
            "session_meta",
            json!({"id": "019e2f00-1111-7222-8333-444455556666", "cwd": "/home/dev/plum", "originator": "codex_cli_rs",
            "cli_version": "0.80.0-alpha", "source": "command line", "base_instructions": "You are a careful plum engineer.",
            "git": {"commit_hash": "0123456789abcdef", "branch": "feature/trunk", "repository_url": "https://example.org/plum.git"}}),
        ),
        message(1, "user", "<environment_context>\n  <cwd>/home/dev/plum</cwd>\n</environment_context>"),
        codex_line(
            2,
            "turn_context",
            json!({"cwd": "/home/dev/plum", "approval_policy": "on-request-always", "sandbox_policy": {"mode": "workspace-write"},
            "model": "some-codex-model", "effort": "high", "user_instructions": "never touch the old tree"}),
        ),
        item(
            3,
            json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "make the plums heavier"},
            {"type": "input_image", "image_url": format!("data:image/png;base64,{}", "A".repeat(90))}]}),
        ),
        event(3, json!({"type": "user_message", "message": "make the plums heavier", "images": []})),
        event(4, json!({"type": "agent_reasoning", "text": "**Planning the change**"})),
        item(
            4,
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "**Planning the change**"}], "content": null, "encrypted_content": "gAAAAABencryptedthinking"}),
        ),
        item(
            5,
            json!({"type": "reasoning", "summary": [{"type": "summary_text", "text": "a summary beside the content"}], "content": [{"type": "reasoning_text", "text": "The weight is a constant."}]}),
        ),
        item(
            6,
            json!({"type": "function_call", "name": "apply_patch", "call_id": "call_patch", "arguments": "{\"input\": \"*** Begin Patch\\n*** Update File: src/plum.rs\\n@@ fn weigh() {\\n-    let weight = 1;\\n+    let weight = 2;\\n\"}"}),
        ),
        event(
            6,
            json!({"type": "patch_apply_end", "call_id": "call_patch", "stdout": "Success, one file changed"}),
        ),
        item(
            7,
            json!({"type": "function_call_output", "call_id": "call_patch", "output": {"output": "Success. Updated src/plum.rs", "metadata": {"exit_code": 0, "comment": "nothing to complain about"}}}),
        ),
        item(
            8,
            json!({"type": "function_call", "name": "shell", "call_id": "call_shell", "arguments": "{\"command\": [\"bash\", \"-lc\", \"cargo test --quiet\"]}"}),
        ),
        event(
            9,
            json!({"type": "exec_command_end", "call_id": "call_shell", "stdout": "test result of the event"}),
        ),
        event(
            9,
            json!({"type": "exec_command_end", "call_id": "call_of_nobody", "stdout": "an output that no call asked for"}),
        ),
        item(
            10,
            json!({"type": "function_call_output", "call_id": "call_shell", "output": "Exit code: 1\nWall time: 1 seconds\nOutput:\nerror: weight is too large"}),
        ),
        event(
            10,
            json!({"type": "token_count", "info": {"last_token_usage": {"input_tokens": 5}}, "rate_limits": {"plan_type_name": "a generous plan"}}),
        ),
        item(
            11,
            json!({"type": "function_call", "name": "update_plan", "call_id": "call_plan", "arguments": "{\"plan\": [{\"step\": \"weigh each plum\"}]}"}),
        ),
        event(11, json!({"type": "plan_update", "plan": [{"step": "weigh each plum"}]})),
        event(12, json!({"type": "plan_update", "plan": [{"step": "a plan that no call made"}]})),
        item(
            12,
            json!({"type": "function_call_output", "call_id": "call_plan", "output": "Plan was updated"}),
        ),
        event(13, json!({"type": "agent_message_delta", "delta": "Plums weigh twi"})),
        event(13, json!({"type": "agent_message", "message": "Plums weigh twice as much."})),
        item(
            13,
            json!({"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Plums weigh twice as much."}, {"type": "refusal", "refusal": "but I may not weigh the tree"}]}),
        ),
        item(
            14,
            json!({"type": "web_search_call", "status": "completed", "action": {"type": "search", "query": "density of plums"}}),
        ),
        codex_line(15, "compacted", json!({"message": "Earlier the weight was changed."})),
        event(16, json!({"type": "turn_aborted", "reason": "interrupted by the gardener"})),
        event(17, json!({"type": "error", "message": "the stream was disconnected"})),
        event(18, json!({"type": "flash_of_genius", "idea": "a kind of event from the future"})),
        item(
            19,
            json!({"type": "function_call_output", "call_id": "call_from_before", "output": "an output without its call"}),
        ),
        message(20, "developer", "Always write in plain words."),
        message(21, "user", "and now the last request of the day"),
        event(22, json!({"type": "task_complete", "last_agent_message": "Plums weigh twice as much."})),
    ]
}

pub fn cursor() -> Vec<Value> {
    let tool = |data: Value| json!({"type": 2, "text": "", "createdAt": "2026-06-01T12:00:02.000Z", "toolFormerData": data});
    vec![
        json!({"type": 1, "text": "Look here: <user_query>Ripen the figs</user_query> and do it with care", "createdAt": "2026-06-01T12:00:00.000Z",
            "richText": "{\"root\":{\"text\":\"Ripen the figs slowly\"}}", "attachedFiles": ["src/a-long-file-name.ts"]}),
        json!({"type": 2, "text": "Looking at the fig file.", "thinking": "Need the current value.", "allThinkingBlocks": [{"thinking": "A second thought about figs."}],
            "codeBlocks": [{"uri": "file:///home/dev/fig.ts", "content": "export const ripeness = 0"}], "suggestedCodeBlocks": [{"content": "export const sweetness = 1"}]}),
        tool(
            json!({"name": "read_file", "status": "completed", "rawArgs": "{\"target_file\":\"src/old-fig-name.ts\"}", "params": {"relativeWorkspacePath": "src/new-fig-name.ts"}, "result": "{\"contents\":\"export const ripeness = 0;\\n\"}"}),
        ),
        tool(
            json!({"name": "edit_file_v2", "status": "completed", "toolCallId": "toolu_0123456789", "params": {"target_file": "src/figs/fig.ts", "old_string": "export const ripeness = 0;", "new_string": "export const ripeness = 1;"}, "result": "{\"applied\":\"with a small remark\"}"}),
        ),
        tool(
            json!({"name": "run_terminal_cmd", "status": "CANCELLED", "userDecision": "rejected by me", "params": {"command": "npm run ripen-all"}, "rawArgs": "{\"command\": \"npm run rip", "result": "{\"output\":\"nothing was ripened\"}"}),
        ),
        tool(json!({"status": "completed", "params": {"question": "a call that has no name"}})),
        json!({"type": 1, "text": "", "images": [{"path": "/tmp/picture-of-a-fig.png"}], "context": {"fileSelections": [{"uri": "file:///home/dev/selection.ts"}]}}),
        json!({"type": 2, "text": "", "errorDetails": {"message": "the model did not answer"}}),
        json!({"type": 7, "odd": "a bubble of an unknown type"}),
        json!({"type": 2, "text": "Figs are ripe and one test fails.", "modelInfo": {"modelName": "some-cursor-model"}}),
        json!({"type": 1, "text": "a last request without an answer"}),
    ]
}

pub fn cursor_text() -> Vec<Value> {
    vec![
        json!({"role": "user", "message": {"content": [{"type": "text", "text": "See this: <user_query>Ripen the figs</user_query> slowly please"}, {"type": "image", "alt": "a picture of a fig tree"}]}}),
        json!({"role": "assistant", "message": {"content": [{"type": "text", "text": "Looking at the fig file."}, {"type": "tool_use", "id": "toolu_0123456789", "name": "Read", "input": {"path": "src/figs/fig.ts"}},
            {"type": "tool_use", "name": "Grep", "input": {"pattern": "ripeness of figs"}}, {"type": "chart", "title": "ripeness over the days"}]}}),
        json!({"type": "new_thing", "words": "a kind of line from the future"}),
        json!({"role": "assistant", "message": {"content": "Figs are ripe as of today."}}),
        json!({"role": "user", "message": {"content": "a last request without an answer"}}),
        json!({"type": "turn_ended", "status": "error", "error": "there was no network"}),
    ]
}

pub fn cline() -> Vec<Value> {
    let say = |ts: i64, kind: &str, text: &str| json!({"ts": ts, "type": "say", "say": kind, "text": text});
    vec![
        say(1000, "task", "Prune the kiwi module"),
        json!({"ts": 1010, "type": "say", "say": "checkpoint_created", "lastCheckpointHash": "aaaabbbbccccdddd"}),
        say(
            1100,
            "api_req_started",
            "{\"request\": \"the whole request to the model\", \"tokensIn\": 12, \"cancelReason\": \"streaming was cancelled\"}",
        ),
        say(1110, "api_req_started", "a request text that is no JSON"),
        say(1150, "reasoning", "I should look at the file first."),
        say(1200, "text", "I will read the kiwi file."),
        say(
            1300,
            "tool",
            "{\"tool\": \"readFile\", \"path\": \"src/kiwi/kiwi.ts\", \"content\": \"/home/dev/kiwi/src/kiwi/kiwi.ts\"}",
        ),
        json!({"ts": 1400, "type": "ask", "ask": "tool", "text": "{\"tool\": \"editedExistingFile\", \"path\": \"src/kiwi/kiwi.ts\", \"diff\": \"------- SEARCH\\nlet number = 1\\n=======\\nlet number = 2\\n+++++++ REPLACE\\n\", \"remark\": \"a member that is new\"}"}),
        say(
            1500,
            "tool",
            "{\"tool\": \"newFileCreated\", \"path\": \"src/kiwi/prune.ts\", \"content\": \"export const prune = () => 1\\n\"}",
        ),
        say(1600, "command", "npm test -- --quiet"),
        say(1610, "command_output", "all of the tests passed"),
        say(1700, "browser_action", "{\"action\": \"launch\", \"url\": \"https://example.org/kiwi\"}"),
        say(
            1710,
            "browser_action_result",
            "{\"currentUrl\": \"https://example.org/kiwi\", \"logs\": \"the page was loaded\"}",
        ),
        say(1720, "browser_action_result", "{\"logs\": \"a second result of the browser\"}"),
        say(1730, "shell_integration_warning", "the shell has no integration"),
        json!({"ts": 1800, "type": "ask", "ask": "use_mcp_server", "text": "{\"serverName\": \"weather-service\", \"toolName\": \"today_weather\", \"arguments\": \"{}\"}"}),
        say(1810, "mcp_server_response", "it is sunny and warm"),
        json!({"ts": 1900, "type": "ask", "ask": "followup", "text": "{\"question\": \"Also prune the vines?\", \"options\": [\"yes, all of them\", \"no, not today\"]}"}),
        say(1910, "user_feedback", "yes please, all of them"),
        say(1920, "telepathy", "a kind of message from the future"),
        say(2000, "completion_result", "The kiwi is pruned now."),
    ]
}

pub fn cline_history() -> Vec<Value> {
    let called = |id: &str, name: &str, input: Value| {
        json!({"role": "assistant", "content": [
        {"type": "thinking", "thinking": format!("The model thinks about {name}."), "signature": "EqQBCkYICxgCKkBsYW1i"},
        {"type": "redacted_thinking", "data": "AAAAencryptedthinking"}, {"type": "tool_use", "id": id, "name": name, "input": input}]})
    };
    let gave = |id: &str, text: &str| json!({"role": "user", "content": [{"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": text}]}]});
    vec![
        json!({"role": "user", "content": [{"type": "text", "text": "<task>\nPrune the kiwi module\n</task>"},
            {"type": "text", "text": "<environment_details>\n# Current Working Directory (/home/dev/kiwi) Files\nsrc/kiwi/kiwi.ts\n</environment_details>"}]}),
        called("toolu_1_0123456789", "read_file", json!({"path": "src/kiwi/kiwi.ts"})),
        gave("toolu_1_0123456789", "let number = 1; // of kiwis"),
        called(
            "toolu_2_0123456789",
            "replace_in_file",
            json!({"path": "src/kiwi/kiwi.ts", "diff": "------- SEARCH\nlet number = 1\n"}),
        ),
        gave("toolu_2_0123456789", "The content was successfully saved."),
        called("toolu_3_0123456789", "list_code_names", json!({"path": "a call that no message matches"})),
        gave("toolu_3_0123456789", "a result that no message matches"),
        json!({"role": "user", "content": [{"type": "text", "text": "[execute_command for 'npm test -- --quiet'] Result:\nCommand executed.\nOutput:\nall of the tests passed"}]}),
    ]
}
