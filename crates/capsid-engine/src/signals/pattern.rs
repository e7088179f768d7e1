//! A regular expression that is written down where it is used and compiled once, when first needed.

use regex::{CaptureMatches, Captures, Match, Regex};
use std::sync::OnceLock;

/// A pattern in a table. One that does not compile matches nothing; a test compiles every one of them.
pub(super) struct SignalPattern {
    source: &'static str,
    compiled: OnceLock<Option<Regex>>,
}

impl SignalPattern {
    pub(super) const fn new(source: &'static str) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    pub(super) fn regex(&self) -> Option<&Regex> {
        self.compiled.get_or_init(|| Regex::new(self.source).ok()).as_ref()
    }

    pub(super) fn is_in(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    pub(super) fn find<'t>(&self, text: &'t str) -> Option<Match<'t>> {
        self.find_from(text, 0)
    }

    pub(super) fn find_from<'t>(&self, text: &'t str, start: usize) -> Option<Match<'t>> {
        self.regex()?.find_at(text, start)
    }

    pub(super) fn find_all<'t>(&self, text: &'t str) -> impl Iterator<Item = Match<'t>> {
        self.regex().into_iter().flat_map(move |regex| regex.find_iter(text))
    }

    pub(super) fn captures_all<'r, 't>(
        &'r self,
        text: &'t str,
    ) -> impl Iterator<Item = Captures<'t>> + use<'r, 't> {
        self.regex()
            .into_iter()
            .flat_map(move |regex| -> CaptureMatches<'r, 't> { regex.captures_iter(text) })
    }
}
