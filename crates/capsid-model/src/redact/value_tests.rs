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
