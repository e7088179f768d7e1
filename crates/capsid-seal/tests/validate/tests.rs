use super::*;
use capsid_model::exact::parse;

const RECORD: &str = r#"{
    "id": "3b9f1c52-8d0e-4a67-b1c4-5e2f7a9d6c80", "type": "tool", "domain": "harbour", "parent_id": null,
    "sequence": 0, "previous_hash": null, "spec_version": "1.0",
    "trigger": {"type": "user_request", "source": "quay", "timestamp": "2026-03-01T08:15:00+00:00",
        "request": "Weigh the crate", "correlation_id": null, "user_id": null},
    "context": {"agent_id": "crane", "session_id": null, "environment": {}},
    "reasoning": {"analysis": "", "options": [], "options_considered": [], "selected_option": "", "reasoning": "",
        "confidence": 0.5, "model": null, "prompt_hash": null},
    "authority": {"type": "autonomous", "approver": null, "policy_reference": null, "chain": [],
        "escalation_reason": null},
    "execution": {"tool_calls": [], "duration_ms": 12, "resources_used": {}},
    "outcome": {"status": "success", "result": null, "summary": "", "error": null, "side_effects": [], "metrics": {}}
}"#;

fn record() -> ExactJson {
    parse(RECORD).unwrap()
}

fn members<'a>(record: &'a mut ExactJson, section: Option<&str>) -> &'a mut ExactFields {
    let ExactJson::Object(fields) = record else { panic!("a record is an object") };
    match section {
        None => fields,
        Some(section) => members(&mut fields[section], None),
    }
}

/// The record with one field changed; without a value, the field is removed.
fn with(changes: &[(&str, Option<&str>)]) -> ExactJson {
    let mut record = record();
    for (field, value) in changes {
        let (section, name) =
            field.split_once('.').map_or((None, *field), |(section, name)| (Some(section), name));
        let fields = members(&mut record, section);
        match value {
            Some(text) => _ = fields.insert(name.to_owned(), parse(text).unwrap()),
            None => _ = fields.shift_remove(name),
        }
    }
    record
}

fn verdict(record: &ExactJson) -> Option<(&'static str, String)> {
    validate(record, Checks::default()).err().map(|violation| (violation.category.as_str(), violation.field))
}

#[track_caller]
fn assert_refused(changes: &[(&str, Option<&str>)], category: &str, field: &str) {
    assert_eq!(verdict(&with(changes)), Some((category, field.to_owned())), "{changes:?}");
}

#[track_caller]
fn assert_taken(changes: &[(&str, Option<&str>)]) {
    assert_eq!(verdict(&with(changes)), None, "{changes:?}");
}

#[test]
fn a_whole_record_is_taken_and_every_field_is_needed() {
    assert_taken(&[]);
    for field in TOP {
        assert_refused(&[(field, None)], "missing_field", field);
    }
    for (section, names) in SECTIONS {
        assert_refused(&[(section, Some("[]"))], "wrong_type", section);
        assert_refused(&[(section, Some("{}"))], "missing_field", &format!("{section}.{}", names[0]));
        for name in names {
            let field = format!("{section}.{name}");
            assert_refused(&[(&field, None)], "missing_field", &field);
        }
    }
}

#[test]
fn what_is_no_object_is_no_record() {
    for text in ["null", "[]", "1", "\"\""] {
        assert_eq!(verdict(&parse(text).unwrap()), Some(("wrong_type", String::new())));
    }
    assert_eq!(verdict(&parse("{}").unwrap()), Some(("missing_field", "id".to_owned())));
}

#[test]
fn types_and_values_are_told_apart() {
    for (field, wrong, invalid) in [
        ("id", "7", "\"3b9f1c52\""),
        ("type", "null", "\"Tool\""),
        ("parent_id", "false", "\"\""),
        ("sequence", "0.0", "-1"),
        ("sequence", "false", "-99999999999999999999"),
        ("previous_hash", "1", "\"abc\""),
        ("spec_version", "1.0", "\"\""),
        ("trigger.timestamp", "0", "\"yesterday\""),
        ("reasoning.confidence", "true", "1.01"),
        ("reasoning.confidence", "\"1\"", "NaN"),
        ("reasoning.confidence", "null", "-1"),
    ] {
        assert_refused(&[(field, Some(wrong))], "wrong_type", field);
        assert_refused(&[(field, Some(invalid))], "invalid_value", field);
    }
    for (field, wrong) in [
        ("domain", "null"),
        ("trigger.type", "null"),
        ("context.environment", "[]"),
        ("execution.tool_calls", "{}"),
        ("execution.duration_ms", "1.0"),
        ("execution.resources_used", "null"),
    ] {
        assert_refused(&[(field, Some(wrong))], "wrong_type", field);
    }
}

