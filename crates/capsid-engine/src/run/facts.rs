//! Facts about a run that its event records besides the change itself.

use super::agent_facts::AgentFacts;
use super::{Run, ViewLevel};
use serde::Serialize;

/// Whether a proven change is in the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Applied {
    #[default]
    No,
    Yes,
    /// It waits for somebody to approve files that run by themselves.
    NeedsReview,
    /// The user changed the same files.
    Conflict,
}

impl Serialize for Applied {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        match self {
            Self::No => serializer.serialize_bool(false),
            Self::Yes => serializer.serialize_bool(true),
            Self::NeedsReview => serializer.serialize_str("needs_review"),
            Self::Conflict => serializer.serialize_str("conflict"),
        }
    }
}

/// The members that an event has of how and where its change was made.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ChangeFacts {
    pub view: ViewFacts,
    pub applied: Applied,
    pub base: BaseFacts,
    #[serde(skip_serializing_if = "DroppedFacts::is_empty")]
    pub dropped: DroppedFacts,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub agent_commits: Vec<String>,
    /// Files that were merged with edits of the user.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub merged: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub tree_changed_during_run: bool,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub limits_hit: Vec<String>,
}

/// Where the change was made.
#[derive(Debug, Clone, Default, Serialize)]
pub struct ViewFacts {
    pub level: ViewLevel,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub ids: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    pub isolation: String,
}

/// What the change was compared with.
#[derive(Debug, Clone, Default, Serialize)]
pub struct BaseFacts {
    pub head: Option<String>,
    pub manifest_sha256: String,
}

/// Files that were changed and not applied.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct DroppedFacts {
    pub ignored: u64,
    pub outside: u64,
}

impl DroppedFacts {
    fn is_empty(&self) -> bool {
        self.ignored == 0 && self.outside == 0
    }
}

impl ChangeFacts {
    pub fn new(run: &Run, agent: &AgentFacts, ignored: u64) -> Self {
        Self {
            view: ViewFacts { level: run.level, ids: agent.ids.clone(), isolation: agent.isolation.clone() },
            base: BaseFacts { head: run.head.clone(), manifest_sha256: run.manifest_sha256.clone() },
            dropped: DroppedFacts { ignored, outside: agent.outside },
            agent_commits: agent.agent_commits.clone(),
            limits_hit: agent.limits_hit.clone(),
            ..Self::default()
        }
    }
}
