//! What nobody should tell the graph: each gets a clear refusal, and nothing of it stays.

use super::graph_dump;
use crate::common::economy::user;
use crate::common::{TestHub, both};
use serde_json::{Value, json};

fn entity(name: &str) -> Value {
    json!({"name": name, "entity_type": "concept"})
}

fn things(count: usize) -> Vec<Value> {
    (0..count).map(|n| entity(&format!("thing {n}"))).collect()
}

/// Bodies that are JSON and still not taken.
fn bodies() -> Vec<(&'static str, Value)> {
    let two = || vec![entity("one"), entity("two")];
    let joined = |relation: Value| json!({"entities": two(), "relations": [relation]});
    let properties = |properties: Value| json!({"entities": [{"name": "x", "entity_type": "concept", "properties": properties}]});
    let mut deep = json!(1);
    for _ in 0..20 {
        deep = json!([deep]);
    }
    vec![
        ("nothing", json!({})),
        ("nothing in lists", json!({"entities": [], "relations": []})),
        ("a list of nothing", json!({"entities": null})),
        ("1,001 items", json!({"entities": things(1001)})),
        (
            "1,001 items in both lists",
            json!({"entities": things(1000),
            "relations": [{"source_name": "thing 1", "target_name": "thing 2", "type": "x"}]}),
        ),
        ("no list", json!({"entities": {"name": "x"}})),
        ("no objects", json!({"entities": ["x"]})),
        ("no name", json!({"entities": [{"entity_type": "concept"}]})),
        ("an empty name", json!({"entities": [entity(" ")]})),
        ("a name that is a number", json!({"entities": [{"name": 7}]})),
        ("a long name", json!({"entities": [entity(&"x".repeat(10_000))]})),
        ("a control character", json!({"entities": [entity("bell\u{7}")]})),
        ("an escape", json!({"entities": [entity("\u{1b}[31mred")]})),
        ("a line end", json!({"entities": [entity("two\nlines")]})),
        ("a bidi mark", json!({"entities": [entity("abc\u{202e}cba")]})),
        ("an invisible character", json!({"entities": [entity("zero\u{200b}width")]})),
        ("mixed scripts", json!({"entities": [entity("pаypal")]})),
        ("the same name in another script", json!({"entities": [entity("scope"), entity("ѕсоре")]})),
        ("a kind with markup", json!({"entities": [{"name": "x", "entity_type": "<script>"}]})),
        ("a kind that is a number", json!({"entities": [{"name": "x", "entity_type": 7}]})),
        ("a reserved kind", json!({"entities": [{"name": "x", "entity_type": "capsule"}]})),
        (
            "a confidence above 1",
            json!({"entities": [{"name": "x", "entity_type": "concept", "confidence": 1.5}]}),
        ),
        (
            "a confidence below 0",
            json!({"entities": [{"name": "x", "entity_type": "concept", "confidence": -0.1}]}),
        ),
        (
            "a confidence in words",
            json!({"entities": [{"name": "x", "entity_type": "concept", "confidence": "NaN"}]}),
        ),
        ("properties in a list", properties(json!(["x"]))),
        ("deep properties", properties(json!({"deep": deep}))),
        ("large properties", properties(json!({"text": "x".repeat(100_000)}))),
        (
            "an unknown member",
            json!({"entities": [{"name": "x", "entity_type": "concept", "said_by": "hub"}]}),
        ),
        ("a self-loop", joined(json!({"source_name": "one", "target_name": "One ", "type": "is"}))),
        ("an unknown end", joined(json!({"source_name": "one", "target_name": "three", "type": "is"}))),
        ("no end", joined(json!({"source_name": "one", "type": "is"}))),
        ("no type", joined(json!({"source_name": "one", "target_name": "two"}))),
        (
            "a type with markup",
            joined(json!({"source_name": "one", "target_name": "two", "type": "javascript:alert(1)"})),
        ),
        ("a type that is an object", joined(json!({"source_name": "one", "target_name": "two", "type": {}}))),
        (
            "a relation's unknown member",
            joined(json!({"source_name": "one", "target_name": "two", "type": "is", "claims": 9})),
        ),
    ]
}

#[test]
fn what_is_not_taken_is_refused_with_its_place_and_leaves_nothing_behind() {
    both(|hub| {
        let (token, _) = user(hub, "ann");
        hub.post_as(&token, "/kg/ingest", &json!({"entities": [entity("known")]})).expect(200);
        let before = graph_dump(hub);
        assert!(before.contains("known"));
        for (what, body) in bodies() {
            let refused = hub.post_as(&token, "/kg/ingest", &body);
            assert!((400..=422).contains(&refused.status), "{what}: {refused}");
            refused.explains();
            let place = refused.json()["details"][0]["path"].as_str().unwrap_or_default().to_owned();
            assert!(place.starts_with("entities") || place.starts_with("relations"), "{what}: {refused}");
            assert_eq!(graph_dump(hub), before, "{what}");
        }
    });
}

