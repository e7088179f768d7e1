//! What was seen of the agent of a run.

use super::folder::RunFolder;
use capsid_disk::files;
use capsid_model::Result;
use serde::{Deserialize, Serialize};

/// What was seen of the agent, stored until the run is finished.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
#[serde(default)]
pub struct AgentFacts {
    /// How the agent was kept apart from the machine.
    pub isolation: String,
    /// Under which ids it ran.
    pub ids: String,
    /// Files outside of the repository that it changed; they were discarded.
    pub outside: u64,
    /// The first of them.
    pub outside_paths: Vec<String>,
    /// Subjects of commits that it made in its view; they are not adopted.
    pub agent_commits: Vec<String>,
    pub limits_hit: Vec<String>,
    /// What it did wrong, if it did.
    pub failure: Option<String>,
    /// What it wrote into its note file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// The end of what it printed.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub printed: String,
}

impl AgentFacts {
    pub fn write(&self, folder: &RunFolder) -> Result<()> {
        let text = serde_json::to_string(self).unwrap_or_default();
        files::replace_private(&folder.path.join("agent.json"), text.as_bytes())
    }

    /// What is known of the agent; nothing where none was started.
    pub fn read(folder: &RunFolder) -> Result<Self> {
        let text = files::read_optional(&folder.path.join("agent.json"))?;
        Ok(text.and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default())
    }
}
