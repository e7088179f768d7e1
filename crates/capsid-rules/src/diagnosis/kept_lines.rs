//! Lines of a log that the prefilter kept, within a size.

use aho_corasick::{AhoCorasick, AhoCorasickBuilder};
use std::sync::LazyLock;

/// Of what lies between them, lines around the first ones that state an error, up to this size.
const KEPT_MIDDLE: usize = 256 * 1024;
/// Lines that are kept before and after such a line.
const MIDDLE_LINES: usize = 20;

pub struct KeptLine {
    pub number: usize,
    pub text: String,
}

/// Lines one after the other, without an allocation for each.
#[derive(Default)]
pub struct KeptLines {
    pub bytes: Vec<u8>,
    /// Number, start and end of each line.
    pub lines: Vec<(usize, usize, usize)>,
}

impl KeptLines {
    pub fn push(&mut self, number: usize, raw: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(raw);
        self.lines.push((number, start, self.bytes.len()));
    }

    /// Drops the first lines until the rest is no longer than a size. Errors among them go to `middle`.
    pub fn shorten(&mut self, size: usize, middle: &mut Self) {
        let from = self.bytes.len().saturating_sub(size);
        let first = self.lines.partition_point(|(_, start, _)| *start < from);
        self.copy_errors(first, middle);
        let cut = self.lines.get(first).map_or(self.bytes.len(), |(_, start, _)| *start);
        self.bytes.drain(..cut);
        self.lines.drain(..first);
        for (_, start, end) in &mut self.lines {
            *start -= cut;
            *end -= cut;
        }
    }

    /// Copies the lines around those of the first `count` lines that state an error.
    fn copy_errors(&self, count: usize, middle: &mut Self) {
        let mut next = 0;
        for at in 0..count {
            if middle.bytes.len() >= KEPT_MIDDLE {
                return;
            }
            if !self.line(at).is_some_and(|(_, raw)| states_error(raw)) {
                continue;
            }
            let last = (at + MIDDLE_LINES).min(count.saturating_sub(1));
            for (number, raw) in
                (next.max(at.saturating_sub(MIDDLE_LINES))..=last).filter_map(|at| self.line(at))
            {
                middle.push(number, raw);
            }
            next = next.max(last + 1);
        }
    }

    fn line(&self, at: usize) -> Option<(usize, &[u8])> {
        let (number, start, end) = *self.lines.get(at)?;
        Some((number, self.bytes.get(start..end)?))
    }

    pub fn to_lines(&self) -> impl Iterator<Item = KeptLine> + '_ {
        self.lines.iter().map(|(number, start, end)| KeptLine {
            number: *number,
            text: String::from_utf8_lossy(self.bytes.get(*start..*end).unwrap_or_default()).into_owned(),
        })
    }
}

/// Whether a line by itself looks like an error: it has a word of errors, and states no lower level.
fn states_error(raw: &[u8]) -> bool {
    let has = |words: &Option<AhoCorasick>| words.as_ref().is_some_and(|words| words.is_match(raw));
    has(&ERROR_WORDS) && !has(&LOWER_LEVELS)
}

static ERROR_WORDS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    let words =
        ["error:", "error ", "error[", "exception", "panicked", "traceback", "fatal", "critical", "failed"];
    AhoCorasickBuilder::new().ascii_case_insensitive(true).build(words).ok()
});

static LOWER_LEVELS: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::new(["INFO", "WARN", "DEBUG", "TRACE", "info", "warn", "debug", "errors=0"]).ok()
});
