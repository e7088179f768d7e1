//! Everything that an agent is given, and taken from it again, in files as people and programs write them.

use crate::install::settings::{Writer, claude_entry, cursor_entry, seeds};
use capsid_model::{Code, Problem};
use capsid_trail::install::{
    AgentPaths, CommandSyntax, FileEffect, InstallPaths, InstallPlan, equip, install, unequip, uninstall,
};
use capsid_transcript::Tool;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

const PROGRAM: &str = "/opt/my tools/capsid";
const CLINE: &str =
    "home/.config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";

struct Stage {
    folder: TempDir,
    paths: AgentPaths,
}

impl Stage {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let repository = folder.path().join("repo");
        fs::create_dir_all(&repository).unwrap();
        let editor = home.join(".config/Code/User/globalStorage/saoudrizwan.claude-dev");
        let cline = vec![editor, home.join(".cline/data")];
        let user = InstallPaths { home, claude_config: None, codex_home: None, os: CommandSyntax::Unix };
        Self { folder, paths: AgentPaths { user, repository, cline, on_path: false, home_words: Vec::new() } }
    }

    fn put(&self, name: &str, text: &str) {
        let path = self.folder.path().join(name);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    fn read(&self, name: &str) -> String {
        fs::read_to_string(self.folder.path().join(name)).unwrap()
    }

    fn equip(&self, tool: Tool) -> InstallPlan {
        let plan = equip(&[tool], &self.paths, PROGRAM).unwrap();
        plan.apply().unwrap();
        plan
    }

    fn unequip(&self, tool: Tool) -> InstallPlan {
        let plan = unequip(&[tool], &self.paths).unwrap();
        plan.apply().unwrap();
        plan
    }

    fn refused(&self, tool: Tool) -> Problem {
        let before = self.files();
        let problem = equip(&[tool], &self.paths, PROGRAM).unwrap_err();
        assert_eq!(problem.code, Code::HookFileInvalid);
        assert_eq!(self.files(), before);
        problem
    }

    /// Every file with its bytes.
    fn files(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        fn walk(folder: &Path, all: &mut BTreeMap<PathBuf, Vec<u8>>) {
            for entry in fs::read_dir(folder).unwrap() {
                let path = entry.unwrap().path();
                match path.is_dir() {
                    true => walk(&path, all),
                    false => drop(all.insert(path.clone(), fs::read(path).unwrap())),
                }
            }
        }
        let mut all = BTreeMap::new();
        walk(self.folder.path(), &mut all);
        all
    }
}

fn effects(plan: &InstallPlan) -> Vec<FileEffect> {
    plan.changes().iter().map(|change| change.effect).collect()
}

/// Random files of a tool, each there or not.
fn write_random(stage: &Stage, tool: Tool, seed: u64) {
    let mut rng = fastrand::Rng::with_seed(seed);
    let mut json = |name: &str, events: &[&str], entry: &dyn Fn(&mut Writer, usize) -> String, from: &str| {
        if rng.u8(..6) > 0 {
            let text = Writer::new(rng.u64(..)).file(events, entry).replace("\"hooks\"", from);
            stage.put(name, &text);
        }
    };
    let servers = ["docs", "search"];
    match tool {
        Tool::ClaudeCode => {
            let events = ["Stop", "SessionEnd", "SessionStart"];
            json("home/.claude/settings.json", &events, &claude_entry, "\"hooks\"");
            json("repo/.mcp.json", &servers, &cursor_entry, "\"mcpServers\"");
        }
        Tool::Cursor => {
            let events = ["stop", "sessionEnd", "sessionStart"];
            json("home/.cursor/hooks.json", &events, &cursor_entry, "\"hooks\"");
            json("repo/.cursor/mcp.json", &servers, &cursor_entry, "\"mcpServers\"");
        }
        Tool::Codex => {
            json("home/.codex/hooks.json", &["SessionStart"], &claude_entry, "\"hooks\"");
            if rng.u8(..6) > 0 {
                stage.put("home/.codex/config.toml", &random_toml(&mut rng));
            }
        }
        Tool::Cline => json(CLINE, &servers, &cursor_entry, "\"mcpServers\""),
    }
}

