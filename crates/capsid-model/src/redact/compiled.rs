//! Rules with one pattern that finds those which apply.

use super::ranges::Finding;
use super::rules::RedactRule;
use regex::{Captures, Regex, RegexSet, RegexSetBuilder};
use std::borrow::Cow;
use std::sync::OnceLock;

/// What the common pass may remember of its way through a text. Too little, and it forgets and begins anew all the time.
const SET_CACHE: usize = 16 << 20;

/// Rules with one pattern that finds those which apply. A rule's own pattern is compiled when it first applies: most
/// texts hold no secret, and compiling all of them would be the longest part of starting the program.
pub(super) struct CompiledRules {
    pub(super) any: RegexSet,
    pub(super) rules: Vec<(OnceLock<Option<Regex>>, &'static RedactRule)>,
}

impl CompiledRules {
    pub(super) fn new(rules: &[&'static [RedactRule]]) -> Self {
        let rules = || rules.iter().copied().flatten();
        // The patterns are literals and a test compiles each, so none is ever left out.
        let any = RegexSetBuilder::new(rules().map(|rule| rule.pattern)).dfa_size_limit(SET_CACHE).build();
        Self { any: any.unwrap_or_default(), rules: rules().map(|rule| (OnceLock::new(), rule)).collect() }
    }

    /// The rules that find something in a text.
    fn found_in<'c>(
        &'c self,
        text: &str,
    ) -> impl Iterator<Item = (&'c Regex, &'static RedactRule)> + use<'c> {
        self.any.matches(text).into_iter().filter_map(|index| {
            let (compiled, rule) = &self.rules[index];
            let regex = compiled.get_or_init(|| Regex::new(rule.pattern).ok()).as_ref()?;
            Some((regex, *rule))
        })
    }

    /// Adds what the rules find in a text.
    pub(super) fn find(&self, text: &str, found: &mut Vec<Finding>) {
        for (regex, rule) in self.found_in(text) {
            // With what must follow it: `@` shows that a password stood before.
            found.extend(regex.captures_iter(text).filter_map(|captures| {
                Some(Finding { secret: rule.secret(text, &captures)?, until: captures.get_match().end() })
            }));
        }
    }

    /// The text with each rule applied to what the rules before it left.
    pub(super) fn apply<'t>(&self, mut text: Cow<'t, str>, taken: &mut dyn FnMut(&str)) -> Cow<'t, str> {
        for (regex, rule) in self.found_in(&text) {
            let changed = regex.replace_all(&text, |found: &Captures<'_>| rule.replace(&text, found, taken));
            if changed != text {
                text = Cow::Owned(changed.into_owned());
            }
        }
        text
    }
}
