//! Finds the transcripts of a user, and the one of a session.

use super::SessionPaths;
use super::walk::{files, folders, modified, name_of};
use crate::cursor::conversations;
use crate::{Tool, TranscriptSource};
use capsid_model::exact::{ExactFields, parse_lossy};
use capsid_model::{Code, Problem, Result};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

/// How much of a rollout's first line is read; it holds the instructions of the session.
const FIRST_LINE_BYTES: u64 = 4 << 20;
/// The depth of rollouts: by year, month and day.
const ROLLOUT_DEPTH: usize = 4;
/// The depth of text transcripts: project, `agent-transcripts`, conversation.
const TEXT_DEPTH: usize = 4;

/// Every transcript of the user, of all four tools, always in the same order.
pub fn find_all(paths: &SessionPaths) -> Vec<TranscriptSource> {
    let mut sources: Vec<TranscriptSource> = Tool::ALL.iter().flat_map(|tool| all_of(paths, *tool)).collect();
    sources.dedup_by(|a, b| a.tool == b.tool && a.session == b.session && a.path == b.path);
    sources
}

fn all_of(paths: &SessionPaths, tool: Tool) -> Vec<TranscriptSource> {
    match tool {
        Tool::ClaudeCode => files(&paths.claude_projects, 2, &is_claude_session)
            .into_iter()
            .map(|path| source(tool, stem(&path), path))
            .collect(),
        Tool::Codex => rollouts(paths)
            .map(|path| source(tool, rollout_session(&path).unwrap_or_else(|| stem(&path)), path))
            .collect(),
        Tool::Cursor => all_of_cursor(paths),
        Tool::Cline => tasks(paths).map(|path| source(tool, name_of(&path), path)).collect(),
    }
}

/// The transcript of a session. Of several with that name, the one that changed last.
pub fn find(paths: &SessionPaths, tool: Tool, session: &str) -> Result<TranscriptSource> {
    let newest = |paths_found: Vec<PathBuf>| paths_found.into_iter().max_by_key(|path| modified(path));
    let path = match tool {
        Tool::ClaudeCode => newest(files(&paths.claude_projects, 2, &|name| {
            is_claude_session(name) && name.strip_suffix(".jsonl") == Some(session)
        })),
        Tool::Codex => newest(rollouts_of(paths, session)),
        Tool::Cursor => return find_cursor(paths, session),
        Tool::Cline => newest(tasks(paths).filter(|path| name_of(path) == session).collect()),
    };
    path.map(|path| source(tool, session.to_owned(), path)).ok_or_else(|| not_found(tool, session))
}

/// The transcript at a path that was given by hand.
///
/// Cursor: the state database, or a text transcript. Cline: the folder of a task, or a file in it.
pub fn source_of(tool: Tool, path: &Path, session: &str) -> Result<TranscriptSource> {
    let meta = path.metadata().map_err(|error| Problem::io("read", path, &error))?;
    let mut found_source = source(tool, session.to_owned(), path.to_owned());
    match tool {
        Tool::Cline if meta.is_file() => {
            found_source.path = path.parent().unwrap_or(path).to_owned();
        }
        _ if !meta.is_file() && tool != Tool::Cline => {
            let message = format!("`{}` is not a file.", path.display());
            return Err(Problem::new(Code::TranscriptUnreadable, message)
                .fix(format!("Give the path of the transcript that {} wrote.", tool.name())));
        }
        Tool::Cursor => {
            if !crate::cursor::is_database(path) {
                found_source.text_transcript = Some(path.to_owned());
            }
            let tracking_db = path.with_file_name("ai-code-tracking.db");
            found_source.authorship = tracking_db.is_file().then_some(tracking_db);
        }
        Tool::Cline | Tool::ClaudeCode | Tool::Codex => {}
    }
    Ok(found_source)
}

fn source(tool: Tool, session: String, path: PathBuf) -> TranscriptSource {
    TranscriptSource {
        tool,
        session,
        path,
        text_transcript: None,
        authorship: None,
        hook_fields: ExactFields::new(),
    }
}

fn not_found(tool: Tool, session: &str) -> Problem {
    let message = format!("No transcript of {} belongs to session `{session}`.", tool.name());
    Problem::new(Code::FileNotFound, message)
        .fix("Check the session's id, or name the transcript with `--transcript`.")
}

pub(super) fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// Sub-agents' files are next to the sessions of older versions; they belong to their parents.
pub(super) fn is_claude_session(name: &str) -> bool {
    name.ends_with(".jsonl") && !name.starts_with("agent-")
}

