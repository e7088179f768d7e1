//! How well a stored capsule matches a problem, what may be done with it, and what a cycle does to it in the end.

use super::proof::ProofGrade;
use capsid_model::{Time, text_enum};
use serde::{Deserialize, Serialize};
use std::cmp::Reverse;

/// How many patches are tried before an agent is called.
pub const MAX_PATCHES: usize = 3;
/// A longer streak ranks no higher.
const MAX_RANKED_STREAK: u32 = 5;

/// The ids of a problem, or of the problem that a capsule solved. Old capsules lack some of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ProblemIds<'a> {
    pub exact: Option<&'a str>,
    pub message: Option<&'a str>,
    pub site: Option<&'a str>,
    pub template: Option<&'a str>,
}

/// The best level at which two problems have the same id; the best is the least.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum MatchLevel {
    /// The same problem.
    Exact,
    /// The same mistake elsewhere.
    Message,
    /// The same location in the source, with other values.
    Site,
    /// The same kind of problem.
    Template,
}

text_enum!(MatchLevel { Exact = "exact", Message = "message", Site = "site", Template = "template" });

/// How much of a capsule a prompt shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ReferenceUse {
    /// Explanation and diff, if its patch was not applied.
    IfNotApplied,
    /// Explanation and diff.
    Full,
    /// Title and first sentence of the explanation, of one capsule.
    Hint,
}

impl MatchLevel {
    /// The best level at which the ids are equal. An id that either side lacks, or an empty one, equals nothing.
    pub fn find(problem: &ProblemIds<'_>, capsule: &ProblemIds<'_>) -> Option<Self> {
        let pairs = [
            (Self::Exact, problem.exact, capsule.exact),
            (Self::Message, problem.message, capsule.message),
            (Self::Site, problem.site, capsule.site),
            (Self::Template, problem.template, capsule.template),
        ];
        let is_equal = |a: Option<&str>, b: Option<&str>| a.is_some_and(|a| !a.is_empty() && Some(a) == b);
        pairs.into_iter().find(|(_, a, b)| is_equal(*a, *b)).map(|(level, ..)| level)
    }

    /// Whether the capsule's patch is tried before an agent is called.
    pub fn can_try_patch(self, files_exist: bool) -> bool {
        match self {
            Self::Exact => true,
            Self::Message => files_exist,
            Self::Site | Self::Template => false,
        }
    }

    /// How the capsule appears in the prompt.
    pub fn reference_use(self) -> ReferenceUse {
        match self {
            Self::Exact => ReferenceUse::IfNotApplied,
            Self::Message | Self::Site => ReferenceUse::Full,
            Self::Template => ReferenceUse::Hint,
        }
    }
}

/// What the order of capsules depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CapsuleRank {
    pub level: MatchLevel,
    pub grade: ProofGrade,
    pub streak: u32,
    /// When the capsule was created.
    pub created_at: Time,
}

impl CapsuleRank {
    /// Sorts the best capsule first: by level, grade, streak up to five, then the newest.
    pub fn sort_key(&self) -> impl Ord + use<> {
        (
            self.level,
            Reverse(self.grade),
            Reverse(self.streak.min(MAX_RANKED_STREAK)),
            Reverse(self.created_at),
        )
    }
}

/// What became of a capsule's patch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PatchTrial {
    /// It was shown at most.
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
#[path = "match_level_tests.rs"]
mod tests;
