//! The kinds of values that a field may hold: how each is told in words, and how it is checked.

use super::{Findings, shown};
use crate::{Time, Value};
use std::fmt;

/// A member of an object.
pub(super) struct Field {
    pub(super) name: &'static str,
    pub(super) need: Need,
    pub(super) kind: Kind,
}

/// Whether a member has to be there.
#[derive(Clone, Copy)]
pub(super) enum Need {
    /// Its absence is an error.
    Must,
    /// Its absence is worth a note; it may be null.
    Should,
    /// It may be absent or null.
    May,
}

/// What a value has to be.
pub(super) enum Kind {
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
    List(&'static Kind, usize, usize),
    /// An object whose other members are noted.
    Record(&'static [Field]),
    /// An object that may have any other members.
    Open(&'static [Field]),
    Either(&'static Kind, &'static Kind),
}

pub(super) const fn must(name: &'static str, kind: Kind) -> Field {
    Field { name, need: Need::Must, kind }
}

pub(super) const fn should(name: &'static str, kind: Kind) -> Field {
    Field { name, need: Need::Should, kind }
}

pub(super) const fn may(name: &'static str, kind: Kind) -> Field {
    Field { name, need: Need::May, kind }
}

const MANY: usize = usize::MAX;
const NO_LIMIT: f64 = f64::INFINITY;

pub(super) const TEXT: Kind = Kind::Text(0, MANY);
pub(super) const NAME: Kind = Kind::Text(1, MANY);
pub(super) const SHARE: Kind = Kind::Number(0.0, 1.0);
pub(super) const NUMBER: Kind = Kind::Number(f64::NEG_INFINITY, NO_LIMIT);
pub(super) const AMOUNT: Kind = Kind::Number(0.0, NO_LIMIT);
pub(super) const COUNT: Kind = Kind::Whole(0.0, NO_LIMIT);
pub(super) const POSITIVE: Kind = Kind::Whole(1.0, NO_LIMIT);
pub(super) const OBJECT: Kind = Kind::Open(&[]);
pub(super) const TEXTS: Kind = Kind::List(&TEXT, 0, MANY);
pub(super) const SOME_TEXTS: Kind = Kind::List(&NAME, 1, MANY);
pub(super) const TIME: Kind =
    Kind::Form("a time such as 2026-02-07T15:20:54.155Z", |text| Time::parse(text).is_some());
pub(super) const VERSION: Kind = Kind::Form("a version such as 1.5.0", |text| {
    text.split('.').count() == 3 && text.split('.').all(is_digits)
});
pub(super) const ASSET_ID: Kind = Kind::Form("`sha256:` and 64 lowercase hex digits", |text| {
    text.strip_prefix("sha256:")
        .is_some_and(|hex| hex.len() == 64 && hex.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')))
});
pub(super) const SLUG: Kind = Kind::Form("lowercase letters, digits and dashes", |text| {
    let plain = |b| matches!(b, b'a'..=b'z' | b'0'..=b'9' | b'-');
    !text.is_empty() && text.bytes().all(plain)
});

/// A list of any length.
pub(super) const fn list(of: &'static Kind) -> Kind {
    Kind::List(of, 0, MANY)
}

fn is_digits(text: &str) -> bool {
    !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit())
}

impl Kind {
    pub(super) fn check(&self, path: &str, value: &Value, found: &mut Findings) {
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
            (Self::Either(one, other), _) if one.takes(value) || other.takes(value) => {
                let fitting = if one.takes(value) { one } else { other };
                fitting.check(path, value, found);
            }
            _ if self.holds(value) => {}
            _ => found.error(path, format!("must be {self}, is {}", shown(value))),
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
    fn takes(&self, value: &Value) -> bool {
        match self {
            Self::Any => true,
            Self::Flag => value.is_boolean(),
            Self::Text(..) | Self::Form(..) | Self::OneOf(_) => value.is_string(),
            Self::Number(..) | Self::Whole(..) => value.is_number(),
            Self::List(..) => value.is_array(),
            Self::Record(_) | Self::Open(_) => value.is_object(),
            Self::Either(one, other) => one.takes(value) || other.takes(value),
        }
    }
}

impl fmt::Display for Kind {
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
            Self::Number(min, max) => write!(f, "a number{}", Range(*min, *max)),
            Self::Whole(min, max) => write!(f, "a whole number{}", Range(*min, *max)),
            Self::List(_, 0, MANY) => f.write_str("a list"),
            Self::List(_, min, MANY) => write!(f, "a list of at least {min}"),
            Self::List(_, min, max) => write!(f, "a list of {min} to {max}"),
            Self::Record(_) | Self::Open(_) => f.write_str("an object"),
            Self::Either(one, other) => write!(f, "{one} or {other}"),
        }
    }
}

struct Range(f64, f64);

impl fmt::Display for Range {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.0.is_finite(), self.1.is_finite()) {
            (false, _) => Ok(()),
            (true, false) => write!(f, " of {} or more", self.0),
            (true, true) => write!(f, " from {} to {}", self.0, self.1),
        }
    }
}
