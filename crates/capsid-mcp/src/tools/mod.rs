//! One file a tool. A tool is a blocking function of the place, the job and its arguments.

pub mod evolve;
pub mod help;
pub mod outcome;
pub mod publish;
pub mod recall;
pub mod search;
pub mod status;
pub mod verify;

use capsid_model::redact::{Profile, redact};
use capsid_model::{Object, Problem, Value, json};

/// A text of a record, empty where there is none.
pub(crate) fn field<'a>(record: &'a Object, name: &str) -> &'a str {
    record.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// What is told of a problem, whoever tells it.
pub(crate) fn problem(problem: &Problem) -> Value {
    let mut told = json!({"code": problem.code.as_str(), "message": problem.message, "fix": problem.fix});
    if let Some(code) = &problem.hub_code {
        told["hub_code"] = code.as_str().into();
    }
    told
}

/// A text as it may leave this machine.
pub(crate) fn outward(text: &str) -> String {
    redact(text, Profile::Publish).into_owned()
}
