//! What a well-formed asset looks like, and every place where a document departs from it.
//!
//! Reading never needs this: the engine takes what it can use. This is for people who want to know what is wrong.

mod kind;
mod tables;

use crate::text::{cut, inert_line};
use crate::{Object, Value};
use kind::{FieldNeed, FieldSchema};
use std::fmt;

/// The types of assets and records that have a table.
pub const TYPES: &[&str] = &[
    "Gene",
    "Capsule",
    "EvolutionEvent",
    "ValidationReport",
    "Mutation",
    "PersonalityState",
    "MemoryGraphEvent",
    "Pack",
    "Recipe",
    "Task",
    "CapabilityCandidate",
];

/// One thing that was found in a document.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SchemaFinding {
    /// Where, as `outcome.score` or `commands[0].ok`; empty for the document itself.
    pub path: String,
    /// Whether it breaks the schema.
    pub severity: SchemaSeverity,
    /// What, to be read after the path: ``must be a number from 0 to 1, is "high"``.
    pub message: String,
}

/// How much a finding matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SchemaSeverity {
    /// The document breaks the schema.
    Error,
    /// Worth knowing; the document is still well formed.
    Note,
}

impl SchemaSeverity {
    /// The severity as it is printed.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Note => "note",
        }
    }
}

impl fmt::Display for SchemaFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.path.as_str() {
            "" => write!(f, "The document {}", self.message),
            path => write!(f, "`{path}` {}", self.message),
        }
    }
}

/// Every departure of a document from the table of its type, in the order of the table, then of the document.
pub fn check(document: &Value) -> Vec<SchemaFinding> {
    let mut found = SchemaFindings::default();
    match document {
        Value::Object(object) => found.document(object),
        other => found.error("", format!("must be an object, is {}", describe_value(other))),
    }
    found.list
}

#[derive(Default)]
struct SchemaFindings {
    list: Vec<SchemaFinding>,
    /// Failed capsules are kept as evidence, with as much as was known.
    is_partial: bool,
}

impl SchemaFindings {
    fn document(&mut self, object: &Object) {
        let known = TYPES.join(", ");
        match object.get("type") {
            None => self.error("type", format!("is missing; must be one of {known}")),
            Some(value) => match value.as_str().and_then(tables::fields_of) {
                None => self.error("type", format!("must be one of {known}, is {}", describe_value(value))),
                Some(fields) => {
                    self.is_partial = is_failed_capsule(object);
                    self.members("", fields, object);
                    self.strangers("", fields, object);
                    self.emptiness(object);
                }
            },
        }
    }

    /// A gene without a command is well formed, and proves nothing.
    fn emptiness(&mut self, object: &Object) {
        let commands = object.get("validation").and_then(Value::as_array);
        if commands.is_some_and(Vec::is_empty) {
            self.add_note("validation", "names no command, so the gene proves nothing".to_owned());
        }
    }

    fn members(&mut self, path: &str, fields: &[FieldSchema], object: &Object) {
        for field in fields {
            let path = join(path, field.name);
            match (object.get(field.name), field.need) {
                (None | Some(Value::Null), FieldNeed::May) | (Some(Value::Null), FieldNeed::Should) => {}
                (Some(value), _) => field.kind.check(&path, value, self),
                (None, FieldNeed::Must) if !self.is_partial => {
                    self.error(&path, format!("is missing; must be {}", field.kind));
                }
                (None, _) => self.add_note(&path, format!("is missing; should be {}", field.kind)),
            }
        }
    }

    fn strangers(&mut self, path: &str, fields: &[FieldSchema], object: &Object) {
        for key in object.keys() {
            if fields.iter().all(|field| field.name != key) {
                let path = join(path, &inert_line(cut(key, 60)));
                self.add_note(&path, "is not part of the protocol; it is kept as it is".to_owned());
            }
        }
    }

    fn error(&mut self, path: &str, message: String) {
        self.push(path, SchemaSeverity::Error, message);
    }

    fn add_note(&mut self, path: &str, message: String) {
        self.push(path, SchemaSeverity::Note, message);
    }

    fn push(&mut self, path: &str, severity: SchemaSeverity, message: String) {
        self.list.push(SchemaFinding { path: path.to_owned(), severity, message });
    }
}

fn is_failed_capsule(object: &Object) -> bool {
    object.get("type").and_then(Value::as_str) == Some("Capsule")
        && crate::event::EventOutcome::read(object.get("outcome")).is_failure()
}

fn join(path: &str, name: &str) -> String {
    match path {
        "" => name.to_owned(),
        path => format!("{path}.{name}"),
    }
}

/// A value as a message names it: short, on one line, and safe on a terminal.
fn describe_value(value: &Value) -> String {
    match value {
        Value::String(text) if text.is_empty() => "empty".to_owned(),
        Value::String(text) => {
            let head = cut(text, 60);
            let dots = if head.len() < text.len() { "…" } else { "" };
            format!("\"{}{dots}\"", inert_line(head))
        }
        Value::Array(items) => format!("a list of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
