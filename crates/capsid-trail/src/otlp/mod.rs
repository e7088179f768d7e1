//! Chains as traces of OpenTelemetry: a conversation is a trace, a record is a span.
//!
//! The text is OTLP/JSON: ids as hex, 64-bit numbers as text. Prompts, arguments and results stay out unless they are
//! asked for.

mod attributes;
mod content;
mod ids;
mod names;
mod request;
mod span;
mod time;

pub use names::SCHEMA_URL;
pub use request::{MAX_SPANS, TraceRequest};
pub use span::{ChainTrace, TracedChain};
