//! From text and its diagnosis to signals. Pure: the same inputs give the same signals in the same order.

mod base;
mod count;
mod named;
mod pattern;
mod problem;
#[doc(hidden)]
pub mod reference;
mod requests;
mod stability;
mod tally;

pub use count::error_count;

use capsid_rules::diagnosis::{Diagnosis, diagnose};
use std::borrow::Cow;
use std::collections::HashSet;

/// The text that signals are read from, part by part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignalCorpus {
    /// Agent sessions, named logs and standard input.
    pub transcript: String,
    pub today: String,
    pub memory: String,
    pub user: String,
    /// Where a log was named: the lines around its problems. All but requests and tools is read from these alone,
    /// because the words of a passing run say nothing.
    pub windows: Option<String>,
}

impl SignalCorpus {
    /// All parts in their fixed order, one after the other on lines of their own.
    pub fn joined(&self) -> String {
        [self.transcript.as_str(), &self.today, &self.memory, &self.user].join("\n")
    }
}

/// Reads the signals of a corpus and of the problem that was found in it. What earlier cycles mean for them is decided
/// elsewhere.
///
/// Signals that say an input is absent stay in the list beside others; `capsid_model::signal::matchable` keeps them
/// away from matching.
pub fn extract(corpus: &SignalCorpus, diagnosis: &Diagnosis) -> Vec<String> {
    let text = corpus.joined();
    let lower = text.to_lowercase();
    let evidence: &str = corpus.windows.as_deref().unwrap_or(&text);
    let evidence_lower = match &corpus.windows {
        Some(windows) => Cow::Owned(windows.to_lowercase()),
        None => Cow::Borrowed(lower.as_str()),
    };
    let mut signals = Vec::new();
    problem::add_problem(diagnosis, &mut signals);
    base::add_missing(&lower, &mut signals);
    base::add_protocol_drift(&evidence_lower, &mut signals);
    problem::add_recurrence(diagnosis, &mut signals);
    base::add_unsupported_input(&evidence_lower, &mut signals);
    base::add_requests(&text, diagnosis.problem.is_some(), &mut signals);
    base::add_instruction(&text, &mut signals);
    base::add_opportunities(&evidence_lower, diagnosis.problem.is_some(), &mut signals);
    base::add_tool_usage(&text, &mut signals);
    problem::add_keywords(diagnosis, &mut signals);
    named::add_shell(&evidence_lower, capsid_model::env::platform(), &mut signals);
    named::add(evidence, &evidence_lower, &mut signals);
    let mut seen = HashSet::new();
    signals.retain(|signal| seen.insert(signal.clone()));
    signals
}

/// Reads the signals of a text by itself.
pub fn extract_text(text: &str) -> Vec<String> {
    let corpus = SignalCorpus { transcript: text.to_owned(), ..SignalCorpus::default() };
    extract(&corpus, &diagnose(text))
}

#[cfg(test)]
mod tests;
