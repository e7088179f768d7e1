//! Installing the hook into settings of every form, and taking it out again.

mod codex;
mod home;
pub mod settings;
#[cfg(unix)]
mod unix;

use capsid_model::Code;
use capsid_trail::install::{HookStatus, InstallPaths, install, status, uninstall};
use capsid_transcript::Tool;
use home::{Home, command, round_trip};
use settings::{Writer, claude_entry, cursor_entry, foreign, seeds};
use std::fs;

fn random_files(tool: Tool, events: &[&str], entry: fn(&mut Writer, usize) -> String) {
    let mut plain = 0;
    for seed in seeds(150) {
        let mut writer = Writer::new(seed);
        let original = writer.file(events, &entry);
        let installed = round_trip(tool, &original, seed);
        if let (Some(before), Some(after)) = (foreign(&original), foreign(&installed)) {
            assert_eq!(before, after, "seed {seed}");
            plain += 1;
        }
    }
    assert!(plain > 30, "many files must be plain JSON, with {plain} the test says little");
}

#[test]
fn random_claude_code_settings_come_back_to_the_byte() {
    random_files(Tool::ClaudeCode, &["Stop", "SessionEnd"], claude_entry);
}

#[test]
fn random_cursor_hooks_come_back_to_the_byte() {
    random_files(Tool::Cursor, &["stop", "sessionEnd"], cursor_entry);
}

#[test]
fn chosen_forms_come_back_to_the_byte() {
    let hook = r#"{"type":"command","command":"x"}"#;
    let mut forms = [
        "",
        "\n",
        "\u{feff}",
        "{}",
        "{}\n",
        "{ }",
        "{\n}",
        "{ \n}",
        "{\r\n}\r\n",
        "\u{feff}{}",
        "{\"version\": 1}",
        "{\"version\":1,\"hooks\":{}}",
        "{\n  \"version\": 1\n}\n",
        "{\n\t\"hooks\": {}\n}\n",
        "{\"hooks\":{}}",
        "{\"hooks\": { } }",
        "{\n  \"hooks\": {\n  }\n}",
        "{\"hooks\":{\"Stop\":[],\"stop\":[]}}",
        "{\n  \"hooks\": {\n    \"Stop\": [],\n    \"stop\": [\n    ]\n  }\n}\n",
        "{\"a\":1,}",
        "{\"a\":1 // x\n}",
        "{\"a\":1, // x\n}",
        "{// x\n}",
        "{\"a\":\"ü\"}",
        "{\"a\":[[[[{}]]]]}",
    ]
    .map(str::to_owned)
    .to_vec();
    for event in ["Stop", "SessionEnd", "stop", "sessionEnd"] {
        for entry in [hook.to_owned(), format!(r#"{{"hooks":[{hook}]}}"#)] {
            forms.push(format!("{{\"hooks\":{{\"{event}\":[{entry}]}}}}"));
            forms.push(format!(
                "{{\n  \"hooks\": {{\n    \"{event}\": [\n      {entry}\n    ]\n  }},\n  \"z\": 1\n}}\n"
            ));
        }
    }
    for form in forms {
        for tool in [Tool::ClaudeCode, Tool::Cursor] {
            round_trip(tool, &form, 0);
        }
    }
}

#[test]
fn a_usual_file_gets_a_usual_entry() {
    let home = Home::with(Tool::ClaudeCode, "{\n    \"model\": \"opus\"\n}\n");
    assert_eq!(home.install(Tool::ClaudeCode).changes, ["Stop: added", "SessionEnd: added"]);
    let expected = r#"{
    "model": "opus",
    "hooks": {
        "Stop": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": "/usr/local/bin/capsid trail hook claude-code"
                    }
                ]
            }
        ],
        "SessionEnd": [
            {
                "hooks": [
                    {
                        "type": "command",
                        "command": "/usr/local/bin/capsid trail hook claude-code"
                    }
                ]
            }
        ]
    }
}
"#;
    assert_eq!(home.text(Tool::ClaudeCode), expected);
    assert_eq!(home.uninstall(Tool::ClaudeCode).changes, ["Stop: removed", "SessionEnd: removed"]);
    assert_eq!(
        home.uninstall(Tool::ClaudeCode).changes,
        ["Stop: not registered", "SessionEnd: not registered"]
    );
}

#[test]
fn a_file_that_was_not_there_is_made_and_goes_again() {
    for tool in Tool::ALL {
        let home = Home::new();
        assert_eq!(status(tool, &home.paths), HookStatus::NotInstalled);
        home.uninstall(tool);
        assert_eq!(fs::read_dir(home.folder.path()).unwrap().count(), 0, "uninstalling makes nothing");
        assert!(home.install(tool).registered);
        let made = home.text(tool);
        assert!(made.ends_with('\n'));
        home.install(tool);
        assert_eq!(home.text(tool), made);
        assert_eq!(status(tool, &home.paths), HookStatus::Installed);
        home.uninstall(tool);
        assert!(!home.path(tool).exists(), "{tool:?}");
    }
}

