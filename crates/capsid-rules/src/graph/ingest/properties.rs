//! What is told of a thing or a relation besides its name: a small JSON object of plain texts and numbers.

use super::refusal::{IngestRefusal, markup};
use super::{MAX_DEPTH, MAX_PROPERTIES};
use crate::graph::names::is_unseen;
use capsid_model::text::cut;
use serde_json::Value;

/// The text of properties, which is the same for the same properties.
pub(super) fn text_of(properties: &Value, field: &str) -> Result<String, IngestRefusal> {
    match check_value(properties, 1) {
        Err(PropertyError::Deep) => Err(IngestRefusal::new(
            "properties_too_deep",
            field,
            format!("They are nested more than {MAX_DEPTH} deep."),
            "Keep them flat: names with texts, numbers and short lists.",
        )),
        Err(PropertyError::Unseen) => Err(IngestRefusal::new(
            "invalid_character",
            field,
            "They hold a character that is not seen.",
            "Leave out control characters, marks of direction and what has no width.",
        )),
        Err(PropertyError::Markup) => Err(markup(field.to_owned())),
        Ok(()) => match sorted(properties).to_string() {
            text if text.len() <= MAX_PROPERTIES => Ok(text),
            text => Err(IngestRefusal::new(
                "properties_too_large",
                field,
                format!("They have {} bytes as JSON.", text.len()),
                format!("Use at most {MAX_PROPERTIES}."),
            )),
        },
    }
}

enum PropertyError {
    Deep,
    Unseen,
    Markup,
}

/// Looks through properties. The reader of requests bounds how deep this goes.
fn check_value(value: &Value, depth: usize) -> Result<(), PropertyError> {
    let text = |text: &str| match text.chars().any(|c| is_unseen(c) && c != '\n' && c != '\t') {
        true => Err(PropertyError::Unseen),
        false if has_markup(text) => Err(PropertyError::Markup),
        false => Ok(()),
    };
    match value {
        Value::Array(_) | Value::Object(_) if depth > MAX_DEPTH => Err(PropertyError::Deep),
        Value::Array(items) => items.iter().try_for_each(|item| check_value(item, depth + 1)),
        Value::Object(members) => members.iter().try_for_each(|(key, value)| {
            text(key)?;
            check_value(value, depth + 1)
        }),
        Value::String(value) => text(value),
        _ => Ok(()),
    }
}

/// The same properties always have the same text.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Object(members) => {
            let mut members: Vec<(&String, &Value)> = members.iter().collect();
            members.sort_by_key(|(key, _)| *key);
            Value::Object(members.into_iter().map(|(key, value)| (key.clone(), sorted(value))).collect())
        }
        Value::Array(items) => Value::Array(items.iter().map(sorted).collect()),
        other => other.clone(),
    }
}

/// The most of a thing's properties that a question looks at, in bytes.
pub const MAX_PROPERTY_TEXT: usize = 2 * 1024;

/// The texts among the values of properties, a line each.
pub fn property_text(properties: &str) -> String {
    let mut text = String::new();
    if let Ok(value) = serde_json::from_str(properties) {
        add_texts(&value, &mut text);
    }
    cut(&text, MAX_PROPERTY_TEXT).to_owned()
}

fn add_texts(value: &Value, text: &mut String) {
    match value {
        _ if text.len() >= MAX_PROPERTY_TEXT => {}
        Value::String(found) => {
            text.push_str(found);
            text.push('\n');
        }
        Value::Array(items) => items.iter().for_each(|item| add_texts(item, text)),
        Value::Object(members) => members.values().for_each(|value| add_texts(value, text)),
        _ => {}
    }
}

/// Whether a text holds what a page could take for markup.
pub(super) fn has_markup(text: &str) -> bool {
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        if c == '<' && chars.peek().is_some_and(|next| next.is_ascii_alphabetic() || "/!?".contains(*next)) {
            return true;
        }
    }
    false
}
