//! How added JSON looks: like its neighbours.

use serde_json::Value;
use std::ops::Range;

/// The habits of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct FileStyle {
    pub newline: &'static str,
    /// What one level of indentation is.
    pub unit: String,
    /// Whether it is written on several lines.
    pub lines: bool,
}

impl FileStyle {
    /// For a file that is not there yet.
    pub fn usual() -> Self {
        Self { newline: "\n", unit: "  ".to_owned(), lines: true }
    }

    /// The habits of a text with this root.
    pub fn detect(text: &str, root: &Range<usize>, first: Option<&Range<usize>>) -> Self {
        let newline = if text.contains("\r\n") { "\r\n" } else { "\n" };
        let first = first.map(|first| &text[root.start + 1..first.start]);
        let indent = first.and_then(|gap| gap.rsplit_once('\n')).map(|(_, indent)| indent);
        let unit = indent.filter(|indent| !indent.is_empty() && indent.trim().is_empty()).unwrap_or("  ");
        let lines = first.is_none() || text[root.clone()].contains('\n');
        Self { newline, unit: unit.to_owned(), lines }
    }
}

/// How one added item looks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum ItemLayout {
    /// On lines of its own, indented.
    Lines { newline: &'static str, indent: String, unit: String },
    /// On the line of its neighbours, with this before it.
    OneLine { before: String },
}

impl ItemLayout {
    pub fn lines(style: &FileStyle, indent: &str) -> Self {
        Self::Lines { newline: style.newline, indent: indent.to_owned(), unit: style.unit.clone() }
    }

    pub fn one_line(before: &str) -> Self {
        Self::OneLine { before: before.to_owned() }
    }

    /// The text between the item and what precedes it.
    pub fn leading_text(&self) -> String {
        match self {
            Self::Lines { newline, indent, .. } => format!("{newline}{indent}"),
            Self::OneLine { before } => before.clone(),
        }
    }

    /// A member of an object.
    pub fn member(&self, name: &str, value: &Value) -> String {
        format!("{}: {}", Value::from(name), self.value(value))
    }

    /// A value. No bracket is followed by what it holds without white space between.
    pub fn value(&self, value: &Value) -> String {
        let items: Vec<String> = match value {
            Value::Array(items) => items.iter().map(|item| self.inner().value(item)).collect(),
            Value::Object(members) => {
                members.iter().map(|(name, value)| self.inner().member(name, value)).collect()
            }
            plain => return plain.to_string(),
        };
        let (open, close) = if value.is_array() { ('[', ']') } else { ('{', '}') };
        match self {
            Self::Lines { .. } => {
                let lead = self.inner().leading_text();
                format!("{open}{lead}{}{}{close}", items.join(&format!(",{lead}")), self.leading_text())
            }
            Self::OneLine { .. } => format!("{open} {} {close}", items.join(", ")),
        }
    }

    fn inner(&self) -> Self {
        match self {
            Self::Lines { newline, indent, unit } => {
                Self::Lines { newline, indent: format!("{indent}{unit}"), unit: unit.clone() }
            }
            one_line => one_line.clone(),
        }
    }
}