#[test]
fn cursor_gets_the_version_it_asks_for_and_others_keep_it() {
    let home = Home::new();
    home.install(Tool::Cursor);
    let value: serde_json::Value = serde_json::from_str(&home.text(Tool::Cursor)).unwrap();
    assert_eq!(value["version"], 1);
    let line = "/usr/local/bin/capsid trail hook cursor";
    assert_eq!(value["hooks"]["stop"][0], serde_json::json!({"command": line, "type": "command"}));
    let with_foreign = home.text(Tool::Cursor).replace("\"stop\": [", "\"stop\": [{\"command\": \"mine\"}, ");
    home.put(Tool::Cursor, with_foreign);
    home.uninstall(Tool::Cursor);
    let value: serde_json::Value = serde_json::from_str(&home.text(Tool::Cursor)).unwrap();
    assert_eq!(value, serde_json::json!({"hooks": {"stop": [{"command": "mine"}]}, "version": 1}));
}

#[test]
fn a_program_that_moved_is_updated_in_place() {
    for tool in [Tool::ClaudeCode, Tool::Cursor, Tool::Codex, Tool::Cline] {
        let home = Home::new();
        install(tool, &home.paths, &command("/old place/capsid", tool)).unwrap();
        let old = home.text(tool);
        let changes = home.install(tool).changes;
        assert!(changes.iter().all(|line| line.ends_with(": updated")), "{changes:?}");
        let expected = old.replace("'/old place/capsid'", "/usr/local/bin/capsid");
        assert_eq!(home.text(tool), expected.replace("/old place/capsid", "/usr/local/bin/capsid"));
        home.uninstall(tool);
        assert!(!home.path(tool).exists());
    }
}

