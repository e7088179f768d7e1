//! The sessions of the last day as one text.

use crate::folders::SessionFolder;
use crate::lines::{cwd_of, lines_of};
use crate::tail::plain_tail;
use capsid_model::Time;
use std::fs::File;
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

const MAX_AGE_MS: i64 = 24 * 60 * 60 * 1000;
const MAX_SESSIONS: usize = 6;
const SESSION_BYTES: usize = 20_000;
const TOTAL_BYTES: usize = 120_000;
/// How far into a session its folder is looked for; the first record of some agents holds long instructions.
const HEAD_BYTES: u64 = 256 * 1024;
/// Entries of a folder tree that are looked at.
const MAX_ENTRIES: usize = 50_000;
/// Sessions of the engine's own helpers; they are read only where there is nothing else.
const OWN_PREFIX: &str = "evolver_hand_";

/// What was read of one session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// The agent that wrote it.
    pub agent: &'static str,
    /// Its file.
    pub path: PathBuf,
    /// Bytes read.
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
    pub sessions: Vec<Session>,
}

/// Reads the newest sessions of the last day.
///
/// With `about`, sessions of agents that work in many repositories are taken only when they were started in that
/// folder or below it, so that one repository does not learn from another's log.
pub fn recent_text(folders: &[SessionFolder], now: Time, about: Option<&Path>) -> Transcript {
    let mut found: Vec<Found<'_>> = folders.iter().flat_map(|folder| session_files(folder, now)).collect();
    found.sort_by(|a, b| b.modified.cmp(&a.modified).then_with(|| a.path.cmp(&b.path)));
    let (own, others): (Vec<_>, Vec<_>) = found.into_iter().partition(Found::is_own);
    let transcript = read_all(&others, about);
    if transcript.sessions.is_empty() { read_all(&own, about) } else { transcript }
}

struct Found<'a> {
    folder: &'a SessionFolder,
    path: PathBuf,
    modified: i64,
}

impl Found<'_> {
    fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default();
        name.to_string_lossy().into_owned()
    }

    fn is_own(&self) -> bool {
        self.name().starts_with(OWN_PREFIX)
    }

    fn is_about(&self, about: Option<&Path>) -> bool {
        match about {
            Some(about) if self.folder.is_shared() => {
                recorded_cwd(&self.path).is_some_and(|cwd| lies_in(&cwd, about))
            }
            _ => true,
        }
    }
}

/// The session files of a folder that changed within the last day. Folders that are links are not followed.
fn session_files(folder: &SessionFolder, now: Time) -> Vec<Found<'_>> {
    let mut files = Vec::new();
    let mut open = vec![(folder.path.clone(), 1)];
    let mut seen = 0;
    while let Some((path, depth)) = open.pop() {
        let Ok(entries) = std::fs::read_dir(&path) else {
            continue;
        };
        for entry in entries.flatten() {
            seen += 1;
            if seen > MAX_ENTRIES {
                return files;
            }
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            if kind.is_dir() && depth < folder.depth() {
                open.push((entry.path(), depth + 1));
            } else if kind.is_file() && is_session_name(&entry.file_name().to_string_lossy()) {
                let path = entry.path();
                files.extend(modified(&path).map(|modified| Found { folder, path, modified }));
            }
        }
    }
    files.retain(|file| now.0 - file.modified <= MAX_AGE_MS);
    files
}

fn is_session_name(name: &str) -> bool {
    name.ends_with(".jsonl") && !name.contains(".lock")
}

fn modified(path: &Path) -> Option<i64> {
    let modified = path.metadata().ok()?.modified().ok()?;
    let since = modified.duration_since(UNIX_EPOCH).ok()?;
    i64::try_from(since.as_millis()).ok()
}

/// The folder a session was started in, from the first record that names one.
fn recorded_cwd(path: &Path) -> Option<PathBuf> {
    let head = BufReader::new(File::open(path).ok()?.take(HEAD_BYTES));
    head.split(b'\n')
        .map_while(Result::ok)
        .find_map(|line| cwd_of(&String::from_utf8_lossy(&line)))
        .map(PathBuf::from)
}

fn lies_in(cwd: &Path, about: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    cwd.starts_with(about) || real(cwd).starts_with(real(about))
}

fn read_all(found: &[Found<'_>], about: Option<&Path>) -> Transcript {
    let mut transcript = Transcript::default();
    for file in found.iter().filter(|file| file.is_about(about)) {
        if transcript.sessions.len() == MAX_SESSIONS || transcript.text.len() >= TOTAL_BYTES {
            break;
        }
        let Ok(records) = plain_tail(&file.path, SESSION_BYTES) else {
            continue;
        };
        let (text, broken_lines) = render(&records);
        if text.is_empty() {
            continue;
        }
        if !transcript.text.is_empty() {
            transcript.text.push('\n');
        }
        transcript.text += &format!("--- SESSION ({}) ---\n{text}", file.name());
        transcript.sessions.push(Session {
            agent: file.folder.agent,
            path: file.path.clone(),
            bytes: records.len(),
            broken_lines,
        });
    }
    transcript
}

/// The lines of a session, repeated ones told once, and how many records were broken.
fn render(records: &str) -> (String, usize) {
    let mut text = String::new();
    let mut broken = 0;
    let mut last = String::new();
    let mut repeats = 0;
    for record in records.lines().filter(|line| !line.trim().is_empty()) {
        let Some(lines) = lines_of(record) else {
            broken += 1;
            continue;
        };
        for line in lines {
            if line == last {
                repeats += 1;
                continue;
            }
            tell_repeats(&mut text, repeats);
            repeats = 0;
            text += &line;
            text.push('\n');
            last = line;
        }
    }
    tell_repeats(&mut text, repeats);
    (text, broken)
}

fn tell_repeats(text: &mut String, repeats: usize) {
    if repeats > 0 {
        text.push_str(&format!("   ... [Repeated {repeats} times] ...\n"));
    }
}
