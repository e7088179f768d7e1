//! How well a stored capsule matches a problem, and what may be done with it.

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

#[cfg(test)]
#[path = "match_level_tests.rs"]
mod tests;
