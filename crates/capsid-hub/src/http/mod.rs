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