#[test]
fn what_the_format_leaves_open_is_open() {
    for (field, value) in [
        ("domain", "\"\""),
        ("spec_version", "\"7\""),
        ("trigger.type", "\"tide\""),
        ("trigger.source", "5"),
        ("reasoning.confidence", "1"),
        ("reasoning.confidence", "-0.0"),
        ("authority.type", "null"),
        ("execution.duration_ms", "-1"),
        ("outcome.status", "\"afloat\""),
        ("more", "1"),
        ("trigger.more", "1"),
    ] {
        assert_taken(&[(field, Some(value))]);
    }
}

#[test]
fn the_place_in_the_chain_does_not_contradict_itself() {
    let hash = format!("\"{}\"", "aB".repeat(32));
    assert_taken(&[("sequence", Some("3")), ("previous_hash", Some(&hash))]);
    assert_refused(&[("sequence", Some("3"))], "chain_violation", "previous_hash");
    assert_refused(&[("previous_hash", Some(&hash))], "chain_violation", "previous_hash");
    // Faults of the document itself are reported first.
    assert_refused(
        &[("previous_hash", Some(&hash)), ("spec_version", Some("\"\""))],
        "invalid_value",
        "spec_version",
    );
    assert_refused(
        &[("previous_hash", Some(&hash)), ("trigger", Some("1"))],
        "chain_violation",
        "previous_hash",
    );
}

#[test]
fn ids_are_read_as_python_reads_them() {
    let id = "3b9f1c52-8d0e-4a67-b1c4-5e2f7a9d6c80";
    for text in [id.to_uppercase(), format!("{{{id}}}"), format!("urn:uuid:{id}"), id.replace('-', "")] {
        assert_taken(&[("id", Some(&format!("\"{text}\"")))]);
    }
    for text in [format!(" {id}"), id.replace('c', "x"), format!("{id}0"), id[1..].to_owned()] {
        assert_refused(&[("id", Some(&format!("\"{text}\"")))], "invalid_value", "id");
    }
}

#[test]
fn a_time_needs_its_offset() {
    for text in [
        "2026-03-01T08:15:00Z",
        "2026-03-01T08:15:00.123456+05:30",
        "2026-03-01 08:15:00-00:00",
        "2026-03-01T08:15:00.1234567Z",
        "2026-03-01T08:15:00+0000",
        "20260301T081500Z",
        "2026-03-01T08:15Z",
        "0001-01-01T00:00:00+14:00",
    ] {
        assert!(is_time_with_offset(text), "{text}");
    }
    for text in [
        "",
        "2026-03-01",
        "2026-03-01T08:15:00",
        "2026-03-01T08:15:00z",
        "2026-02-30T08:15:00Z",
        "2026-03-01T24:00:00Z",
        "2026-03-01T08:15:60Z",
        "2026-03-01T08:15:00+24:00",
        "0000-03-01T08:15:00Z",
        " 2026-03-01T08:15:00Z",
        "2026-03-01T08:15:00ZZ",
        "2026-03-01T08:15:00+00:00[UTC]",
    ] {
        assert!(!is_time_with_offset(text), "{text}");
    }
}

#[test]
fn only_known_fields_when_asked_for() {
    let strange = with(&[("zebra", Some("1")), ("apple", Some("1")), ("id", None)]);
    let checks = Checks { only_known_fields: true, ..Checks::default() };
    let violation = validate(&strange, checks).unwrap_err();
    assert_eq!((violation.category, violation.field.as_str()), (Category::InvalidValue, "apple"));
    assert_eq!(validate(&record(), checks), Ok(()));
}

#[test]
fn a_claimed_hash_is_recomputed() {
    let record = record();
    let against = |record: &ExactJson, hash: &str| {
        let checks = Checks { claimed_hash: Some(hash), ..Checks::default() };
        validate(record, checks).err().map(|violation| (violation.category, violation.field))
    };
    let hash = sha3_hex(canonical(&record).as_bytes());
    assert_eq!(against(&record, &hash), None);
    assert_eq!(against(&record, &hash.to_uppercase()), None);
    assert_eq!(against(&record, "abc"), Some((Category::InvalidValue, "hash".to_owned())));
    let changed = with(&[("outcome.summary", Some("\"all well\""))]);
    assert_eq!(against(&changed, &hash), Some((Category::IntegrityViolation, "hash".to_owned())));
}
