//! The three forms of a pattern, and when one hits.

use super::ecma::translate;
use super::required::{required_of_plain, required_words};
use capsid_model::text::trim;
use regex::{Regex, RegexBuilder};
use regex_syntax::ParserBuilder;
use regex_syntax::hir::{Class, Hir, HirKind};
use std::sync::OnceLock;

/// Longer regular expressions are taken as plain text.
const MAX_REGEX_CHARS: usize = 1024;
/// Heavier ones too: this many letters and ranges once repetitions are written out.
const MAX_WEIGHT: u64 = 4096;

/// The signals to match, as they are and in lowercase.
#[derive(Debug, Clone)]
pub struct SignalSet<'a> {
    /// As they are: what regular expressions see.
    pub raw: Vec<&'a str>,
    /// In lowercase: what words are looked for in.
    pub lower: Vec<String>,
}

impl<'a> SignalSet<'a> {
    /// Lowercases each signal once.
    pub fn new(raw: Vec<&'a str>) -> Self {
        let lower = raw.iter().map(|signal| signal.to_lowercase()).collect();
        Self { raw, lower }
    }
}

/// A pattern of `signals_match` or `trigger`.
#[derive(Debug)]
pub enum MatchPattern {
    /// Hits when any of these lowercase words is inside a signal. No word at all never hits.
    Words(Vec<String>),
    /// Hits when the expression matches a signal.
    Expression(LinearRegex),
}

impl MatchPattern {
    /// Reads `/body/flags`, `a|b|c` or plain text. An expression that does not compile is plain text.
    pub fn parse(text: &str) -> Self {
        if let Some((expression, _)) = LinearRegex::parse(text) {
            return Self::Expression(expression);
        }
        let mut words = Vec::new();
        each_word(text, |word| words.push(word.to_owned()));
        Self::Words(words)
    }

    /// Whether it hits any of the signals.
    pub fn hits(&self, signals: &SignalSet<'_>) -> bool {
        match self {
            Self::Words(words) => {
                signals.lower.iter().any(|signal| words.iter().any(|word| signal.contains(word.as_str())))
            }
            Self::Expression(expression) => expression.hits(signals),
        }
    }
}

/// Calls `found` with each lowercase word of a pattern that is not an expression: its branches, or itself.
pub(super) fn each_word(text: &str, on_word: impl FnMut(&str)) {
    let lower = text.to_lowercase();
    let is_alias = lower.contains('|') && !lower.starts_with('/');
    let branches = lower.split(|c| c == '|' && is_alias);
    let tidy = |branch| if is_alias { trim(branch) } else { branch };
    branches.map(tidy).filter(|word| !word.is_empty()).for_each(on_word);
}

/// A regular expression that runs in linear time, compiled when first used.
#[derive(Debug)]
pub struct LinearRegex {
    source: String,
    flags: PatternFlags,
    compiled: OnceLock<Option<Regex>>,
}

#[derive(Debug, Clone, Copy, Default)]
struct PatternFlags {
    ignore_case: bool,
    multi_line: bool,
    dot_all: bool,
}

impl LinearRegex {
    /// Reads `/body/flags`, with the sets of words it requires; nothing when it is not of that form, does not parse
    /// or is too big.
    pub(super) fn parse(text: &str) -> Option<(Self, Vec<Vec<String>>)> {
        let (body, flags) = text.strip_prefix('/')?.rsplit_once('/')?;
        if text.chars().count() > MAX_REGEX_CHARS {
            return None;
        }
        let flags = PatternFlags::read(flags)?;
        let expression = Self { source: translate(body, flags.dot_all), flags, compiled: OnceLock::new() };
        let required = match required_of_plain(body) {
            Some(required) => required,
            None => required_words(&expression.tree()?),
        };
        Some((expression, required))
    }

    /// Its syntax tree, unless it does not parse or is too big.
    fn tree(&self) -> Option<Hir> {
        let tree = ParserBuilder::new()
            .nest_limit(64)
            .case_insensitive(self.flags.ignore_case)
            .multi_line(self.flags.multi_line)
            .dot_matches_new_line(self.flags.dot_all)
            .build()
            .parse(&self.source)
            .ok()?;
        (weight(&tree) <= MAX_WEIGHT).then_some(tree)
    }