fn random_toml(rng: &mut fastrand::Rng) -> String {
    let newline = if rng.bool() { "\n" } else { "\r\n" };
    let mut text = rng.choice(["", "", "\u{feff}"]).unwrap().to_owned();
    for n in 0..rng.usize(..10) {
        let line = match rng.u8(..7) {
            0 => String::new(),
            1 => "# ünd [mcp_servers.capsid]".to_owned(),
            2 => format!("[t{n}.u] # [x]"),
            3 => {
                format!("[mcp_servers.s{n}]{newline}command = 'a'{newline}args = [{newline}'mcp',{newline}]")
            }
            4 => format!("k{n} = '''{newline}[mcp_servers.capsid]{newline}'''"),
            5 => format!("  [[l{n}]]"),
            _ => format!("k{n}.a = {{ x = 1 }} # y"),
        };
        text.push_str(&line);
        text.push_str(newline);
    }
    if rng.u8(..4) == 0 {
        text.truncate(text.trim_end().len());
    }
    text
}

#[test]
fn what_is_given_comes_out_to_the_byte_and_twice_is_once() {
    for tool in Tool::ALL {
        for seed in seeds(50) {
            let stage = Stage::new();
            write_random(&stage, tool, seed);
            let original = stage.files();
            let plan = stage.equip(tool);
            assert!(plan.blocked.is_empty(), "{tool:?} {seed}: {:?}", plan.messages);
            assert!(!effects(&plan).contains(&FileEffect::Kept), "{tool:?} {seed}");
            let between = stage.files();
            let again = stage.equip(tool);
            assert!(effects(&again).iter().all(|effect| *effect == FileEffect::Kept), "{tool:?} {seed}");
            assert_eq!(stage.files(), between, "{tool:?} {seed}");
            stage.unequip(tool);
            assert_eq!(
                as_texts(&stage.files()),
                as_texts(&original),
                "{tool:?} {seed}, between: {:#?}",
                as_texts(&between)
            );
            let nothing = stage.unequip(tool);
            assert!(effects(&nothing).iter().all(|effect| *effect == FileEffect::Kept), "{tool:?} {seed}");
        }
    }
}

fn as_texts(files: &BTreeMap<PathBuf, Vec<u8>>) -> BTreeMap<&Path, String> {
    files.iter().map(|(path, bytes)| (path.as_path(), String::from_utf8_lossy(bytes).into_owned())).collect()
}

/// What a user may do, each as often and in whichever order.
#[derive(Debug, Clone, Copy)]
enum Step {
    Install,
    Equip,
    Uninstall,
    Unequip,
}

impl Step {
    const ALL: [Self; 4] = [Self::Install, Self::Equip, Self::Uninstall, Self::Unequip];

    fn run(self, stage: &Stage, tool: Tool) {
        let words = [PROGRAM, "trail", "hook", tool.name()].map(str::to_owned);
        match self {
            Self::Install => drop(install(tool, &stage.paths.user, &words).unwrap()),
            Self::Equip => drop(stage.equip(tool)),
            Self::Uninstall => drop(uninstall(tool, &stage.paths.user).unwrap()),
            Self::Unequip => drop(stage.unequip(tool)),
        }
    }
}

/// Takes the steps, and then all out again; the files must be as they were.
fn there_and_back(stage: &Stage, tool: Tool, steps: &[Step], seed: u64) {
    let original = stage.files();
    let mut between = Vec::new();
    for step in steps.iter().chain(&[Step::Unequip]) {
        between.push((step, stage.files()));
        step.run(stage, tool);
    }
    let history: Vec<_> = between.iter().map(|(step, files)| (as_texts(files), step)).collect();
    assert_eq!(as_texts(&stage.files()), as_texts(&original), "{tool:?} {seed} {history:#?}");
}

#[test]
fn the_trail_may_come_first_and_go_first() {
    for tool in Tool::ALL {
        for seed in seeds(20) {
            let stage = Stage::new();
            write_random(&stage, tool, seed);
            there_and_back(&stage, tool, &[Step::Install, Step::Equip, Step::Uninstall], seed);
        }
    }
}

#[test]
fn steps_in_any_order_lose_nothing() {
    for tool in Tool::ALL {
        for seed in seeds(50) {
            let stage = Stage::new();
            write_random(&stage, tool, seed);
            let mut rng = fastrand::Rng::with_seed(!seed);
            let steps: Vec<Step> = (0..rng.usize(2..7)).filter_map(|_| rng.choice(Step::ALL)).collect();
            there_and_back(&stage, tool, &steps, seed);
        }
    }
}

