//! The record of capsules in the event log: how often each worked in a row, and the event of its last success.

use super::origin::source;
use crate::store::events::EventLog;
use crate::store::reuse_ledger::FailureTimes;
use capsid_model::event::EvolutionEvent;
use capsid_model::{Object, Result};
use std::collections::{BTreeSet, HashMap};
use std::ops::ControlFlow;

/// The record of one capsule in the log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CapsuleHistory {
    /// Successes in a row, up to the newest event.
    pub streak: u64,
    /// How often other nodes applied and proved it since its last failure here.
    pub reuses_by_others: u64,
    /// Whether a command showed that the last success was one.
    pub validated: bool,
    pub last_success: Option<Object>,
    /// How many attempts at its signals there were, up to the last success and after the one before.
    pub mutations_tried: u64,
    /// How many cycles of this store there were up to the last success.
    pub total_cycles: u64,
}

/// Counts cycles, and attempts in a row that did not succeed, by what they were about.
#[derive(Default)]
struct CycleCounter {
    cycles: u64,
    attempts: HashMap<Vec<String>, u64>,
}

impl CycleCounter {
    /// Counts an event; gives how many attempts at its signals there are now, and how many cycles.
    fn add(&mut self, event: &EvolutionEvent) -> (u64, u64) {
        self.cycles += 1;
        let mut signals = event.signals.clone();
        signals.sort();
        let attempts = self.attempts.entry(signals).or_default();
        *attempts += 1;
        let counted = *attempts;
        if event.outcome.is_success() {
            *attempts = 0;
        }
        (counted, self.cycles)
    }
}

/// The record of every capsule in the log, in one pass. Events of other nodes do not count for ours.
pub fn read(log: &EventLog) -> Result<HashMap<String, CapsuleHistory>> {
    let mut records: HashMap<String, CapsuleHistory> = HashMap::new();
    let mut failures = FailureTimes::default();
    let mut counter = CycleCounter::default();
    log.each(|event, document| {
        if source(&document).is_none() {
            failures.add_event(&event);
            let counted = counter.add(&event);
            count(&mut records, &event, document, counted);
        }
        ControlFlow::Continue(())
    })?;
    for record in records.values_mut() {
        if let Some(event) = &record.last_success {
            record.validated = log.was_validated(event)?;
        }
    }
    for (id, reuses) in log.reuse_ledger().count_reuses(&failures)? {
        if let Some(record) = records.get_mut(&id) {
            record.reuses_by_others = reuses;
        }
    }
    Ok(records)
}

fn count(
    records: &mut HashMap<String, CapsuleHistory>,
    event: &EvolutionEvent,
    document: Object,
    (attempts, cycles): (u64, u64),
) {
    let named: BTreeSet<&String> =
        event.capsule_id.iter().chain(&event.reused_capsule_id).chain(&event.failed_capsules).collect();
    for id in named {
        if let Some(grows) = event.streak_step(id) {
            let record = records.entry(id.clone()).or_default();
            record.streak = if grows { record.streak + 1 } else { 0 };
        }
    }
    if let Some(id) = event.capsule_id.as_ref().filter(|_| event.outcome.is_success()) {
        let record = records.entry(id.clone()).or_default();
        record.last_success = Some(document);
        (record.mutations_tried, record.total_cycles) = (attempts, cycles);
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
