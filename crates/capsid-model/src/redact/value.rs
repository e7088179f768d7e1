//! Redaction of JSON values: strings at any depth, member names, and members that are secret by name.

use super::lists::hints_of_items;
use super::names::{NameHint, hint_of_pair, renamed};
use super::{REDACTED, RedactProfile, redact};
use crate::{Object, Value};
use std::borrow::Cow;

/// Takes out of a JSON value what the profile takes out of its strings and names, and every string whose name says
/// that it is a secret; below such a name also the strings of lists and objects, and numbers that may be passwords.
pub fn redact_value(value: &mut Value, profile: RedactProfile) {
    below(value, profile, NameHint::Nothing);
}

fn below(value: &mut Value, profile: RedactProfile, told: NameHint) {
    match value {
        Value::String(text) if told.applies_to_text(text) => *text = REDACTED.to_owned(),
        Value::Number(number) if told.applies_to_number(&number.to_string()) => *value = REDACTED.into(),
        Value::String(text) => {
            if let Cow::Owned(clean) = redact(text, profile) {
                *text = clean;
            }
        }
        Value::Array(items) => {
            let texts: Vec<Option<&str>> = items.iter().map(Value::as_str).collect();
            let of_items = hints_of_items(&texts);
            for (item, of_item) in items.iter_mut().zip(of_items) {
                below(item, profile, told.inside().max(of_item));
            }
        }
        Value::Object(members) => redact_members(members, profile, told.inside()),
        _ => {}
    }
}

fn redact_members(members: &mut Object, profile: RedactProfile, told: NameHint) {
    let texts = members.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
    let paired = hint_of_pair(texts);
    for (name, value) in members.iter_mut() {
        below(value, profile, told.member_of_pair(name, paired));
    }
    let clean: Vec<Option<String>> = members
        .keys()
        .map(|name| match redact(name, profile) {
            Cow::Owned(clean) => Some(clean),
            Cow::Borrowed(_) => None,
        })
        .collect();
    if clean.iter().any(Option::is_some) {
        *members = renamed(std::mem::take(members), clean);
    }
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
