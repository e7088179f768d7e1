//! Matchers of the user, in the JSON form that editors and CI systems use.

use super::diagnostic::ProblemClass;
use super::finding::{Finding, LogView};
use regex::Regex;
use serde::Deserialize;
use std::fmt;

/// A problem matcher.
#[derive(Clone, Debug)]
pub struct Matcher {
    owner: String,
    steps: Vec<MatcherStep>,
}

#[derive(Clone, Debug)]
struct MatcherStep {
    regex: Regex,
    file: Option<usize>,
    line: Option<usize>,
    code: Option<usize>,
    message: Option<usize>,
    severity: Option<usize>,
    is_loop: bool,
}

/// Why a file of matchers cannot be used.
#[derive(Clone, Debug, Eq, PartialEq)]
pub enum MatcherError {
    /// It is not JSON of the expected form.
    Form(String),
    /// A regular expression cannot be used: those with look-around are refused.
    Expression { owner: String, reason: String },
}

impl fmt::Display for MatcherError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Form(reason) => write!(
                f,
                "the matchers are not in the form {{\"problemMatcher\": [{{\"owner\", \"pattern\"}}]}}: {reason}"
            ),
            Self::Expression { owner, reason } => {
                write!(f, "the matcher `{owner}` has a regular expression that cannot be used: {reason}")
            }
        }
    }
}

impl std::error::Error for MatcherError {}

#[derive(Deserialize)]
#[serde(untagged)]
enum MatcherDocument {
    Wrapped {
        #[serde(rename = "problemMatcher")]
        matchers: OneOrMany<MatcherEntry>,
    },
    Bare(OneOrMany<MatcherEntry>),
}

#[derive(Deserialize)]
#[serde(untagged)]
enum OneOrMany<T> {
    Many(Vec<T>),
    One(T),
}

impl<T> OneOrMany<T> {
    fn into_vec(self) -> Vec<T> {
        match self {
            Self::Many(many) => many,
            Self::One(one) => vec![one],
        }
    }
}

#[derive(Deserialize)]
struct MatcherEntry {
    owner: String,
    pattern: OneOrMany<PatternEntry>,
}

#[derive(Deserialize)]
struct PatternEntry {
    regexp: String,
    file: Option<usize>,
    line: Option<usize>,
    code: Option<usize>,
    message: Option<usize>,
    severity: Option<usize>,
    #[serde(default, rename = "loop")]
    is_loop: bool,
}

impl Matcher {
    /// Reads the matchers of a JSON text.
    pub fn parse(json: &str) -> Result<Vec<Self>, MatcherError> {
        let document: MatcherDocument =
            serde_json::from_str(json).map_err(|error| MatcherError::Form(error.to_string()))?;
        let entries = match document {
            MatcherDocument::Wrapped { matchers } | MatcherDocument::Bare(matchers) => matchers.into_vec(),
        };
        entries.into_iter().map(Self::from_entry).collect()
    }

    fn from_entry(entry: MatcherEntry) -> Result<Self, MatcherError> {
        let mut steps = Vec::new();
        for pattern in entry.pattern.into_vec() {
            let regex = Regex::new(&pattern.regexp).map_err(|error| MatcherError::Expression {
                owner: entry.owner.clone(),
                reason: error.to_string().lines().last().unwrap_or_default().trim().to_owned(),
            })?;
            steps.push(MatcherStep {
                regex,
                file: pattern.file,
                line: pattern.line,
                code: pattern.code,
                message: pattern.message,
                severity: pattern.severity,
                is_loop: pattern.is_loop,
            });
        }
        if steps.is_empty() {
            return Err(MatcherError::Form(format!("the matcher `{}` has no pattern", entry.owner)));
        }
        Ok(Self { owner: entry.owner, steps })
    }

    /// The program or rule set that the matcher names.
    pub fn owner(&self) -> &str {
        &self.owner
    }

