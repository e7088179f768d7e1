//! The record of capsules in the event log: how often each worked in a row, and the event of its last success.

use super::origin::source;
use crate::store::events::EventLog;
use capsid_model::event::EvolutionEvent;
use capsid_model::{Object, Result};
use std::collections::HashMap;
use std::ops::ControlFlow;

/// The record of one capsule in the log.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CapsuleHistory {
    /// Successes in a row, up to the newest event.
    pub streak: u64,
    /// Whether a command showed that the last success was one.
    pub validated: bool,
    pub last_success: Option<Object>,
}

/// The record of every capsule in the log, in one pass. Events of other nodes do not count for ours.
pub fn read(log: &EventLog) -> Result<HashMap<String, CapsuleHistory>> {
    let mut records: HashMap<String, CapsuleHistory> = HashMap::new();
    log.each(|event, document| {
        if source(&document).is_none() {
            count(&mut records, &event, document);
        }
        ControlFlow::Continue(())
    })?;
    for record in records.values_mut() {
        if let Some(event) = &record.last_success {
            record.validated = log.was_validated(event)?;
        }
    }
    Ok(records)
}

fn count(records: &mut HashMap<String, CapsuleHistory>, event: &EvolutionEvent, document: Object) {
    if let Some(reused) = event.reused_capsule_id.as_deref().filter(|id| event.concerns_capsule(id)) {
        records.entry(reused.to_owned()).or_default().streak *= u64::from(event.outcome.is_success());
    }
    let Some(id) = &event.capsule_id else { return };
    let record = records.entry(id.clone()).or_default();
    if event.outcome.is_success() {
        record.streak += 1;
        record.last_success = Some(document);
    } else {
        record.streak = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_model::{Value, json};
    use proptest::prelude::*;

    fn line(kind: u8, capsule: u8) -> Value {
        let id = format!("c{capsule}");
        let event = |status: &str, more: Value| {
            let mut event = json!({"type": "EvolutionEvent", "outcome": {"status": status}, "blast_radius": {"files": 1, "lines": 1}});
            event.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
            event
        };
        match kind {
            0 | 1 => event("success", json!({"capsule_id": id})),
            2 => event("failed", json!({"capsule_id": null, "meta": {"reused_capsule_id": id}})),
            3 => event("failed", json!({"meta": {"reused_capsule_id": id, "failure_class": "host"}})),
            4 => event("success", json!({"capsule_id": id, "meta": {"reused_capsule_id": id}})),
            _ => event("failed", json!({"capsule_id": id})),
        }
    }

    proptest! {
        #[test]
        fn one_walk_counts_what_the_walk_back_counts(events in proptest::collection::vec((0..6_u8, 0..3_u8), 0..30)) {
            let folder = tempfile::tempdir().unwrap();
            let log = EventLog::at(folder.path().join("events.jsonl"));
            let lines: Vec<Object> =
                events.iter().map(|(kind, capsule)| line(*kind, *capsule).as_object().cloned().unwrap()).collect();
            log.append(&lines).unwrap();
            let records = read(&log).unwrap();
            for capsule in ["c0", "c1", "c2"] {
                let counted = records.get(capsule).map_or(0, |record| record.streak);
                prop_assert_eq!(counted, log.success_streak(capsule).unwrap());
            }
        }
    }

    #[test]
    fn a_success_is_validated_by_its_own_word_or_by_its_report() {
        let folder = tempfile::tempdir().unwrap();
        let log = EventLog::at(folder.path().join("events.jsonl"));
        let success = |capsule: &str, more: Value| {
            let mut event =
                json!({"type": "EvolutionEvent", "capsule_id": capsule, "outcome": {"status": "success"}});
            event.as_object_mut().unwrap().extend(more.as_object().cloned().unwrap());
            event.as_object().cloned().unwrap()
        };
        let report = json!({"type": "ValidationReport", "id": "vr_1", "overall_ok": true, "commands": [{"command": "x", "ok": true}]});
        let empty = json!({"type": "ValidationReport", "id": "vr_2", "overall_ok": true, "commands": []});
        log.append(&[
            report.as_object().cloned().unwrap(),
            empty.as_object().cloned().unwrap(),
            success("told", json!({"validation_report_id": "vr_9", "meta": {"validation_vacuous": false, "validation_ok": true}})),
            success("unnamed", json!({"meta": {"validation_vacuous": false, "validation_ok": true}})),
            success("vacuous", json!({"validation_report_id": "vr_1", "meta": {"validation_vacuous": true}})),
            success("failed", json!({"validation_report_id": "vr_1", "meta": {"validation_ok": false}})),
            success("lost", json!({"validation_report_id": "vr_9"})),
            success("reported", json!({"validation_report_id": "vr_1"})),
            success("nothing ran", json!({"validation_report_id": "vr_2"})),
            success("silent", json!({})),
            success("foreign", json!({"a2a": {"source": "node_1"}, "validation_report_id": "vr_1"})),
        ])
        .unwrap();
        let records = read(&log).unwrap();
        let validated = |id: &str| records.get(id).is_some_and(|record| record.validated);
        assert!(validated("told") && validated("reported"));
        for id in ["unnamed", "vacuous", "failed", "lost", "nothing ran", "silent"] {
            assert!(!validated(id), "{id}");
        }
        assert!(!records.contains_key("foreign"));
    }
}
