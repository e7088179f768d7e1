//! Canonical JSON (RFC 8785) of a text or a value.

pub(crate) mod text;

use crate::exact::{self, ExactJson};
use crate::problem::Result;
use serde_json::{Number, Value};
use std::cmp::Ordering;

/// Reads a JSON text the way existing clients do: anything an ECMAScript reader takes, we take.
///
/// Two inputs have no exact form in memory here and are read as their nearest one: a lone surrogate as U+FFFD, a
/// number out of range as null. [`canonical_text`] still gives their exact canonical form.
pub fn read(text: &str) -> Result<Value> {
    match serde_json::from_str(text) {
        Ok(value) => Ok(value),
        Err(_) => Ok(nearest_value(exact::parse_lossy(text::normalized(text)?.as_bytes())?)),
    }
}

fn nearest_value(value: ExactJson) -> Value {
    /// Whole numbers that a double holds exactly stay whole.
    const EXACT: f64 = 9_007_199_254_740_991.0;
    match value {
        ExactJson::Null => Value::Null,
        ExactJson::Bool(yes) => Value::Bool(yes),
        ExactJson::String(text) => Value::String(text),
        ExactJson::Array(items) => items.into_iter().map(nearest_value).collect(),
        ExactJson::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, nearest_value(value))).collect()
        }
        number => match number.as_f64() {
            Some(number) if number.fract() == 0.0 && number.abs() <= EXACT => Value::from(number as i64),
            number => number.and_then(Number::from_f64).map_or(Value::Null, Value::Number),
        },
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
fn utf16_order(a: &str, b: &str) -> Ordering {
    match a.bytes().zip(b.bytes()).find(|(x, y)| x != y) {
        Some((x, y)) if x >= 0xee || y >= 0xee => a.encode_utf16().cmp(b.encode_utf16()),
        Some((x, y)) => x.cmp(&y),
        None => a.len().cmp(&b.len()),
    }
}

fn write_number(number: &Number, out: &mut Vec<u8>) {
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

fn write_plain(leaf: &impl serde::Serialize, out: &mut Vec<u8>) {
    // Writing a string, a whole number, a boolean or null to memory cannot fail.
    let _ = serde_json::to_writer(out, leaf);
}

/// The canonical text of a JSON text.
pub fn canonical_text(text: &str) -> Result<String> {
    text::canonical(text)
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

    #[test]
    fn a_text_and_its_value_are_written_alike() {
        for text in [
            r#"{"b":1,"a":{"z":null,"y":[true,false,-1.5e-7,"\u00e9\n\/\u001F\ud83d\ude00"]},"10":1.0,"2":-0}"#,
            r#"{"a":1,"a":{"b":2,"b":3},"\u0061":4,"A\n":5,"A\t":6,"A":7}"#,
            "{\"\u{fb33}\":1,\"\u{1f600}\":2,\"\":[],\"\\ud83d\\ude01\":{}}",
            "[18446744073709551615,9007199254740993,999999999999999,-9999999999999999]",
            " { \"x\" : [ ] , \"w\" : { } } ",
        ] {
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(canonical_text(text).unwrap(), canonical_value(&value), "{text}");
        }
    }

    #[test]
    fn what_has_no_exact_value_is_read_as_its_nearest_one_in_the_order_of_the_text() {
        let text =
            format!(r#"{{"b":1e400,"a":"\udc00","b":[2.0,{}],"c":9007199254740993}}"#, "9".repeat(5000));
        let value = read(&text).unwrap();
        assert_eq!(value.to_string(), "{\"b\":[2,null],\"a\":\"\u{fffd}\",\"c\":9007199254740992.0}");
    }
}
