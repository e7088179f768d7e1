//! Why an item is refused, and what would do.

use capsid_model::text::inert_line;
use serde::Serialize;

/// Why an item is refused.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct IngestRefusal {
    pub code: &'static str,
    /// Which item and which of its members, such as `entities[3].name`.
    pub field: String,
    /// What is wrong, in a sentence.
    pub problem: String,
    pub fix: String,
}

impl IngestRefusal {
    /// A refusal.
    pub fn new(
        code: &'static str,
        field: impl Into<String>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Self {
        Self { code, field: field.into(), problem: problem.into(), fix: fix.into() }
    }
}

/// A name that looks like another thing's.
pub fn confusable(field: &str, name: &str, other: &str, kind: &str) -> IngestRefusal {
    IngestRefusal::new(
        "confusable_name",
        field,
        format!(
            "`{}` looks like the {kind} `{}`, but is written otherwise.",
            truncate(name),
            truncate(other)
        ),
        "Use the name that is there, or one that cannot be taken for it.",
    )
}

/// Something that is not what it should be.
pub(super) fn wrong_type(field: &str, expected: &str) -> IngestRefusal {
    IngestRefusal::new("wrong_type", field, format!("It is not {expected}."), format!("Send {expected}."))
}

/// A name without letters and digits.
pub(super) fn is_empty_text(field: &str, name: &str) -> IngestRefusal {
    IngestRefusal::new(
        "empty_name",
        field,
        format!("`{}` names nothing.", truncate(name)),
        "Use a name with letters or digits.",
    )
}

/// A text that a page could take for markup.
pub(super) fn markup(field: String) -> IngestRefusal {
    IngestRefusal::new(
        "markup",
        field,
        "It holds markup: a `<` right before a letter, `/`, `!` or `?`.",
        "Write it without tags; names and properties are plain text.",
    )
}

/// A foreign text within a sentence.
pub(super) fn truncate(text: &str) -> String {
    inert_line(text).chars().take(80).collect()
}
