//! Diagnosis: from the log of any tool to the problem it shows.
//!
//! The stages are `lines` (prefixes are removed), `segment` (one command each), `tools` (rules recognize diagnostics),
//! `choose` (one of them is the live problem) and `ids` (what makes two problems the same). Nothing here reads a file:
//! [`DiagnosisReader`] takes the log piece by piece.

mod choose;
mod diagnostic;
mod documents;
mod errno;
mod errsig;
mod finding;
mod frames;
mod ids;
mod kept_lines;
mod lines;
mod mask;
mod matchers;
mod not_chosen;
mod pattern;
mod segment;
mod stream;
mod structured;
mod tools;

pub use diagnostic::{Diagnosis, Diagnostic, DiagnosticRole, LogWindow, ProblemClass, ProblemRecord};
pub use errsig::parse_errsig;
pub use ids::DiagnosisIds;
pub use matchers::{Matcher, MatcherError};
pub use not_chosen::describe_not_chosen;
pub use stream::{DiagnosisReader, HEAD_BYTES, TAIL_BYTES};

/// The version of these rules. It is part of every id, so that better rules never regroup stored problems.
pub const RULES_VERSION: u32 = 1;

/// Reads a whole log.
pub fn diagnose(text: &str) -> Diagnosis {
    diagnose_with(text, &[])
}

/// Reads a whole log, also with matchers of the user.
pub fn diagnose_with(text: &str, matchers: &[Matcher]) -> Diagnosis {
    let mut reader = DiagnosisReader::with_matchers(matchers.to_vec());
    reader.push(text.as_bytes());
    reader.finish()
}
