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

#[test]
fn attempts_at_the_same_signals_are_counted_up_to_the_success() {
    let folder = tempfile::tempdir().unwrap();
    let log = EventLog::at(folder.path().join("events.jsonl"));
    let event = |status: &str, signals: Value, capsule: Value| {
        let event = json!({"type": "EvolutionEvent", "outcome": {"status": status}, "signals": signals,
            "capsule_id": capsule});
        event.as_object().cloned().unwrap()
    };
    log.append(&[
        event("failed", json!(["a", "b"]), Value::Null),
        event("failed", json!(["other"]), Value::Null),
        event("failed", json!(["b", "a"]), Value::Null),
        event("success", json!(["a", "b"]), json!("first")),
        event("success", json!(["a", "b"]), json!("second")),
    ])
    .unwrap();
    let records = read(&log).unwrap();
    let counted = |id: &str| (records[id].mutations_tried, records[id].total_cycles);
    assert_eq!((counted("first"), counted("second")), ((3, 4), (1, 5)));
}
