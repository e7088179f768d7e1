//! A document that borrows its strings from its text: the quick way to a canonical form, for documents that are only
//! hashed and then forgotten.

use crate::canonical::{utf16_order, write_number, write_plain};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::Number;
use std::borrow::Cow;
use std::fmt;

/// A JSON value whose objects are sorted as the canonical form wants them.
pub(crate) enum Borrowed<'a> {
    Null,
    Bool(bool),
    Number(Number),
    Text(Cow<'a, str>),
    List(Vec<Borrowed<'a>>),
    Object(Vec<(Cow<'a, str>, Borrowed<'a>)>),
}

impl<'a> Borrowed<'a> {
    /// Reads a text; nothing when the quick reader refuses it.
    pub(crate) fn read(text: &'a str) -> Option<Self> {
        serde_json::from_str(text).ok()
    }

    /// Writes the canonical form.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        match self {
            Self::Null => out.extend_from_slice(b"null"),
            Self::Bool(yes) => out.extend_from_slice(if *yes { b"true" } else { b"false" }),
            Self::Number(number) => write_number(number, out),
            Self::Text(text) => write_plain(text, out),
            Self::List(items) => {
                out.push(b'[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(b',');
                    }
                    item.write(out);
                }
                out.push(b']');
            }
            Self::Object(members) => write_members(members.iter(), out),
        }
    }
}

/// Writes an object of members that are sorted already.
pub(crate) fn write_members<'m, 'a: 'm>(
    members: impl Iterator<Item = &'m (Cow<'a, str>, Borrowed<'a>)>,
    out: &mut Vec<u8>,
) {
    out.push(b'{');
    for (at, (key, value)) in members.enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_plain(key, out);
        out.push(b':');
        value.write(out);
    }
    out.push(b'}');
}

impl<'de> Deserialize<'de> for Borrowed<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

impl<'de> Visitor<'de> for Reader {
    type Value = Borrowed<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a JSON value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Borrowed::Null)
    }

    fn visit_bool<E>(self, yes: bool) -> Result<Self::Value, E> {
        Ok(Borrowed::Bool(yes))
    }

    fn visit_i64<E>(self, number: i64) -> Result<Self::Value, E> {
        Ok(Borrowed::Number(number.into()))
    }

    fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
        Ok(Borrowed::Number(number.into()))
    }

    fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
        Ok(Number::from_f64(number).map_or(Borrowed::Null, Borrowed::Number))
    }

    fn visit_borrowed_str<E>(self, text: &'de str) -> Result<Self::Value, E> {
        Ok(Borrowed::Text(Cow::Borrowed(text)))
    }

    fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
        Ok(Borrowed::Text(Cow::Owned(text.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Self::Value, A::Error> {
        let mut items = Vec::new();
        while let Some(item) = list.next_element()? {
            items.push(item);
        }
        Ok(Borrowed::List(items))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut members: Vec<(Cow<'de, str>, Borrowed<'de>)> = Vec::new();
        while let Some((Key(key), value)) = map.next_entry::<Key<'de>, Borrowed<'de>>()? {
            members.push((key, value));
        }
        // Sorted stably and from the back, so that of two equal keys the last one is met first and stays.
        members.reverse();
        members.sort_by(|a, b| utf16_order(&a.0, &b.0));
        members.dedup_by(|later, first| later.0 == first.0);
        Ok(Borrowed::Object(members))
    }
}

/// A key, borrowed where the text holds it as it is.
struct Key<'a>(Cow<'a, str>);

impl<'de> Deserialize<'de> for Key<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        match deserializer.deserialize_str(Reader)? {
            Borrowed::Text(key) => Ok(Self(key)),
            _ => Err(serde::de::Error::custom("a key is text")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::canonical;

    #[test]
    fn it_writes_what_the_other_way_writes() {
        for text in [
            r#"{"b":1,"a":{"z":null,"y":[true,false,-1.5e-7,"\u00e9\n"]},"10":1.0,"2":-0}"#,
            r#"{"a":1,"a":{"b":2,"b":3},"\u0061":4}"#,
            "{\"\u{fb33}\":1,\"\u{1f600}\":2,\"\":[],\"\\ud83d\\ude01\":{}}",
            "18446744073709551615",
            "\"x\"",
        ] {
            let mut quick = Vec::new();
            Borrowed::read(text).unwrap().write(&mut quick);
            assert_eq!(String::from_utf8(quick).unwrap(), canonical::canonical_text(text).unwrap(), "{text}");
        }
        assert!(Borrowed::read("1e400").is_none() && Borrowed::read(r#""\ud800""#).is_none());
    }
}
