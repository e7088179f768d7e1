//! Redaction of exact JSON before it is sealed: as for other values, and with each place told.

use super::lists::hints_of_items;
use super::names::{NameHint, hint_of_pair, renamed};
use super::{REDACTED, RedactProfile, redact_telling};
use crate::exact::{ExactFields, ExactJson, canonical};
use std::borrow::Cow;

/// Takes out of a value what the profile takes out of its strings and names, and every string whose name says that it
/// is a secret; below such a name also the strings of lists and objects, and numbers that may be passwords. Tells the place of each, as a JSON pointer that begins with `place`, and what was taken out.
pub fn redact_exact(
    value: &mut ExactJson,
    profile: RedactProfile,
    place: &str,
    taken: &mut dyn FnMut(&str, &str),
) {
    RedactWalk { profile, place: place.to_owned(), taken }.value(value, NameHint::Nothing);
}

struct RedactWalk<'a> {
    profile: RedactProfile,
    place: String,
    taken: &'a mut dyn FnMut(&str, &str),
}

impl RedactWalk<'_> {
    fn value(&mut self, value: &mut ExactJson, told: NameHint) {
        match value {
            ExactJson::String(text) if told.applies_to_text(text) => {
                (self.taken)(&self.place, text);
                *text = REDACTED.to_owned();
            }
            ExactJson::String(text) => {
                if let Cow::Owned(clean) = self.text(text) {
                    *text = clean;
                }
            }
            ExactJson::Int(_) | ExactJson::Float(_) => self.number(value, told),
            ExactJson::Array(items) => {
                let texts: Vec<Option<&str>> = items.iter().map(ExactJson::as_str).collect();
                let of_items = hints_of_items(&texts);
                for ((index, item), of_item) in items.iter_mut().enumerate().zip(of_items) {
                    self.below(&index.to_string(), |walk| walk.value(item, told.inside().max(of_item)));
                }
            }
            ExactJson::Object(fields) => {
                let texts = fields.iter().filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)));
                let paired = hint_of_pair(texts);
                let names: Vec<NameHint> =
                    fields.keys().map(|name| told.inside().member_of_pair(name, paired)).collect();
                // The names first: the places told of the values are made of them.
                self.names(fields);
                for ((name, value), told) in fields.iter_mut().zip(names) {
                    self.below(name, |walk| walk.value(value, told));
                }
            }
            ExactJson::Null | ExactJson::Bool(_) => {}
        }
    }

    fn number(&mut self, value: &mut ExactJson, told: NameHint) {
        if told == NameHint::Nothing {
            return;
        }
        let number = canonical(value);
        if told.applies_to_number(&number) {
            (self.taken)(&self.place, &number);
            *value = REDACTED.into();
        }
    }

    fn names(&mut self, fields: &mut ExactFields) {
        let clean: Vec<Option<String>> = fields
            .keys()
            .map(|name| match self.text(name) {
                Cow::Owned(clean) => Some(clean),
                Cow::Borrowed(_) => None,
            })
            .collect();
        if clean.iter().any(Option::is_some) {
            *fields = renamed(std::mem::take(fields), clean);
        }
    }

    fn text<'t>(&mut self, text: &'t str) -> Cow<'t, str> {
        let (place, taken) = (&self.place, &mut self.taken);
        redact_telling(text, self.profile, &mut |value| taken(place, value))
    }

    fn below(&mut self, step: &str, visit: impl FnOnce(&mut Self)) {
        let length = self.place.len();
        self.place.push('/');
        self.place.push_str(&step.replace('~', "~0").replace('/', "~1"));
        visit(self);
        self.place.truncate(length);
    }
}

#[cfg(test)]
mod tests {
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
        assert_eq!(
            places,
            [("/execution/calls/0/command", token.as_str()), ("/execution/a~1b/password", "tea")]
        );
        assert_eq!(value.at(&["a/b", "password"]).and_then(ExactJson::as_str), Some(REDACTED));
        assert_eq!(value.text("plain"), Some("/home/ada/notes about ada@corp.io"));
        let command =
            value.get("calls").and_then(ExactJson::as_array).and_then(|calls| calls[0].text("command"));
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
        inner.insert(
            format!("use {}", token.replace('a', "b")),
            ExactJson::Object(fields! {"password": "mug"}),
        );
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
}
