//! What a status word means: one table for all agents.
//!
//! Agents write many words, in every case. A word that is not known is never taken for a success.

use capsid_model::exact::ExactJson;

/// What came of an action.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum OutcomeStatus {
    #[default]
    Success,
    /// Some calls of a record failed and some did not.
    Partial,
    /// Nobody knows: no result, or a word that is not in the table.
    Pending,
    Failure,
    /// A person or a rule refused it.
    Blocked,
}

impl OutcomeStatus {
    /// Its word in records.
    pub fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Partial => "partial",
            Self::Pending => "pending",
            Self::Failure => "failure",
            Self::Blocked => "blocked",
        }
    }

    /// What a summary ends with.
    pub(crate) fn suffix(self, failure: &str) -> &str {
        match self {
            Self::Success | Self::Pending => "",
            Self::Partial => " (partly failed)",
            Self::Failure => failure,
            Self::Blocked => " (blocked)",
        }
    }
}

/// What one word says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum StatusWord {
    Known(OutcomeStatus),
    /// The action is still going on.
    Open,
    Unknown,
}

const SUCCESS: [&str; 9] =
    ["success", "succeeded", "ok", "done", "complete", "completed", "finished", "applied", "accepted"];
const FAILURE: [&str; 16] = [
    "error",
    "errored",
    "fail",
    "failed",
    "failure",
    "canceled",
    "cancelled",
    "abort",
    "aborted",
    "timeout",
    "timedout",
    "interrupted",
    "killed",
    "crashed",
    "exception",
    "invalid",
];
const BLOCKED: [&str; 6] = ["rejected", "denied", "refused", "declined", "blocked", "skipped"];
const OPEN: [&str; 6] = ["loading", "pending", "running", "streaming", "generating", "inprogress"];

/// Whether the answer of a person, or of a rule, lets something happen; none if the word is not known.
pub(crate) fn is_allowed(decision: &str) -> Option<bool> {
    const ALLOWED: [&str; 6] = ["accepted", "accept", "approved", "approve", "allowed", "allow"];
    const REFUSED: [&str; 4] = ["reject", "deny", "decline", "block"];
    let plain = plain_word(decision);
    let is_in = |words: &[&str]| words.contains(&plain.as_str());
    match () {
        () if is_in(&ALLOWED) => Some(true),
        () if is_in(&REFUSED) || is_in(&BLOCKED) => Some(false),
        () => None,
    }
}

fn plain_word(word: &str) -> String {
    word.chars().filter(|c| !matches!(c, '-' | '_' | ' ')).flat_map(char::to_lowercase).collect()
}

/// Looks a word up, without case, `-`, `_` and space.
pub(crate) fn parse_status(word: &str) -> StatusWord {
    let plain = plain_word(word);
    let is_in = |words: &[&str]| words.contains(&plain.as_str());
    match () {
        () if is_in(&SUCCESS) => StatusWord::Known(OutcomeStatus::Success),
        () if is_in(&FAILURE) => StatusWord::Known(OutcomeStatus::Failure),
        () if is_in(&BLOCKED) => StatusWord::Known(OutcomeStatus::Blocked),
        () if is_in(&OPEN) => StatusWord::Open,
        () => StatusWord::Unknown,
    }
}

/// All that a transcript says about how an action ended. The worst signal counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct StatusSignals {
    worst: Option<OutcomeStatus>,
    /// Whether a word says that it still goes on.
    pub(crate) is_open: bool,
    /// The words as they were written.
    words: Vec<String>,
    unknown: Option<String>,
}

impl StatusSignals {
    /// A status: a word, or a value that is none and says nothing that is known.
    pub(crate) fn status(&mut self, value: Option<&ExactJson>) {
        let Some(value) = value.filter(|value| !value.is_null()) else { return };
        let word = crate::shape::plain(value);
        if word.trim().is_empty() {
            return;
        }
        match parse_status(&word) {
            StatusWord::Known(status) => self.add(status),
            StatusWord::Open => {
                self.is_open = true;
                self.add(OutcomeStatus::Pending);
            }
            StatusWord::Unknown => {
                self.unknown.get_or_insert_with(|| word.clone());
                self.add(OutcomeStatus::Pending);
            }
        }
        if !self.words.contains(&word) {
            self.words.push(word);
        }
    }

    /// An exit code: a number, or digits in a text. Anything but zero is a failure.
    pub(crate) fn exit_code(&mut self, value: Option<&ExactJson>) {
        match value {
            None | Some(ExactJson::Null) => {}
            Some(ExactJson::String(text)) => match text.trim().parse::<f64>() {
                Ok(code) => self.code(code == 0.0),
                Err(_) => self.status(value),
            },
            Some(code) => match code.as_f64() {
                Some(code) => self.code(code == 0.0),
                None => self.status(value),
            },
        }
    }

    fn code(&mut self, is_zero: bool) {
        self.add(if is_zero { OutcomeStatus::Success } else { OutcomeStatus::Failure });
    }

    /// A mark such as `is_error`: `true`, or the text of it.
    pub(crate) fn error_mark(&mut self, value: Option<&ExactJson>) {
        if let Some(is_error) = yes_or_no(value) {
            self.code(!is_error);
        }
    }

    /// A mark such as `success`.
    pub(crate) fn success_mark(&mut self, value: Option<&ExactJson>) {
        match yes_or_no(value) {
            Some(is_good) => self.code(is_good),
            None => self.status(value.filter(|value| value.as_str().is_some())),
        }
    }

