//! Installing the hook into settings of every form, and taking it out again.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::disallowed_methods, missing_docs)]

#[path = "install/settings.rs"]
mod settings;

use capsid_model::Code;
use capsid_trail::install::{InstallPlaces, Installed, Os, Status, install, status, uninstall};
use capsid_transcript::Tool;
use settings::{Writer, claude_entry, cursor_entry, foreign};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A scratch home.
struct Home {
    folder: TempDir,
    places: InstallPlaces,
}

impl Home {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().to_path_buf();
        let places = InstallPlaces { home, claude_config: None, codex_home: None, os: Os::Unix };
        Self { folder, places }
    }

    fn path(&self, tool: Tool) -> PathBuf {
        let name = match tool {
            Tool::ClaudeCode => ".claude/settings.json",
            Tool::Cursor => ".cursor/hooks.json",
            Tool::Codex => ".codex/config.toml",
            Tool::Cline => "Documents/Cline/Hooks/TaskComplete",
        };
        self.folder.path().join(name)
    }

    fn with(tool: Tool, content: &str) -> Self {
        let home = Self::new();
        home.put(tool, content);
        home
    }

    fn put(&self, tool: Tool, content: impl AsRef<[u8]>) {
        let path = self.path(tool);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
    }

    fn text(&self, tool: Tool) -> String {
        fs::read_to_string(self.path(tool)).unwrap()
    }

    fn install(&self, tool: Tool) -> Installed {
        install(tool, &self.places, &command("/usr/local/bin/capsid", tool)).unwrap()
    }

    fn uninstall(&self, tool: Tool) -> Installed {
        uninstall(tool, &self.places).unwrap()
    }
}

fn command(program: &str, tool: Tool) -> Vec<String> {
    [program, "trail", "hook", tool.name()].map(str::to_owned).to_vec()
}

/// Installs, installs again, uninstalls; says what the file was in between.
fn round_trip(tool: Tool, original: &str, seed: u64) -> String {
    let home = Home::with(tool, original);
    let first = install(tool, &home.places, &command("/usr/local/bin/capsid", tool));
    assert!(first.as_ref().is_ok_and(|first| first.registered), "seed {seed}, {first:?}:\n{original}");
    let installed = home.text(tool);
    assert_eq!(status(tool, &home.places), Status::Installed, "seed {seed}:\n{original}\n--\n{installed}");
    let again = home.install(tool);
    assert!(again.changes.iter().all(|line| line.ends_with("already registered")), "seed {seed}: {again:?}");
    assert_eq!(home.text(tool), installed, "seed {seed}: a second time changes nothing");
    home.uninstall(tool);
    assert_eq!(home.text(tool), original, "seed {seed}, between:\n{installed}");
    assert_eq!(status(tool, &home.places), Status::NotInstalled, "seed {seed}");
    installed
}

fn random_files(tool: Tool, events: &[&str], entry: fn(&mut Writer, usize) -> String) {
    let seeds = fastrand::u64(..);
    let mut plain = 0;
    for seed in (0..150).map(|n| seeds.wrapping_add(n)) {
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
    let mut forms: Vec<String> = [
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
        "[1]{}",
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
    forms.retain(|form| form != "[1]{}");
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
        assert_eq!(status(tool, &home.places), Status::NotInstalled);
        home.uninstall(tool);
        assert_eq!(fs::read_dir(home.folder.path()).unwrap().count(), 0, "uninstalling makes nothing");
        assert!(home.install(tool).registered);
        let made = home.text(tool);
        assert!(made.ends_with('\n'));
        home.install(tool);
        assert_eq!(home.text(tool), made);
        assert_eq!(status(tool, &home.places), Status::Installed);
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
        install(tool, &home.places, &command("/old place/capsid", tool)).unwrap();
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
    assert_eq!(status(Tool::ClaudeCode, &home.places), Status::Partly(vec!["SessionEnd".to_owned()]));
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
            let refused = install(tool, &home.places, &command("capsid", tool)).expect_err(&shown);
            assert_eq!(refused.code, Code::HookFileInvalid, "{shown}");
            assert!(refused.fix.is_some());
            assert_eq!(uninstall(tool, &home.places).expect_err(&shown).code, Code::HookFileInvalid);
            assert!(matches!(status(tool, &home.places), Status::Unreadable(_)), "{shown}");
            assert_eq!(fs::read(home.path(tool)).unwrap(), content);
            assert_eq!(fs::read_dir(home.path(tool).parent().unwrap()).unwrap().count(), 1);
        }
    }
}

const CODEX_LINE: &str = "notify = [\"/usr/local/bin/capsid\", \"trail\", \"hook\", \"codex\"] # Added by capsid: seal each completed turn";