    /// What the matcher finds at a line, and the other findings of its loop.
    pub(super) fn recognize(&self, log: &LogView<'_>, at: usize) -> Vec<Finding> {
        let mut fields = MatchedFields::default();
        let mut found = Vec::new();
        for (offset, step) in self.steps.iter().enumerate() {
            let mut index = at + offset;
            let Some(groups) = step.regex.captures(log.text(index)) else { return found };
            fields.read(step, &groups);
            if offset + 1 < self.steps.len() {
                continue;
            }
            found.extend(fields.to_finding(&self.owner, at, index));
            while step.is_loop && index + 1 < log.len() {
                index += 1;
                let Some(groups) = step.regex.captures(log.text(index)) else { break };
                fields.read(step, &groups);
                found.extend(fields.to_finding(&self.owner, index, index));
            }
        }
        found
    }
}

#[derive(Clone, Default)]
struct MatchedFields {
    file: String,
    line: Option<u32>,
    code: String,
    message: String,
    severity: String,
}

impl MatchedFields {
    fn read(&mut self, step: &MatcherStep, groups: &regex::Captures<'_>) {
        let get = |index: Option<usize>| {
            index.and_then(|index| groups.get(index)).map(|group| group.as_str().to_owned())
        };
        if let Some(file) = get(step.file) {
            self.file = file;
        }
        if let Some(line) = get(step.line) {
            self.line = line.parse().ok();
        }
        if let Some(code) = get(step.code) {
            self.code = code;
        }
        if let Some(message) = get(step.message) {
            self.message = message;
        }
        if let Some(severity) = get(step.severity) {
            self.severity = severity.to_lowercase();
        }
    }

    fn to_finding(&self, owner: &str, first: usize, last: usize) -> Option<Finding> {
        if self.message.trim().is_empty()
            || ["warn", "info", "note", "hint"].iter().any(|level| self.severity.starts_with(level))
        {
            return None;
        }
        let finding = Finding::new(owner, owner, ProblemClass::BuildError, first)
            .code(self.code.clone())
            .message(self.message.clone())
            .until(last);
        Some(if self.file.is_empty() { finding } else { finding.position(&self.file, self.line) })
    }
}

#[cfg(test)]
mod tests {
    use super::super::diagnose_with;
    use super::*;

    const LINT: &str = r#"{"problemMatcher": [{"owner": "protolint", "pattern": [
        {"regexp": "^\\[(.+):(\\d+):\\d+\\] (.+) \\((\\w+)\\)$", "file": 1, "line": 2, "message": 3, "code": 4}]}]}"#;

    #[test]
    fn a_matcher_of_the_user_is_one_more_rule() {
        let matchers = Matcher::parse(LINT).unwrap();
        assert_eq!(matchers[0].owner(), "protolint");
        let problem = diagnose_with(
            "start\n[api/order.proto:7:3] Field \"Id\" must be lower case (FIELD_CASE)\n",
            &matchers,
        )
        .problem
        .unwrap();
        assert_eq!(
            (problem.tool.as_str(), problem.code.as_deref(), problem.place.as_deref()),
            ("protolint", Some("FIELD_CASE"), Some("order.proto"))
        );
    }

    #[test]
    fn a_loop_finds_each_of_its_lines() {
        let json = r#"{"owner": "x", "pattern": [{"regexp": "^== (\\S+)$", "file": 1}, {"regexp": "^ +(\\d+) (.+)$", "line": 1, "message": 2, "loop": true}]}"#;
        let matchers = Matcher::parse(json).unwrap();
        let diagnosis = diagnose_with("== a.x\n  1 bad thing\n  2 other thing\n", &matchers);
        assert_eq!(diagnosis.problem.map(|problem| problem.text), Some("bad thing".to_owned()));
        assert_eq!(diagnosis.also.len(), 1);
    }

    #[test]
    fn an_expression_with_look_around_is_refused() {
        let json = r#"{"owner": "x", "pattern": {"regexp": "(?<=a)b", "message": 0}}"#;
        assert!(matches!(Matcher::parse(json), Err(MatcherError::Expression { owner, .. }) if owner == "x"));
        assert!(matches!(Matcher::parse("[1]"), Err(MatcherError::Form(_))));
    }
}
