//! The reader.

use super::Json;
use crate::{Code, Problem, Result};

/// Reads a JSON document; a lone surrogate is an error.
pub fn parse(text: &str) -> Result<Json> {
    let _ = text;
    Err(Problem::new(Code::JsonInvalid, "not written yet"))
}

/// Reads a JSON document from what some program wrote: bytes that are no UTF-8 and lone surrogates become U+FFFD.
pub fn parse_lossy(bytes: &[u8]) -> Result<Json> {
    parse(&String::from_utf8_lossy(bytes))
}
