//! The content of a sealed record about the log.

use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::fields;

/// The content of one record of the chain about the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SealedEntry {
    /// One line of the log.
    Line(SealedLine),
    /// All of the log up to here, as it was when sealing began or when a changed log was accepted.
    Baseline(Baseline),
}

/// A sealed line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SealedLine {
    /// Its number, from 1.
    pub number: u64,
    /// Where it begins in the file.
    pub start: u64,
    /// Where it ends, with its line break.
    pub end: u64,
    /// SHA-256 of its bytes without the line break.
    pub sha256: String,
    /// The id of the record in it; empty when it has none.
    pub id: String,
}

/// The beginning of a log, sealed as one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Baseline {
    pub lines: u64,
    pub end: u64,
    /// SHA-256 of all of their bytes.
    pub sha256: String,
    /// What had been done to the log, when its owner accepted it so.
    pub accepted: Option<AcceptedChange>,
}

/// What an owner accepted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AcceptedChange {
    /// The name of the first change that was found.
    pub change: String,
    /// The number of the line it was found at.
    pub line: u64,
    /// The id of the record that was sealed there; empty when it has none.
    pub id: String,
}

impl Baseline {
    fn to_fields(&self) -> ExactFields {
        let mut fields = fields! {
            "kind": "log_baseline",
            "lines": self.lines,
            "end": self.end,
            "sha256": self.sha256.as_str(),
        };
        if let Some(AcceptedChange { change, line, id }) = &self.accepted {
            let accepted = fields! {"change": change.as_str(), "line": *line, "id": id.as_str()};
            fields.insert("accepted".to_owned(), ExactJson::Object(accepted));
        }
        fields
    }
}

impl AcceptedChange {
    fn read(accepted: &ExactJson) -> Option<Self> {
        Some(Self {
            change: accepted.text("change")?.to_owned(),
            line: accepted.get("line").and_then(ExactJson::as_i64)?.try_into().ok()?,
            id: accepted.text("id")?.to_owned(),
        })
    }
}

impl SealedEntry {
    /// Where what it speaks of ends.
    pub fn end(&self) -> u64 {
        match self {
            Self::Line(line) => line.end,
            Self::Baseline(baseline) => baseline.end,
        }
    }

    /// The number of the last line it speaks of.
    pub fn last_line(&self) -> u64 {
        match self {
            Self::Line(line) => line.number,
            Self::Baseline(baseline) => baseline.lines,
        }
    }

    /// As the result of a record.
    pub fn to_fields(&self) -> ExactFields {
        match self {
            Self::Line(line) => fields! {
                "kind": "log_line",
                "line": line.number,
                "start": line.start,
                "end": line.end,
                "sha256": line.sha256.as_str(),
                "id": line.id.as_str(),
            },
            Self::Baseline(baseline) => baseline.to_fields(),
        }
    }

    /// From the content of a sealed record.
    pub fn read(content: &ExactJson) -> Option<Self> {
        let result = content.at(&["outcome", "result"])?;
        let number = |name| result.get(name).and_then(ExactJson::as_i64).and_then(|n| u64::try_from(n).ok());
        let text = |name| result.text(name).map(str::to_owned);
        match result.text("kind")? {
            "log_line" => Some(Self::Line(SealedLine {
                number: number("line")?,
                start: number("start")?,
                end: number("end")?,
                sha256: text("sha256")?,
                id: text("id")?,
            })),
            "log_baseline" => Some(Self::Baseline(Baseline {
                lines: number("lines")?,
                end: number("end")?,
                sha256: text("sha256")?,
                accepted: result.get("accepted").and_then(AcceptedChange::read),
            })),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_is_read_as_it_was_written() {
        let line =
            SealedLine { number: 3, start: 10, end: 20, sha256: "ab".to_owned(), id: "evt_1".to_owned() };
        let baseline = Baseline { lines: 2, end: 10, sha256: "cd".to_owned(), accepted: None };
        let accepted = AcceptedChange { change: "edited".to_owned(), line: 3, id: "evt_1".to_owned() };
        let changed = Baseline { accepted: Some(accepted), ..baseline.clone() };
        for entry in
            [SealedEntry::Line(line), SealedEntry::Baseline(baseline), SealedEntry::Baseline(changed)]
        {
            let content = ExactJson::Object(fields! {"outcome": fields! {"result": entry.to_fields()}});
            assert_eq!(SealedEntry::read(&content), Some(entry));
        }
        assert_eq!(SealedEntry::read(&ExactJson::Null), None);
    }
}
