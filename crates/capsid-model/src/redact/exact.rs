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
#[path = "exact_tests.rs"]
mod tests;
