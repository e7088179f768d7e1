//! The files next to a session's transcript: those of its subagents, and outputs too long for a line.

use crate::jsonl::{IgnoredValue, LineReader, LooseValue, PeekLine};
use crate::shape::{RESULT_MAX, cap_text};
use capsid_model::exact::{ExactJson, parse_lossy};
use capsid_model::fields;
use serde::Deserialize;
use sha2::{Digest, Sha256};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// Folders inside `subagents` that are looked into, and files that are taken.
const DEEPEST: usize = 4;
const MAX: usize = 10_000;
/// A longer output is referenced without its digest.
const DIGEST_MAX: u64 = 64 << 20;

/// A subagent's transcript.
#[derive(Debug, Clone, Default)]
pub(super) struct Subagent {
    pub(super) path: PathBuf,
    pub(super) id: String,
    pub(super) kind: String,
    pub(super) description: String,
    /// The call that started it.
    pub(super) call: String,
}

impl Subagent {
    /// What its actions say about it.
    pub(super) fn about(&self) -> ExactJson {
        fields! {
            "id": self.id.as_str(),
            "type": self.kind.as_str(),
            "description": self.description.as_str(),
            "tool_use_id": self.call.as_str(),
        }
        .into()
    }
}

/// The files next to a transcript.
#[derive(Debug, Default)]
pub(super) struct SessionFiles {
    folder: PathBuf,
    unread: Vec<Subagent>,
}

impl SessionFiles {
    pub(super) fn find(transcript: &Path, session: &str) -> Self {
        let folder = transcript.with_extension("");
        let mut paths = Vec::new();
        agents_in(&folder.join("subagents"), DEEPEST, &mut paths);
        if let Some(parent) = transcript.parent() {
            let mut siblings = Vec::new();
            agents_in(parent, 0, &mut siblings);
            siblings.retain(|path| path != transcript && is_of_session(path, session));
            paths.append(&mut siblings);
        }
        // Read from the end, so that the first one by name comes first.
        paths.sort();
        paths.reverse();
        Self { folder, unread: paths.into_iter().map(described).collect() }
    }

    /// The next subagent that was not requested by id.
    pub(super) fn next_unread(&mut self) -> Option<Subagent> {
        self.unread.pop()
    }

    /// The subagents that a call started, by the call's id or the agent's.
    pub(super) fn started_by(&mut self, call: &str, agent: &str) -> Vec<Subagent> {
        let is_meant = |subagent: &Subagent| {
            (!call.is_empty() && subagent.call == call) || (!agent.is_empty() && subagent.id == agent)
        };
        let mut meant: Vec<Subagent> = self.unread.extract_if(.., |subagent| is_meant(subagent)).collect();
        meant.reverse();
        meant
    }

    /// An output that the tool stored in a separate file: its first part, and the hash of the complete output.
    pub(super) fn long_output(
        &self,
        content: &ExactJson,
        payload: Option<&ExactJson>,
    ) -> Option<(String, ExactJson)> {
        let named = payload.and_then(|payload| payload.text("persistedOutputPath"));
        let name = match named {
            Some(path) => file_name(path).to_owned(),
            None => name_in(content)?,
        };
        let path = self.folder.join("tool-results").join(&name);
        let bytes = std::fs::symlink_metadata(&path).ok().filter(std::fs::Metadata::is_file)?.len();
        let (start, digest) = start_and_digest(&path, bytes)?;
        let text = String::from_utf8_lossy(&start);
        let mut about = fields! { "file": name, "bytes": bytes };
        if let Some(digest) = digest {
            about.insert("sha256".to_owned(), digest.into());
        }
        Some((cap_text(&text, RESULT_MAX), about.into()))
    }
}

fn agents_in(folder: &Path, deeper: usize, paths: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries.flatten() {
        if paths.len() >= MAX {
            return;
        }
        let path = entry.path();
        let Ok(kind) = entry.file_type() else { continue };
        if kind.is_dir() && deeper > 0 {
            agents_in(&path, deeper - 1, paths);
        } else if kind.is_file() && agent_id(&path).is_some() {
            paths.push(path);
        }
    }
}

fn agent_id(path: &Path) -> Option<&str> {
    path.file_name()?.to_str()?.strip_prefix("agent-")?.strip_suffix(".jsonl")
}

#[derive(Debug, Default, Deserialize)]
#[serde(default, rename_all = "camelCase")]
struct ClaudeFileHead {
    session_id: LooseValue<IgnoredValue>,
}

impl PeekLine for ClaudeFileHead {}

fn is_of_session(path: &Path, session: &str) -> bool {
    let first = LineReader::open(path).ok().and_then(|mut lines| {
        let line = lines.next().ok()??;
        ClaudeFileHead::peek(line.bytes)
    });
    first.is_some_and(|seen| seen.session_id.text() == session)
}

fn described(path: PathBuf) -> Subagent {
    let id = agent_id(&path).unwrap_or_default().to_owned();
    let meta = small_document(&path.with_extension("meta.json")).unwrap_or_default();
    let text = |name: &str| meta.text(name).unwrap_or_default().to_owned();
    Subagent { id, kind: text("agentType"), description: text("description"), call: text("toolUseId"), path }
}

fn small_document(path: &Path) -> Option<ExactJson> {
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(1 << 20).read_to_end(&mut bytes).ok()?;
    parse_lossy(&bytes).ok()
}

/// The file's first part, long enough for any result, and the digest of all of it.
fn start_and_digest(path: &Path, bytes: u64) -> Option<(Vec<u8>, Option<String>)> {
    let mut file = File::open(path).ok()?;
    let mut start = Vec::new();
    // A character takes four bytes at most.
    file.by_ref().take(4 * (RESULT_MAX as u64 + 1)).read_to_end(&mut start).ok()?;
    if bytes > DIGEST_MAX {
        return Some((start, None));
    }
    let mut hasher = Sha256::new();
    hasher.update(&start);
    let mut piece = vec![0; 64 << 10];
    loop {
        match file.read(&mut piece).ok()? {
            0 => break,
            count => hasher.update(&piece[..count]),
        }
    }
    let digest = hasher.finalize().iter().map(|byte| format!("{byte:02x}")).collect();
    Some((start, Some(digest)))
}

/// The name of the file that a placeholder points to.
fn name_in(content: &ExactJson) -> Option<String> {
    let text = match content {
        ExactJson::String(text) => text,
        ExactJson::Array(blocks) => blocks.iter().find_map(|block| block.text("text"))?,
        _ => return None,
    };
    if !text.starts_with("<persisted-output>") {
        return None;
    }
    let line = text.lines().find(|line| line.contains("tool-results"))?;
    Some(file_name(line.trim()).to_owned())
}

/// The last part of a path of any system; never a folder.
fn file_name(path: &str) -> &str {
    let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
    if name.trim_matches('.').is_empty() { "" } else { name }
}
