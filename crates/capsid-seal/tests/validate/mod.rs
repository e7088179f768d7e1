//! Whether a document is a record as `qp-capsule` defines it: every field there, of its type, with a value it may have.
//!
//! Verification does not need this: it trusts the hash alone, and other tools seal records of other shapes.

use capsid_model::exact::{ExactFields, ExactInt, ExactJson, canonical};
use capsid_seal::hash::sha3_hex;
use std::fmt;

/// What kind of rule is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Category {
    /// A required field is absent.
    MissingField,
    /// A field has the wrong JSON type.
    WrongType,
    /// A field has the right type, and a value that it may not have.
    InvalidValue,
    /// The place in the chain contradicts itself.
    ChainViolation,
    /// The content is not what the hash was made of.
    IntegrityViolation,
}

impl Category {
    /// Its stable name.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::MissingField => "missing_field",
            Self::WrongType => "wrong_type",
            Self::InvalidValue => "invalid_value",
            Self::ChainViolation => "chain_violation",
            Self::IntegrityViolation => "integrity_violation",
        }
    }
}

/// The first rule that a document breaks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Violation {
    /// What kind of rule it is.
    pub category: Category,
    /// The field, with the section before it as in `trigger.type`; empty for the document itself.
    pub field: String,
    /// One sentence about it.
    pub message: String,
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What to check in addition to the document itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Checks<'a> {
    /// The hash that the content should have.
    pub claimed_hash: Option<&'a str>,
    /// Whether a field that the format does not know is refused.
    pub only_known_fields: bool,
}

type Verdict = Result<(), Violation>;

const TOP: [&str; 13] = [
    "id",
    "type",
    "domain",
    "parent_id",
    "sequence",
    "previous_hash",
    "spec_version",
    "trigger",
    "context",
    "reasoning",
    "authority",
    "execution",
    "outcome",
];
const TYPES: [&str; 8] = ["agent", "tool", "system", "kill", "workflow", "chat", "vault", "auth"];
const SECTIONS: [(&str, &[&str]); 6] = [
    ("trigger", &["type", "source", "timestamp", "request", "correlation_id", "user_id"]),
    ("context", &["agent_id", "session_id", "environment"]),
    (
        "reasoning",
        &[
            "analysis",
            "options",
            "options_considered",
            "selected_option",
            "reasoning",
            "confidence",
            "model",
            "prompt_hash",
        ],
    ),
    ("authority", &["type", "approver", "policy_reference", "chain", "escalation_reason"]),
    ("execution", &["tool_calls", "duration_ms", "resources_used"]),
    ("outcome", &["status", "result", "summary", "error", "side_effects", "metrics"]),
];

/// Finds the first rule that a document breaks, in the order in which `qp-capsule` looks.
pub fn validate(content: &ExactJson, checks: Checks<'_>) -> Verdict {
    let ExactJson::Object(fields) = content else {
        return Err(wrong_type("", "an object"));
    };
    if checks.only_known_fields {
        refuse_unknown(fields)?;
    }
    require("", &TOP, fields)?;
    head(fields)?;
    for (section, names) in SECTIONS {
        let Some(ExactJson::Object(members)) = fields.get(section) else {
            return Err(wrong_type(section, "an object"));
        };
        require(section, names, members)?;
        match section {
            "trigger" => trigger(members)?,
            "context" => expect(matches!(members.get("environment"), Some(ExactJson::Object(_))), || {
                wrong_type("context.environment", "an object")
            })?,
            "reasoning" => confidence(members)?,
            "execution" => execution(members)?,
            _ => {}
        }
    }
    checks.claimed_hash.map_or(Ok(()), |claimed| integrity(content, claimed))
}

fn expect(holds: bool, otherwise: impl FnOnce() -> Violation) -> Verdict {
    if holds { Ok(()) } else { Err(otherwise()) }
}

fn violation(category: Category, field: &str, message: String) -> Violation {
    Violation { category, field: field.to_owned(), message }
}

fn wrong_type(field: &str, wanted: &str) -> Violation {
    let name = if field.is_empty() { "The document".to_owned() } else { format!("`{field}`") };
    violation(Category::WrongType, field, format!("{name} must be {wanted}."))
}

fn invalid(field: &str, wanted: &str) -> Violation {
    violation(Category::InvalidValue, field, format!("`{field}` must be {wanted}."))
}

fn refuse_unknown(fields: &ExactFields) -> Verdict {
    match fields.keys().filter(|name| !TOP.contains(&name.as_str())).min() {
        Some(name) => {
            Err(violation(Category::InvalidValue, name, format!("`{name}` is no field of a record.")))
        }
        None => Ok(()),
    }
}

fn require(section: &str, names: &[&str], fields: &ExactFields) -> Verdict {
    let Some(name) = names.iter().find(|name| !fields.contains_key(**name)) else {
        return Ok(());
    };
    let field = if section.is_empty() { (*name).to_owned() } else { format!("{section}.{name}") };
    Err(violation(Category::MissingField, &field, format!("`{field}` is missing.")))
}

