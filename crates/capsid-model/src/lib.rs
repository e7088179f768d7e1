#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod asset;
pub mod backoff;
pub mod canonical;
pub mod capsule;
pub mod env;
pub mod event;
pub mod exact;
pub mod gate;
pub mod gene;
pub mod hash;
pub mod id;
pub mod mutation;
pub mod personality;
pub mod problem;
pub mod redact;
pub mod report;
pub mod schema;
pub mod signal;
pub mod text;
mod text_enum;
pub mod time;

pub use problem::{Code, Problem, Result};
pub use serde_json::{Map, Value, json};
pub use time::{Clock, SystemClock, Time};

/// A JSON object that keeps the order its author chose.
pub type Object = Map<String, Value>;

/// The schema version written into every asset this program makes.
pub const SCHEMA_VERSION: &str = "1.5.0";