#[test]
fn notify_lands_at_the_top_level_and_comes_out_to_the_byte() {
    for (original, expected) in [
        ("", "LINE"),
        ("\n", "\nLINE\n"),
        ("model = \"x\"\n", "model = \"x\"\nLINE\n"),
        ("model = \"x\"", "model = \"x\"\nLINE"),
        ("model = \"x\" # why\r\n[t]\r\na = 1\r\n", "model = \"x\" # why\r\nLINE\r\n[t]\r\na = 1\r\n"),
        ("[t]\na = 1", "LINE\n[t]\na = 1"),
        ("# head\n\n# of t\n[t]\nx = 1\n", "# head\n\nLINE\n# of t\n[t]\nx = 1\n"),
        ("#:schema x\n# of t\n[t]\n", "#:schema x\nLINE\n# of t\n[t]\n"),
        ("# only comments", "# only comments\nLINE"),
        ("[[a]]\nx = 1\n[b.c]\n", "LINE\n[[a]]\nx = 1\n[b.c]\n"),
        (
            "a.b = 1\nc = [\n 1,\n] # end\n\n[a2.x]\ny=1\n",
            "a.b = 1\nc = [\n 1,\n] # end\nLINE\n\n[a2.x]\ny=1\n",
        ),
        ("s = \"\"\"\n[not a table]\n\"\"\"\n[t]\n", "s = \"\"\"\n[not a table]\n\"\"\"\nLINE\n[t]\n"),
        ("  [t] # ü\n", "LINE\n  [t] # ü\n"),
        ("\u{feff}[t]\n", "\u{feff}LINE\n[t]\n"),
        ("i = { notify = [1] }\n[z.y]\nq = 1\n[z]\n", "i = { notify = [1] }\nLINE\n[z.y]\nq = 1\n[z]\n"),
    ] {
        let installed = round_trip(Tool::Codex, original, 0);
        assert_eq!(installed, expected.replace("LINE", CODEX_LINE));
        let parsed: toml_edit::DocumentMut = installed.trim_start_matches('\u{feff}').parse().unwrap();
        assert_eq!(parsed["notify"][3].as_str(), Some("codex"));
    }
}

#[test]
fn random_codex_settings_come_back_to_the_byte() {
    let seeds = fastrand::u64(..);
    for seed in (0..200).map(|n| seeds.wrapping_add(n)) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let newline = if rng.bool() { "\n" } else { "\r\n" };
        let mut text = String::new();
        let mut headers = 0;
        for n in 0..rng.usize(..12) {
            let line = match rng.u8(..8) {
                0 => String::new(),
                1 => "# ünd [x] notify = [1]".to_owned(),
                2 => {
                    headers += 1;
                    format!("[t{n}.u]")
                }
                3 => {
                    headers += 1;
                    format!("  [[l{n}]] # [")
                }
                4 => format!("k{n} = '''{newline}[no]{newline}'''"),
                5 => format!("k{n}.a.'b' = [{newline}1, # ]{newline}]"),
                6 => format!("k{n} = {{ notify = 1 }} # x"),
                _ => format!("k{n} = \"ü\""),
            };
            text.push_str(&line);
            text.push_str(newline);
        }
        if rng.bool() {
            text.truncate(text.trim_end().len());
        }
        let installed = round_trip(Tool::Codex, &text, seed);
        let parsed: toml_edit::DocumentMut = installed.parse().unwrap();
        assert!(parsed["notify"].is_array(), "seed {seed}, {headers} tables:\n{installed}");
    }
}

#[test]
fn another_notify_is_left_with_a_word_on_how_to_run_both() {
    let text = "notify = [\"terminal-notifier\", \"-x\"]\n[t]\nnotify = [\"agent-capsule-codex-notify\"]\n";
    let home = Home::with(Tool::Codex, text);
    let installed = home.install(Tool::Codex);
    assert!(!installed.registered);
    assert_eq!(home.text(Tool::Codex), text);
    assert!(installed.changes[0].contains("inside the table [t]"), "{installed:?}");
    assert!(installed.changes[1].contains("`terminal-notifier -x \"$1\"`"), "{installed:?}");
    assert!(installed.changes[1].contains("capsid trail hook codex \"$1\"`"), "{installed:?}");
    assert_eq!(home.uninstall(Tool::Codex).changes, ["notify: not registered"]);
    assert_eq!(home.text(Tool::Codex), text);
    let chained = "notify = ['sh', '-c', 'other \"$1\"; capsid trail hook codex \"$1\"', 'sh']\n";
    let home = Home::with(Tool::Codex, chained);
    assert_eq!(home.install(Tool::Codex).changes, ["notify: already registered"]);
    assert!(home.uninstall(Tool::Codex).changes[0].starts_with("warning: notify: left"));
    assert_eq!(home.text(Tool::Codex), chained);
}

#[test]
fn a_notify_that_lies_in_a_table_by_mistake_does_not_count() {
    let text = "[t]\nx = 1\n# Added by agent-capsule: seal each completed Codex turn into a capsule chain.\nnotify = [\"agent-capsule-codex-notify\"]\n";
    let home = Home::with(Tool::Codex, text);
    let installed = home.install(Tool::Codex);
    assert!(installed.registered);
    assert!(installed.changes[0].contains("inside the table [t]"));
    assert_eq!(home.text(Tool::Codex), format!("{CODEX_LINE}\n{text}"));
    home.uninstall(Tool::Codex);
    assert_eq!(home.text(Tool::Codex), text);
}

