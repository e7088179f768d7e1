//! Recent sessions of the tools that keep state instead of a log: Cursor and Cline.

use super::growing_text::GrowingText;
use crate::lines::{attach_result, spoken};
use crate::session_paths::{folders, modified, state_database};
use crate::shape::plain;
use crate::{Action, ActionKind, ReadReport, Tool, TranscriptSource};
use capsid_model::Result;
use capsid_model::exact::{ExactFields, ExactJson, parse_lossy};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// How much of a workspace's description is read.
const WORKSPACE_BYTES: u64 = 64 * 1024;

/// A session that changed lately.
pub(super) struct RecentSession {
    pub(super) source: TranscriptSource,
    pub(super) modified: i64,
    /// The folders it is about, as far as they are known.
    pub(super) folders: Vec<PathBuf>,
}

impl RecentSession {
    /// The end of the messages and actions, and how many records were broken.
    pub(super) fn text(&self, max_bytes: usize) -> Option<(String, usize)> {
        let mut text = GrowingText::default();
        let mut request = String::new();
        let report = read(&self.source, &mut |action| {
            for line in lines(&action, &mut request) {
                text.line(line);
            }
            if text.len() > 2 * max_bytes {
                text.retain_last(max_bytes);
            }
            Ok(())
        });
        text.retain_last(max_bytes);
        Some((text.text(), usize::try_from(report.ok()?.broken).unwrap_or(usize::MAX)))
    }
}

fn read(source: &TranscriptSource, each: &mut dyn FnMut(Action) -> Result<()>) -> Result<ReadReport> {
    match source.tool {
        Tool::Cline => crate::cline::read(source, each),
        _ => crate::cursor::read(source, each),
    }
}

/// An action as lines: the request if it is new, then what was done, then the result.
fn lines(action: &Action, request: &mut String) -> Vec<String> {
    let mut lines = Vec::new();
    if action.prompt != *request {
        request.clone_from(&action.prompt);
        lines.extend(spoken("user", &action.prompt));
    }
    match &action.call {
        Some(call) => {
            lines.extend(spoken("assistant", &format!("{} [TOOL: {}]", action.analysis, call.tool)));
            lines.extend(attach_result(&plain(&call.result), action.has_failed()));
        }
        None if action.kind == ActionKind::Chat => lines.extend(spoken("assistant", &action.analysis)),
        None if action.has_failed() => lines.extend(attach_result(&plain(&action.result), true)),
        None => {}
    }
    lines
}

fn state(tool: Tool, session: String, path: PathBuf, modified: i64, folders: Vec<PathBuf>) -> RecentSession {
    let source = TranscriptSource {
        tool,
        session,
        path,
        text_transcript: None,
        authorship: None,
        hook_fields: ExactFields::new(),
    };
    RecentSession { source, modified, folders }
}

/// The tasks of a folder that changed since a moment.
pub(super) fn cline_sessions(tasks: &Path, since: i64) -> Vec<RecentSession> {
    let recent = |task: PathBuf| {
        let changed = modified(&task.join(crate::cline::MESSAGES)).filter(|changed| *changed >= since)?;
        let session = task.file_name()?.to_string_lossy().into_owned();
        let about = crate::cline::working_folders(&task);
        Some(state(Tool::Cline, session, task, changed, about))
    };
    folders(tasks).into_iter().filter_map(recent).collect()
}

/// The conversations in a `User` folder that changed since a moment.
pub(super) fn cursor_sessions(user: &Path, since: i64) -> Vec<RecentSession> {
    let database = state_database(user);
    if !is_recent(&database, since) {
        return Vec::new();
    }
    let mut databases = BTreeMap::new();
    let list = |path: &Path, key: &str| crate::cursor::item(path, key).ok().flatten().unwrap_or_default();
    collect_session(&list(&database, "composer.composerHeaders"), None, since, &mut databases);
    for workspace in folders(&user.join("workspaceStorage")) {
        let path = workspace.join("state.vscdb");
        if let Some(folder) = workspace_folder(&workspace).filter(|_| is_recent(&path, since)) {
            collect_session(&list(&path, "composer.composerData"), Some(&folder), since, &mut databases);
        }
    }
    let conversation =
        |(session, (changed, folders))| state(Tool::Cursor, session, database.clone(), changed, folders);
    databases.into_iter().map(conversation).collect()
}

/// A database is as new as what was last written to it or to its log.
fn is_recent(database: &Path, since: i64) -> bool {
    let mut log = database.as_os_str().to_owned();
    log.push("-wal");
    [modified(database), modified(Path::new(&log))].iter().flatten().any(|changed| *changed >= since)
}

/// Notes the conversations of a list that changed since a moment, and the folders they are about.
fn collect_session(
    list: &ExactJson,
    folder: Option<&Path>,
    since: i64,
    databases: &mut BTreeMap<String, (i64, Vec<PathBuf>)>,
) {
    for composer in list.get("allComposers").and_then(ExactJson::as_array).unwrap_or_default() {
        let time = |name: &str| composer.get(name).and_then(ExactJson::as_i64);
        let Some(changed) = time("lastUpdatedAt").or(time("createdAt")).filter(|changed| *changed >= since)
        else {
            continue;
        };
        let Some(id) = composer.text("composerId") else { continue };
        let (newest, folders) = databases.entry(id.to_owned()).or_insert((changed, Vec::new()));
        *newest = changed.max(*newest);
        folders.extend(folder.map(Path::to_owned));
        let own = composer.at(&["workspaceIdentifier", "uri", "fsPath"]).and_then(ExactJson::as_str);
        folders.extend(own.map(PathBuf::from));
        let repositories = composer.get("trackedGitRepos").and_then(ExactJson::as_array).unwrap_or_default();
        folders.extend(repositories.iter().filter_map(|one| one.text("repoPath")).map(PathBuf::from));
    }
}

/// The folder that a workspace of the editor is about.
fn workspace_folder(workspace: &Path) -> Option<PathBuf> {
    let mut bytes = Vec::new();
    File::open(workspace.join("workspace.json")).ok()?.take(WORKSPACE_BYTES).read_to_end(&mut bytes).ok()?;
    path_of(parse_lossy(&bytes).ok()?.text("folder")?)
}

/// The path of a `file://` address.
fn path_of(address: &str) -> Option<PathBuf> {
    let encoded = address.strip_prefix("file://")?;
    let mut bytes = Vec::new();
    let mut rest = encoded.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()).filter(|_| *first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    let path = String::from_utf8(bytes).ok()?;
    // A drive's letter comes after the root.
    let is_drive = path.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if is_drive { path.trim_start_matches('/') } else { &path }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_of_a_file_becomes_its_path() {
        assert_eq!(path_of("file:///r/a%20b/%C3%A9"), Some(PathBuf::from("/r/a b/é")));
        assert_eq!(path_of("file:///c%3A/work"), Some(PathBuf::from("c:/work")));
        assert_eq!(path_of("file:///r/100%"), Some(PathBuf::from("/r/100%")));
        assert_eq!(path_of("vscode-remote://ssh/r"), None);
    }
}
