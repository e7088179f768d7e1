//! Holds an answer against the description: the part of JSON Schema that the description uses, taken strictly. A member
//! that is not named is a fault, and so is a word of the schema that is not known here.

use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// Words that say nothing about which values fit.
const SILENT: [&str; 7] =
    ["description", "format", "example", "minimum", "maximum", "maxLength", "minLength"];
const KNOWN: [&str; 10] = [
    "$ref",
    "type",
    "enum",
    "items",
    "properties",
    "required",
    "allOf",
    "oneOf",
    "additionalProperties",
    "propertyNames",
];

/// What an object may hold, gathered from all its bases.
#[derive(Default)]
struct Shape<'d> {
    members: BTreeMap<&'d str, &'d Value>,
    required: BTreeSet<&'d str>,
    others: Option<&'d Value>,
}

/// Every way in which a value does not fit a schema of a description.
pub fn faults(document: &Value, schema: &Value, value: &Value) -> Vec<String> {
    let mut found = Vec::new();
    check(document, schema, value, "answer", &mut found);
    found
}

fn words(schema: &Value) -> &Map<String, Value> {
    schema.as_object().unwrap_or_else(|| panic!("no schema: {schema}"))
}

fn resolve<'d>(document: &'d Value, schema: &'d Value) -> &'d Value {
    match schema["$ref"].as_str() {
        Some(name) => {
            let place = name.strip_prefix('#').unwrap();
            document.pointer(place).unwrap_or_else(|| panic!("{name} is not described"))
        }
        None => schema,
    }
}

fn check(document: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let schema = resolve(document, schema);
    for word in words(schema).keys() {
        let known = KNOWN.contains(&word.as_str()) || SILENT.contains(&word.as_str());
        assert!(known, "{at}: the word `{word}` is not known");
    }
    if let Some(ways) = schema["oneOf"].as_array() {
        let fits = ways.iter().filter(|way| faults(document, way, value).is_empty()).count();
        if fits != 1 {
            let why: Vec<_> = ways.iter().flat_map(|way| faults(document, way, value)).collect();
            found.push(format!("{at}: fits {fits} of {} ways: {why:?}", ways.len()));
        }
        return;
    }
    if schema.get("allOf").is_some() || schema["type"] == "object" {
        return check_object(document, schema, value, at, found);
    }
    if let Some(kinds) = kinds(schema)
        && !kinds.iter().any(|kind| is(kind, value))
    {
        return found.push(format!("{at}: {value} is not {kinds:?}"));
    }
    if let Some(words) = schema["enum"].as_array()
        && !words.contains(value)
    {
        found.push(format!("{at}: {value} is none of {words:?}"));
    }
    match value {
        Value::Array(items) if schema.get("items").is_some() => {
            for (n, item) in items.iter().enumerate() {
                check(document, &schema["items"], item, &format!("{at}[{n}]"), found);
            }
        }
        Value::Object(_) if kinds(schema).is_some() => check_object(document, schema, value, at, found),
        _ => {}
    }
}

fn kinds(schema: &Value) -> Option<Vec<&str>> {
    match &schema["type"] {
        Value::Null => None,
        Value::String(kind) => Some(vec![kind]),
        several => Some(several.as_array().unwrap().iter().map(|kind| kind.as_str().unwrap()).collect()),
    }
}

fn is(kind: &str, value: &Value) -> bool {
    match kind {
        "null" => value.is_null(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "integer" => value.is_i64() || value.is_u64(),
        "number" => value.is_number(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        other => panic!("the type `{other}` is not known"),
    }
}

fn gather<'d>(document: &'d Value, schema: &'d Value, shape: &mut Shape<'d>) {
    let schema = resolve(document, schema);
    for base in schema["allOf"].as_array().into_iter().flatten() {
        gather(document, base, shape);
    }
    let members = schema["properties"].as_object().into_iter().flatten();
    shape.members.extend(members.map(|(name, schema)| (name.as_str(), schema)));
    let required = schema["required"].as_array().into_iter().flatten();
    shape.required.extend(required.filter_map(Value::as_str));
    shape.others = shape.others.or(schema.get("additionalProperties"));
}

fn check_object(document: &Value, schema: &Value, value: &Value, at: &str, found: &mut Vec<String>) {
    let Some(object) = value.as_object() else { return found.push(format!("{at}: {value} is no object")) };
    let mut shape = Shape::default();
    gather(document, schema, &mut shape);
    for name in shape.required.iter().filter(|name| !object.contains_key(**name)) {
        found.push(format!("{at}: `{name}` is missing"));
    }
    for (name, member) in object {
        match shape.members.get(name.as_str()).copied().or(shape.others) {
            Some(schema) => check(document, schema, member, &format!("{at}.{name}"), found),
            None => found.push(format!("{at}: `{name}` is not described")),
        }
    }
}

#[test]
fn the_checker_finds_each_kind_of_fault() {
    use serde_json::json;
    let document = json!({"components": {"schemas": {
        "Base": {"type": "object", "required": ["id"], "properties": {"id": {"type": "string"}}},
        "Row": {"allOf": [
            {"$ref": "#/components/schemas/Base"},
            {"type": "object", "required": ["n", "s"], "properties": {
                "n": {"type": "integer", "format": "int64"}, "s": {"type": ["string", "null"]}, "any": {},
                "word": {"type": "string", "enum": ["a", "b"]},
                "of": {"oneOf": [{"type": "null"}, {"$ref": "#/components/schemas/Base"}]},
                "list": {"type": "array", "items": {"type": "number"}},
            }},
        ]},
    }}});
    let schema = json!({"$ref": "#/components/schemas/Row"});
    let good =
        json!({"id": "x", "n": 1, "s": null, "any": [{}], "word": "a", "of": {"id": "y"}, "list": [1, 1.5]});
    assert!(faults(&document, &schema, &good).is_empty());
    for (member, wrong) in [
        ("id", json!(1)),
        ("n", json!(1.5)),
        ("s", json!(true)),
        ("word", json!("c")),
        ("of", json!({"id": "y", "more": 1})),
        ("of", json!({})),
        ("list", json!([1, "2"])),
        ("more", json!(1)),
    ] {
        let mut bad = good.clone();
        bad[member] = wrong;
        assert_eq!(faults(&document, &schema, &bad).len(), 1, "{bad}");
    }
    for member in ["id", "n", "s"] {
        let mut bad = good.clone();
        bad.as_object_mut().unwrap().remove(member);
        assert_eq!(faults(&document, &schema, &bad).len(), 1, "{bad}");
    }
    assert!(!faults(&document, &schema, &json!([])).is_empty());
}
