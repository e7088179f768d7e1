//! Labelled logs: what each log shows, and which logs show the same problem.

use crate::Result;
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::Path;

/// A log and its label. A member that is absent has no value.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(default)]
pub struct LabelledLog {
    pub file: String,
    pub live: bool,
    pub held_out: bool,
    pub bug_family: Option<String>,
    pub case: Option<String>,
    pub tool: Option<String>,
    pub family: Option<String>,
    pub code: Option<String>,
    pub class: Option<String>,
    pub message: Option<String>,
    pub text: Option<String>,
    pub test: Option<String>,
    pub place: Option<String>,
    pub unscored: Vec<String>,
    pub origin_fix: Option<String>,
    pub trees: BTreeMap<String, String>,
    same_as: Vec<String>,
    same_message: Vec<String>,
    unscored_with: Vec<String>,
    /// The log itself.
    #[serde(skip)]
    pub content: String,
}

impl LabelledLog {
    /// Whether another log shows the same message; nothing where the pair counts neither way.
    pub fn has_same_message(&self, other: &Self) -> Option<bool> {
        let names = |list: &[String], name: &str| list.iter().any(|known| known == name);
        if names(&self.unscored_with, &other.file) || names(&other.unscored_with, &self.file) {
            return None;
        }
        Some(names(&self.same_as, &other.file) || names(&self.same_message, &other.file))
    }
}

/// A folder with logs and `labels.json`.
pub struct LogCorpus {
    pub logs: Vec<LabelledLog>,
}

#[derive(Deserialize)]
struct LabelFile {
    logs: Vec<LabelledLog>,
}

impl LogCorpus {
    /// Reads a folder; the logs stand in `logs/` or beside the labels.
    pub fn load(folder: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(folder.join("labels.json"))?;
        let mut logs = serde_json::from_str::<LabelFile>(&text)?.logs;
        let inner = folder.join("logs");
        let place = if inner.is_dir() { inner } else { folder.to_owned() };
        for log in &mut logs {
            let path = place.join(&log.file);
            let bytes = std::fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            log.content = String::from_utf8_lossy(&bytes).into_owned();
        }
        Ok(Self { logs })
    }
}
