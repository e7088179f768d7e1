//! What a person typed, on its way to a hub: without what must not leave this machine.

use super::print;
use capsid_engine::rules::outbound::{MAX, outbound_signals_reporting};
use capsid_model::redact::{REDACTED, RedactProfile, redact_telling, redact_value};
use capsid_model::{Code, Problem, Result, Value};

/// Redacts what must not leave this machine, and counts it.
#[derive(Debug, Default)]
pub(super) struct OutboundRedactor {
    redacted: usize,
}

impl OutboundRedactor {
    /// A text that may leave.
    pub(super) fn text(&mut self, text: &str) -> String {
        redact_telling(text, RedactProfile::Publish, &mut |_| self.redacted += 1).into_owned()
    }

    /// The same where there may be none.
    pub(super) fn text_or(&mut self, text: Option<&str>) -> Option<String> {
        text.map(|text| self.text(text))
    }

    /// Signals that may leave; one of which nothing is left is dropped.
    pub(super) fn signals(&mut self, signals: &[String]) -> Vec<String> {
        outbound_signals_reporting(signals, MAX, &mut |_| self.redacted += 1)
    }

    /// The same, and a problem where none is left.
    pub(super) fn some_signals(&mut self, signals: &[String]) -> Result<Vec<String>> {
        let clean = self.signals(signals);
        if clean.is_empty() {
            return Err(Problem::new(Code::InputInvalid, "No signal is left that may leave this machine.")
                .fix("Name what went wrong in words, such as `log_error` or `TimeoutError`; `capsid signals` shows those of this repository."));
        }
        Ok(clean)
    }

    /// A document that may leave.
    pub(super) fn document(&mut self, document: &Value) -> Value {
        let mut clean = document.clone();
        redact_value(&mut clean, RedactProfile::Publish);
        self.redacted += usize::from(clean != *document);
        clean
    }

    /// Whether something was redacted.
    pub(super) fn has_redacted(&self) -> bool {
        self.redacted > 0
    }

    /// Prints what was redacted, if anything was.
    pub(super) fn print_removed(&self) {
        let what = match self.redacted {
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
        let mut redactor = OutboundRedactor::default();
        let signals = ["TimeoutError".to_owned(), "ann@globex.com".to_owned(), " ".to_owned()];
        assert_eq!(redactor.signals(&signals), ["TimeoutError"]);
        assert_eq!(redactor.redacted, 1);
        assert_eq!(redactor.some_signals(&signals[1..]).unwrap_err().code, Code::InputInvalid);
        assert!(!OutboundRedactor::default().text("plain words").contains(REDACTED));
    }
}
