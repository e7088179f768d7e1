//! Writes transcripts and reads them.

use capsid_model::exact::ExactJson;
use capsid_model::{Value, fields};
use capsid_transcript::{Action, ReadReport, Tool, TranscriptSource, claude_code, codex};
use std::path::{Path, PathBuf};

pub struct Transcript {
    folder: tempfile::TempDir,
    tool: Tool,
    pub path: PathBuf,
}

/// What was read.
pub struct Read {
    pub actions: Vec<Action>,
    pub report: ReadReport,
}

impl Transcript {
    pub fn new(tool: Tool, lines: &[Value]) -> Self {
        Self::raw(tool, text(lines).as_bytes())
    }

    pub fn raw(tool: Tool, bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("s1.jsonl");
        std::fs::write(&path, bytes).unwrap();
        Self { folder, tool, path }
    }

    /// Writes a file next to the transcript.
    #[allow(dead_code)]
    pub fn with(self, name: &str, bytes: impl AsRef<[u8]>) -> Self {
        let path = self.folder.path().join(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, bytes).unwrap();
        self
    }

    pub fn read(&self) -> Read {
        read(self.tool, &self.path)
    }
}

pub fn read(tool: Tool, path: &Path) -> Read {
    let (session, path) = ("s1".to_owned(), path.to_owned());
    let source = TranscriptSource {
        tool,
        session,
        path,
        text_transcript: None,
        authorship: None,
        hook_fields: fields! {},
    };
    let mut actions = Vec::new();
    let reader = if tool == Tool::Codex { codex::read } else { claude_code::read };
    let report = reader(&source, &mut |action| {
        actions.push(action);
        Ok(())
    });
    Read { actions, report: report.unwrap() }
}

pub fn text(lines: &[Value]) -> String {
    lines.iter().map(|line| format!("{line}\n")).collect()
}

/// A value of the one kind as one of the other.
pub fn exact(value: &Value) -> ExactJson {
    capsid_model::exact::parse(&value.to_string()).unwrap()
}

impl Read {
    pub fn keys(&self) -> Vec<&str> {
        self.actions.iter().map(|action| action.key.as_str()).collect()
    }

    pub fn get(&self, key: &str) -> &Action {
        let action = self.actions.iter().find(|action| action.key == key);
        action.unwrap_or_else(|| panic!("no {key} in {:?}", self.keys()))
    }

    /// The result of a call.
    pub fn result(&self, key: &str) -> &ExactJson {
        &self.get(key).call.as_ref().unwrap().result
    }

    /// The sum of a kind of tokens.
    pub fn sum(&self, name: &str) -> i64 {
        self.actions.iter().filter_map(|action| action.usage.get(name)?.as_i64()).sum()
    }
}

/// Whatever is cut off at its end, a transcript gives the same actions as far as it goes.
pub fn grows(tool: Tool, lines: &[Value]) {
    let complete = Transcript::new(tool, lines).read();
    let complete_keys = complete.keys();
    for length in 0..lines.len() {
        let part = Transcript::new(tool, &lines[..length]).read();
        for action in part.actions.iter().filter(|action| !action.open) {
            assert!(complete_keys.contains(&action.key.as_str()), "{} after {length} lines", action.key);
        }
    }
    let text = text(lines);
    for end in (0..text.len()).step_by(97) {
        let part = Transcript::raw(tool, &text.as_bytes()[..end]).read();
        assert_eq!(part.report.broken, 0, "a line that is being written is not broken");
    }
}

/// Damage costs lines, never the reading.
pub fn stands_damage(tool: Tool, lines: &[Value]) {
    let text = text(lines).into_bytes();
    for seed in 0..300 {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut bytes = text.clone();
        for _ in 0..random.usize(1..20) {
            let at = random.usize(..bytes.len());
            match random.u8(..4) {
                0 => bytes[at] = random.u8(..),
                1 => bytes.truncate(at.max(1)),
                2 => bytes.insert(at, *random.choice(b"{}[]\"\\\n,:0").unwrap()),
                _ => {
                    let end = (at + random.usize(..200)).min(bytes.len());
                    let piece = bytes[at..end].to_vec();
                    let to = random.usize(..bytes.len());
                    bytes.splice(to..to, piece);
                }
            }
        }
        eprintln!("seed {seed}");
        let read = Transcript::raw(tool, &bytes).read();
        let mut keys = read.keys();
        let count = keys.len();
        keys.sort_unstable();
        keys.dedup();
        assert!(keys.len() == count, "seed {seed}: a key twice");
    }
}
