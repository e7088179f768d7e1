//! Reads requests, writes JSON and cursors, and describes the API.

pub(crate) mod body;
pub mod cursor;
pub mod envelope;
pub mod json;
pub(crate) mod negotiation;
pub mod object_reader;
pub mod openapi;
pub mod query;
pub mod validate;

/// The longest id in the log.
const TRACED_LEN: usize = 128;

/// An id as a client sent it, short enough for the log.
pub fn traced_id(id: &str) -> &str {
    capsid_model::text::cut(id, TRACED_LEN)
}
