//! How far long work is: one line on a terminal, nothing elsewhere.

use std::io::{IsTerminal, Write};
use std::time::{Duration, Instant};

const EVERY: Duration = Duration::from_millis(200);

/// A line that is written over again and again, and goes away at the end.
pub(super) struct ProgressLine {
    work: &'static str,
    last_shown: Option<Instant>,
    begun: Instant,
    on_terminal: bool,
}

impl ProgressLine {
    /// Nothing is shown before the work has taken a moment.
    pub(super) fn new(work: &'static str) -> Self {
        Self { work, last_shown: None, begun: Instant::now(), on_terminal: std::io::stderr().is_terminal() }
    }

    /// Shows how much was done.
    pub(super) fn update(&mut self, what: &str, done: u64, total: u64) {
        let last = self.last_shown.unwrap_or(self.begun);
        if !self.on_terminal || last.elapsed() < EVERY {
            return;
        }
        self.last_shown = Some(Instant::now());
        let percent = done.saturating_mul(100).checked_div(total).unwrap_or(100).min(100);
        self.write(&format!("\r\x1b[K{} {what}: {percent} % of {total}", self.work));
    }

    fn write(&self, text: &str) {
        let mut stderr = std::io::stderr().lock();
        let _unseen = stderr.write_all(text.as_bytes()).and_then(|()| stderr.flush());
    }
}

impl Drop for ProgressLine {
    fn drop(&mut self) {
        if self.last_shown.is_some() {
            self.write("\r\x1b[K");
        }
    }
}
