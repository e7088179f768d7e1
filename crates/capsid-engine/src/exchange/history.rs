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
}

/// The record of every capsule in the log, in one pass. Events of other nodes do not count for ours.
pub fn read(log: &EventLog) -> Result<HashMap<String, CapsuleHistory>> {
    let mut records: HashMap<String, CapsuleHistory> = HashMap::new();
    let mut failures = FailureTimes::default();
    log.each(|event, document| {
        if source(&document).is_none() {
            failures.add_event(&event);
            count(&mut records, &event, document);
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

fn count(records: &mut HashMap<String, CapsuleHistory>, event: &EvolutionEvent, document: Object) {
    let named: BTreeSet<&String> =
        event.capsule_id.iter().chain(&event.reused_capsule_id).chain(&event.failed_capsules).collect();
    for id in named {
        if let Some(grows) = event.streak_step(id) {
            let record = records.entry(id.clone()).or_default();
            record.streak = if grows { record.streak + 1 } else { 0 };
        }
    }
    if let Some(id) = event.capsule_id.as_ref().filter(|_| event.outcome.is_success()) {
        records.entry(id.clone()).or_default().last_success = Some(document);
    }
}

#[cfg(test)]
#[path = "history_tests.rs"]
mod tests;
