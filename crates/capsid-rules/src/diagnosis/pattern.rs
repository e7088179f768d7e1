//! Regular expressions that are compiled when they are first needed.

use regex::{Captures, Regex};
use std::sync::OnceLock;

/// One regular expression. A process that reads no log of a tool never compiles the tool's patterns.
pub(crate) struct Pattern {
    source: &'static str,
    cell: OnceLock<Option<Regex>>,
}

impl Pattern {
    pub(crate) const fn new(source: &'static str) -> Self {
        Self { source, cell: OnceLock::new() }
    }

    /// The compiled expression; nothing if its source is wrong, which a debug build refuses.
    pub(crate) fn regex(&self) -> Option<&Regex> {
        self.cell
            .get_or_init(|| {
                let compiled = Regex::new(self.source);
                debug_assert!(compiled.is_ok(), "{}", self.source);
                compiled.ok()
            })
            .as_ref()
    }

    pub(crate) fn is_match(&self, text: &str) -> bool {
        self.regex().is_some_and(|regex| regex.is_match(text))
    }

    pub(crate) fn captures<'t>(&self, text: &'t str) -> Option<Groups<'t>> {
        self.regex()?.captures(text).map(Groups)
    }

    pub(crate) fn replace_all(&self, text: &str, with: impl FnMut(&Captures<'_>) -> String) -> String {
        match self.regex() {
            Some(regex) => regex.replace_all(text, with).into_owned(),
            None => text.to_owned(),
        }
    }

    pub(crate) fn find_range(&self, text: &str) -> Option<std::ops::Range<usize>> {
        self.regex()?.find(text).map(|found| found.range())
    }
}

/// The groups of a match. A group that took no part is empty.
pub(crate) struct Groups<'t>(Captures<'t>);

impl<'t> Groups<'t> {
    pub(crate) fn get(&self, index: usize) -> &'t str {
        self.0.get(index).map_or("", |group| group.as_str())
    }

    /// The group, unless it is empty.
    pub(crate) fn some(&self, index: usize) -> Option<&'t str> {
        Some(self.get(index)).filter(|text| !text.is_empty())
    }

    /// The group of a name, unless the pattern has none or it took no part.
    pub(crate) fn named(&self, name: &str) -> Option<&'t str> {
        self.0.name(name).map(|group| group.as_str()).filter(|text| !text.is_empty())
    }

    /// Whether the group of a name took part, be it empty.
    pub(crate) fn has(&self, name: &str) -> bool {
        self.0.name(name).is_some()
    }

    pub(crate) fn number(&self, index: usize) -> Option<u32> {
        self.get(index).parse().ok()
    }

    pub(crate) fn range(&self) -> std::ops::Range<usize> {
        self.0.get(0).map_or(0..0, |group| group.range())
    }
}
