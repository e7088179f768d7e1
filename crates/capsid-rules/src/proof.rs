//! Whether a validation proves anything.

use serde::Serialize;

/// What a list of validation commands is worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Proof {
    /// There is no command.
    #[default]
    Absent,
    /// No command could tell a good change from a bad one.
    Vacuous,
    /// At least one command could.
    Real,
}

impl Proof {
    /// The word that is stored and sent.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::Vacuous => "vacuous",
            Self::Real => "real",
        }
    }

    /// The proof a word names.
    pub fn parse(word: &str) -> Option<Self> {
        [Self::Absent, Self::Vacuous, Self::Real].into_iter().find(|proof| proof.as_str() == word)
    }
}

/// What one command is worth, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// The command.
    pub command: String,
    /// [`Proof::Absent`] when it is blank.
    pub verdict: Proof,
    /// One sentence.
    pub why: &'static str,
}

/// What a list of commands is worth, and what each is.
pub fn proof<S: AsRef<str>>(commands: &[S]) -> (Proof, Vec<Finding>) {
    let findings: Vec<Finding> = commands.iter().map(|command| finding(command.as_ref())).collect();
    (findings.iter().map(|finding| finding.verdict).max().unwrap_or_default(), findings)
}

/// What one command is worth.
pub fn finding(command: &str) -> Finding {
    Finding { command: command.to_owned(), verdict: Proof::Real, why: "" }
}
