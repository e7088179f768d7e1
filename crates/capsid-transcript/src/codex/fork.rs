//! What a forked rollout repeats from its parent.

use crate::jsonl::LineReader;
use capsid_model::exact::parse_lossy;
use serde::Deserialize;
use serde_json::value::RawValue;
use std::path::{Path, PathBuf};

/// Folders of the year, the month and the day.
const DEEPEST: usize = 3;

/// The number of the last line that repeats the parent's; none if there is no such line or no such parent.
pub(super) fn repeated_until(rollout: &Path, parent: &str) -> Option<u64> {
    let mut theirs = LineReader::open(&find(rollout, parent)?).ok()?;
    let mut ours = LineReader::open(rollout).ok()?;
    // Our own head.
    ours.next().ok()??;
    let mut last = None;
    while let (Ok(Some(our)), Ok(Some(mut their))) = (ours.next(), theirs.next()) {
        if last.is_none() && kind(our.bytes) != "session_meta" && kind(their.bytes) == "session_meta" {
            let Ok(Some(next)) = theirs.next() else { break };
            their = next;
        }
        if !same(our.bytes, their.bytes) {
            break;
        }
        last = Some(our.number);
    }
    last
}

/// The rollout of a session, in the folders of the one that is read.
fn find(rollout: &Path, session: &str) -> Option<PathBuf> {
    if session.is_empty() {
        return None;
    }
    let end = format!("-{session}.jsonl");
    let is_store = |folder: &&Path| {
        folder.file_name().is_some_and(|name| name == "sessions" || name == "archived_sessions")
    };
    match rollout.ancestors().find(is_store).and_then(Path::parent) {
        Some(home) => {
            let stores = ["sessions", "archived_sessions"];
            stores.iter().find_map(|store| find_in(&home.join(store), &end, DEEPEST))
        }
        None => find_in(rollout.parent()?, &end, 0),
    }
}

fn find_in(folder: &Path, end: &str, deeper: usize) -> Option<PathBuf> {
    let entries: Vec<_> = std::fs::read_dir(folder).ok()?.flatten().collect();
    let hit = entries.iter().find(|entry| entry.file_name().to_string_lossy().ends_with(end));
    hit.map(std::fs::DirEntry::path).or_else(|| {
        let folders =
            entries.iter().filter(|entry| deeper > 0 && entry.file_type().is_ok_and(|kind| kind.is_dir()));
        folders.map(std::fs::DirEntry::path).find_map(|folder| find_in(&folder, end, deeper - 1))
    })
}

#[derive(Deserialize)]
struct BareLine<'a> {
    #[serde(rename = "type")]
    kind: &'a str,
    #[serde(borrow)]
    payload: &'a RawValue,
}

fn kind(line: &[u8]) -> &str {
    serde_json::from_slice::<BareLine<'_>>(line).map(|bare| bare.kind).unwrap_or_default()
}

/// Whether two lines say the same; a fork writes its own time on each.
fn same(ours: &[u8], theirs: &[u8]) -> bool {
    let bare = |line| serde_json::from_slice::<BareLine<'_>>(line).ok();
    if let (Some(ours), Some(theirs)) = (bare(ours), bare(theirs))
        && ours.kind == theirs.kind
        && ours.payload.get() == theirs.payload.get()
    {
        return true;
    }
    let (Ok(ours), Ok(theirs)) = (parse_lossy(ours), parse_lossy(theirs)) else { return false };
    ours.get("payload").is_some()
        && ours.get("type") == theirs.get("type")
        && ours.get("payload") == theirs.get("payload")
}