#[test]
fn an_empty_object_of_the_user_stays_when_its_first_member_goes_before_the_rest() {
    let name = "home/.claude/settings.json";
    for text in [
        "{\r\n\t\"key0\":-2.50e3,\r\n\t\"key1\":[],/* two\n lines */ // and more\r\n\r\n\t\"hooks\":{}\r\n} \n",
        "{\n  \"hooks\": {}\n}\n",
        "{\n  \"hooks\": {},\n  \"a\": 1\n}\n",
    ] {
        for steps in [
            &[Step::Install, Step::Equip, Step::Uninstall][..],
            &[Step::Equip, Step::Uninstall],
            &[Step::Equip, Step::Install, Step::Uninstall],
            &[Step::Equip, Step::Uninstall, Step::Install],
        ] {
            let stage = Stage::new();
            stage.put(name, text);
            there_and_back(&stage, Tool::ClaudeCode, steps, 0);
        }
    }
}

#[test]
fn a_trail_that_comes_back_does_not_part_the_server_from_its_empty_line() {
    for text in [None, Some(""), Some("\n"), Some("# c"), Some("# c\n"), Some("# c\r\n\r\n"), Some("[t]\n")] {
        let stage = Stage::new();
        if let Some(text) = text {
            stage.put("home/.codex/config.toml", text);
        }
        there_and_back(&stage, Tool::Codex, &[Step::Equip, Step::Uninstall, Step::Install], 0);
    }
}

#[test]
fn what_others_share_names_the_program_and_no_place_on_this_machine() {
    let mut stage = Stage::new();
    let here = |stage: &Stage, name: &str| stage.read(name).contains(PROGRAM);
    for on_path in [false, true] {
        stage.paths.on_path = on_path;
        for (tool, shared, own) in [
            (Tool::ClaudeCode, "repo/.mcp.json", "home/.claude/settings.json"),
            (Tool::Cursor, "repo/.cursor/mcp.json", "home/.cursor/hooks.json"),
        ] {
            let messages = stage.equip(tool).messages;
            assert_eq!((here(&stage, shared), here(&stage, own)), (!on_path, true), "{tool:?}");
            let warned =
                messages[0].1.iter().any(|line| line.starts_with("warning: ") && line.contains("their own"));
            assert_eq!(warned, !on_path, "{messages:?}");
        }
    }
    let json: serde_json::Value = serde_json::from_str(&stage.read("repo/.mcp.json")).unwrap();
    assert_eq!(json["mcpServers"]["capsid"], serde_json::json!({"command": "capsid", "args": ["mcp"]}));
    for tool in [Tool::ClaudeCode, Tool::Cursor] {
        stage.unequip(tool);
    }
    assert_eq!(stage.files(), BTreeMap::new());
}

