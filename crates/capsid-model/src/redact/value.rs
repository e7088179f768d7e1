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
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn strings_and_names_are_cleaned_at_any_depth() {
        let mut value = json!({
            "a": [{"b": "see ada@corp.io", "n": 5, "ok": true, "none": null}],
            "ada@corp.io": 1,
            "eve@corp.io": 2,
        });
        redact_value(&mut value, RedactProfile::Publish);
        assert_eq!(
            value,
            json!({
                "a": [{"b": "see [REDACTED]", "n": 5, "ok": true, "none": null}],
                "[REDACTED]": 1,
                "[REDACTED] 2": 2,
            })
        );
    }

    #[test]
    fn members_that_are_secret_by_name_go_whatever_they_hold() {
        let mut value = json!({
            "token": "short", "apiKey": "k", "X-API-KEY": "k", "db_password": "tea", "secret": "",
            "token_count": "15", "tokens": "many", "password": {"min": "8"}, "access_token": 7,
        });
        redact_value(&mut value, RedactProfile::Secrets);
        assert_eq!(
            value,
            json!({
                "token": REDACTED, "apiKey": REDACTED, "X-API-KEY": REDACTED, "db_password": REDACTED, "secret": "",
                "token_count": "15", "tokens": "many", "password": {"min": "8"}, "access_token": 7,
            })
        );
    }

    #[test]
    fn what_stands_below_a_secret_name_goes_too() {
        let mut value = json!({
            "passwords": ["tea", 123_456, {"db": "ada", "min": "8"}],
            "secrets": {"a": "b", "deep": {"c": ["d", 9999, true, null]}},
            "password": 123_456, "db_password": 12.25, "client_secret": {"value": "x"}, "credentials": ["u", "p"],
            "X-Auth": "x", "apiKeys": {"main": "k"}, "db_pass": "hunter2", "auth": {"user": "ada", "pass": "sunshine"},
            "smtpPass": "sunshine", "tokens": ["k3Jx9QpL2mZr7TbV5nHs8YdF"],
        });
        redact_value(&mut value, RedactProfile::Secrets);
        assert_eq!(
            value,
            json!({
                "passwords": [REDACTED, REDACTED, {"db": REDACTED, "min": "8"}],
                "secrets": {"a": REDACTED, "deep": {"c": [REDACTED, REDACTED, true, null]}},
                "password": REDACTED, "db_password": REDACTED, "client_secret": {"value": REDACTED},
                "credentials": [REDACTED, REDACTED], "X-Auth": REDACTED, "apiKeys": {"main": REDACTED},
                "db_pass": REDACTED, "auth": {"user": "ada", "pass": REDACTED}, "smtpPass": REDACTED,
                "tokens": [REDACTED],
            })
        );
    }

    #[test]
    fn counts_schemas_and_pieces_of_text_stay() {
        let before = json!({
            "token_count": 1500, "tokens": 128_000, "max_tokens": 4096, "input_tokens": 9000, "access_token": 9000,
            "password_min_length": 1200, "passwords": 10_000, "password": 8, "secrets": 12_345,
            "password_schema": {"type": "string"}, "tokenizer": "sentencepiece-unigram-32000",
            "tokens_seen": ["the", "cat"], "next_tokens": ["the", "cat", "internationalization"],
            "token": {"type": "word", "value": "while", "start": 12_345},
            "properties": {"password": {"type": "string", "description": "At least eight.", "minLength": 1024}},
            "pwd": "/home/ada/shop", "bypass": "everything", "compass": "northwest", "pass": 12_000, "first_pass": true,
            "win": {"pwd": "C:\\Users\\ada"}, "test_pass": "all tests did well", "passed": "everything",
        });
        let mut value = before.clone();
        redact_value(&mut value, RedactProfile::Secrets);
        assert_eq!(value, before);
    }

    #[test]
    fn many_names_that_become_one_are_told_apart_soon() {
        let mut members: Object = (0..20_000).map(|n| (format!("a{n}@corp.io"), n.into())).collect();
        members.insert("[REDACTED] 3".to_owned(), "was so named".into());
        let mut value = Value::Object(members);
        redact_value(&mut value, RedactProfile::Publish);
        assert_eq!(value.as_object().unwrap().len(), 20_001);
        assert_eq!(value.get("[REDACTED] 2"), Some(&1.into()));
    }
}
