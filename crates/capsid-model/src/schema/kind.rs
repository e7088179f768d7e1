//! The kinds of values that a field may hold: how each is told in words, and how it is checked.

use super::{SchemaFindings, describe_value};
use crate::{Time, Value};
use std::fmt;

/// A member of an object.
pub(super) struct FieldSchema {
    pub(super) name: &'static str,
    pub(super) need: FieldNeed,
    pub(super) kind: ValueKind,
}

/// Whether a member has to be there.
#[derive(Clone, Copy)]
pub(super) enum FieldNeed {
    /// Its absence is an error.
    Must,
    /// Its absence is worth a note; it may be null.
    Should,
    /// It may be absent or null.
    May,
}

/// What a value has to be.
pub(super) enum ValueKind {
    Any,
    Flag,
    /// Text of a number of characters.
    Text(usize, usize),
    /// Text of a named form.
    Form(&'static str, fn(&str) -> bool),
    OneOf(&'static [&'static str]),
    Number(f64, f64),
    Whole(f64, f64),
    /// A list of a number of items.
    List(&'static ValueKind, usize, usize),
    /// An object whose other members are noted.
    Record(&'static [FieldSchema]),
    /// An object that may have any other members.
    Open(&'static [FieldSchema]),
    Either(&'static ValueKind, &'static ValueKind),
}

pub(super) const fn must(name: &'static str, kind: ValueKind) -> FieldSchema {
    FieldSchema { name, need: FieldNeed::Must, kind }
}

pub(super) const fn should(name: &'static str, kind: ValueKind) -> FieldSchema {
    FieldSchema { name, need: FieldNeed::Should, kind }
}

pub(super) const fn may(name: &'static str, kind: ValueKind) -> FieldSchema {
    FieldSchema { name, need: FieldNeed::May, kind }
}

const MANY: usize = usize::MAX;
const NO_LIMIT: f64 = f64::INFINITY;

pub(super) const TEXT: ValueKind = ValueKind::Text(0, MANY);
pub(super) const NAME: ValueKind = ValueKind::Text(1, MANY);
pub(super) const SHARE: ValueKind = ValueKind::Number(0.0, 1.0);
pub(super) const NUMBER: ValueKind = ValueKind::Number(f64::NEG_INFINITY, NO_LIMIT);
pub(super) const AMOUNT: ValueKind = ValueKind::Number(0.0, NO_LIMIT);
pub(super) const COUNT: ValueKind = ValueKind::Whole(0.0, NO_LIMIT);
pub(super) const POSITIVE: ValueKind = ValueKind::Whole(1.0, NO_LIMIT);
pub(super) const OBJECT: ValueKind = ValueKind::Open(&[]);
pub(super) const TEXTS: ValueKind = ValueKind::List(&TEXT, 0, MANY);
pub(super) const SOME_TEXTS: ValueKind = ValueKind::List(&NAME, 1, MANY);
pub(super) const TIME: ValueKind =
    ValueKind::Form("a time such as 2026-02-07T15:20:54.155Z", |text| Time::parse(text).is_some());
pub(super) const VERSION: ValueKind = ValueKind::Form("a version such as 1.5.0", |text| {
    text.split('.').count() == 3 && text.split('.').all(is_digits)
});
pub(super) const ASSET_ID: ValueKind = ValueKind::Form("`sha256:` and 64 lowercase hex digits", |text| {
    text.strip_prefix("sha256:")
        .is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
});
pub(super) const SLUG: ValueKind = ValueKind::Form("lowercase letters, digits and dashes", |text| {
    let plain = |b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-');
    !text.is_empty() && text.bytes().all(plain)
});

/// A list of any length.
pub(super) const fn list(of: &'static ValueKind) -> ValueKind {
    ValueKind::List(of, 0, MANY)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

impl ValueKind {
    pub(super) fn check(&self, path: &str, value: &Value, found: &mut SchemaFindings) {
        match (self, value) {
            (Self::List(of, min, max), Value::Array(items)) if (*min..=*max).contains(&items.len()) => {
                for (at, item) in items.iter().enumerate() {
                    of.check(&format!("{path}[{at}]"), item, found);
                }
            }
            (Self::Record(fields), Value::Object(object)) => {
                found.members(path, fields, object);
                found.strangers(path, fields, object);
            }
            (Self::Open(fields), Value::Object(object)) => found.members(path, fields, object),
            (Self::Either(one, other), _) if one.accepts(value) || other.accepts(value) => {
                let fitting = if one.accepts(value) { one } else { other };
                fitting.check(path, value, found);
            }
            _ if self.holds(value) => {}
            _ => found.error(path, format!("must be {self}, is {}", describe_value(value))),
        }
    }

    /// Whether a single value is of this kind.
    fn holds(&self, value: &Value) -> bool {
        let text = |ok: &dyn Fn(&str) -> bool| value.as_str().is_some_and(ok);
        let number = |ok: &dyn Fn(f64) -> bool| value.as_f64().is_some_and(ok);
        match self {
            Self::Any => true,
            Self::Flag => value.is_boolean(),
            Self::Text(min, max) => text(&|t| (*min..=*max).contains(&t.chars().count())),
            Self::Form(_, fits) => text(fits),
            Self::OneOf(words) => text(&|t| words.contains(&t)),
            Self::Number(min, max) => number(&|n| (*min..=*max).contains(&n)),
            Self::Whole(min, max) => number(&|n| n.fract() == 0.0 && (*min..=*max).contains(&n)),
            Self::List(..) | Self::Record(_) | Self::Open(_) | Self::Either(..) => false,
        }
    }

    /// Whether a value has the JSON type of this kind.
    fn accepts(&self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Flag => value.is_boolean(),
            Self::Text(..) | Self::Form(..) | Self::OneOf(_) => value.is_string(),
            Self::Number(..) | Self::Whole(..) => value.is_number(),
            Self::List(..) => value.is_array(),
            Self::Record(_) | Self::Open(_) => value.is_object(),
            Self::Either(one, other) => one.accepts(value) || other.accepts(value),
        }
    }
}

impl fmt::Display for ValueKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Any => f.write_str("any value"),
            Self::Flag => f.write_str("true or false"),
            Self::Text(0, MANY) => f.write_str("text"),
            Self::Text(1, MANY) => f.write_str("text that is not empty"),
            Self::Text(min, max) => write!(f, "text of {min} to {max} characters"),
            Self::Form(words, _) => f.write_str(words),
            Self::OneOf([only]) => write!(f, "\"{only}\""),
            Self::OneOf(words) => write!(f, "one of {}", words.join(", ")),
            Self::Number(min, max) => write!(f, "a number{}", NumberRange(*min, *max)),
            Self::Whole(min, max) => write!(f, "a whole number{}", NumberRange(*min, *max)),
            Self::List(_, 0, MANY) => f.write_str("a list"),
            Self::List(_, min, MANY) => write!(f, "a list of at least {min}"),
            Self::List(_, min, max) => write!(f, "a list of {min} to {max}"),
            Self::Record(_) | Self::Open(_) => f.write_str("an object"),
            Self::Either(one, other) => write!(f, "{one} or {other}"),
        }
    }
}

struct NumberRange(f64, f64);

impl fmt::Display for NumberRange {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.is_finite(), self.1.is_finite()) {
            (false, _) => Ok(()),
            (true, false) => write!(f, " of {} or more", self.0),
            (true, true) => write!(f, " from {} to {}", self.0, self.1),
        }
    }
}
