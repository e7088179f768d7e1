use super::*;
use crate::fields;

#[test]
fn each_place_is_told_and_nothing_else_changes() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let mut value = ExactJson::Object(fields! {
        "calls": vec![ExactJson::Object(fields! {"command": format!("push {token} now"), "n": 5_i64})],
        "a/b": ExactJson::Object(fields! {"password": "tea"}),
        "plain": "/home/ada/notes about ada@corp.io",
    });
    let mut told = Vec::new();
    redact_exact(&mut value, RedactProfile::Secrets, "/execution", &mut |place, value| {
        told.push((place.to_owned(), value.to_owned()));
    });
    let places: Vec<(&str, &str)> =
        told.iter().map(|(place, value)| (place.as_str(), value.as_str())).collect();
    assert_eq!(places, [("/execution/calls/0/command", token.as_str()), ("/execution/a~1b/password", "tea")]);
    assert_eq!(value.at(&["a/b", "password"]).and_then(ExactJson::as_str), Some(REDACTED));
    assert_eq!(value.text("plain"), Some("/home/ada/notes about ada@corp.io"));
    let command = value.get("calls").and_then(ExactJson::as_array).and_then(|calls| calls[0].text("command"));
    assert_eq!(command, Some("push [REDACTED] now"));
}

#[test]
fn names_that_hold_a_secret_are_cleaned_too() {
    let mut fields = ExactFields::new();
    fields.insert("see ada@corp.io".to_owned(), ExactJson::Null);
    fields.insert("see eve@corp.io".to_owned(), ExactJson::Bool(true));
    let mut value = ExactJson::Object(fields);
    let mut count = 0;
    redact_exact(&mut value, RedactProfile::Publish, "", &mut |_, _| count += 1);
    assert_eq!(count, 2);
    assert_eq!(value.get("see [REDACTED]"), Some(&ExactJson::Null));
    assert_eq!(value.get("see [REDACTED] 2"), Some(&ExactJson::Bool(true)));
}

#[test]
fn a_place_is_told_without_the_secret_in_a_name() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    let mut inner = ExactFields::new();
    inner.insert(format!("use {token}"), ExactJson::Object(fields! {"password": "tea"}));
    inner.insert(format!("use {}", token.replace('a', "b")), ExactJson::Object(fields! {"password": "mug"}));
    let mut value = ExactJson::Object(fields! {"env": ExactJson::Object(inner)});
    let mut places = Vec::new();
    redact_exact(&mut value, RedactProfile::Secrets, "/context", &mut |place, _| {
        places.push(place.to_owned());
    });
    assert_eq!(
        places,
        [
            "/context/env",
            "/context/env",
            "/context/env/use [REDACTED]/password",
            "/context/env/use [REDACTED] 2/password"
        ]
    );
    assert_eq!(
        value.at(&["env", "use [REDACTED] 2", "password"]).and_then(ExactJson::as_str),
        Some(REDACTED)
    );
}

#[test]
fn strings_and_numbers_below_a_secret_name_are_told() {
    let mut value = ExactJson::Object(fields! {
        "passwords": vec![ExactJson::from("tea"), ExactJson::from(123_456_i64), ExactJson::from(7_i64)],
        "password": 20.125, "max_tokens": 4096_i64,
    });
    let mut told = Vec::new();
    redact_exact(&mut value, RedactProfile::Secrets, "", &mut |place, value| {
        told.push(format!("{place}={value}"));
    });
    assert_eq!(told, ["/passwords/0=tea", "/passwords/1=123456", "/password=20.125"]);
    assert_eq!(value.get("password"), Some(&ExactJson::from(REDACTED)));
    assert_eq!(value.get("max_tokens"), Some(&ExactJson::from(4096_i64)));
}
