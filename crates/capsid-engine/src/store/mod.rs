//! The files under `assets/gep`: genes, capsules, the event log, failed capsules and candidates.

mod cards;
pub mod collection;
mod compact;
pub mod events;
pub mod graph;
pub mod heads;
pub mod lines;
pub mod merge;
pub mod new_genes;
pub mod pool;
pub mod reuse_ledger;

use capsid_disk::{Lock, files};
use capsid_model::{Object, Result, Value};
use collection::Collection;
use events::EventLog;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// How long a command waits for another one to finish with the store.
const WAIT: Duration = Duration::from_secs(5);

/// The failed capsules that are retained once there are more than [`FAILED_LIMIT`].
pub const FAILED_KEPT: usize = 100;

/// The most failed capsules in the file.
pub const FAILED_LIMIT: usize = 200;

/// The asset store of one repository.
#[derive(Debug, Clone)]
pub struct AssetStore {
    /// The folder that holds it.
    pub folder: PathBuf,
    pub genes: Collection,
    pub capsules: Collection,
    pub failed: Collection,
    pub events: EventLog,
}

impl AssetStore {
    /// The store in a folder; nothing is read or created yet.
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        let folder = folder.into();
        let file = |name: &str| folder.join(name);
        Self {
            genes: Collection::at(file("genes.json"), Some(file("genes.jsonl")), "genes"),
            capsules: Collection::at(file("capsules.json"), Some(file("capsules.jsonl")), "capsules"),
            failed: Collection::at(file("failed_capsules.json"), None, "failed_capsules"),
            events: EventLog::at(file("events.jsonl")),
            folder,
        }
    }

    /// Creates the files that are missing and leaves the others alone.
    pub fn create(&self) -> Result<()> {
        files::create_folder(&self.folder)?;
        self.genes.create()?;
        self.capsules.create()?;
        self.failed.create()?;
        for name in ["genes.jsonl", "events.jsonl", "candidates.jsonl"] {
            let path = self.folder.join(name);
            if !path.exists() {
                files::replace(&path, b"")?;
            }
        }
        let ignore = self.folder.join(".gitignore");
        if !ignore.exists() {
            files::replace(&ignore, b".store.lock\n*.torn-*\n")?;
        }
        Ok(())
    }

    /// Whether there is a store in the folder at all.
    pub fn exists(&self) -> bool {
        self.genes.path().exists() || self.events.path().exists()
    }

    /// Excludes every other writer until the lock is dropped.
    pub fn lock(&self) -> Result<Lock> {
        Lock::acquire(&self.folder.join(".store.lock"), "The asset store", WAIT)
    }

    /// Capabilities that were noticed and may become genes.
    pub fn candidates(&self) -> PathBuf {
        self.folder.join("candidates.jsonl")
    }

    /// Assets of others, staged and never run.
    pub fn external_candidates(&self) -> PathBuf {
        self.folder.join("external_candidates.jsonl")
    }
}

/// A JSON object in a file; a missing or unreadable one reads as empty, for state that can be rebuilt.
pub fn read_state(path: &Path) -> Result<Object> {
    let text = files::read_optional(path)?.unwrap_or_default();
    Ok(match serde_json::from_str(&text) {
        Ok(Value::Object(object)) => object,
        _ => Object::new(),
    })
}

/// Writes a state file that only its owner may read.
pub fn write_private(path: &Path, state: &Object) -> Result<()> {
    files::replace_private(path, serde_json::to_string(state).unwrap_or_default().as_bytes())
}

/// Writes a state file atomically.
pub fn write_state(path: &Path, state: &Object) -> Result<()> {
    let mut text = serde_json::to_string_pretty(state).unwrap_or_default();
    text.push('\n');
    files::replace(path, text.as_bytes())
}