#[test]
fn a_notify_written_by_hand_goes_and_its_neighbours_stay() {
    let text = "a = 1\nnotify = [\n  \"capsid\", \"trail\",\n  \"hook\", \"codex\",\n] # mine\nb = 2\n";
    let home = Home::with(Tool::Codex, text);
    home.uninstall(Tool::Codex);
    assert_eq!(home.text(Tool::Codex), "a = 1\n # mine\nb = 2\n");
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
        status(Tool::Cline, &home.places),
        Status::Partly(vec!["TaskComplete".to_owned(), "TaskStart".to_owned()])
    );
    home.uninstall(Tool::Cline);
    let mut left: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    left.sort();
    assert_eq!(left, ["TaskComplete", "TaskStart"]);
}

#[cfg(unix)]
mod unix {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::process::{Command, Stdio};

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn scripts_run_the_program_whatever_its_path_is_like() {
        let home = Home::new();
        let program = home.folder.path().join("it's a $HOME; place").join("capsid");
        fs::create_dir_all(program.parent().unwrap()).unwrap();
        fs::write(&program, "#!/bin/sh\nprintf '%s|' \"$@\"\ncat\n").unwrap();
        fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        for tool in [Tool::Cline, Tool::ClaudeCode, Tool::Cursor] {
            install(tool, &home.places, &command(program.to_str().unwrap(), tool)).unwrap();
            let mut run = match tool {
                Tool::Cline => Command::new(home.path(tool)),
                _ => {
                    let value: serde_json::Value = serde_json::from_str(&home.text(tool)).unwrap();
                    let line = value
                        .pointer("/hooks/Stop/0/hooks/0/command")
                        .or(value.pointer("/hooks/stop/0/command"));
                    let mut shell = Command::new("sh");
                    shell.arg("-c").arg(line.unwrap().as_str().unwrap());
                    shell
                }
            };
            let output = run.stdin(Stdio::null()).output().unwrap();
            assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("trail|hook|{}|", tool.name()));
        }
        assert_eq!(mode(&home.path(Tool::Cline)), 0o755);
        fs::set_permissions(home.path(Tool::Cline), fs::Permissions::from_mode(0o644)).unwrap();
        install(Tool::Cline, &home.places, &command(program.to_str().unwrap(), Tool::Cline)).unwrap();
        assert_eq!(mode(&home.path(Tool::Cline)), 0o755, "a script that lost its mode gets it back");
    }

    #[test]
    fn links_stay_links_and_modes_stay() {
        let home = Home::new();
        let dotfiles = home.folder.path().join("dotfiles");
        fs::create_dir_all(&dotfiles).unwrap();
        let target = dotfiles.join("claude.json");
        fs::write(&target, "{\"a\": 1}\n").unwrap();
        fs::set_permissions(&target, fs::Permissions::from_mode(0o600)).unwrap();
        let link = home.path(Tool::ClaudeCode);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink("../dotfiles/middle.json", &link).unwrap();
        symlink("claude.json", dotfiles.join("middle.json")).unwrap();
        home.install(Tool::ClaudeCode);
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
        assert!(fs::read_to_string(&target).unwrap().contains("trail hook claude-code"));
        assert_eq!(mode(&target), 0o600);
        home.uninstall(Tool::ClaudeCode);
        assert_eq!(fs::read_to_string(&target).unwrap(), "{\"a\": 1}\n");
        fs::remove_file(&target).unwrap();
        home.install(Tool::ClaudeCode);
        assert!(target.is_file(), "a link to nothing is written through");
        home.uninstall(Tool::ClaudeCode);
        assert!(!target.exists() && fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn links_in_a_circle_and_folders_are_refused() {
        let home = Home::new();
        let link = home.path(Tool::Codex);
        fs::create_dir_all(link.parent().unwrap()).unwrap();
        symlink("config.toml", &link).unwrap();
        let refused = install(Tool::Codex, &home.places, &command("capsid", Tool::Codex)).unwrap_err();
        assert_eq!(refused.code, Code::HookFileInvalid);
        fs::create_dir_all(home.path(Tool::Cursor)).unwrap();
        assert!(install(Tool::Cursor, &home.places, &command("capsid", Tool::Cursor)).is_err());
        assert!(home.path(Tool::Cursor).is_dir());
    }
}

#[test]
fn settings_that_were_moved_are_found() {
    let home = Home::new();
    let moved = home.folder.path().join("moved");
    let places = InstallPlaces {
        claude_config: Some(moved.join("claude")),
        codex_home: Some(moved.join("codex")),
        ..home.places.clone()
    };
    for (tool, name) in [(Tool::ClaudeCode, "claude/settings.json"), (Tool::Codex, "codex/config.toml")] {
        let installed = install(tool, &places, &command("capsid", tool)).unwrap();
        assert_eq!(installed.files, [moved.join(name)]);
        assert!(moved.join(name).is_file());
    }
}
