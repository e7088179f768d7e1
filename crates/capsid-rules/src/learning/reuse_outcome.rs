//! What a cycle means for the capsule that it was offered. Credit follows what was applied, not what was shown.

use super::match_level::MatchLevel;
use super::proof::ProofGrade;
use serde::{Deserialize, Serialize};

/// What became of a capsule's patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PatchTrial {
    /// It was shown at most.
    #[default]
    NotTried,
    /// It did not apply.
    Rejected,
    /// It applied cleanly, and `after` failed.
    Failed,
    /// It applied cleanly and was kept.
    Applied,
}

/// What a cycle did with the capsule it was offered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct OfferedCapsule {
    pub level: MatchLevel,
    pub patch: PatchTrial,
    /// Whether the agent's change counts as the capsule's solution.
    pub is_similar: bool,
    /// The grade of the change that the cycle kept.
    pub grade: ProofGrade,
}

impl OfferedCapsule {
    /// The `lineage` of the new capsule whose `parent` is the offered one; none where the cycle adds no capsule.
    pub fn lineage(&self) -> Option<&'static str> {
        let is_new = self.grade.is_proven() && ReuseOutcome::from_cycle(self) != ReuseOutcome::Reused;
        is_new.then_some("alternative")
    }
}

/// What a cycle means for the offered capsule and for the hub.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReuseOutcome {
    /// The capsule solved it: its streak grows, no capsule is added, event and report say `reused` with a score of 1.
    Reused,
    /// Another solution was proven: a new capsule names the offered one as its parent, `reference` without a score.
    Alternative,
    /// The patch applied cleanly to the same problem and failed: streak 0, reported as failed, class `validation`.
    Failed,
    /// Nothing was learned about the capsule; nothing is reported.
    Unchanged,
}

/// What happens to the streak of an offered capsule.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StreakChange {
    Unchanged,
    Increment,
    Reset,
}

impl ReuseOutcome {
    /// What a cycle means for the capsule it was offered. The diff, summary and problem of a capsule never change.
    pub fn from_cycle(offered: &OfferedCapsule) -> Self {
        let is_solution = offered.patch == PatchTrial::Applied || offered.is_similar;
        if offered.patch == PatchTrial::Failed && offered.level == MatchLevel::Exact {
            Self::Failed
        } else if !offered.grade.is_proven() {
            Self::Unchanged
        } else if is_solution {
            Self::Reused
        } else {
            Self::Alternative
        }
    }

    /// What happens to the streak of the offered capsule.
    pub fn streak_change(self) -> StreakChange {
        match self {
            Self::Reused => StreakChange::Increment,
            Self::Failed => StreakChange::Reset,
            Self::Alternative | Self::Unchanged => StreakChange::Unchanged,
        }
    }

    /// How the event and the report name the capsule's part; none where it is not reported.
    pub fn report_kind(self) -> Option<&'static str> {
        match self {
            Self::Reused => Some("reused"),
            Self::Alternative => Some("reference"),
            Self::Failed => Some("failed"),
            Self::Unchanged => None,
        }
    }

    /// The `reproduction_score` of the report, if it has one.
    pub fn reproduction_score(self) -> Option<f64> {
        (self == Self::Reused).then_some(1.0)
    }

    /// The class of failure of the report, if it reports one.
    pub fn failure_class(self) -> Option<&'static str> {
        (self == Self::Failed).then_some("validation")
    }
}

#[cfg(test)]
#[path = "reuse_outcome_tests.rs"]
mod tests;
