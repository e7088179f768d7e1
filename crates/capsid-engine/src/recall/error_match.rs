//! Decides whether a text describes an error, or a change, that was recorded in other words.
//!
//! People paste what they see: a message with or without its quotes, or a whole stack trace. What is left of it without
//! paths, numbers and signs are words, and an error that shares most of them with a signature is that error.

use capsid_rules::meaning::stop_words::is_error_stop_word;
use capsid_rules::meaning::tokenizer;
use regex::{Captures, Regex};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// The share of the words that must be there.
const ENOUGH: f64 = 0.75;

/// The words of a line that may be looked for by itself in something longer: a log puts much before a message.
const LINE_WORDS: usize = 4;

/// How many lines of a long text are read: an error is at its end.
const LINES: usize = 2000;

/// A path with a drive, white space that was put in a string, a path, a file with its line, a time.
static PARTS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(
        r#"(?x) [A-Za-z]:\\[^\s"'`)]* | \\[nrt"'] | [\w.@~+-]*(?:/[\w.@~+-]+)+(?::\d+)* | [\w-]+\.\w{1,5}(?::\d+)+
            | \d{4}-\d\d-\d\d(?:T[\d:.]+Z?)?"#,
    )
    .ok()
});

/// A name between quotes, or a compiler's error code. Double quotes are too common to count.
static NAMES: LazyLock<Option<Regex>> =
    LazyLock::new(|| Regex::new(r"['`]([\w$-]+(?:\.[\w$-]+)*)['`]|\b([A-Za-z]{1,4}[0-9]{3,5})\b").ok());

/// What is left of a text: its words, and those of them that name something.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ErrorWords {
    all: BTreeSet<String>,
    names: BTreeSet<String>,
}

impl ErrorWords {
    pub fn parse(text: &str) -> Self {
        let text = PARTS.as_ref().map_or(text.into(), |parts| parts.replace_all(text, " "));
        let errors_of = |names: Captures<'_>| {
            names.get(1).or(names.get(2)).map(|name| words(name.as_str())).unwrap_or_default()
        };
        let names =
            NAMES.as_ref().into_iter().flat_map(|names| names.captures_iter(&text)).flat_map(errors_of);
        Self { names: names.collect(), all: words(&text).into_iter().collect() }
    }

    fn and(&self, other: &Self) -> Self {
        Self { all: &self.all | &other.all, names: &self.names | &other.names }
    }

    /// How much of this the whole holds, if that is enough to be the same: what is named must be there, and one word
    /// alone says something only where nothing else is said.
    fn share_in(&self, other: &Self) -> Option<f64> {
        let named = self.names.iter().all(|name| other.all.contains(name));
        let says_enough = self.all.len() > 1 || self.all == other.all;
        if self.all.is_empty() || !named || !says_enough {
            return None;
        }
        let held = self.all.iter().filter(|word| other.all.contains(*word)).count();
        let share = held as f64 / self.all.len() as f64;
        // Where words differ, none of them may be what the other one names.
        let same_names = held == self.all.len() || other.names.is_subset(&self.all);
        (share >= ENOUGH && same_names).then_some(share)
    }
}

/// The words of a text in lower case; single letters and numbers say nothing.
fn words(text: &str) -> Vec<String> {
    tokenizer::names(text)
        .map(|word| word.trim_matches('_').to_lowercase())
        .filter(|word| word.chars().count() > 1 && !is_error_stop_word(word))
        .filter(|word| {
            !word.contains(|c: char| c.is_ascii_digit())
                || tokenizer::is_error_number(word, |c| c.is_ascii_alphabetic(), 4)
        })
        .collect()
}

/// A text that somebody asks with.
#[derive(Debug, Clone, Default)]
pub(super) struct ErrorQuery {
    all_words: ErrorWords,
    lines: Vec<ErrorWords>,
}

impl ErrorQuery {
    pub fn parse(text: &str) -> Self {
        let tail = text.lines().rev().take(LINES).map(ErrorWords::parse);
        let mut lines: Vec<ErrorWords> = tail.filter(|words| !words.all.is_empty()).collect();
        lines.reverse();
        lines.dedup();
        let all_words = lines.iter().fold(ErrorWords::default(), |all, line| all.and(line));
        Self { all_words, lines }
    }

    /// How much of the recorded error the text contains, from [`ENOUGH`] to 1; `None` if it is about something else.
    ///
    /// The shorter of the two is looked for in the longer one. A long text is looked at line by line, since together its
    /// lines hold the words of many errors; a message may be broken over two.
    pub fn match_share(&self, written: &ErrorWords) -> Option<f64> {
        let size = written.all.len();
        let short = (self.all_words.all.len() <= size).then(|| self.all_words.share_in(written)).flatten();
        let alone = self.lines.iter().filter_map(|line| written.share_in(line));
        let broken = self.lines.windows(2).filter_map(|pair| written.share_in(&pair[0].and(&pair[1])));
        let distinctive = self.lines.iter().filter(|line| (LINE_WORDS..size).contains(&line.all.len()));
        let inside = distinctive.filter_map(|line| line.share_in(written));
        short.into_iter().chain(alone).chain(broken).chain(inside).max_by(f64::total_cmp)
    }
}

#[cfg(test)]
#[path = "error_match_tests.rs"]
mod tests;
