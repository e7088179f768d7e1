//! Searches this repository's past for some words: what was tried and how it ended. It only reads, and of each file
//! only the newest part; `known_signals` alone reads the complete memory graph, as every cycle does.

mod events;
mod memory;
mod search;

pub use events::scan_events;
pub use memory::scan_memory;
pub use search::RecallSearch;

use crate::store::lines::ReverseLines;
use crate::workspace::Workspace;
use capsid_model::redact::{RedactProfile, redact};
use capsid_model::text::{collapse, cut};
use capsid_model::{Object, Result, Value};
use serde::Serialize;
use std::collections::HashSet;
use std::path::Path;

/// The most bytes of a file that are looked through.
const MAX_BYTES: usize = 32 * 1024 * 1024;
/// How much of a text is searched, and how much of it is shown.
const SEARCHED: usize = 6000;
const SHOWN: usize = 300;

/// Where something was written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum RecallLocation {
    Event,
    Narrative,
    Memory,
    /// In a sealed record of what an agent did.
    Trail,
}

impl RecallLocation {
    /// Its word.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Event => "event",
            Self::Narrative => "narrative",
            Self::Memory => "memory",
            Self::Trail => "trail",
        }
    }
}

/// A recorded text. It holds no secrets; callers make it inert before they show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RecallPiece {
    #[serde(rename = "place")]
    pub location: RecallLocation,
    pub id: String,
    /// When, as ISO text, where that is known.
    pub at: Option<String>,
    /// How it ended, where that is known.
    pub ended: Option<String>,
    /// Its content in one line.
    pub text: String,
    /// The command that shows it.
    pub show: String,
}

/// What answers.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RecallHit {
    #[serde(flatten)]
    pub piece: RecallPiece,
    /// How well it answers; comparable within one search only.
    pub score: f64,
    /// The words that it answers.
    pub words: Vec<String>,
    /// How many others have the same text; the newest of them is shown.
    pub more: usize,
}

/// A text as it may be shown: without secrets, on one line, cut.
pub fn snippet(text: &str) -> String {
    shortened(text, SHOWN)
}

/// The same, cut to another length, with a mark where something is missing.
pub fn shortened(text: &str, units: usize) -> String {
    let start = cut(text, SEARCHED);
    // Secrets go first: half of one is not known as one.
    let clean = redact(&collapse(start), RedactProfile::Secrets).into_owned();
    let short = cut(&clean, units);
    match short.len() < clean.len() || start.len() < text.len() {
        true => format!("{}…", short.trim_end()),
        false => clean,
    }
}

/// Visits the newest lines of a file, the newest first, until there were so many or enough bytes.
fn newest(path: &Path, most_lines: usize, mut visit: impl FnMut(&[u8])) -> Result<()> {
    let mut reader = ReverseLines::open(path)?;
    let mut bytes = 0;
    for _ in 0..most_lines {
        if bytes >= MAX_BYTES {
            break;
        }
        let Some(line) = reader.next_line()? else { break };
        bytes += line.len();
        visit(&line);
    }
    Ok(())
}

/// Signals that this repository knows: of its genes, its solutions, its last cycles and its memory, in lower case.
pub fn known_signals(workspace: &Workspace) -> Result<HashSet<String>> {
    let mut known: HashSet<String> = HashSet::new();
    let mut add =
        |names: &mut dyn Iterator<Item = &String>| known.extend(names.map(|name| name.to_lowercase()));
    for card in workspace.store.gene_cards()? {
        add(&mut card.patterns.iter());
    }
    for capsule in workspace.store.capsules.documents()? {
        add(&mut capsid_model::capsule::Capsule::read(&capsule).trigger.iter());
    }
    for event in workspace.store.events.recent(200)? {
        add(&mut event.signals.iter());
    }
    for edge in workspace.graph().statistics_as_is()?.edges.values() {
        add(&mut edge.signals.iter());
    }
    Ok(known)
}

/// A name as a shell takes it.
pub fn quoted(name: &str) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:@=+,".contains(c);
    match !name.is_empty() && !name.starts_with('-') && name.chars().all(plain) {
        true => name.to_owned(),
        false => format!("'{}'", name.replace('\'', r"'\''")),
    }
}

fn text_of<'a>(object: &'a Object, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

#[cfg(test)]
#[allow(clippy::disallowed_methods)]
mod tests {
    use super::*;

    #[test]
    fn of_a_file_beyond_measure_the_newest_part_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lines");
        let filler = "x".repeat(12 * 1024 * 1024);
        std::fs::write(&path, format!("old\n{filler}\n{filler}\n{filler}\nnewer\nnewest\n")).unwrap();
        let visited = |most_lines: usize| {
            let mut seen: Vec<String> = Vec::new();
            newest(&path, most_lines, |line| seen.push(String::from_utf8_lossy(&line[..3]).into_owned()))
                .unwrap();
            seen
        };
        assert_eq!(visited(usize::MAX), ["new", "new", "xxx", "xxx", "xxx"]);
        assert_eq!(visited(1), ["new"]);
    }

    #[test]
    fn what_is_shown_holds_no_secret_and_a_command_no_surprise() {
        let token = format!("ghp_{}", "a1B2".repeat(9));
        for spaces in [1, 280, 1190, 5900] {
            let text = snippet(&format!("token {}{token} in\n a line", " ".repeat(spaces)));
            assert!(text.starts_with("token ") && !text.contains("ghp_a1") && !text.contains('\n'), "{text}");
        }
        assert_eq!(shortened("one two three", 8), "one two…");
        assert_eq!(shortened("one two", 8), "one two");
        assert_eq!(quoted("evt_1"), "evt_1");
        assert_eq!(quoted("a; rm -rf 'x'"), r"'a; rm -rf '\''x'\'''");
        assert_eq!(quoted("-x"), "'-x'");
    }
}
