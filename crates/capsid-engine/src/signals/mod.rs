//! From text and history to signals. Pure: the same inputs give the same signals in the same order.

mod base;
mod count;
mod errors;
mod history;
mod named;
mod pattern;
mod requests;
mod stability;
mod tally;

pub use count::error_count;

use capsid_model::event::EvolutionEvent;
use std::collections::HashSet;

/// The text that signals are read from, part by part.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SignalCorpus {
    /// Agent sessions, named logs and standard input.
    pub transcript: String,
    pub today: String,
    pub memory: String,
    pub user: String,
}

impl SignalCorpus {
    /// All parts in their fixed order, one after the other on lines of their own.
    pub fn joined(&self) -> String {
        [self.transcript.as_str(), &self.today, &self.memory, &self.user].join("\n")
    }
}

/// Reads the signals of a corpus in the light of what the last cycles did.
///
/// `history` holds EvolutionEvents only, oldest first. Signals that say an input is absent stay in the list beside
/// others; `capsid_model::signal::matchable` keeps them away from matching.
pub fn extract(corpus: &SignalCorpus, history: &[EvolutionEvent]) -> Vec<String> {
    let text = corpus.joined();
    let lower = text.to_lowercase();
    let mut signals = base::signals(&text, &lower);
    named::add(&text, &lower, capsid_model::env::platform(), &mut signals);
    let mut signals = history::apply(signals, history);
    let mut seen = HashSet::new();
    signals.retain(|signal| seen.insert(signal.clone()));
    signals
}

#[cfg(test)]
mod tests;
