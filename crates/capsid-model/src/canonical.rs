//! Canonical JSON (RFC 8785) of a text or a value.

use crate::problem::Result;
use crate::tolerant::Tolerant;
use serde_json::{Number, Value};
use std::cmp::Ordering;

/// Reads a JSON text the way existing clients do: anything an ECMAScript reader takes, we take.
///
/// Two inputs have no exact form in memory here and are read as their nearest one: a lone surrogate as U+FFFD, a
/// number out of range as null. [`of_text`] still gives their exact canonical form.
pub fn read(text: &str) -> Result<Value> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(_) => Tolerant::parse(text).map(Tolerant::into_value),
    }
}

/// The canonical text of a value.
pub fn canonical_value(value: &Value) -> String {
    let mut out = Vec::new();
    write_value(value, &mut out);
    // Everything written is UTF-8.
    String::from_utf8(out).unwrap_or_default()
}

/// Writes the canonical form. It equals what `serde_json_canonicalizer` writes, which a property test checks, and takes
/// a fraction of its time: only numbers that are not small and whole still go through that library.
fn write_value(value: &Value, out: &mut Vec<u8>) {
    match value {
        Value::Object(object) => write_members(object.iter(), out),
        Value::Array(items) => {
            out.push(b'[');
            for (at, item) in items.iter().enumerate() {
                if at > 0 {
                    out.push(b',');
                }
                write_value(item, out);
            }
            out.push(b']');
        }
        Value::Number(number) => write_number(number, out),
        // Strings, booleans and null print here as the canonical form wants them.
        leaf => write_plain(leaf, out),
    }
}

/// Writes an object of these members, sorted.
pub(crate) fn write_members<'a>(members: impl Iterator<Item = (&'a String, &'a Value)>, out: &mut Vec<u8>) {
    let mut sorted: Vec<_> = members.collect();
    sorted.sort_unstable_by(|a, b| utf16_order(a.0, b.0));
    out.push(b'{');
    for (at, (key, value)) in sorted.into_iter().enumerate() {
        if at > 0 {
            out.push(b',');
        }
        write_plain(key, out);
        out.push(b':');
        write_value(value, out);
    }
    out.push(b'}');
}

/// Bytes of UTF-8 order like UTF-16 units, unless a character beyond U+FFFF meets one from U+E000 on.
pub(crate) fn utf16_order(a: &str, b: &str) -> Ordering {
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        Some((x, y)) if x >= 0xee || y >= 0xee => a.encode_utf16().cmp(b.encode_utf16()),
        Some((x, y)) => x.cmp(&y),
        None => a.len().cmp(&b.len()),
    }
}

pub(crate) fn write_number(number: &Number, out: &mut Vec<u8>) {
    /// Whole numbers up to here are doubles exactly, and print alike everywhere.
    const EXACT: i64 = 9_007_199_254_740_991;
    match number.as_i64() {
        Some(whole) if (-EXACT..=EXACT).contains(&whole) => write_plain(&whole, out),
        _ => {
            let double = number.as_f64().unwrap_or_default();
            // Writing a finite double to memory cannot fail.
            let _ = serde_json_canonicalizer::to_writer(&double, out);
        }
    }
}

pub(crate) fn write_plain(leaf: &impl serde::Serialize, out: &mut Vec<u8>) {
    // Writing a string, a whole number, a boolean or null to memory cannot fail.
    let _ = serde_json::to_writer(out, leaf);
}

/// The canonical text of a JSON text.
pub fn canonical_text(text: &str) -> Result<String> {
    Ok(ParsedDocument::read(text)?.canonical())
}

/// A document in whichever form holds it exactly.
pub(crate) enum ParsedDocument {
    Plain(Value),
    Odd(Tolerant),
}

impl ParsedDocument {
    pub(crate) fn read(text: &str) -> Result<Self> {
        match serde_json::from_str(text) {
            Ok(value) => Ok(Self::Plain(value)),
            Err(_) => Tolerant::parse(text).map(Self::Odd),
        }
    }

    pub(crate) fn canonical(&self) -> String {
        match self {
            Self::Plain(value) => canonical_value(value),
            Self::Odd(odd) => {
                let mut out = String::new();
                odd.write_canonical(&mut out);
                out
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_print_as_ecmascript_prints_them() {
        for (input, expected) in [
            ("1.0", "1"),
            ("-0", "0"),
            ("-0.0", "0"),
            ("1e21", "1e+21"),
            ("1e20", "100000000000000000000"),
            ("1e-7", "1e-7"),
            ("0.000001", "0.000001"),
            ("9007199254740993", "9007199254740992"),
            ("18446744073709551615", "18446744073709552000"),
            ("123456789012345678901234567890", "1.2345678901234568e+29"),
            ("5e-324", "5e-324"),
            ("1e400", "null"),
            ("-1e400", "null"),
        ] {
            assert_eq!(canonical_text(input).unwrap(), expected, "{input}");
        }
    }

    #[test]
    fn keys_sort_by_utf16_units() {
        let text =
            "{\"\\ufb33\":1,\"\\ud83d\\ude00\":2,\"\\u20ac\":3,\"a\":4,\"B\":5,\"10\":7,\"2\":8,\"\":10}";
        assert_eq!(
            canonical_text(text).unwrap(),
            "{\"\":10,\"10\":7,\"2\":8,\"B\":5,\"a\":4,\"€\":3,\"😀\":2,\"\u{fb33}\":1}"
        );
    }

    #[test]
    fn lone_surrogates_are_kept_as_escapes_and_sort_by_their_unit() {
        assert_eq!(
            canonical_text(r#"{"b":"\ud83d","\udc00":1,"\ud800\udc00":2}"#).unwrap(),
            "{\"b\":\"\\ud83d\",\"\u{10000}\":2,\"\\udc00\":1}"
        );
        assert_eq!(read(r#""\ud83dx""#).unwrap(), Value::from("\u{fffd}x"));
    }

    #[test]
    fn broken_text_is_refused_with_its_place() {
        for text in ["", "{", "[1,]", "{\"a\" 1}", "01", "\"\u{1}\"", "nul", "1 2", "\"\\ud83\"", "-"] {
            let problem = canonical_text(text).unwrap_err();
            assert_eq!(problem.code, crate::Code::JsonInvalid, "{text:?}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(canonical_text(&deep).unwrap_err().code, crate::Code::JsonTooDeep);
    }

    #[test]
    fn nesting_beyond_the_fast_reader_is_read_all_the_same() {
        let deep = format!("{}1{}", "[".repeat(300), "]".repeat(300));
        assert_eq!(canonical_text(&deep).unwrap(), deep);
    }
}
