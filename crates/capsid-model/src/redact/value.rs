//! Redaction of JSON values: strings at any depth, member names, and members that are secret by name.

use super::{Profile, REDACTED, redact};
use crate::{Object, Value};
use std::borrow::Cow;

/// Takes out of a JSON value what the profile takes out of its strings and names, and every string whose name says
/// that it is a secret.
pub fn redact_value(value: &mut Value, profile: Profile) {
    match value {
        Value::String(text) => {
            if let Cow::Owned(clean) = redact(text, profile) {
                *text = clean;
            }
        }
        Value::Array(items) => items.iter_mut().for_each(|item| redact_value(item, profile)),
        Value::Object(members) => redact_members(members, profile),
        _ => {}
    }
}

fn redact_members(members: &mut Object, profile: Profile) {
    for (name, value) in members.iter_mut() {
        match value {
            Value::String(text) if names_a_secret(name) && !text.is_empty() => {
                *text = REDACTED.to_owned();
            }
            other => redact_value(other, profile),
        }
    }
    if members.keys().any(|name| matches!(redact(name, profile), Cow::Owned(_))) {
        *members = renamed(std::mem::take(members), profile);
    }
}

/// The members under clean names; two names that become one are numbered, so that nothing is lost.
fn renamed(members: Object, profile: Profile) -> Object {
    let mut clean = Object::new();
    for (name, value) in members {
        let name = redact(&name, profile).into_owned();
        let taken = (2..).map(|n| format!("{name} {n}"));
        let free = std::iter::once(name.clone()).chain(taken).find(|name| !clean.contains_key(name));
        clean.insert(free.unwrap_or(name), value);
    }
    clean
}

/// Whether a member's name says that its value is a secret, however it is spelled: `apiKey`, `API_KEY`, `x-api-key`.
pub(super) fn names_a_secret(name: &str) -> bool {
    const ENDINGS: [&str; 14] = [
        "token",
        "apikey",
        "password",
        "passwd",
        "passphrase",
        "secret",
        "secretkey",
        "privatekey",
        "accesskey",
        "accountkey",
        "clientsecret",
        "authorization",
        "cookie",
        "credentials",
    ];
    let plain: String =
        name.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect();
    ENDINGS.iter().any(|ending| plain.ends_with(ending))
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
        redact_value(&mut value, Profile::Publish);
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
        redact_value(&mut value, Profile::Secrets);
        assert_eq!(
            value,
            json!({
                "token": REDACTED, "apiKey": REDACTED, "X-API-KEY": REDACTED, "db_password": REDACTED, "secret": "",
                "token_count": "15", "tokens": "many", "password": {"min": "8"}, "access_token": 7,
            })
        );
    }
}
