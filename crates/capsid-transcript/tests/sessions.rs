//! Recent sessions on disk: which are taken, in which order, and how much of each.

use capsid_model::{Time, json};
use capsid_transcript::{Transcript, list_folders, recent_text};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

const NOW: Time = Time(1_770_000_000_000);
const HOUR: u64 = 3600;

struct Home(TempDir);

impl Home {
    fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    fn put(&self, path: &str, age_seconds: u64, lines: &[String]) -> PathBuf {
        let path = self.0.path().join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, lines.join("\n") + "\n").unwrap();
        let at = UNIX_EPOCH + Duration::from_secs(NOW.0 as u64 / 1000 - age_seconds);
        File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
        path
    }

    fn read(&self, about: Option<&Path>) -> Transcript {
        recent_text(&list_folders(self.0.path(), &|_| None), NOW, about)
    }
}

fn openclaw(text: &str) -> String {
    json!({"type": "message", "message": {"role": "user", "content": text}}).to_string()
}

fn claude(cwd: &str, text: &str) -> String {
    json!({"type": "user", "cwd": cwd, "message": {"role": "user", "content": text}}).to_string()
}

fn codex(cwd: &str, text: &str) -> [String; 2] {
    [
        json!({"type": "session_meta", "payload": {"cwd": cwd}}).to_string(),
        json!({"type": "response_item", "payload": {"type": "message", "role": "assistant",
            "content": [{"type": "output_text", "text": text}]}})
        .to_string(),
    ]
}

const SESSIONS: &str = ".openclaw/agents/main/sessions";

#[test]
fn the_newest_six_of_a_day_are_read_newest_first() {
    let home = Home::new();
    for n in 1..=8_u64 {
        let name = format!("{SESSIONS}/s{n}.jsonl");
        home.put(&name, n * HOUR, &[openclaw(&format!("words {n}"))]);
    }
    home.put(&format!("{SESSIONS}/old.jsonl"), 25 * HOUR, &[openclaw("old words")]);
    home.put(&format!("{SESSIONS}/s.jsonl.lock"), 1, &[openclaw("locked")]);
    home.put(&format!("{SESSIONS}/s.lock.jsonl"), 1, &[openclaw("locked")]);
    home.put(&format!("{SESSIONS}/notes.txt"), 1, &[openclaw("notes")]);
    let transcript = home.read(None);
    let names: Vec<_> = transcript.sessions.iter().map(|s| s.path.file_stem().unwrap().to_owned()).collect();
    assert_eq!(names, ["s1", "s2", "s3", "s4", "s5", "s6"]);
    assert!(
        transcript
            .text
            .starts_with("--- SESSION (s1.jsonl) ---\n**USER**: words 1\n\n--- SESSION (s2.jsonl) ---\n")
    );
}

#[test]
fn own_sessions_are_read_only_where_there_is_nothing_else() {
    let home = Home::new();
    home.put(&format!("{SESSIONS}/evolver_hand_1.jsonl"), 1, &[openclaw("own")]);
    assert!(home.read(None).text.contains("own"));
    home.put(&format!("{SESSIONS}/mine.jsonl"), 2, &[openclaw("mine")]);
    let text = home.read(None).text;
    assert!(text.contains("mine") && !text.contains("own"));
}

#[test]
fn repeated_lines_are_told_once_and_broken_ones_cost_only_themselves() {
    let home = Home::new();
    let lines = [
        openclaw("again"),
        openclaw("again"),
        openclaw("again"),
        "{\"type\":\"message\",\"mess".to_owned(),
        "\u{0}\u{1}".to_owned(),
        openclaw("then"),
    ];
    home.put(&format!("{SESSIONS}/a.jsonl"), 1, &lines);
    let transcript = home.read(None);
    assert_eq!(
        transcript.text,
        "--- SESSION (a.jsonl) ---\n**USER**: again\n   ... [Repeated 2 times] ...\n**USER**: then\n"
    );
    assert_eq!(transcript.sessions[0].broken_lines, 2);
}

#[test]
fn only_the_end_of_a_long_session_is_read() {
    let home = Home::new();
    let lines: Vec<String> = (0..5000).map(|n| openclaw(&format!("line {n}"))).collect();
    home.put(&format!("{SESSIONS}/a.jsonl"), 1, &lines);
    let transcript = home.read(None);
    assert!(transcript.sessions[0].bytes <= 20_000);
    assert_eq!(transcript.sessions[0].broken_lines, 0);
    assert!(transcript.text.contains("line 4999") && !transcript.text.contains("line 1000"));
}

#[test]
fn sessions_about_other_repositories_are_left_alone() {
    let home = Home::new();
    home.put(".claude/projects/-r-one/a.jsonl", 1, &[claude("/r/one/src", "claude one")]);
    home.put(".claude/projects/-r-one-b/b.jsonl", 1, &[claude("/r/one-b", "claude other")]);
    home.put(".claude/projects/-r-one/c.jsonl", 1, &["{\"type\":\"summary\"}".to_owned()]);
    home.put(".codex/sessions/2026/02/01/a.jsonl", 2, &codex("/r/one", "codex one"));
    home.put(".codex/sessions/2026/02/01/b.jsonl", 2, &codex("/r/two", "codex other"));
    home.put(&format!("{SESSIONS}/a.jsonl"), 3, &[openclaw("openclaw any")]);
    let transcript = home.read(Some(Path::new("/r/one")));
    let agents: Vec<_> = transcript.sessions.iter().map(|s| s.agent).collect();
    assert_eq!(agents, ["claude-code", "codex", "openclaw"]);
    assert!(!transcript.text.contains("other"));
    assert_eq!(home.read(None).sessions.len(), 5);
}

#[test]
fn an_empty_home_gives_an_empty_transcript() {
    assert_eq!(Home::new().read(None), Transcript::default());
}

