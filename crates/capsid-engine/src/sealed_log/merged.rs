//! Whether a log that is not what was sealed is a merge: all that was sealed is there, among events of another clone.
//!
//! The log is a tree of events, so the order of independent branches says nothing. What follows on something still has
//! to stand after it.

use super::entry::SealedLine;
use capsid_model::asset::verify;
use capsid_model::event::EvolutionEvent;
use capsid_model::hash::sha256_hex;
use capsid_model::{Object, Value};
use std::collections::HashMap;

/// One line of the log after the last baseline.
#[derive(Debug, Clone, Default)]
pub(super) struct LogLine {
    pub(super) sha256: String,
    record: Option<LogRecord>,
}

/// What a line says about its place in the log.
#[derive(Debug, Clone, Default)]
struct LogRecord {
    id: String,
    /// The records that have to stand before it.
    follows: Vec<String>,
    is_event: bool,
    /// Whether its id is the hash of its content.
    is_verified: bool,
}

impl LogLine {
    pub(super) fn parse(line: &[u8]) -> Self {
        let record: Option<Object> = serde_json::from_slice(line).ok();
        Self { sha256: sha256_hex(line), record: record.as_ref().map(LogRecord::read) }
    }
}

impl LogRecord {
    fn read(document: &Object) -> Self {
        let event = EvolutionEvent::read(document);
        let follows = event.iter().flat_map(|event| {
            event.parent.iter().chain(&event.merge_parents).chain(&event.validation_report_id).cloned()
        });
        Self {
            id: document.get("id").and_then(Value::as_str).unwrap_or_default().to_owned(),
            follows: follows.collect(),
            is_event: event.is_some(),
            is_verified: verify(document).holds(),
        }
    }
}

/// Where the sealed lines stand in a log that git merged; none when it is no merge.
pub(super) fn find_sealed(log: &[LogLine], sealed: &[&SealedLine]) -> Option<Vec<usize>> {
    let mut positions: HashMap<&str, usize> = HashMap::with_capacity(log.len());
    for (position, line) in log.iter().enumerate() {
        // Two equal lines are no work of two clones.
        if positions.insert(&line.sha256, position).is_some() {
            return None;
        }
    }
    let places: Option<Vec<usize>> =
        sealed.iter().map(|line| positions.get(line.sha256.as_str()).copied()).collect();
    let places = places?;
    let mut is_sealed = vec![false; log.len()];
    places.iter().for_each(|place| is_sealed[*place] = true);
    let is_whole = log.iter().zip(&is_sealed).all(|(line, sealed)| *sealed || is_own_record(line));
    let brings_events = log.iter().any(|line| line.record.as_ref().is_some_and(|record| record.is_event));
    (is_whole && brings_events && is_in_order(log) && keeps_reports(log, &places)).then_some(places)
}

/// Whether all lines after the sealed ones are records of another clone.
pub(super) fn are_records(log: &[LogLine]) -> bool {
    log.iter().all(is_own_record) && is_in_order(log)
}

fn is_own_record(line: &LogLine) -> bool {
    line.record.as_ref().is_some_and(|record| record.is_verified && !record.id.is_empty())
}

/// Whether each id stands once, and after everything that it follows.
fn is_in_order(log: &[LogLine]) -> bool {
    let mut place_of: HashMap<&str, usize> = HashMap::new();
    let records = || log.iter().enumerate().filter_map(|(at, line)| Some((at, line.record.as_ref()?)));
    for (at, record) in records().filter(|(_, record)| !record.id.is_empty()) {
        if place_of.insert(&record.id, at).is_some() {
            return false;
        }
    }
    let comes_before = |id: &String, at: usize| place_of.get(id.as_str()).is_none_or(|before| *before < at);
    records().all(|(at, record)| record.follows.iter().all(|id| comes_before(id, at)))
}

/// Whether what is no event, such as a report, still stands right before the line that it was sealed before.
fn keeps_reports(log: &[LogLine], places: &[usize]) -> bool {
    let is_event = |place: usize| log[place].record.as_ref().is_some_and(|record| record.is_event);
    places.windows(2).all(|pair| is_event(pair[0]) || pair[1] == pair[0] + 1)
}

#[cfg(test)]
#[path = "merged_tests.rs"]
mod tests;
