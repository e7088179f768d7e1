//! Our verdict on records against that of `qp-capsule`: the same category and field for the same damage.

use crate::peer;
use crate::validate::{Checks, validate};
use capsid_model::exact::{self, ExactFields, ExactJson};
use capsid_testkit::rounds::rounds;
use fastrand::Rng;

const RECORD: &str = r#"{
    "id": "7d1e6a04-52c9-4b38-9f60-c3a8e15b2d97", "type": "chat", "domain": "orchard", "parent_id": null,
    "sequence": 0, "previous_hash": null, "spec_version": "1.0",
    "trigger": {"type": "scheduled", "source": "gate", "timestamp": "2026-04-09T17:30:00+00:00",
        "request": "Count the trees", "correlation_id": null, "user_id": null},
    "context": {"agent_id": "gardener", "session_id": "row-3", "environment": {}},
    "reasoning": {"analysis": "", "options": [], "options_considered": [], "selected_option": "", "reasoning": "",
        "confidence": 0.25, "model": null, "prompt_hash": null},
    "authority": {"type": "policy", "approver": null, "policy_reference": "spring", "chain": [],
        "escalation_reason": null},
    "execution": {"tool_calls": [], "duration_ms": 3, "resources_used": {}},
    "outcome": {"status": "partial", "result": [1, 2], "summary": "", "error": null, "side_effects": [], "metrics": {}}
}"#;

/// Values that are right somewhere and wrong elsewhere.
///
/// Left out is where we differ and mean to: `true` and `false`, which are integers for Python, and `NaN`, which it takes
/// for a number from 0 to 1.
const VALUES: [&str; 34] = [
    "null",
    "0",
    "1",
    "-1",
    "-0",
    "7",
    "99999999999999999999",
    "-99999999999999999999",
    "0.0",
    "-0.0",
    "0.5",
    "1.0",
    "1.0000000000000002",
    "1e400",
    "[]",
    "[1]",
    "{\"a\":1}",
    "\"\"",
    "\"x\"",
    "\"agent\"",
    "\"kill\"",
    "\"Agent\"",
    "\"7d1e6a04-52c9-4b38-9f60-c3a8e15b2d97\"",
    "\"{7D1E6A0452C94B389F60C3A8E15B2D97}\"",
    "\"urn:uuid:7d1e6a04-52c9-4b38-9f60-c3a8e15b2d97\"",
    "\"7d1e6a04-52c9-4b38-9f60-c3a8e15b2d9\"",
    "\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
    "\"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA0\"",
    "\"gaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\"",
    "\"2026-04-09T17:30:00Z\"",
    "\"2026-04-09T17:30:00.250000-07:00\"",
    "\"2026-04-09T17:30:00\"",
    "\"2026-04-31T17:30:00+00:00\"",
    "\"2026-04-09\"",
];

fn object(value: &mut ExactJson) -> Option<&mut ExactFields> {
    match value {
        ExactJson::Object(fields) => Some(fields),
        _ => None,
    }
}

/// Changes a member, adds one, or takes one out: of a section only the first, for Python finds the others in any order.
fn damage(rng: &mut Rng, fields: &mut ExactFields, may_take: &mut bool) {
    let at = rng.usize(..fields.len());
    match rng.u8(..8) {
        0 => _ = fields.insert("strange".to_owned(), ExactJson::Null),
        1 if *may_take => {
            fields.shift_remove_index(at);
            *may_take = false;
        }
        _ => fields[at] = exact::parse(VALUES[rng.usize(..VALUES.len())]).unwrap(),
    }
}

fn damaged_record(rng: &mut Rng) -> ExactJson {
    let mut record = exact::parse(RECORD).unwrap();
    let mut may_take = true;
    for _ in 0..rng.usize(1..4) {
        let fields = object(&mut record).unwrap();
        let section = rng.usize(..fields.len());
        match fields.get_index_mut(section).and_then(|(_, value)| object(value)) {
            Some(members) if !members.is_empty() && rng.u8(..6) > 0 => damage(rng, members, &mut may_take),
            _ => damage(rng, fields, &mut may_take),
        }
    }
    record
}

/// A section that became another object lacks all its fields, and Python finds those in any order.
fn section_alone(field: &str) -> &str {
    field.split('.').next().unwrap_or_default()
}

#[test]
fn verdicts_on_damaged_records_are_those_of_the_peer() {
    let (mut rng, seed) = peer::seeded();
    let records: Vec<ExactJson> = (0..rounds(5_000, 100_000)).map(|_| damaged_record(&mut rng)).collect();
    let lines: String = records.iter().map(|record| exact::canonical(record) + "\n").collect();
    let mut accepted = 0;
    for (record, answer) in records.iter().zip(peer::python("validator.py", lines)) {
        let theirs: Option<(String, String)> = serde_json::from_str(&answer).unwrap();
        let ours = validate(record, Checks::default()).err();
        let ours = ours.map(|violation| (violation.category.as_str().to_owned(), violation.field));
        accepted += usize::from(ours.is_none());
        let context = || format!("{seed} ours {ours:?} theirs {theirs:?} {}", exact::canonical(record));
        match (&ours, &theirs) {
            (Some((ours, our_field)), Some((theirs, their_field))) if ours == "missing_field" => {
                assert_eq!(
                    (ours, section_alone(our_field)),
                    (theirs, section_alone(their_field)),
                    "{}",
                    context()
                );
            }
            _ => assert_eq!(ours, theirs, "{}", context()),
        }
    }
    assert!(accepted > 0 && accepted < records.len() / 2, "{seed} {accepted} of {} taken", records.len());
}
