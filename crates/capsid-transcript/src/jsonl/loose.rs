//! A quick look into a line: a few members are read, the rest is passed over, and no value has the wrong type.

use capsid_model::exact::{ExactJson, float_text, parse_lossy, spaced};
use serde::de::{Deserialize, DeserializeOwned, Deserializer, IgnoredAny, MapAccess, SeqAccess, Visitor};
use std::fmt;
use std::marker::PhantomData;

/// What a member holds, seen as a text, a list or an object of interest, or as anything else.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) enum LooseValue<T> {
    /// Null, or no such member.
    #[default]
    Absent,
    Text(String),
    /// A list of what is of interest.
    List(Vec<T>),
    One(Box<T>),
    Yes,
    Other,
}

impl<T> LooseValue<T> {
    /// The text; empty if it is none.
    pub(crate) fn text(&self) -> &str {
        match self {
            Self::Text(text) => text,
            _ => "",
        }
    }

    /// The object, if it is one.
    pub(crate) fn one(&self) -> Option<&T> {
        match self {
            Self::One(one) => Some(one),
            _ => None,
        }
    }

    /// The items; none if it is no list.
    pub(crate) fn list(&self) -> &[T] {
        match self {
            Self::List(items) => items,
            _ => &[],
        }
    }

    /// Whether there is such a member, and it is not null.
    pub(crate) fn is_there(&self) -> bool {
        !matches!(self, Self::Absent)
    }

    /// Whether it is `true`.
    pub(crate) fn is_yes(&self) -> bool {
        matches!(self, Self::Yes)
    }
}

impl<'de, T: Deserialize<'de> + Default> Deserialize<'de> for LooseValue<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(AnyValue(PhantomData))
    }
}

struct AnyValue<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de> + Default> Visitor<'de> for AnyValue<T> {
    type Value = LooseValue<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("anything")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(LooseValue::Absent)
    }

    fn visit_bool<E>(self, yes: bool) -> Result<Self::Value, E> {
        Ok(if yes { LooseValue::Yes } else { LooseValue::Other })
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self::Value, E> {
        Ok(LooseValue::Other)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self::Value, E> {
        Ok(LooseValue::Other)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self::Value, E> {
        Ok(LooseValue::Other)
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        // Names are short; of a long text only its being there is of interest.
        Ok(LooseValue::Text(if text.len() <= 200 {
            text.to_owned()
        } else {
            text.chars().take(200).collect()
        }))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<LooseValue<T>>()? {
            list.push(match item {
                LooseValue::One(one) => *one,
                _ => T::default(),
            });
        }
        Ok(LooseValue::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
        T::deserialize(serde::de::value::MapAccessDeserializer::new(map))
            .map(|one| LooseValue::One(Box::new(one)))
    }
}

/// A struct with the members of interest of a line, each a [`Loose`].
pub(crate) trait PeekLine: DeserializeOwned + Default {
    /// Looks into a line; none if the line is no JSON object.
    fn peek(bytes: &[u8]) -> Option<Self> {
        let first = bytes.iter().find(|byte| !byte.is_ascii_whitespace());
        if first == Some(&b'{')
            && let Ok(peeked) = serde_json::from_slice(bytes)
        {
            return Some(peeked);
        }
        Self::peek_again(bytes)
    }

    /// The slow path, for lone surrogates, bytes that are no UTF-8, duplicate names, and numbers such as `NaN`.
    fn peek_again(bytes: &[u8]) -> Option<Self> {
        let mut document = parse_lossy(bytes).ok().filter(|document| document.as_object().is_some())?;
        numbers_as_text(&mut document);
        Some(serde_json::from_str(&spaced(&document)).unwrap_or_default())
    }
}

/// Numbers that JSON does not have become texts.
fn numbers_as_text(value: &mut ExactJson) {
    match value {
        ExactJson::Float(number) if !number.is_finite() => *value = float_text(*number).into(),
        ExactJson::Array(items) => items.iter_mut().for_each(numbers_as_text),
        ExactJson::Object(fields) => fields.values_mut().for_each(numbers_as_text),
        _ => {}
    }
}

/// Nothing is of interest inside.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct IgnoredValue;

impl<'de> Deserialize<'de> for IgnoredValue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        IgnoredAny::deserialize(deserializer).map(|_| Self)
    }
}
