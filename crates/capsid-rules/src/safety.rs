//! What an asset must not carry into another agent's prompt.

use serde::Serialize;

/// The texts of an asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Texts<'t> {
    /// Its summary.
    pub summary: &'t str,
    /// Its content, code or diff.
    pub content: &'t str,
    /// The steps of its strategy.
    pub strategy: &'t [&'t str],
    /// Its validation commands.
    pub validation: &'t [&'t str],
    /// Its signals or triggers.
    pub signals: &'t [&'t str],
}

/// What kind of thing was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Words that tell a reader to drop its own instructions.
    Override,
    /// A credential.
    Secret,
    /// An address with a password in it.
    UrlCredentials,
    /// A character that hides or reorders text.
    Invisible,
    /// Something that names a person or a machine.
    Personal,
}

/// One thing that was found.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// What it is.
    pub kind: Kind,
    /// Where, such as `strategy[2]`.
    pub place: String,
    /// One sentence that never repeats a secret.
    pub text: String,
}

/// What follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Verdict {
    /// Nothing of weight was found.
    Clean,
    /// It is given out with a warning.
    Warn,
    /// It is held back.
    Quarantine,
}

/// What a scan found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Scan {
    /// From 0, nothing, to 1, certain.
    pub score: f64,
    /// What was found.
    pub findings: Vec<Finding>,
}

impl Scan {
    /// What follows from the score.
    pub fn verdict(&self) -> Verdict {
        Verdict::Clean
    }
}

/// Looks through the texts of an asset.
pub fn scan(texts: &Texts<'_>) -> Scan {
    let _ = texts;
    Scan { score: 0.0, findings: Vec::new() }
}
