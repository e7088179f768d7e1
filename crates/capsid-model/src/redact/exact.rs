//! Redaction of exact JSON before it is sealed: as for other values, and with each place told.

use super::value::names_a_secret;
use super::{Profile, REDACTED, redact_telling};
use crate::exact::{Fields, Json};
use std::borrow::Cow;

/// Takes out of a value what the profile takes out of its strings and names, and every string whose name says that it
/// is a secret. Tells the place of each, as a JSON pointer that begins with `place`, and what was taken out.
pub fn redact_exact(value: &mut Json, profile: Profile, place: &str, taken: &mut dyn FnMut(&str, &str)) {
    Walk { profile, place: place.to_owned(), taken }.value(value);
}

struct Walk<'a> {
    profile: Profile,
    place: String,
    taken: &'a mut dyn FnMut(&str, &str),
}

impl Walk<'_> {
    fn value(&mut self, value: &mut Json) {
        match value {
            Json::String(text) => {
                if let Cow::Owned(clean) = self.text(text) {
                    *text = clean;
                }
            }
            Json::Array(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    self.below(&index.to_string(), |walk| walk.value(item));
                }
            }
            Json::Object(fields) => self.fields(fields),
            _ => {}
        }
    }

    fn fields(&mut self, fields: &mut Fields) {
        for (name, value) in fields.iter_mut() {
            self.below(name, |walk| match value {
                Json::String(text) if names_a_secret(name) && !text.is_empty() && text != REDACTED => {
                    (walk.taken)(&walk.place, text);
                    *text = REDACTED.to_owned();
                }
                other => walk.value(other),
            });
        }
        self.names(fields);
    }

    /// Cleans names; two that become one are numbered, so that nothing is lost.
    fn names(&mut self, fields: &mut Fields) {
        let clean: Vec<Option<String>> = fields
            .keys()
            .map(|name| match self.text(name) {
                Cow::Owned(clean) => Some(clean),
                Cow::Borrowed(_) => None,
            })
            .collect();
        if clean.iter().all(Option::is_none) {
            return;
        }
        let mut renamed = Fields::new();
        for ((name, value), clean) in std::mem::take(fields).into_iter().zip(clean) {
            let name = clean.unwrap_or(name);
            let taken = (2..).map(|n| format!("{name} {n}"));
            let free = std::iter::once(name.clone()).chain(taken).find(|name| !renamed.contains_key(name));
            renamed.insert(free.unwrap_or(name), value);
        }
        *fields = renamed;
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
        let mut value = Json::Object(fields! {
            "calls": vec![Json::Object(fields! {"command": format!("push {token} now"), "n": 5_i64})],
            "a/b": Json::Object(fields! {"password": "tea"}),
            "plain": "/home/ada/notes about ada@corp.io",
        });
        let mut told = Vec::new();
        redact_exact(&mut value, Profile::Secrets, "/execution", &mut |place, value| {
            told.push((place.to_owned(), value.to_owned()));
        });
        let places: Vec<(&str, &str)> =
            told.iter().map(|(place, value)| (place.as_str(), value.as_str())).collect();
        assert_eq!(
            places,
            [("/execution/calls/0/command", token.as_str()), ("/execution/a~1b/password", "tea")]
        );
        assert_eq!(value.at(&["a/b", "password"]).and_then(Json::as_str), Some(REDACTED));
        assert_eq!(value.text("plain"), Some("/home/ada/notes about ada@corp.io"));
        let command = value.get("calls").and_then(Json::as_array).and_then(|calls| calls[0].text("command"));
        assert_eq!(command, Some("push [REDACTED] now"));
    }

    #[test]
    fn names_that_hold_a_secret_are_cleaned_too() {
        let mut fields = Fields::new();
        fields.insert("see ada@corp.io".to_owned(), Json::Null);
        fields.insert("see eve@corp.io".to_owned(), Json::Bool(true));
        let mut value = Json::Object(fields);
        let mut count = 0;
        redact_exact(&mut value, Profile::Publish, "", &mut |_, _| count += 1);
        assert_eq!(count, 2);
        assert_eq!(value.get("see [REDACTED]"), Some(&Json::Null));
        assert_eq!(value.get("see [REDACTED] 2"), Some(&Json::Bool(true)));
    }
}