    /// Whether it matches any of the signals.
    pub fn hits(&self, signals: &SignalSet<'_>) -> bool {
        let compiled = self.compiled.get_or_init(|| {
            RegexBuilder::new(&self.source)
                .nest_limit(64)
                .case_insensitive(self.flags.ignore_case)
                .multi_line(self.flags.multi_line)
                .dot_matches_new_line(self.flags.dot_all)
                .build()
                .ok()
        });
        compiled.as_ref().is_some_and(|regex| signals.raw.iter().any(|signal| regex.is_match(signal)))
    }
}

impl PatternFlags {
    /// No flags mean `i`. `g` and `y` only steer repeated matching, `u` and `d` nothing that matters here.
    fn read(text: &str) -> Option<Self> {
        let mut flags = Self::default();
        for (at, flag) in text.char_indices() {
            match flag {
                _ if text[..at].contains(flag) => return None,
                'i' => flags.ignore_case = true,
                'm' => flags.multi_line = true,
                's' => flags.dot_all = true,
                'u' | 'g' | 'y' | 'd' => {}
                _ => return None,
            }
        }
        flags.ignore_case |= text.is_empty();
        Some(flags)
    }
}

/// How big an expression is once its repetitions are written out.
fn weight(hir: &Hir) -> u64 {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => 1,
        HirKind::Literal(literal) => literal.0.len() as u64,
        HirKind::Class(Class::Unicode(class)) => class.ranges().len() as u64,
        HirKind::Class(Class::Bytes(class)) => class.ranges().len() as u64,
        HirKind::Repetition(repeat) => {
            let times = repeat.max.unwrap_or(repeat.min.saturating_add(1));
            weight(&repeat.sub).saturating_mul(u64::from(times.max(1)))
        }
        HirKind::Capture(capture) => weight(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => {
            parts.iter().map(weight).fold(0, u64::saturating_add)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hits(pattern: &str, signal: &str) -> bool {
        MatchPattern::parse(pattern).hits(&SignalSet::new(vec![signal]))
    }

    #[test]
    fn words_are_looked_for_without_case() {
        assert!(hits("Error", "log_ERROR"));
        assert!(!hits("errors", "log_error"));
        assert!(hits("错误", "发生错误"));
        assert!(!hits("", "anything"));
        assert!(!MatchPattern::parse("a").hits(&SignalSet::new(vec![])));
    }

    #[test]
    fn an_alias_hits_by_any_branch() {
        assert!(hits("timeout | 超时 |slow", "很慢：超时"));
        assert!(!hits("a|b", "xyz"));
        assert!(!hits(" | |", "anything"));
    }

    #[test]
    fn expressions_take_flags_and_default_to_no_case() {
        assert!(hits("/err(or)?$/", "LOG_ERR"));
        assert!(!hits("/err/g", "ERR"), "explicit flags replace the default");
        assert!(hits("/err/gi", "ERR"));
        assert!(hits("//", "anything"));
        assert!(hits("/^b/m", "a\nb"));
        assert!(!hits("/a.b/", "a\nb"));
        assert!(hits("/a.b/s", "a\nb"));
    }

    #[test]
    fn an_expression_that_does_not_compile_is_plain_text() {
        assert!(hits("/(/", "see /(/ here"));
        assert!(!hits("/(/", "("));
        assert!(hits("/a(?=b)/", "x/A(?=B)/x"));
        assert!(hits("/a/q", "path/a/q"));
        assert!(!hits("/a/ii", "a"));
        assert!(hits("/x", "a/x|y"));
    }

    #[test]
    fn a_hostile_expression_costs_little() {
        let huge = "/((a{100}){100}){100}/";
        assert!(matches!(MatchPattern::parse(huge), MatchPattern::Words(_)));
        let long = format!("/{}/", "a".repeat(2000));
        assert!(matches!(MatchPattern::parse(&long), MatchPattern::Words(_)));
        let deep = format!("/{}{}/", "(".repeat(500), ")".repeat(500));
        assert!(matches!(MatchPattern::parse(&deep), MatchPattern::Words(_)));
        assert!(!hits("/(a+)+$/", &format!("{}!", "a".repeat(20_000))));
    }
}
