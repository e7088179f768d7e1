use super::*;
use capsid_model::asset::stamp;
use capsid_model::json;

fn line(value: &Value) -> String {
    let mut record = value.as_object().cloned().unwrap();
    stamp(&mut record);
    Value::Object(record).to_string()
}

fn event(id: &str, parent: Option<&str>) -> String {
    line(&json!({"type": "EvolutionEvent", "id": id, "parent": parent}))
}

fn is_merge(log: &[&str], sealed: &[&str]) -> bool {
    let sealed: Vec<SealedLine> = sealed
        .iter()
        .map(|line| SealedLine {
            number: 0,
            start: 0,
            end: 0,
            sha256: sha256_hex(line.as_bytes()),
            id: String::new(),
        })
        .collect();
    let log: Vec<LogLine> = log.iter().map(|line| LogLine::parse(line.as_bytes())).collect();
    find_sealed(&log, &sealed.iter().collect::<Vec<_>>()).is_some()
}

#[test]
fn a_branch_of_another_clone_between_the_sealed_lines_is_a_merge() {
    let base = event("evt_1", None);
    let (a, b) = (event("evt_a", Some("evt_1")), event("evt_b", Some("evt_1")));
    assert!(is_merge(&[&base, &a, &b], &[&base, &b]));
    assert!(is_merge(&[&base, &a, &b], &[&base, &b, &a]), "branches have no order");
}

#[test]
fn what_is_missing_edited_forged_doubled_or_out_of_order_is_no_merge() {
    let base = event("evt_1", None);
    let (a, b, c) =
        (event("evt_a", Some("evt_1")), event("evt_b", Some("evt_1")), event("evt_c", Some("evt_b")));
    assert!(!is_merge(&[&base, &a], &[&base, &b]), "removed");
    let forged = a.replace("evt_a", "evt_x");
    assert!(!is_merge(&[&base, &forged, &b], &[&base, &b]), "forged");
    assert!(!is_merge(&[&base, "no json", &b], &[&base, &b]), "no record");
    assert!(!is_merge(&[&base, &c, &b], &[&base, &b, &c]), "a child before its parent");
    assert!(!is_merge(&[&base, &a, &a, &b], &[&base, &b]), "doubled");
}

#[test]
fn a_report_stays_right_before_its_event() {
    let report = |id: &str| line(&json!({"type": "ValidationReport", "id": id}));
    let (one, two) = (report("vr_1"), report("vr_2"));
    let first = line(&json!({"type": "EvolutionEvent", "id": "evt_1", "validation_report_id": "vr_1"}));
    let second = line(
        &json!({"type": "EvolutionEvent", "id": "evt_2", "parent": "evt_1", "validation_report_id": "vr_2"}),
    );
    let sealed: [&str; 4] = [&one, &first, &two, &second];
    assert!(!is_merge(&[&one, &two, &first, &second], &sealed));
    assert!(!is_merge(&[&first, &one, &two, &second], &sealed));
}