#[test]
fn a_group_shared_with_others_loses_only_our_hook() {
    let ours = r#"{"type":"command","command":"capsid trail hook claude-code"}"#;
    let theirs = r#"{"type":"command","command":"theirs"}"#;
    let text =
        format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{ours},{theirs},{ours}]}},{{"hooks":[{ours}]}}]}}}}"#);
    let home = Home::with(Tool::ClaudeCode, &text);
    assert_eq!(status(Tool::ClaudeCode, &home.paths), HookStatus::Partly(vec!["SessionEnd".to_owned()]));
    home.uninstall(Tool::ClaudeCode);
    assert_eq!(home.text(Tool::ClaudeCode), format!(r#"{{"hooks":{{"Stop":[{{"hooks":[{theirs}]}}]}}}}"#));
}

#[test]
fn an_entry_alone_in_a_file_written_by_hand_leaves_valid_json() {
    let text = "{\n \"hooks\": {\n  \"Stop\": [\n   {\"hooks\": [{\"command\": \"capsid trail hook claude-code\"}]}\n  ]\n }\n}";
    let home = Home::with(Tool::ClaudeCode, text);
    home.uninstall(Tool::ClaudeCode);
    assert_eq!(home.text(Tool::ClaudeCode), "{}");
    let same_line = "{\"hooks\": {\"Stop\": [1, // one\n {\"hooks\": [{\"command\": \"capsid trail hook claude-code\"}]}]}}";
    let home = Home::with(Tool::ClaudeCode, same_line);
    home.uninstall(Tool::ClaudeCode);
    assert_eq!(home.text(Tool::ClaudeCode), "{\"hooks\": {\"Stop\": [1 // one\n ]}}");
}

#[test]
fn the_reference_tool_is_left_and_warned_of() {
    let text = r#"{"hooks":{"Stop":[{"hooks":[{"type":"command","command":"agent-capsule-claude-hook"}]}]}}"#;
    let home = Home::with(Tool::ClaudeCode, text);
    let changes = home.install(Tool::ClaudeCode).changes;
    assert!(changes.iter().any(|line| line.starts_with("warning: Stop: agent-capsule")), "{changes:?}");
    assert!(home.text(Tool::ClaudeCode).contains("agent-capsule-claude-hook"));
    home.uninstall(Tool::ClaudeCode);
    assert_eq!(home.text(Tool::ClaudeCode), text);
    let off = Home::with(Tool::ClaudeCode, "{\"disableAllHooks\": true}");
    assert!(off.install(Tool::ClaudeCode).changes.iter().any(|line| line.contains("disableAllHooks")));
}

#[test]
fn what_cannot_be_edited_safely_is_refused_and_left() {
    let deep = "[".repeat(100_000);
    let large = format!("{{\"a\":\"{}\"}}", "x".repeat(5 << 20));
    let json: Vec<&[u8]> = vec![
        b"{",
        b"{} x",
        b"[]",
        b"null",
        b"\"x\"",
        b"{'a':1}",
        b"{a:1}",
        b"{\"a\":1 \"b\":2}",
        b"// only a comment\n",
        b"{\"a\":\"x\ny\"}",
        b"{\"a\":\"\x01\"}",
        "{\u{a0}}".as_bytes(),
        b"{\"a\":01}",
        b"{\"hooks\":[]}",
        b"{\"hooks\":null}",
        b"{\"hooks\":{\"Stop\":{},\"stop\":{}}}",
        b"{\"hooks\":{\"Stop\":null,\"stop\":null}}",
        b"{\"hooks\":{\"SessionEnd\":\"x\",\"sessionEnd\":1}}",
        b"{\"hooks\":{},\"hooks\":{}}",
        b"{\"hooks\":{\"Stop\":[],\"Stop\":[],\"stop\":[],\"stop\":[]}}",
        b"{\"a\":\"\xff\"}",
        deep.as_bytes(),
        large.as_bytes(),
    ];
    let toml: Vec<&[u8]> = vec![
        b"a",
        b"a = 1\na = 2",
        b"[t",
        b"notify = \"x\"",
        b"notify = [1]",
        b"\xff",
        b"[notify]\nx = 1",
        b"x = [1",
    ];
    for (tools, contents) in [(&[Tool::ClaudeCode, Tool::Cursor][..], json), (&[Tool::Codex][..], toml)] {
        for (tool, content) in
            tools.iter().flat_map(|tool| contents.iter().map(move |content| (*tool, *content)))
        {
            let shown = String::from_utf8_lossy(&content[..content.len().min(80)]).into_owned();
            let home = Home::new();
            home.put(tool, content);
            let refused = install(tool, &home.paths, &command("capsid", tool)).expect_err(&shown);
            assert_eq!(refused.code, Code::HookFileInvalid, "{shown}");
            assert!(refused.fix.is_some());
            assert_eq!(uninstall(tool, &home.paths).expect_err(&shown).code, Code::HookFileInvalid);
            assert!(matches!(status(tool, &home.paths), HookStatus::Unreadable(_)), "{shown}");
            assert_eq!(fs::read(home.path(tool)).unwrap(), content);
            assert_eq!(fs::read_dir(home.path(tool).parent().unwrap()).unwrap().count(), 1);
        }
    }
}

#[test]
fn scripts_of_others_are_left() {
    let home = Home::with(Tool::Cline, "#!/bin/sh\nexec agent-capsule-cline-hook\n");
    let folder = home.path(Tool::Cline).parent().unwrap().to_path_buf();
    fs::write(folder.join("TaskStart"), "#!/bin/sh\necho mine\n").unwrap();
    let installed = home.install(Tool::Cline);
    assert!(!installed.registered);
    assert!(
        installed
            .changes
            .iter()
            .any(|line| line.starts_with("warning: TaskComplete: left, for it is agent-capsule's"))
    );
    assert!(
        installed.changes.iter().any(|line| line.starts_with("warning: TaskStart: left")),
        "{installed:?}"
    );
    assert!(installed.changes.contains(&"TaskCancel: added".to_owned()));
    assert_eq!(fs::read_to_string(folder.join("TaskStart")).unwrap(), "#!/bin/sh\necho mine\n");
    assert_eq!(
        status(Tool::Cline, &home.paths),
        HookStatus::Partly(vec!["TaskComplete".to_owned(), "TaskStart".to_owned()])
    );
    home.uninstall(Tool::Cline);
    let mut left: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["TaskComplete", "TaskStart"]);
}

#[test]
fn settings_that_were_moved_are_found() {
    let home = Home::new();
    let moved = home.folder.path().join("moved");
    let paths = InstallPaths {
        claude_config: Some(moved.join("claude")),
        codex_home: Some(moved.join("codex")),
        ..home.paths
    };
    for (tool, name) in [(Tool::ClaudeCode, "claude/settings.json"), (Tool::Codex, "codex/config.toml")] {
        let installed = install(tool, &paths, &command("capsid", tool)).unwrap();
        assert_eq!(installed.files, [moved.join(name)]);
        assert!(moved.join(name).is_file());
    }
}

#[test]
fn a_program_of_another_name_is_refused() {
    let home = Home::new();
    for words in [vec![], command("/x/other", Tool::Cursor), command("/x/capsid", Tool::Cline)] {
        let refused = install(Tool::Cursor, &home.paths, &words).unwrap_err();
        assert_eq!(refused.code, Code::InputInvalid);
        assert!(!home.path(Tool::Cursor).exists());
    }
}
