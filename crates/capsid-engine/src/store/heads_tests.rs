use super::*;
use capsid_model::{Value, json};

fn log(folder: &std::path::Path, events: &[(&str, Value)]) -> EventLog {
    let log = EventLog::at(folder.join("events.jsonl"));
    let record = |(id, members): &(&str, Value)| {
        let mut record = json!({"type": "EvolutionEvent", "id": id});
        let members = members.as_object().cloned().unwrap_or_default();
        record.as_object_mut().unwrap().extend(members);
        record.as_object().cloned().unwrap()
    };
    log.append(&events.iter().map(record).collect::<Vec<_>>()).unwrap();
    log
}

fn ids(log: &EventLog) -> Vec<String> {
    log.heads().unwrap().into_iter().map(|event| event.id).collect()
}

#[test]
fn a_log_of_one_clone_has_one_head() {
    let folder = tempfile::tempdir().unwrap();
    let events = [("evt_1", json!({})), ("evt_2", json!({"parent": "evt_1"}))];
    let log = log(folder.path(), &events);
    assert_eq!(ids(&log), ["evt_2"]);
    let next = NextParents { parent: Some("evt_2".to_owned()), others: Vec::new() };
    assert_eq!(log.next_parents().unwrap(), next);
}

#[test]
fn merged_logs_have_a_head_for_each_clone_until_an_event_joins_them() {
    let folder = tempfile::tempdir().unwrap();
    let merged = [
        ("evt_1", json!({})),
        ("evt_4", json!({"parent": "evt_1"})),
        ("evt_5", json!({"parent": "evt_4"})),
        ("evt_2", json!({"parent": "evt_1"})),
        ("evt_3", json!({"parent": "evt_2"})),
        ("evt_0", json!({"a2a": {"source": "node_1"}})),
    ];
    let log = log(folder.path(), &merged);
    assert_eq!(ids(&log), ["evt_5", "evt_3"]);
    let next = log.next_parents().unwrap();
    assert_eq!((next.parent.as_deref(), &next.others[..]), (Some("evt_5"), &["evt_3".to_owned()][..]));
    let joined = json!({"type": "EvolutionEvent", "id": "evt_6", "parent": "evt_5",
        "meta": {"merge_parents": ["evt_3"]}});
    log.append(&[joined.as_object().cloned().unwrap()]).unwrap();
    assert_eq!(ids(&log), ["evt_6"]);
}