    /// A record that stands for several calls: some may have failed and some not.
    pub(crate) fn parts(&mut self, value: Option<&ExactJson>) {
        let parts = value.and_then(ExactJson::as_array).unwrap_or_default();
        let outcomes: Vec<OutcomeStatus> = parts.iter().filter_map(part_outcome).collect();
        let failed = outcomes.iter().filter(|outcome| **outcome >= OutcomeStatus::Failure).count();
        match failed {
            0 => {}
            _ if failed == outcomes.len() => self.add(OutcomeStatus::Failure),
            _ => self.add(OutcomeStatus::Partial),
        }
    }

    /// Adds what is known by other means.
    pub(crate) fn add(&mut self, status: OutcomeStatus) {
        self.worst = Some(self.worst.map_or(status, |worst| worst.max(status)));
    }

    /// Whether anything was said.
    pub(crate) fn is_silent(&self) -> bool {
        self.worst.is_none()
    }

    /// The worst of all signals; unknown where there is none.
    pub(crate) fn outcome(&self) -> OutcomeStatus {
        self.worst.unwrap_or(OutcomeStatus::Pending)
    }

    /// The words as they were written, for the environment.
    pub(crate) fn words(&self) -> &[String] {
        &self.words
    }

    /// What a summary ends with: how it failed, or the word that is not known.
    pub(crate) fn suffix(&self, failure: &str) -> String {
        let outcome = self.outcome();
        match &self.unknown {
            Some(word) if outcome == OutcomeStatus::Pending => {
                format!(" (status unknown: {})", crate::shape::one_line(word))
            }
            _ => outcome.suffix(failure).to_owned(),
        }
    }
}

/// How one part of a result ended; none if it does not say.
fn part_outcome(part: &ExactJson) -> Option<OutcomeStatus> {
    let mut signals = StatusSignals::default();
    part.as_object()?;
    signals.status(part.get("status"));
    signals.exit_code(part.get("exitCode").or_else(|| part.get("exit_code")));
    signals.error_mark(part.get("is_error").or_else(|| part.get("isError")));
    signals.success_mark(part.get("success"));
    signals.worst
}

fn yes_or_no(value: Option<&ExactJson>) -> Option<bool> {
    match value? {
        ExactJson::Bool(yes) => Some(*yes),
        ExactJson::String(text) if text.trim().eq_ignore_ascii_case("true") => Some(true),
        ExactJson::String(text) if text.trim().eq_ignore_ascii_case("false") => Some(false),
        ExactJson::Int(_) | ExactJson::Float(_) => Some(value?.is_truthy()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(word: &str) -> OutcomeStatus {
        let mut signals = StatusSignals::default();
        signals.status(Some(&word.into()));
        signals.outcome()
    }

    #[test]
    fn words_are_compared_without_case_dash_underscore_and_space() {
        for word in ["success", "OK", "Completed", "AC-CEP_TED"] {
            assert_eq!(outcome(word), OutcomeStatus::Success, "{word}");
        }
        for word in ["CANCELLED", "canceled", "timed out", "Timed-Out", "TIME_OUT", "Aborted", "invalid"] {
            assert_eq!(outcome(word), OutcomeStatus::Failure, "{word}");
        }
        for word in ["Rejected", "DENIED", "skipped"] {
            assert_eq!(outcome(word), OutcomeStatus::Blocked, "{word}");
        }
        assert_eq!(parse_status("In Progress"), StatusWord::Open);
    }

    #[test]
    fn a_word_that_is_not_in_the_table_is_never_a_success() {
        for word in ["successful?", "maybe", "0", "true", "zombie"] {
            assert_eq!(outcome(word), OutcomeStatus::Pending, "{word}");
        }
        let mut signals = StatusSignals::default();
        signals.status(Some(&"zombie".into()));
        assert_eq!(signals.suffix(" (error)"), " (status unknown: zombie)");
        assert_eq!(StatusSignals::default().outcome(), OutcomeStatus::Pending);
    }

    #[test]
    fn of_several_signals_the_worst_wins() {
        let mut signals = StatusSignals::default();
        signals.status(Some(&"completed".into()));
        signals.success_mark(Some(&true.into()));
        assert_eq!(signals.outcome(), OutcomeStatus::Success);
        signals.status(Some(&"loading".into()));
        assert_eq!(signals.outcome(), OutcomeStatus::Pending);
        signals.exit_code(Some(&"127".into()));
        assert_eq!(signals.outcome(), OutcomeStatus::Failure);
        signals.error_mark(Some(&false.into()));
        signals.status(Some(&"Rejected".into()));
        assert_eq!(signals.outcome(), OutcomeStatus::Blocked);
        assert_eq!(signals.words(), ["completed", "loading", "Rejected"]);
    }

    #[test]
    fn marks_and_codes_may_be_texts() {
        let mut signals = StatusSignals::default();
        signals.success_mark(Some(&"false".into()));
        assert_eq!(signals.outcome(), OutcomeStatus::Failure);
        let mut signals = StatusSignals::default();
        signals.exit_code(Some(&"0".into()));
        assert_eq!(signals.outcome(), OutcomeStatus::Success);
        let mut signals = StatusSignals::default();
        signals.error_mark(Some(&"True".into()));
        assert_eq!(signals.outcome(), OutcomeStatus::Failure);
    }
}
