use super::*;
use proptest::prelude::*;
use serde_json::json;

#[allow(clippy::needless_pass_by_value)] // So that tests read as what is sent.
fn tell(body: Value) -> Result<IngestBatch, Vec<IngestRefusal>> {
    read(body.as_object().unwrap())
}

#[track_caller]
fn refused(body: Value, code: &str, field: &str) {
    let refusals = tell(body).unwrap_err();
    let found = refusals.iter().any(|refusal| refusal.code == code && refusal.field == field);
    assert!(found, "{code} at {field} in {refusals:#?}");
    assert!(refusals.iter().all(|refusal| !refusal.problem.is_empty() && !refusal.fix.is_empty()));
}

fn entity(name: &str) -> Value {
    json!({"entities": [{"name": name, "entity_type": "library"}]})
}

#[test]
fn things_and_relations_are_read() {
    let told = tell(json!({
        "entities": [
            {"name": " PostgreSQL  16", "entity_type": "Database", "properties": {"b": 1, "a": [true]}, "confidence": 0.95},
            {"name": "postgresql 16", "entity_type": "library"},
        ],
        "relations": [{"source_name": "PostgreSQL 16", "source_type": "database", "target_name": "TimeoutError",
            "type": "CAUSES", "confidence": null}],
    }))
    .unwrap();
    let first = &told.entities[0];
    assert_eq!((first.thing.kind.as_str(), first.thing.key.as_str()), ("database", "postgresql 16"));
    assert_eq!(first.name, "PostgreSQL 16");
    assert_eq!(first.properties.as_deref(), Some(r#"{"a":[true],"b":1}"#));
    assert_eq!(told.entities.len(), 2);
    let relation = &told.relations[0];
    assert_eq!((relation.kind.as_str(), relation.confidence), ("causes", DEFAULT_CONFIDENCE));
    assert!(relation.source.means(&first.thing) && !relation.source.means(&told.entities[1].thing));
    assert!(relation.target.means(&EntityKey::new("signal", "timeout_error")));
}

#[test]
fn hostile_names_are_refused() {
    for (name, code) in [
        ("", "empty_name"),
        (" \u{a0} ", "empty_name"),
        ("a\u{0}b", "invalid_character"),
        ("a\u{202e}b", "invalid_character"),
        ("a\u{200b}b", "invalid_character"),
        ("a\nb", "invalid_character"),
        ("pаypal", "mixed_scripts"),
        ("<script>alert(1)</script>", "markup"),
        ("a <img src=x onerror=alert(1)>", "markup"),
        ("</b>", "markup"),
        (&"x".repeat(161), "name_too_long"),
    ] {
        refused(entity(name), code, "entities[0].name");
    }
    for name in
        ["a < b", "C++", "naïve", "超时错误", "修复 timeout", "'; DROP TABLE x; --", "{{x}}", "тайм-аут"]
    {
        assert!(tell(entity(name)).is_ok(), "{name}");
    }
}

#[test]
fn names_that_look_alike_are_refused_within_a_call() {
    let both = |one: &str, other: &str| json!({"entities": [{"name": one, "entity_type": "tool"}, {"name": other, "entity_type": "tool"}]});
    refused(both("scope", "ѕсоре"), "confusable_name", "entities[1].name");
    assert_eq!(tell(both("modem", "modern")).unwrap().entities.len(), 2);
    assert_eq!(tell(both("Redis", " redis")).unwrap_err()[0].code, "duplicate_name");
    assert_eq!(tell(both("Redis", "Redis")).unwrap().entities.len(), 1);
}

#[test]
fn everything_wrong_is_named_at_its_place() {
    let item = |key: &str, value: Value| {
        let mut item = json!({"name": "x", "entity_type": "tool"});
        item[key] = value;
        json!({"entities": [item]})
    };
    refused(item("name", json!(7)), "wrong_type", "entities[0].name");
    refused(item("entity_type", json!("é")), "invalid_type", "entities[0].entity_type");
    refused(item("entity_type", json!("x".repeat(49))), "invalid_type", "entities[0].entity_type");
    refused(item("confidence", json!(1.1)), "wrong_type", "entities[0].confidence");
    refused(item("confidence", json!("1")), "wrong_type", "entities[0].confidence");
    refused(item("properties", json!([1])), "wrong_type", "entities[0].properties");
    refused(
        item("properties", json!({"a": "x".repeat(5000)})),
        "properties_too_large",
        "entities[0].properties",
    );
    refused(item("properties", json!({"a": [[[[1]]]]})), "properties_too_deep", "entities[0].properties");
    refused(item("properties", json!({"a": "<b>"})), "markup", "entities[0].properties");
    refused(item("properties", json!({"a\u{0}": 1})), "invalid_character", "entities[0].properties");
    refused(json!({"entities": {}}), "wrong_type", "entities");
    refused(json!({"entities": [7]}), "wrong_type", "entities[0]");
    refused(json!({}), "nothing_told", "entities");
    refused(json!({"entities": vec![json!({}); 1001]}), "too_many_items", "entities");
    refused(
        json!({"relations": [{"source_name": "a", "type": "x"}]}),
        "wrong_type",
        "relations[0].target_name",
    );
    assert_eq!(tell(json!({"entities": vec![json!(1); 500]})).unwrap_err().len(), MAX_REFUSALS);
}

proptest! {
    #[test]
    fn whatever_is_told_is_read_or_refused(name: String, kind: String, other: String, number: f64) {
        let body = json!({
            "entities": [{"name": name, "entity_type": kind, "properties": {"k": other}, "confidence": number}],
            "relations": [{"source_name": name, "target_name": other, "type": kind, "source_type": kind}],
        });
        match tell(body) {
            Ok(told) => {
                prop_assert!(told.entities.iter().all(|entity| !entity.thing.key.is_empty()));
                prop_assert!(told.entities.iter().all(|entity| !entity.name.chars().any(is_unseen)));
            }
            Err(refusals) => prop_assert!(!refusals.is_empty() && refusals.len() <= MAX_REFUSALS),
        }
    }
}
