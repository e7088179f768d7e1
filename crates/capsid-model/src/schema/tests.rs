use super::*;
use crate::json;

fn gene() -> Value {
    json!({
        "type": "Gene", "schema_version": "1.5.0", "id": "gene_x", "category": "repair",
        "signals_match": ["error"], "strategy": ["Fix it"],
        "constraints": {"max_files": 2, "forbidden_paths": [".git"]},
        "validation": ["npm test"],
        "asset_id": format!("sha256:{}", "a".repeat(64)),
    })
}

fn capsule() -> Value {
    json!({
        "type": "Capsule", "schema_version": "1.5.0", "id": "capsule_1", "trigger": ["log_error"],
        "gene": "gene_x", "summary": "Fixed it", "confidence": 0.8,
        "blast_radius": {"files": 1, "lines": 2}, "outcome": {"status": "success", "score": 0.85},
        "success_streak": 1, "env_fingerprint": {"platform": "linux"},
        "asset_id": format!("sha256:{}", "0".repeat(64)),
    })
}

fn with(mut document: Value, name: &str, value: Value) -> Value {
    document[name] = value;
    document
}

fn without(mut document: Value, name: &str) -> Value {
    document.as_object_mut().unwrap().shift_remove(name);
    document
}

fn told(document: &Value) -> Vec<String> {
    check(document).iter().map(|finding| format!("{}: {finding}", finding.severity.as_str())).collect()
}

#[test]
fn well_formed_documents_give_nothing() {
    assert_eq!(told(&gene()), [""; 0]);
    assert_eq!(told(&capsule()), [""; 0]);
    let personality = crate::personality::Personality::default().to_object();
    assert_eq!(told(&Value::Object(personality)), [""; 0]);
}

#[test]
fn every_type_has_a_table_that_names_its_type() {
    for name in TYPES {
        let fields = tables::fields_of(name).unwrap();
        assert!(fields.iter().any(|field| field.name == "type"), "{name}");
        let only_type = check(&json!({"type": name}));
        assert!(only_type.iter().any(|f| f.severity == SchemaSeverity::Error), "{name}");
        assert!(only_type.iter().all(|f| f.path != "type"), "{name}");
    }
}

#[test]
fn a_wrong_value_is_named_with_what_it_must_be() {
    for (name, value, expected) in [
        ("confidence", json!("high"), "error: `confidence` must be a number from 0 to 1, is \"high\""),
        ("confidence", json!(1.5), "error: `confidence` must be a number from 0 to 1, is 1.5"),
        ("success_streak", json!(-1), "error: `success_streak` must be a whole number of 0 or more, is -1"),
        ("success_streak", json!(1.5), "error: `success_streak` must be a whole number of 0 or more, is 1.5"),
        (
            "schema_version",
            json!("1.5"),
            "error: `schema_version` must be a version such as 1.5.0, is \"1.5\"",
        ),
        (
            "asset_id",
            json!("sha256:ABC"),
            "error: `asset_id` must be `sha256:` and 64 lowercase hex digits, is \"sha256:ABC\"",
        ),
        ("summary", json!(""), "error: `summary` must be text that is not empty, is empty"),
        ("trigger", json!([]), "error: `trigger` must be a list of at least 1, is a list of 0"),
        ("trigger", json!(["a", 7]), "error: `trigger[1]` must be text that is not empty, is 7"),
        ("gene", json!(null), "error: `gene` must be text that is not empty, is null"),
        (
            "outcome",
            json!({"status": "won", "score": 2}),
            "error: `outcome.status` must be one of success, failed, failure, is \"won\"",
        ),
        (
            "visibility",
            json!("secret"),
            "error: `visibility` must be one of private, unlisted, public, is \"secret\"",
        ),
        ("content", json!(1), "error: `content` must be text or an object, is 1"),
    ] {
        assert_eq!(told(&with(capsule(), name, value))[0], expected);
    }
}

#[test]
fn a_missing_field_is_an_error_where_the_protocol_requires_it_and_else_a_note() {
    assert_eq!(
        told(&without(gene(), "strategy")),
        ["error: `strategy` is missing; must be a list of at least 1"]
    );
    assert_eq!(
        told(&without(gene(), "asset_id")),
        ["note: `asset_id` is missing; should be `sha256:` and 64 lowercase hex digits"]
    );
    assert_eq!(
        told(&with(gene(), "constraints", json!({"forbidden_paths": [".git"]}))),
        ["error: `constraints.max_files` is missing; must be a whole number of 1 or more"]
    );
}

#[test]
fn unknown_fields_are_noted_and_unknown_types_refused() {
    assert_eq!(
        told(&with(gene(), "mood", json!("sunny"))),
        ["note: `mood` is not part of the protocol; it is kept as it is"]
    );
    assert!(told(&json!({"type": "Poem"}))[0].ends_with("is \"Poem\""));
    assert!(told(&json!({"id": "x"}))[0].starts_with("error: `type` is missing"));
    assert_eq!(told(&json!([1])), ["error: The document must be an object, is a list of 1"]);
}

#[test]
fn shapes_that_existing_engines_write_are_taken() {
    let mark = json!([{"context": "linux/x64/v22", "boost": 0.05, "reason": "x"}, "plain"]);
    assert_eq!(told(&with(gene(), "epigenetic_marks", mark)), [""; 0]);
    assert_eq!(
        told(&with(gene(), "epigenetic_marks", json!([{"context": "c", "boost": 3}]))),
        ["error: `epigenetic_marks[0].boost` must be a number from -0.5 to 0.5, is 3"]
    );
    for (name, value) in [
        ("content", json!("text")),
        ("content", json!({"any": 1})),
        ("diff", json!("+a\n-b")),
        ("diff", json!(null)),
        ("outcome", json!("success")),
        ("claims", json!(null)),
    ] {
        let errors = check(&with(capsule(), name, value));
        assert!(errors.iter().all(|f| f.severity == SchemaSeverity::Note), "{name}");
    }
}

#[test]
fn a_failed_capsule_may_know_less() {
    let failed = json!({
        "type": "Capsule", "id": "capsule_1", "outcome": {"status": "failed", "score": 0.2},
        "validation_errors": ["constraint_violations: forbidden_path touched: .env"],
    });
    assert!(check(&failed).iter().all(|f| f.severity == SchemaSeverity::Note));
    let odd = with(failed, "validation_errors", json!("none"));
    assert!(check(&odd).iter().any(|f| f.severity == SchemaSeverity::Error));
}

#[test]
fn untrusted_text_is_shown_short_and_inert() {
    let long = with(gene(), "category", json!(format!("\u{1b}[31m{}", "x".repeat(5000))));
    let line = &told(&long)[0];
    assert!(line.len() < 200 && !line.contains('\u{1b}'), "{line}");
}