#[test]
fn each_tool_gets_the_server_the_trail_and_the_start() {
    let stage = Stage::new();
    for tool in Tool::ALL {
        stage.equip(tool);
    }
    let json = |name: &str| -> serde_json::Value { serde_json::from_str(&stage.read(name)).unwrap() };
    let claude = json("home/.claude/settings.json");
    let line = &claude["hooks"]["SessionStart"][0]["hooks"][0]["command"];
    assert_eq!(line, "'/opt/my tools/capsid' recall --hook claude-code");
    assert_eq!(
        claude["hooks"]["Stop"][0]["hooks"][0]["command"],
        "'/opt/my tools/capsid' trail hook claude-code"
    );
    let server = &json("repo/.mcp.json")["mcpServers"]["capsid"];
    assert_eq!(*server, serde_json::json!({"command": PROGRAM, "args": ["mcp"]}));
    let cursor = json("home/.cursor/hooks.json");
    assert_eq!(cursor["hooks"]["sessionStart"][0]["command"], "'/opt/my tools/capsid' recall --hook cursor");
    assert_eq!(cursor["version"], 1);
    let server = &json("repo/.cursor/mcp.json")["mcpServers"]["capsid"];
    assert_eq!(server["args"], serde_json::json!(["-C", "${workspaceFolder}", "mcp"]));
    let codex = json("home/.codex/hooks.json");
    let line = &codex["hooks"]["SessionStart"][0]["hooks"][0]["command"];
    assert_eq!(line, "'/opt/my tools/capsid' recall --hook codex");
    let config: toml_edit::DocumentMut = stage.read("home/.codex/config.toml").parse().unwrap();
    assert_eq!(config["mcp_servers"]["capsid"]["command"].as_str(), Some(PROGRAM));
    assert_eq!(config["mcp_servers"]["capsid"]["args"][0].as_str(), Some("mcp"));
    assert_eq!(config["notify"][3].as_str(), Some("codex"));
    // No editor with Cline is there, so the place is the one that all its programs share.
    let server = &json("home/.cline/data/settings/cline_mcp_settings.json")["mcpServers"]["capsid"];
    assert_eq!(server["args"][1], stage.paths.repository.to_str().unwrap());
    let script = stage.read("home/Documents/Cline/Hooks/TaskStart");
    assert!(script.contains("| '/opt/my tools/capsid' recall --hook cline\n"), "{script}");
    assert!(!stage.read("home/Documents/Cline/Hooks/TaskComplete").contains("recall"));
    for tool in Tool::ALL {
        stage.unequip(tool);
    }
    assert_eq!(stage.files(), BTreeMap::new());
}

#[test]
fn installing_the_trail_again_keeps_the_start() {
    let stage = Stage::new();
    stage.equip(Tool::Cline);
    let between = stage.files();
    let words = [PROGRAM, "trail", "hook", "cline"].map(str::to_owned);
    install(Tool::Cline, &stage.paths.user, &words).unwrap();
    assert_eq!(stage.files(), between);
}

#[test]
fn a_program_that_moved_is_followed_and_the_rest_of_the_entry_stays() {
    let stage = Stage::new();
    let text = "{\"mcpServers\": {\"capsid\": {\"command\": \"/old/capsid\", \"env\": {\"A\": \"1\"}, \"args\": [\"mcp\"]}}}";
    stage.put("repo/.mcp.json", text);
    stage.put(
        "home/.codex/config.toml",
        "[mcp_servers.capsid]\nenv.A = '1'\nargs = ['mcp'] # x\ncommand = '/old/capsid'\n",
    );
    stage.equip(Tool::ClaudeCode);
    stage.equip(Tool::Codex);
    assert_eq!(stage.read("repo/.mcp.json"), text.replace("/old/capsid", PROGRAM));
    assert!(
        stage
            .read("home/.codex/config.toml")
            .ends_with(&format!("env.A = '1'\nargs = ['mcp'] # x\ncommand = \"{PROGRAM}\"\n"))
    );
    // A user who has it looked up by its name goes on to.
    let text = text.replace("/old/capsid", "capsid");
    stage.put("repo/.mcp.json", &text);
    stage.equip(Tool::ClaudeCode);
    assert_eq!(stage.read("repo/.mcp.json"), text);
}