pub(super) fn rollouts(paths: &SessionPaths) -> impl Iterator<Item = PathBuf> {
    let is_rollout = |name: &str| name.starts_with("rollout-") && name.ends_with(".jsonl");
    paths.codex_sessions.iter().flat_map(move |root| files(root, ROLLOUT_DEPTH, &is_rollout))
}

/// The rollouts that say themselves that they are of this session. A name can lie, so those that bear it are only
/// looked at first.
fn rollouts_of(paths: &SessionPaths, session: &str) -> Vec<PathBuf> {
    let (named, others): (Vec<_>, Vec<_>) =
        rollouts(paths).partition(|path| !session.is_empty() && stem(path).ends_with(session));
    let own = |paths_found: Vec<PathBuf>| -> Vec<PathBuf> {
        paths_found.into_iter().filter(|path| rollout_session(path).as_deref() == Some(session)).collect()
    };
    let own_paths = own(named);
    if own_paths.is_empty() { own(others) } else { own_paths }
}

/// The session that a rollout's first line names.
fn rollout_session(path: &Path) -> Option<String> {
    let mut line = Vec::new();
    let head = File::open(path).ok()?.take(FIRST_LINE_BYTES);
    BufReader::new(head).read_until(b'\n', &mut line).ok()?;
    let first = parse_lossy(&line).ok()?;
    let meta = match first.text("type") {
        Some("session_meta") => first.get("payload")?,
        Some(_) => return None,
        None => &first,
    };
    meta.text("id").filter(|id| !id.is_empty()).map(str::to_owned)
}

pub(super) fn tasks(paths: &SessionPaths) -> impl Iterator<Item = PathBuf> {
    let is_task = |path: &PathBuf| path.join(crate::cline::MESSAGES).is_file();
    paths.cline_tasks.iter().flat_map(|root| folders(root)).filter(is_task)
}

/// The conversations that the state databases know.
pub(super) fn conversations_of(paths: &SessionPaths) -> Vec<String> {
    let databases = paths.cursor_databases().filter(|path| path.is_file());
    databases.flat_map(|path| conversations(&path).unwrap_or_default()).collect()
}

/// The conversations that a database knows, then those of which there is only a text.
fn all_of_cursor(paths: &SessionPaths) -> Vec<TranscriptSource> {
    let mut texts = texts(paths);
    let mut sources = Vec::new();
    for path in paths.cursor_databases().filter(|path| path.is_file()) {
        for session in conversations(&path).unwrap_or_default() {
            let text = texts.get(&session).cloned();
            sources.push(cursor_stores(paths, session, path.clone(), text));
        }
    }
    for source in &sources {
        texts.remove(&source.session);
    }
    sources.extend(
        texts.into_iter().map(|(session, path)| cursor_stores(paths, session, path.clone(), Some(path))),
    );
    sources.sort_by(|a, b| a.session.cmp(&b.session).then_with(|| a.path.cmp(&b.path)));
    sources
}

fn find_cursor(paths: &SessionPaths, session: &str) -> Result<TranscriptSource> {
    let text = texts(paths).remove(session);
    let database = paths
        .cursor_databases()
        .filter(|path| path.is_file())
        .find(|path| crate::cursor::is_known(path, session).unwrap_or(false));
    let path = database.or_else(|| text.clone()).ok_or_else(|| not_found(Tool::Cursor, session))?;
    Ok(cursor_stores(paths, session.to_owned(), path, text))
}

fn cursor_stores(
    paths: &SessionPaths,
    session: String,
    path: PathBuf,
    text_transcript: Option<PathBuf>,
) -> TranscriptSource {
    let authorship = Some(&paths.cursor_authorship).filter(|path| path.is_file()).cloned();
    TranscriptSource { text_transcript, authorship, ..source(Tool::Cursor, session, path) }
}

/// Cursor's text transcripts by conversation; those of sub-agents are in folders below and belong to their parents.
pub(super) fn texts(paths: &SessionPaths) -> BTreeMap<String, PathBuf> {
    let is_own = |path: &PathBuf| {
        let mut above = path.ancestors().skip(1).take(2).map(name_of);
        above.any(|name| name == "agent-transcripts")
    };
    let paths_found = files(&paths.cursor_projects, TEXT_DEPTH, &|name| name.ends_with(".jsonl"));
    paths_found.into_iter().filter(is_own).map(|path| (stem(&path), path)).collect()
}
