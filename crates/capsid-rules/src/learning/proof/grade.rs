//! The grades of a proof and what follows from each.

use capsid_model::text_enum;
use serde::{Deserialize, Serialize};

/// How strongly a change is proven. A grade is evidence, not truth: source code may satisfy a weak test.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProofGrade {
    /// No command, a vacuous command, a failed run or weakened tests.
    #[default]
    None,
    /// The command passes with the change.
    Passes,
    /// The command failed with the problem before and passes now, under the old checks too.
    FailToPass,
    /// The same, and it fails again without the source part of the change.
    FailToPassReverts,
}

text_enum!(ProofGrade {
    None = "none",
    Passes = "passes",
    FailToPass = "fail_to_pass",
    FailToPassReverts = "fail_to_pass_reverts",
});

impl ProofGrade {
    /// Whether it is one of the two proven grades.
    pub fn is_proven(self) -> bool {
        self >= Self::FailToPass
    }

    /// The confidence of a new capsule of this grade.
    pub fn initial_confidence(self) -> f64 {
        match self {
            Self::None => 0.5,
            Self::Passes => 0.65,
            Self::FailToPass => 0.8,
            Self::FailToPassReverts => 0.85,
        }
    }

    /// Whether a success of this grade counts for the streak of a capsule.
    pub fn counts_for_streak(self) -> bool {
        self.is_proven()
    }

    /// Whether a capsule of this grade can be offered to others, if its size, score and streak allow it too.
    pub fn can_be_offered(self) -> bool {
        self.is_proven()
    }

    /// What a success of this grade adds to the memory of its gene.
    pub fn memory_weight(self) -> f64 {
        match self {
            Self::None => 0.0,
            Self::Passes => 0.5,
            Self::FailToPass | Self::FailToPassReverts => 1.0,
        }
    }

    /// The grade for readers of the protocol's own members.
    pub fn resolution_status(self) -> &'static str {
        if self.is_proven() { "resolved_by_evidence" } else { "inconclusive" }
    }
}
