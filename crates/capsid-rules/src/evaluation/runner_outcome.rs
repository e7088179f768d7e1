//! What the runs of the hub's runner mean together.

use capsid_model::text_enum;

/// How the commands ended in one folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FolderRun {
    Passed,
    Failed,
    /// They could not be run there, or the folder could not be made.
    NotRun,
}

/// The runs of one bundle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BundleRuns {
    /// In a folder with nothing but a `package.json`.
    pub bare: FolderRun,
    /// In the files without the change.
    pub base: FolderRun,
    /// With the change, twice.
    pub change: [FolderRun; 2],
    /// Whether both runs with the change printed the same, times aside.
    pub is_same_output: bool,
}

/// What the runner found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RunnerOutcome {
    /// The commands pass in an empty folder.
    VacuousEmpty,
    /// The commands pass without the change.
    VacuousBase,
    /// They fail without the change and pass with it, twice.
    Reproduced,
    /// They fail with the change too.
    Failed,
    /// They do not always end the same way.
    Flaky,
    /// Something that they need is missing, so they say nothing.
    Inconclusive,
}

text_enum!(RunnerOutcome {
    VacuousEmpty = "vacuous_empty",
    VacuousBase = "vacuous_base",
    Reproduced = "reproduced",
    Failed = "failed",
    Flaky = "flaky",
    Inconclusive = "inconclusive",
});

impl RunnerOutcome {
    /// What the runs show.
    pub fn from_runs(runs: &BundleRuns) -> Self {
        use FolderRun::{Failed, NotRun, Passed};
        let BundleRuns { bare, base, change: [first, second], .. } = *runs;
        if bare == Passed {
            return Self::VacuousEmpty;
        }
        if base == Passed && first == Passed {
            return Self::VacuousBase;
        }
        match [first, second] {
            [NotRun, _] | [_, NotRun] => Self::Inconclusive,
            _ if bare == NotRun || base == NotRun => Self::Inconclusive,
            [Passed, Passed] if runs.is_same_output => Self::Reproduced,
            // What passes without the change and fails with it is broken by it.
            [Failed, Failed] => Self::Failed,
            _ => Self::Flaky,
        }
    }

    /// Whether it says that the asset works; nothing where it says neither.
    pub fn verdict(self) -> Option<bool> {
        match self {
            Self::Reproduced => Some(true),
            Self::Failed => Some(false),
            Self::VacuousEmpty | Self::VacuousBase | Self::Flaky | Self::Inconclusive => None,
        }
    }

    /// Whether the commands prove nothing, whatever anybody reports of them.
    pub fn is_vacuous(self) -> bool {
        matches!(self, Self::VacuousEmpty | Self::VacuousBase)
    }

    /// What it means, in a sentence.
    pub fn text(self) -> &'static str {
        match self {
            Self::VacuousEmpty => "The commands pass in an empty folder, so they prove nothing.",
            Self::VacuousBase => "The commands pass without the change, so they prove nothing.",
            Self::Reproduced => "The commands fail without the change and pass with it.",
            Self::Failed => "The commands fail with the change.",
            Self::Flaky => "The commands do not always end the same way.",
            Self::Inconclusive => "The commands could not be run here as they need it.",
        }
    }
}

#[cfg(test)]
#[path = "runner_outcome_tests.rs"]
mod tests;
