//! What a person typed, on its way to a hub: without what must not leave this machine.

use super::print;
use capsid_engine::exchange::signals::{MAX, outward_telling};
use capsid_model::redact::{REDACTED, RedactProfile, redact_telling, redact_value};
use capsid_model::{Code, Problem, Result, Value};

/// Takes out what must not leave, and counts it.
#[derive(Debug, Default)]
pub(super) struct OutboundRedactor {
    taken: usize,
}

impl OutboundRedactor {
    /// A text that may leave.
    pub(super) fn text(&mut self, text: &str) -> String {
        redact_telling(text, RedactProfile::Publish, &mut |_| self.taken += 1).into_owned()
    }

    /// The same where there may be none.
    pub(super) fn text_or(&mut self, text: Option<&str>) -> Option<String> {
        text.map(|text| self.text(text))
    }

    /// Signals that may leave; one of which nothing is left is dropped.
    pub(super) fn signals(&mut self, signals: &[String]) -> Vec<String> {
        outward_telling(signals, MAX, &mut |_| self.taken += 1)
    }

    /// The same, and a problem where none is left.
    pub(super) fn some_signals(&mut self, signals: &[String]) -> Result<Vec<String>> {
        let kept = self.signals(signals);
        if kept.is_empty() {
            return Err(Problem::new(Code::InputInvalid, "No signal is left that may leave this machine.")
                .fix("Name what went wrong in words, such as `log_error` or `TimeoutError`; `capsid signals` shows those of this repository."));
        }
        Ok(kept)
    }

    /// A document that may leave.
    pub(super) fn document(&mut self, document: &Value) -> Value {
        let mut kept = document.clone();
        redact_value(&mut kept, RedactProfile::Publish);
        self.taken += usize::from(kept != *document);
        kept
    }

    /// Whether something was taken out.
    pub(super) fn took(&self) -> bool {
        self.taken > 0
    }

    /// Says what was taken out, if anything was.
    pub(super) fn print_removed(&self) {
        let what = match self.taken {
            0 => return,
            1 => "Something".to_owned(),
            count => format!("{count} things"),
        };
        print::print_note(format_args!(
            "{what} that could be a secret or name a person or a machine did not leave: {REDACTED} was sent instead."
        ));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_private_stays_and_is_counted() {
        let mut outward = OutboundRedactor::default();
        let signals = ["TimeoutError".to_owned(), "ann@globex.com".to_owned(), " ".to_owned()];
        assert_eq!(outward.signals(&signals), ["TimeoutError"]);
        assert_eq!(outward.taken, 1);
        assert_eq!(outward.some_signals(&signals[1..]).unwrap_err().code, Code::InputInvalid);
        assert!(!OutboundRedactor::default().text("plain words").contains(REDACTED));
    }
}