#[test]
fn what_cannot_be_edited_safely_is_refused_and_nothing_is_written() {
    for (tool, name, text) in [
        (Tool::ClaudeCode, "repo/.mcp.json", "{"),
        (Tool::ClaudeCode, "repo/.mcp.json", "[]"),
        (Tool::ClaudeCode, "repo/.mcp.json", r#"{"mcpServers": []}"#),
        (Tool::ClaudeCode, "repo/.mcp.json", r#"{"mcpServers": {}, "mcpServers": {}}"#),
        (
            Tool::ClaudeCode,
            "repo/.mcp.json",
            r#"{"mcpServers": {"capsid": {"command": "other", "args": ["mcp"]}}}"#,
        ),
        (Tool::ClaudeCode, "repo/.mcp.json", r#"{"mcpServers": {"capsid": {"url": "http://x"}}}"#),
        (Tool::ClaudeCode, "home/.claude/settings.json", r#"{"hooks": {"SessionStart": {}}}"#),
        (Tool::Cursor, "repo/.cursor/mcp.json", "{'a': 1}"),
        (Tool::Cursor, "home/.cursor/hooks.json", "{\"hooks\": 1}"),
        (Tool::Codex, "home/.codex/config.toml", "x = ["),
        (Tool::Codex, "home/.codex/config.toml", "mcp_servers = { a = { command = 'b' } }"),
        (Tool::Codex, "home/.codex/config.toml", "mcp_servers = 1"),
        (Tool::Codex, "home/.codex/config.toml", "[mcp_servers.capsid]\nurl = 'x'"),
        (Tool::Codex, "home/.codex/hooks.json", "no"),
        (Tool::Cline, CLINE, "{\"mcpServers\": null}"),
    ] {
        let stage = Stage::new();
        stage.put(name, text);
        let problem = stage.refused(tool);
        assert!(
            problem.message.contains(Path::new(name).file_name().unwrap().to_str().unwrap()),
            "{problem}"
        );
    }
}

#[test]
fn what_is_not_ours_stays_when_ours_goes() {
    let stage = Stage::new();
    let json = r#"{"mcpServers": {"capsid": {"command": "other"}}}"#;
    stage.put("repo/.mcp.json", json);
    stage.put("home/.codex/config.toml", "[mcp_servers.capsid]\nurl = 'x'\n");
    let before = stage.files();
    for tool in Tool::ALL {
        let plan = stage.unequip(tool);
        let warned = plan.messages[0].1.iter().any(|line| line.starts_with("warning"));
        assert_eq!(warned, matches!(tool, Tool::ClaudeCode | Tool::Codex), "{:?}", plan.messages);
    }
    assert_eq!(stage.files(), before);
}

#[test]
fn a_table_below_ours_is_not_orphaned() {
    let stage = Stage::new();
    stage.equip(Tool::Codex);
    let text = stage.read("home/.codex/config.toml") + "\n[mcp_servers.capsid.env]\nA = '1'\n";
    stage.put("home/.codex/config.toml", &text);
    let refused = unequip(&[Tool::Codex], &stage.paths).unwrap_err();
    assert_eq!(refused.code, Code::HookFileInvalid);
    assert_eq!(stage.read("home/.codex/config.toml"), text);
}

#[test]
fn what_others_add_later_stays() {
    let stage = Stage::new();
    stage.put("repo/.mcp.json", "{\n  \"a\": 1\n}\n");
    stage.put("home/.codex/config.toml", "a = 1\n");
    stage.equip(Tool::ClaudeCode);
    stage.equip(Tool::Codex);
    let mut value: serde_json::Value = serde_json::from_str(&stage.read("repo/.mcp.json")).unwrap();
    value["mcpServers"]["later"] = serde_json::json!({"command": "x"});
    stage.put("repo/.mcp.json", &serde_json::to_string_pretty(&value).unwrap());
    let toml = stage.read("home/.codex/config.toml") + "\n[mcp_servers.later]\ncommand = 'x'\n";
    stage.put("home/.codex/config.toml", &toml);
    stage.unequip(Tool::ClaudeCode);
    stage.unequip(Tool::Codex);
    let value: serde_json::Value = serde_json::from_str(&stage.read("repo/.mcp.json")).unwrap();
    assert_eq!(value, serde_json::json!({"a": 1, "mcpServers": {"later": {"command": "x"}}}));
    assert_eq!(stage.read("home/.codex/config.toml"), "a = 1\n\n[mcp_servers.later]\ncommand = 'x'\n");
}

#[test]
fn a_file_that_changes_meanwhile_is_not_overwritten() {
    let stage = Stage::new();
    stage.put("repo/.mcp.json", "{}");
    let plan = equip(&[Tool::ClaudeCode], &stage.paths, PROGRAM).unwrap();
    stage.put("repo/.mcp.json", "{\"theirs\": 1}");
    let before = stage.files();
    assert_eq!(plan.apply().unwrap_err().code, Code::HookFileInvalid);
    assert_eq!(stage.files(), before, "not the other files either");
}

#[cfg(unix)]
#[test]
fn a_link_out_of_the_repository_is_not_followed() {
    use std::os::unix::fs::symlink;
    let stage = Stage::new();
    stage.put("home/precious.json", "{}");
    symlink(stage.folder.path().join("home/precious.json"), stage.paths.repository.join(".mcp.json"))
        .unwrap();
    symlink(stage.folder.path().join("home"), stage.paths.repository.join(".cursor")).unwrap();
    stage.refused(Tool::ClaudeCode);
    stage.refused(Tool::Cursor);
}
