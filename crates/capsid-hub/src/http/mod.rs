//! Reads requests, writes JSON and cursors, and describes the API.

pub(crate) mod body;
pub mod checks;
pub mod cursor;
pub mod envelope;
pub mod fields;
pub mod json;
pub(crate) mod negotiation;
pub mod openapi;
pub mod query;
