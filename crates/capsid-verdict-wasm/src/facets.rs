//! What a row of the timeline shows of a record, and what a search looks through.

use capsid_model::exact::{self, ExactJson};
use serde_json::{Value, json};

const SUMMARY_LEN: usize = 90;
const REQUEST_LEN: usize = 300;

/// The content as plain data. `NaN` and the infinities become null.
pub(crate) fn parse_content(canonical: &str) -> Value {
    serde_json::from_str(canonical)
        .or_else(|_| exact::parse(canonical).map(|value| to_plain(&value)))
        .unwrap_or(Value::Null)
}

fn to_plain(value: &ExactJson) -> Value {
    match value {
        ExactJson::String(text) => json!(text),
        ExactJson::Array(items) => items.iter().map(to_plain).collect(),
        ExactJson::Object(fields) => {
            fields.iter().map(|(name, item)| (name.clone(), to_plain(item))).collect()
        }
        other => serde_json::from_str(&exact::canonical(other)).unwrap_or(Value::Null),
    }
}

/// The members of a row, in the order that the page reads them in.
pub(crate) fn facets(content: &Value, signed_at: Option<&str>) -> Vec<Value> {
    let environment = &content["context"]["environment"];
    let calls = content["execution"]["tool_calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    let moment =
        [&environment["timestamp"], &content["trigger"]["timestamp"]].into_iter().find_map(Value::as_str);
    let has_reasoned = environment["thinking_blocks"].as_f64().is_some_and(|blocks| blocks > 0.0)
        || content["reasoning"]["reasoning"].as_str().is_some_and(|text| !text.is_empty());
    let used = &content["execution"]["resources_used"];
    vec![
        json!(clip(&content["type"], REQUEST_LEN)),
        json!(calls.first().map_or("", |call| clip(&call["tool"], REQUEST_LEN))),
        json!(clip(&content["outcome"]["status"], REQUEST_LEN)),
        json!(moment.filter(|text| !text.is_empty()).or(signed_at)),
        json!(clip(&content["trigger"]["request"], REQUEST_LEN)),
        json!(clip(&content["outcome"]["summary"], SUMMARY_LEN)),
        json!(amount(&used["input_tokens"])),
        json!(amount(&used["output_tokens"])),
        json!(duration(content, calls)),
        json!(has_reasoned),
        json!(content["authority"]["type"] == "autonomous"),
        conversation(content),
    ]
}

/// The duration of a record: its own, or the sum of its calls.
fn duration(content: &Value, calls: &[Value]) -> f64 {
    let own = amount(&content["execution"]["duration_ms"]);
    if own > 0.0 { own } else { calls.iter().map(|call| amount(&call["duration_ms"])).sum() }
}

fn amount(value: &Value) -> f64 {
    value.as_f64().filter(|number| *number >= 0.0).unwrap_or(0.0)
}

fn clip(value: &Value, len: usize) -> &str {
    let text = value.as_str().unwrap_or_default();
    text.char_indices().nth(len).map_or(text, |(end, _)| text.get(..end).unwrap_or_default())
}

/// Members of a meta-chain's results that say something of other chains and of keys.
const META_MEMBERS: [&str; 8] =
    ["kind", "tool", "session_id", "head_hash", "capsule_count", "open", "old_public_key", "new_public_key"];

/// Whose conversation it is, and what a record of the meta-chain says of one, or of a key.
fn conversation(content: &Value) -> Value {
    let result = &content["outcome"]["result"];
    let is_meta = ["conversation_seal", "key_rotation"].iter().any(|kind| result["kind"] == *kind);
    if !is_meta && content["sequence"] != 0 {
        return Value::Null;
    }
    let said = || META_MEMBERS.into_iter().filter_map(|name| Some((name, result.get(name)?.clone())));
    let said = if is_meta { said().collect() } else { Value::Null };
    json!([content["domain"], content["context"]["session_id"], said])
}

/// Whether any text inside has the words, which are in lower case.
pub(crate) fn has_words(content: &Value, words: &str) -> bool {
    match content {
        Value::String(text) => contains_ignoring_case(text, words),
        Value::Array(items) => items.iter().any(|item| has_words(item, words)),
        Value::Object(fields) => fields.iter().any(|(_, item)| has_words(item, words)),
        Value::Number(number) => number.to_string() == words,
        Value::Null | Value::Bool(_) => false,
    }
}

fn contains_ignoring_case(text: &str, words: &str) -> bool {
    if text.len() < words.len() {
        return false;
    }
    if text.is_ascii() && words.is_ascii() {
        let first = words.as_bytes().first().copied().unwrap_or_default();
        return text.as_bytes().windows(words.len().max(1)).any(|part| {
            part[0].to_ascii_lowercase() == first && part.eq_ignore_ascii_case(words.as_bytes())
        });
    }
    text.to_lowercase().contains(words)
}
