//! One file a tool. A tool is a blocking function of the place, the job and its arguments.

pub mod evolve;
pub mod help;
mod learned;
pub mod outcome;
pub mod publish;
pub mod recall;
pub mod search;
pub mod status;
pub mod verify;

use capsid_model::redact::{RedactProfile, redact};
use capsid_model::{Object, Value};

/// A text of a record, empty where there is none.
pub(crate) fn field<'a>(record: &'a Object, name: &str) -> &'a str {
    record.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A text as it may leave this machine.
pub(crate) fn redact_outbound(text: &str) -> String {
    redact(text, RedactProfile::Publish).into_owned()
}