/// The text of a field that must be one.
fn text<'a>(fields: &'a ExactFields, name: &str, field: &str, wanted: &str) -> Result<&'a str, Violation> {
    fields.get(name).and_then(ExactJson::as_str).ok_or_else(|| wrong_type(field, wanted))
}

/// The text of a field that is null or one.
fn text_or_null<'a>(fields: &'a ExactFields, name: &str, wanted: &str) -> Result<Option<&'a str>, Violation> {
    match fields.get(name) {
        None | Some(ExactJson::Null) => Ok(None),
        Some(_) => text(fields, name, name, wanted).map(Some),
    }
}

fn head(fields: &ExactFields) -> Verdict {
    expect(is_uuid(text(fields, "id", "id", "a UUID")?), || invalid("id", "a UUID"))?;
    let kind = text(fields, "type", "type", "a text")?;
    expect(TYPES.contains(&kind), || invalid("type", &format!("one of {}", TYPES.join(", "))))?;
    text(fields, "domain", "domain", "a text")?;
    let parent = text_or_null(fields, "parent_id", "null or a UUID")?;
    expect(parent.is_none_or(is_uuid), || invalid("parent_id", "null or a UUID"))?;
    let first = match fields.get("sequence") {
        Some(ExactJson::Int(number)) => {
            expect(!is_negative(number), || invalid("sequence", "0 or more"))?;
            *number == ExactInt::Small(0)
        }
        _ => return Err(wrong_type("sequence", "an integer")),
    };
    let previous = text_or_null(fields, "previous_hash", "null or 64 hex digits")?;
    expect(previous.is_none_or(is_hash), || invalid("previous_hash", "null or 64 hex digits"))?;
    let version = text(fields, "spec_version", "spec_version", "a text")?;
    expect(!version.is_empty(), || invalid("spec_version", "a text that is not empty"))?;
    let chain = |message: &str| violation(Category::ChainViolation, "previous_hash", message.to_owned());
    match (first, previous) {
        (true, Some(_)) => Err(chain("The first record of a chain has no `previous_hash`.")),
        (false, None) => Err(chain("Every record but the first of a chain has a `previous_hash`.")),
        _ => Ok(()),
    }
}

fn is_negative(number: &ExactInt) -> bool {
    match number {
        ExactInt::Small(number) => *number < 0,
        ExactInt::Big(digits) => digits.starts_with('-'),
    }
}

fn trigger(members: &ExactFields) -> Verdict {
    text(members, "type", "trigger.type", "a text")?;
    let wanted = "an ISO 8601 time with its offset";
    let time = text(members, "timestamp", "trigger.timestamp", wanted)?;
    expect(is_time_with_offset(time), || invalid("trigger.timestamp", wanted))
}

fn confidence(members: &ExactFields) -> Verdict {
    let number = members.get("confidence").and_then(ExactJson::as_f64);
    let number = number.ok_or_else(|| wrong_type("reasoning.confidence", "a number"))?;
    expect((0.0..=1.0).contains(&number), || invalid("reasoning.confidence", "from 0 to 1"))
}

fn execution(members: &ExactFields) -> Verdict {
    expect(matches!(members.get("tool_calls"), Some(ExactJson::Array(_))), || {
        wrong_type("execution.tool_calls", "a list")
    })?;
    expect(matches!(members.get("duration_ms"), Some(ExactJson::Int(_))), || {
        wrong_type("execution.duration_ms", "an integer")
    })?;
    expect(matches!(members.get("resources_used"), Some(ExactJson::Object(_))), || {
        wrong_type("execution.resources_used", "an object")
    })
}

fn integrity(content: &ExactJson, claimed: &str) -> Verdict {
    expect(is_hash(claimed), || invalid("hash", "64 hex digits"))?;
    let hash = sha3_hex(canonical(content).as_bytes());
    expect(hash.eq_ignore_ascii_case(claimed), || {
        let message = format!("The content has the hash {hash}, and not {claimed}.");
        violation(Category::IntegrityViolation, "hash", message)
    })
}

fn is_hash(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// In any of the ways that Python reads: braces, `urn:uuid:`, upper case, and hyphens anywhere.
fn is_uuid(text: &str) -> bool {
    let bare = text.replace("urn:", "").replace("uuid:", "");
    let digits = bare.trim_matches(['{', '}']).replace('-', "");
    digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Python knows no `z`, no leap second, no year 0 and no offset of a day; the library that reads times here does.
fn is_time_with_offset(text: &str) -> bool {
    use jiff::fmt::temporal::{Pieces, PiecesOffset};
    if text.contains(['z', '[']) || text.contains(":60") {
        return false;
    }
    let Ok(pieces) = Pieces::parse(text) else { return false };
    let is_complete = pieces.date().year() >= 1 && pieces.time().is_some();
    match pieces.offset() {
        Some(PiecesOffset::Numeric(offset)) => is_complete && offset.offset().seconds().abs() < 24 * 60 * 60,
        Some(_) => is_complete,
        None => false,
    }
}

#[cfg(test)]
mod tests;