/// A task of Cline in the folder of its command-line program, which is the same on every system.
fn cline(home: &Home, id: &str, age_seconds: u64, cwd: &str, text: &str) {
    let first = json!([{"role": "user", "content": [{"type": "text",
        "text": format!("# Current Working Directory ({cwd}) Files\n")}]}]);
    let messages = json!([
        {"ts": 1, "type": "say", "say": "task", "text": text},
        {"ts": 2, "type": "ask", "ask": "command", "text": "make"},
        {"ts": 3, "type": "say", "say": "command_output", "text": "no rule to make target\nexit code: 2"},
        {"ts": 4, "type": "say", "say": "text", "text": "That failed."},
    ]);
    home.put(
        &format!(".cline/data/tasks/{id}/api_conversation_history.json"),
        age_seconds,
        &[first.to_string()],
    );
    home.put(&format!(".cline/data/tasks/{id}/ui_messages.json"), age_seconds, &[messages.to_string()]);
}

#[test]
fn tasks_of_cline_are_told_like_other_sessions() {
    let home = Home::new();
    cline(&home, "101", 1, "/r/one", "build it");
    cline(&home, "102", 1, "/r/two", "build another");
    cline(&home, "103", 25 * HOUR, "/r/one", "built long ago");
    let transcript = home.read(Some(Path::new("/r/one")));
    assert_eq!(
        transcript.text,
        "--- SESSION (101) ---\n**USER**: build it\n**ASSISTANT**: [TOOL: command]\n\
         [TOOL RESULT] [ERROR] no rule to make target exit code: 2\n**ASSISTANT**: That failed.\n"
    );
    assert_eq!(transcript.sessions[0].agent, "cline");
    assert_eq!(transcript.sessions[0].bytes + "--- SESSION (101) ---\n".len(), transcript.text.len());
    assert_eq!(home.read(None).sessions.len(), 2);
}

/// A database of Cursor in the folder of its remote server, which is the same on every system.
fn cursor(home: &Home, age_seconds: u64, registry: &str, key: &str, folder: &str) -> PathBuf {
    let path = home.0.path().join(".cursor-server/data/User").join(folder).join("state.vscdb");
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    let database = rusqlite::Connection::open(&path).unwrap();
    database
        .execute_batch(
            "CREATE TABLE IF NOT EXISTS ItemTable (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
             CREATE TABLE IF NOT EXISTS cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);",
        )
        .unwrap();
    database.execute("INSERT INTO ItemTable VALUES (?1, ?2)", [key, registry]).unwrap();
    for id in ["one", "two", "old", "three"] {
        let composer =
            json!({"fullConversationHeadersOnly": [{"bubbleId": "u"}, {"bubbleId": "a"}]}).to_string();
        let prompt = json!({"type": 1, "text": format!("ask {id}")}).to_string();
        let reply = json!({"type": 2, "text": format!("say {id}")}).to_string();
        for (key, value) in [
            (format!("composerData:{id}"), composer),
            (format!("bubbleId:{id}:u"), prompt),
            (format!("bubbleId:{id}:a"), reply),
        ] {
            database.execute("INSERT INTO cursorDiskKV VALUES (?1, ?2)", [key, value]).unwrap();
        }
    }
    drop(database);
    let at = UNIX_EPOCH + Duration::from_secs(NOW.0 as u64 / 1000 - age_seconds);
    File::options().write(true).open(&path).unwrap().set_modified(at).unwrap();
    path
}

#[test]
fn conversations_of_cursor_are_told_like_other_sessions() {
    let home = Home::new();
    let ago = |hours: i64| NOW.0 - hours * 3_600_000;
    let registry = json!({"allComposers": [
        {"composerId": "one", "lastUpdatedAt": ago(1), "workspaceIdentifier": {"uri": {"fsPath": "/r/one"}}},
        {"composerId": "two", "lastUpdatedAt": ago(1), "trackedGitRepos": [{"repoPath": "/r/two"}]},
        {"composerId": "old", "lastUpdatedAt": ago(30), "workspaceIdentifier": {"uri": {"fsPath": "/r/one"}}},
    ]});
    cursor(&home, 1, &registry.to_string(), "composer.composerHeaders", "globalStorage");
    // Older versions list conversations by workspace.
    let listed = json!({"allComposers": [{"composerId": "three", "createdAt": ago(2)}]});
    cursor(&home, 1, &listed.to_string(), "composer.composerData", "workspaceStorage/abc");
    let workspace = json!({"folder": "file:///r/one/sub%20folder"}).to_string();
    home.put(".cursor-server/data/User/workspaceStorage/abc/workspace.json", 1, &[workspace]);
    let transcript = home.read(Some(Path::new("/r/one")));
    assert_eq!(
        transcript.text,
        "--- SESSION (one) ---\n**USER**: ask one\n**ASSISTANT**: say one\n\n\
         --- SESSION (three) ---\n**USER**: ask three\n**ASSISTANT**: say three\n"
    );
    assert_eq!(transcript.sessions[0].agent, "cursor");
    assert_eq!(home.read(None).sessions.len(), 3);
}

#[test]
fn only_the_end_of_a_long_conversation_is_told() {
    let home = Home::new();
    let messages: Vec<_> = (0..5000)
        .map(|n| json!({"ts": n, "type": "say", "say": "text", "text": format!("word {n}")}))
        .collect();
    home.put(".cline/data/tasks/7/ui_messages.json", 1, &[json!(messages).to_string()]);
    let transcript = home.read(None);
    assert!(transcript.sessions[0].bytes <= 20_000 && transcript.sessions[0].bytes > 15_000);
    assert!(transcript.text.contains("word 4999") && !transcript.text.contains("word 1000"));
}
