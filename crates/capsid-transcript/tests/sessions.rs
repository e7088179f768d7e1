//! Recent sessions on disk: which are taken, in which order, and how much of each.
#![allow(clippy::disallowed_methods, clippy::unwrap_used)]

use capsid_model::{Time, json};
use capsid_transcript::{Transcript, known_folders, recent_text};
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
        recent_text(&known_folders(self.0.path(), &|_| None), NOW, about)
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