#[test]
fn bytes_that_are_no_usable_json_are_refused() {
    let hub = TestHub::sqlite();
    let (token, _) = user(&hub, "ann");
    let before = graph_dump(&hub);
    let deep = format!("{{\"entities\":{}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    let huge = json!({"entities": [{"name": "x", "properties": {"text": "x".repeat(3 << 20)}}]}).to_string();
    for (body, status) in [
        (r#"{"entities":[{"name":"x","confidence":NaN}]}"#, 400),
        (r#"{"entities":[{"name":"x","confidence":1e999}]}"#, 400),
        (r#"{"entities":[{"name":"x","confidence":Infinity}]}"#, 400),
        (r#"{"entities":[{"name":"x","name":"y"}]}"#, 400),
        (r#"{"entities":[{"name":"\u0000"}]}"#, 400),
        (r#"{"entities":[{"name":"\ud800"}]}"#, 400),
        (r#"[1]"#, 400),
        ("", 400),
        (&deep, 400),
        (&huge, 413),
    ] {
        let refused = hub.call("POST", "/kg/ingest", Some(&token), Some(body.as_bytes().to_vec()));
        assert_eq!(refused.status, status, "{}: {refused}", &body[..body.len().min(80)]);
        refused.explains();
        assert_eq!(graph_dump(&hub), before);
    }
}

#[test]
fn a_name_that_looks_like_a_known_one_is_refused() {
    both(|hub| {
        let (token, _) = user(hub, "ann");
        let (bob, _) = user(hub, "bob");
        hub.post_as(&token, "/kg/ingest", &json!({"entities": [entity("scope")]})).expect(200);
        let before = graph_dump(hub);
        // Cyrillic letters that look like `scope`.
        hub.post_as(&bob, "/kg/ingest", &json!({"entities": [entity("ѕсоре")]}))
            .refused(409, "confusable_name");
        assert_eq!(graph_dump(hub), before);
        // Another language is no disguise.
        hub.post_as(&bob, "/kg/ingest", &json!({"entities": [entity("超时"), entity("тайм-аут")]}))
            .expect(200);
    });
}

#[test]
fn circles_are_told_and_walked_once() {
    both(|hub| {
        let (token, _) = user(hub, "ann");
        let ring: Vec<Value> = (0..50)
            .map(|n| json!({"source_name": format!("thing {n}"), "target_name": format!("thing {}", (n + 1) % 50), "type": "next"}))
            .collect();
        hub.post_as(&token, "/kg/ingest", &json!({"entities": things(50), "relations": ring})).expect(200);
        let answer = hub
            .post_as(&token, "/kg/query", &json!({"query": "thing 1", "depth": 3, "limit": 50}))
            .expect(200);
        assert!(answer["nodes"].as_array().unwrap().len() <= 50);
        let way = hub.get("/kg/path?from=thing%200&to=thing%203").expect(200);
        assert_eq!(way["path"].as_array().unwrap().len(), 4, "{way}");
        assert_eq!(
            hub.get("/kg/path?from=thing%200&to=thing%2025").expect(200)["path"],
            json!([]),
            "too far"
        );
    });
}

#[test]
fn markup_is_refused_and_what_only_looks_like_it_comes_back_as_the_data_it_is() {
    both(|hub| {
        let (token, _) = user(hub, "ann");
        let before = graph_dump(hub);
        let with = |note: &str| json!({"entities": [{"name": "a note", "entity_type": "concept", "properties": {"note": note}}]});
        for markup in ["<script>alert('x')</script>", "<img src=x onerror=alert(1)>", "a <!-- b", "</p>"] {
            hub.post_as(&token, "/kg/ingest", &with(markup)).refused(400, "validation_error");
            let named = json!({"entities": [entity(markup)]});
            hub.post_as(&token, "/kg/ingest", &named).refused(400, "validation_error");
        }
        assert_eq!(graph_dump(hub), before);
        let odd = "if a < b && c > d then \"x\" & 'y' \\ javascript:alert(1) {{7*7}} ${x} %00";
        hub.post_as(&token, "/kg/ingest", &with(odd)).expect(200);
        let answered = hub.post_as(&token, "/kg/query", &json!({"query": "a note"}));
        let answer = answered.expect(200);
        // JSON, which no browser takes for a page, holds it as it was told. Whoever shows it is who escapes it.
        assert_eq!(answered.headers["content-type"], "application/json");
        assert_eq!(answered.headers["x-content-type-options"], "nosniff");
        assert_eq!(answer["nodes"][0]["properties"]["note"], json!(odd), "{answer}");
    });
}
