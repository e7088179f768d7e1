//! Collects lines; repeated ones are written once.

/// A text that grows by lines.
#[derive(Default)]
pub(super) struct GrowingText {
    text: String,
    last: String,
    repeats: usize,
}

impl GrowingText {
    /// Adds a line.
    pub(super) fn line(&mut self, line: String) {
        if line == self.last {
            self.repeats += 1;
            return;
        }
        self.flush_repeats();
        self.text += &line;
        self.text.push('\n');
        self.last = line;
    }

    /// Lets go of the start, so that about the last `bytes` stay.
    pub(super) fn retain_last(&mut self, bytes: usize) {
        let from = self.text.len().saturating_sub(bytes);
        if let Some(at) = memchr::memchr(b'\n', &self.text.as_bytes()[from..]).filter(|_| from > 0) {
            self.text.drain(..=from + at);
        }
    }

    /// How long it is.
    pub(super) fn len(&self) -> usize {
        self.text.len()
    }

    /// All of it.
    pub(super) fn text(mut self) -> String {
        self.flush_repeats();
        self.text
    }

    fn flush_repeats(&mut self) {
        if self.repeats > 0 {
            self.text.push_str(&format!("   ... [Repeated {} times] ...\n", self.repeats));
        }
        self.repeats = 0;
    }
}
