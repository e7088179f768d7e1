//! Extraction and history rules of the reference engine, as they were before problems were diagnosed. No cycle uses
//! them: they are what the bench compares the present rules with.

mod errors;
mod history;

use super::{SignalCorpus, base, named};
use capsid_model::event::EvolutionEvent;
use std::collections::HashSet;

/// The signals of a corpus in the light of what the last cycles did. `history` is oldest first.
pub fn extract(corpus: &SignalCorpus, history: &[EvolutionEvent]) -> Vec<String> {
    let text = corpus.joined();
    let lower = text.to_lowercase();
    let mut signals = extract_base(&text, &lower);
    add_named(&text, &lower, capsid_model::env::platform(), &mut signals);
    let mut signals = history::apply(signals, history);
    let mut seen = HashSet::new();
    signals.retain(|signal| seen.insert(signal.clone()));
    signals
}

/// The base signals of a text; `lower` is the text in lower case.
fn extract_base(text: &str, lower: &str) -> Vec<String> {
    let mut signals = Vec::new();
    let has_error = errors::is_logged(lower);
    if has_error {
        signals.push("log_error".to_owned());
    }
    signals.extend(errors::signature(text));
    base::add_missing(lower, &mut signals);
    base::add_protocol_drift(lower, &mut signals);
    if let Some((count, key)) = errors::most_recurring(text) {
        signals.push("recurring_error".to_owned());
        signals.push(format!("recurring_errsig({count}x):{key}"));
    }
    base::add_unsupported_input(lower, &mut signals);
    base::add_requests(text, has_error, &mut signals);
    base::add_opportunities(lower, false, &mut signals);
    base::add_tool_usage(text, &mut signals);
    signals
}

/// The named signals, and failures in other words than the base rules know.
fn add_named(text: &str, lower: &str, platform: &str, signals: &mut Vec<String>) {
    named::add_shell(lower, platform, signals);
    if !signals.iter().any(|signal| signal.starts_with("errsig:"))
        && let Some(signature) = errors::plain_signature(text)
    {
        signals.push("log_error".to_owned());
        signals.push(signature);
    }
    named::add(text, lower, signals);
}

#[cfg(test)]
mod tests;
