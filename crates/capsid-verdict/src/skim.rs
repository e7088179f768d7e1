//! The three sealed fields that make a chain, read without building the rest of the record.

use capsid_model::exact::{canonical, canonical_ascii, parse};
use capsid_model::{Code, Problem, Result};
use serde::{Deserialize, Deserializer};

/// The position that the sealed text states.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct RecordHead {
    /// The record's id.
    pub id: String,
    /// Its position.
    pub sequence: u64,
    /// The hash of the record before it.
    #[serde(deserialize_with = "required")]
    pub previous_hash: Option<String>,
}

/// Unlike an ordinary optional field, one that is missing altogether is an error.
fn required<'de, D: Deserializer<'de>>(deserializer: D) -> std::result::Result<Option<String>, D::Error> {
    Option::deserialize(deserializer)
}

/// Reads them. Any other field, and any depth, is allowed; one of the three that comes twice is not.
pub fn skim(text: &str) -> Result<RecordHead> {
    // The derived reader would also take a list of the three.
    let object = text.trim_start().starts_with('{');
    match serde_json::from_str(text) {
        Ok(head) if object => Ok(head),
        Ok(_) => Err(malformed("it is not an object")),
        Err(error) => skim_python(text).ok_or_else(|| malformed(&error.to_string())),
    }
}

/// Python also seals `NaN` and the infinities, which JSON does not have.
///
/// Only text that is exactly what its encoder writes is taken, so no field can hide behind another of its name.
fn skim_python(text: &str) -> Option<RecordHead> {
    let value = parse(text).ok()?;
    if value.is_sealable() || (canonical(&value) != text && canonical_ascii(&value) != text) {
        return None;
    }
    let previous_hash = match value.get("previous_hash")? {
        null if null.is_null() => None,
        hash => Some(hash.as_str()?.to_owned()),
    };
    let sequence = u64::try_from(value.get("sequence")?.as_i64()?).ok()?;
    Some(RecordHead { id: value.text("id")?.to_owned(), sequence, previous_hash })
}

fn malformed(reason: &str) -> Problem {
    Problem::new(Code::ChainBroken, format!("The sealed text is not a record: {reason}."))
        .fix("Compare it with another copy of the chain.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn head(previous_hash: Option<&str>) -> RecordHead {
        RecordHead { id: "a".into(), sequence: 7, previous_hash: previous_hash.map(str::to_owned) }
    }

    #[test]
    fn whatever_else_a_record_holds() {
        for text in [
            r#"{"id":"a","previous_hash":null,"sequence":7}"#,
            r#"{"id":"a","odd":{"sequence":9,"id":"b"},"previous_hash":null,"sequence":7,"trigger":[1e999]}"#,
            r#"{"id":"a","odd":NaN,"previous_hash":null,"sequence":7,"x":[-Infinity]}"#,
            r#"{"id":"a","previous_hash":null,"sequence":7,"x":"\ud83d"}"#,
        ] {
            assert_eq!(skim(text).unwrap(), head(None), "{text}");
        }
        assert_eq!(skim(r#"{"id":"a","previous_hash":"p","sequence":7}"#).unwrap(), head(Some("p")));
    }

    #[test]
    fn any_depth_is_fine() {
        for depth in [1000, 200_000] {
            let deep = format!("{}{}", "[".repeat(depth), "]".repeat(depth));
            let text = format!(r#"{{"id":"a","previous_hash":null,"sequence":7,"x":{deep}}}"#);
            assert_eq!(skim(&text).unwrap(), head(None));
        }
    }

    #[test]
    fn what_is_no_record_or_reads_two_ways_is_refused() {
        for text in [
            "",
            "null",
            "[]",
            r#"["a",7,null]"#,
            r#"{"id":"a","sequence":7}"#,
            r#"{"previous_hash":null,"sequence":7}"#,
            r#"{"id":"a","previous_hash":null}"#,
            r#"{"id":7,"previous_hash":null,"sequence":7}"#,
            r#"{"id":"a","previous_hash":7,"sequence":7}"#,
            r#"{"id":"a","previous_hash":null,"sequence":7.0}"#,
            r#"{"id":"a","previous_hash":null,"sequence":-1}"#,
            r#"{"id":"a","previous_hash":null,"sequence":true}"#,
            r#"{"id":"a","previous_hash":null,"sequence":99999999999999999999}"#,
            r#"{"id":"a","previous_hash":null,"sequence":7,"sequence":7}"#,
            r#"{"id":"a","\u0069d":"a","previous_hash":null,"sequence":7}"#,
            r#"{"id":"a","id":"b","previous_hash":null,"sequence":7,"x":NaN}"#,
            r#"{"id":"a","previous_hash":null,"sequence":7}x"#,
            r#"{"id":"a","previous_hash":null,"sequence":7,"x":[}"#,
            r#"{"id":"a","previous_hash":null,"sequence":7,"x":tru}"#,
        ] {
            assert_eq!(skim(text).unwrap_err().code, Code::ChainBroken, "{text}");
        }
    }
}
