//! Reading the engine's store from the outside.

use crate::Result;
use capsid_model::asset::stamp;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// The files of a store.
pub struct EngineStore {
    folder: PathBuf,
}

/// What the bench needs of a capsule.
#[derive(Clone, Debug)]
pub struct StoredCapsule {
    pub id: String,
    pub streak: u64,
    pub diff: String,
}

impl EngineStore {
    pub fn at(root: &Path) -> Self {
        Self { folder: root.join("assets/gep") }
    }

    /// Events in the order of the log.
    pub fn read_events(&self) -> Result<Vec<Value>> {
        let text = std::fs::read_to_string(self.folder.join("events.jsonl")).unwrap_or_default();
        let mut events = Vec::new();
        for line in text.lines().filter(|line| !line.trim().is_empty()) {
            let value: Value = serde_json::from_str(line)?;
            if value["type"] == "EvolutionEvent" {
                events.push(value);
            }
        }
        Ok(events)
    }

    pub fn count_events(&self) -> Result<usize> {
        Ok(self.read_events()?.len())
    }

    pub fn read_capsules(&self) -> Result<Vec<StoredCapsule>> {
        let file = self.read_file()?;
        let capsules = file["capsules"].as_array().into_iter().flatten();
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        Ok(capsules
            .map(|capsule| StoredCapsule {
                id: text(&capsule["id"]),
                streak: capsule["success_streak"].as_u64().unwrap_or_default(),
                diff: text(&capsule["diff"]),
            })
            .collect())
    }

    /// Adds a capsule of another node that shares nothing but `log_error` with the problems here.
    pub fn add_decoy(&self) -> Result<()> {
        let mut file = self.read_file()?;
        let mut capsule = json!({
            "type": "Capsule", "schema_version": "1.5.0", "id": "capsule_1760000000000_decoy", "trigger": ["log_error"],
            "gene": "gene_gep_repair_from_errors", "summary": "Wrote what the service expects into the state file",
            "content": "The service read a value that nobody had written.",
            "diff": "--- a/README.md\n+++ b/README.md\n@@ -1 +1,2 @@\n # app\n+Restart the service after a change.\n",
            "confidence": 0.95, "blast_radius": {"files": 1, "lines": 1},
            "outcome": {"status": "success", "score": 0.95}, "success_streak": 9,
            "env_fingerprint": {"platform": "linux", "arch": "x64"},
        });
        if let Some(object) = capsule.as_object_mut() {
            stamp(object);
        }
        if let Some(capsules) = file["capsules"].as_array_mut() {
            capsules.push(capsule);
        }
        std::fs::write(self.folder.join("capsules.json"), file.to_string())?;
        Ok(())
    }

    fn read_file(&self) -> Result<Value> {
        let text = std::fs::read_to_string(self.folder.join("capsules.json"))?;
        Ok(serde_json::from_str(&text)?)
    }
}
