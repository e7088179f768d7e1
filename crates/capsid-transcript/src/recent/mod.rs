//! The sessions of the last day as one text.

mod growing_text;
mod state;

use crate::folders::SessionFolder;
use crate::lines::{cwd_of, lines_of};
use crate::session_paths::{files, modified};
use crate::tail::plain_tail;
use capsid_model::Time;
use growing_text::GrowingText;
use state::RecentSession;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

const MAX_AGE_MS: i64 = 24 * 60 * 60 * 1000;
const MAX_SESSIONS: usize = 6;
const SESSION_BYTES: usize = 20_000;
const TOTAL_BYTES: usize = 120_000;
/// How far into a session its folder is looked for; the first record of some agents holds long instructions.
const HEAD_BYTES: u64 = 256 * 1024;
/// Sessions of the engine's own helpers; they are read only where there is nothing else.
const OWN_PREFIX: &str = "evolver_hand_";

/// What was read of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionText {
    /// The agent that wrote it.
    pub agent: &'static str,
    /// Its file, the database it is in, or its folder.
    pub path: PathBuf,
    pub bytes: usize,
    /// Lines that were no records and were passed over.
    pub broken_lines: usize,
}

/// Recent sessions as text, and where the text comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Transcript {
    /// The sessions, newest first, each under a head line; empty when there was none.
    pub text: String,
    /// One entry for each session in the text.
    pub sessions: Vec<SessionText>,
}

/// Reads the newest sessions of the last day.
///
/// With `about`, sessions of agents that work in many repositories are taken only when they were started in that
/// folder or below it, so that one repository does not learn from another's log.
pub fn recent_text(folders: &[SessionFolder], now: Time, about: Option<&Path>) -> Transcript {
    let mut sessions: Vec<FoundSession<'_>> =
        folders.iter().flat_map(|folder| session_files(folder, now)).collect();
    sessions.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    let (own, others): (Vec<_>, Vec<_>) = sessions.into_iter().partition(FoundSession::is_own);
    let transcript = read_all(&others, about);
    if transcript.sessions.is_empty() { read_all(&own, about) } else { transcript }
}

struct FoundSession<'a> {
    folder: &'a SessionFolder,
    path: PathBuf,
    modified: i64,
    /// The session, where it is not a file of records.
    state: Option<RecentSession>,
}

impl FoundSession<'_> {
    fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        match &self.state {
            Some(state) => state.source.session.clone(),
            None => name.to_string_lossy().into_owned(),
        }
    }

    fn is_own(&self) -> bool {
        self.name().starts_with(OWN_PREFIX)
    }

    fn is_about(&self, about: Option<&Path>) -> bool {
        match (about, &self.state) {
            (Some(about), Some(state)) => state.folders.iter().any(|folder| is_below(folder, about)),
            (Some(about), None) if self.folder.is_shared() => {
                recorded_cwd(&self.path).is_some_and(|cwd| is_below(&cwd, about))
            }
            _ => true,
        }
    }

    /// The text of the session, how much was read of it, and how many records were broken.
    fn read(&self) -> Option<(String, usize, usize)> {
        if let Some(state) = &self.state {
            let (text, broken) = state.text(SESSION_BYTES)?;
            let bytes = text.len();
            return Some((text, bytes, broken));
        }
        let records = plain_tail(&self.path, SESSION_BYTES).ok()?;
        let (text, broken) = render(&records);
        Some((text, records.len(), broken))
    }
}

/// The sessions of a folder that changed within the last day.
fn session_files(folder: &SessionFolder, now: Time) -> Vec<FoundSession<'_>> {
    let session = |path: PathBuf, modified, state| FoundSession { folder, path, modified, state };
    let of_state = |states: Vec<RecentSession>| {
        states
            .into_iter()
            .map(|state| session(state.source.path.clone(), state.modified, Some(state)))
            .collect()
    };
    let since = now.0 - MAX_AGE_MS;
    match folder.agent {
        "cursor" => of_state(state::cursor_sessions(&folder.path, since)),
        "cline" => of_state(state::cline_sessions(&folder.path, since)),
        _ => files(&folder.path, folder.depth(), &is_session_name)
            .into_iter()
            .filter_map(|path| modified(&path).map(|modified| session(path, modified, None)))
            .filter(|file| file.modified >= since)
            .collect(),
    }
}

fn is_session_name(name: &str) -> bool {
    name.ends_with(".jsonl") && !name.contains(".lock")
}

/// The folder a session was started in, from the first record that names one.
fn recorded_cwd(path: &Path) -> Option<PathBuf> {
    let head = BufReader::new(File::open(path).ok()?.take(HEAD_BYTES));
    head.split(b'\n')
        .map_while(Result::ok)
        .find_map(|line| cwd_of(&String::from_utf8_lossy(&line)))
        .map(PathBuf::from)
}

fn is_below(cwd: &Path, about: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    cwd.starts_with(about) || real(cwd).starts_with(real(about))
}

fn read_all(sessions: &[FoundSession<'_>], about: Option<&Path>) -> Transcript {
    let mut transcript = Transcript::default();
    for file in sessions.iter().filter(|file| file.is_about(about)) {
        if transcript.sessions.len() == MAX_SESSIONS || transcript.text.len() >= TOTAL_BYTES {
            break;
        }
        let Some((text, bytes, broken_lines)) = file.read() else {
            continue;
        };
        if text.is_empty() {
            continue;
        }
        if !transcript.text.is_empty() {
            transcript.text.push('\n');
        }
        transcript.text += &format!("--- SESSION ({}) ---\n{text}", file.name());
        transcript.sessions.push(SessionText {
            agent: file.folder.agent,
            path: file.path.clone(),
            bytes,
            broken_lines,
        });
    }
    transcript
}

/// The lines of a session, and how many records were broken.
fn render(records: &str) -> (String, usize) {
    let mut text = GrowingText::default();
    let mut broken = 0;
    for record in records.lines().filter(|line| !line.trim().is_empty()) {
        match lines_of(record) {
            Some(lines) => lines.into_iter().for_each(|line| text.line(line)),
            None => broken += 1,
        }
    }
    (text.text(), broken)
}
