#![allow(clippy::disallowed_methods)]
use super::*;
use crate::{Tool, TranscriptSource};
use capsid_model::Code;
use std::fs;
use std::time::{Duration, UNIX_EPOCH};
use tempfile::TempDir;

fn text(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

fn session_paths(home: &Path) -> SessionPaths {
    SessionPaths::new(OsFamily::Linux, home, &|_| None)
}

fn put(home: &Path, path: &str, content: &str) -> PathBuf {
    let path = home.join(path);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(&path, content).unwrap();
    path
}

fn sessions(sources: &[TranscriptSource]) -> Vec<(Tool, &str)> {
    sources.iter().map(|source| (source.tool, source.session.as_str())).collect()
}

fn meta(id: &str) -> String {
    format!("{{\"type\":\"session_meta\",\"payload\":{{\"id\":\"{id}\",\"cwd\":\"/r\"}}}}\n{{}}\n")
}

#[test]
fn every_system_has_its_places() {
    let of = |os| SessionPaths::new(os, Path::new("/h"), &|_| None);
    for (os, settings) in [
        (OsFamily::Linux, "/h/.config"),
        (OsFamily::Mac, "/h/Library/Application Support"),
        (OsFamily::Windows, "/h/AppData/Roaming"),
    ] {
        let paths = of(os);
        assert_eq!(text(&paths.claude_projects), "/h/.claude/projects");
        assert_eq!(
            paths.codex_sessions.each_ref().map(|path| text(path)),
            ["/h/.codex/sessions", "/h/.codex/archived_sessions"]
        );
        let databases: Vec<String> = paths.cursor_databases().map(|path| text(&path)).collect();
        assert_eq!(
            databases,
            [
                format!("{settings}/Cursor/User/globalStorage/state.vscdb"),
                "/h/.cursor-server/data/User/globalStorage/state.vscdb".to_owned()
            ]
        );
        assert_eq!(text(&paths.cursor_authorship), "/h/.cursor/ai-tracking/ai-code-tracking.db");
        let tasks: Vec<String> = paths.cline_tasks.iter().map(|path| text(path)).collect();
        let in_user = |user: &str| format!("{user}/User/globalStorage/saoudrizwan.claude-dev/tasks");
        assert_eq!(
            tasks,
            [
                in_user(&format!("{settings}/Code")),
                in_user(&format!("{settings}/Cursor")),
                in_user(&format!("{settings}/VSCodium")),
                in_user(&format!("{settings}/Code - Insiders")),
                in_user("/h/.vscode-server/data"),
                in_user("/h/.vscode-server-insiders/data"),
                in_user("/h/.cursor-server/data"),
                "/h/.cline/data/tasks".to_owned(),
            ]
        );
    }
}

#[test]
fn settings_move_the_places() {
    let of = |os| SessionPaths::new(os, Path::new("/h"), &|name| Some(format!("/set/{name}")));
    let linux = of(OsFamily::Linux);
    assert_eq!(text(&linux.claude_projects), "/set/CLAUDE_CONFIG_DIR/projects");
    assert_eq!(text(&linux.codex_sessions[1]), "/set/CODEX_HOME/archived_sessions");
    assert_eq!(text(&linux.cursor_authorship), "/set/AI_TRACKING_DB");
    assert_eq!(text(&linux.cursor_users[0]), "/set/XDG_CONFIG_HOME/Cursor/User");
    assert_eq!(text(&linux.cline_tasks[7]), "/set/CLINE_DIR/data/tasks");
    assert_eq!(text(&of(OsFamily::Windows).cursor_users[0]), "/set/APPDATA/Cursor/User");
    assert_eq!(text(&of(OsFamily::Mac).cursor_users[0]), "/h/Library/Application Support/Cursor/User");
    let blank = SessionPaths::new(OsFamily::Linux, Path::new("/h"), &|_| Some(" ".to_owned()));
    assert_eq!(blank, session_paths(Path::new("/h")));
}

/// A home with sessions of all four tools and things that are none.
fn full_home() -> TempDir {
    let home = TempDir::new().unwrap();
    let at = home.path();
    put(at, ".claude/projects/-r-one/11.jsonl", "{}\n");
    put(at, ".claude/projects/-r-one/agent-7.jsonl", "{}\n");
    put(at, ".claude/projects/-r-one/11/subagents/agent-8.jsonl", "{}\n");
    put(at, ".codex/sessions/2026/06/01/rollout-2026-06-01T11-00-00-aa.jsonl", &meta("aa"));
    put(at, ".codex/archived_sessions/rollout-2025-01-01T00-00-00-bb.jsonl", &meta("bb"));
    put(at, ".codex/sessions/2026/06/01/notes.jsonl", "{}\n");
    let user = at.join(".config/Cursor/User/globalStorage");
    fs::create_dir_all(&user).unwrap();
    let state = rusqlite::Connection::open(user.join("state.vscdb")).unwrap();
    state
        .execute_batch(
            "CREATE TABLE cursorDiskKV (key TEXT UNIQUE ON CONFLICT REPLACE, value BLOB);
             INSERT INTO cursorDiskKV VALUES ('composerData:c2', '{}'), ('composerData:c1', '{}'),
             ('composerDatb:c3', '{}'), ('bubbleId:c1:x', '{}');",
        )
        .unwrap();
    put(at, ".cursor/projects/r-one/agent-transcripts/c1/c1.jsonl", "{}\n");
    put(at, ".cursor/projects/r-one/agent-transcripts/t1/t1.jsonl", "{}\n");
    put(at, ".cursor/projects/r-one/agent-transcripts/t1/subagents/t2.jsonl", "{}\n");
    put(at, ".cursor/projects/r-one/agent-transcripts/t3.jsonl", "{}\n");
    put(at, ".cursor/projects/r-one/terminals/x.jsonl", "{}\n");
    put(at, ".cursor/ai-tracking/ai-code-tracking.db", "");
    put(at, ".config/Code/User/globalStorage/saoudrizwan.claude-dev/tasks/900/ui_messages.json", "[]");
    put(at, ".cline/data/tasks/901/ui_messages.json", "[]");
    put(at, ".cline/data/tasks/902/other.json", "[]");
    home
}

#[test]
fn every_session_of_the_user_is_found() {
    let home = full_home();
    let sources = find_all(&session_paths(home.path()));
    assert_eq!(
        sessions(&sources),
        [
            (Tool::ClaudeCode, "11"),
            (Tool::Codex, "aa"),
            (Tool::Codex, "bb"),
            (Tool::Cursor, "c1"),
            (Tool::Cursor, "c2"),
            (Tool::Cursor, "t1"),
            (Tool::Cursor, "t3"),
            (Tool::Cline, "900"),
            (Tool::Cline, "901"),
        ]
    );
    assert_eq!(find_all(&session_paths(home.path())), sources);
    let c1 = &sources[3];
    assert!(c1.path.ends_with("globalStorage/state.vscdb"));
    assert!(c1.text_transcript.as_ref().unwrap().ends_with("c1/c1.jsonl"));
    assert!(c1.authorship.is_some() && sources[4].text_transcript.is_none());
    for source in &sources {
        assert_eq!(&find(&session_paths(home.path()), source.tool, &source.session).unwrap(), source);
    }
    assert!(find_all(&session_paths(&home.path().join("nobody"))).is_empty());
}

#[test]
fn a_session_that_is_not_there_is_refused_and_not_replaced_by_another() {
    let home = full_home();
    for tool in Tool::ALL {
        let problem = find(&session_paths(home.path()), tool, "none").unwrap_err();
        assert_eq!(problem.code, Code::FileNotFound);
        assert!(problem.message.contains("`none`") && problem.fix.is_some(), "{problem:?}");
    }
    assert!(find(&session_paths(home.path()), Tool::Codex, "").is_err());
}

#[test]
fn a_rollout_belongs_to_the_session_that_its_first_line_names() {
    let home = TempDir::new().unwrap();
    let day = ".codex/sessions/2026/06/01";
    put(home.path(), &format!("{day}/rollout-1-aa.jsonl"), &meta("zz"));
    put(home.path(), &format!("{day}/rollout-2-bb.jsonl"), "{\"id\":\"old\",\"instructions\":null}\n");
    put(home.path(), &format!("{day}/rollout-3-cc.jsonl"), "half a li");
    put(home.path(), &format!("{day}/rollout-4-dd.jsonl"), "{\"type\":\"event_msg\",\"id\":\"ee\"}\n");
    let codex = |session| find(&session_paths(home.path()), Tool::Codex, session);
    assert!(codex("zz").unwrap().path.ends_with("rollout-1-aa.jsonl"));
    assert!(codex("old").unwrap().path.ends_with("rollout-2-bb.jsonl"));
    for session in ["aa", "cc", "ee"] {
        assert_eq!(codex(session).unwrap_err().code, Code::FileNotFound, "{session}");
    }
    // Of two that say the same, the one that changed last.
    let later = put(home.path(), ".codex/archived_sessions/rollout-0-zz.jsonl", &meta("zz"));
    let again = put(home.path(), &format!("{day}/rollout-9-zz.jsonl"), &meta("zz"));
    let set = |path: &Path, seconds| {
        let at = UNIX_EPOCH + Duration::from_secs(seconds);
        fs::File::options().write(true).open(path).unwrap().set_modified(at).unwrap();
    };
    set(&later, 2_000);
    set(&again, 1_000);
    assert_eq!(codex("zz").unwrap().path, later);
    set(&again, 3_000);
    assert_eq!(codex("zz").unwrap().path, again);
}

#[cfg(unix)]
#[test]
fn links_are_not_followed() {
    let home = full_home();
    let other = full_home();
    std::os::unix::fs::symlink(
        other.path().join(".claude/projects"),
        home.path().join(".claude/projects/link"),
    )
    .unwrap();
    let task = other.path().join(".cline/data/tasks/901");
    std::os::unix::fs::symlink(task, home.path().join(".cline/data/tasks/999")).unwrap();
    assert_eq!(find_all(&session_paths(home.path())).len(), 9);
}

#[test]
fn a_path_given_by_hand_is_taken_as_it_is() {
    let home = full_home();
    let at = |path: &str| home.path().join(path);
    let task = at(".cline/data/tasks/901");
    assert_eq!(source_of(Tool::Cline, &task, "s").unwrap().path, task);
    assert_eq!(source_of(Tool::Cline, &task.join("ui_messages.json"), "s").unwrap().path, task);
    let database = at(".config/Cursor/User/globalStorage/state.vscdb");
    let by_database = source_of(Tool::Cursor, &database, "c1").unwrap();
    assert_eq!((by_database.path, by_database.text_transcript), (database, None));
    let lines = at(".cursor/projects/r-one/agent-transcripts/t3.jsonl");
    assert_eq!(source_of(Tool::Cursor, &lines, "t3").unwrap().text_transcript, Some(lines));
    let claude = source_of(Tool::ClaudeCode, &at(".claude/projects/-r-one/11.jsonl"), "s").unwrap();
    assert_eq!(claude.session, "s");
    let code = |tool, path: &str| source_of(tool, &at(path), "s").unwrap_err().code;
    assert_eq!(code(Tool::Codex, "absent.jsonl"), Code::FileNotFound);
    assert_eq!(code(Tool::Codex, ".codex"), Code::TranscriptUnreadable);
}
