//! One redactor for every output: credentials always, and what names a person or a machine before publishing.
//!
//! A rule finds a shape; where the shape alone would also catch ordinary words, a check looks at the value itself.
//! All patterns run in linear time, and only those that a first common pass found anywhere in the text.

mod checks;
mod exact;
mod lists;
mod names;
mod rules;
mod value;

pub use exact::redact_exact;
pub use value::redact_value;

use regex::{Captures, Regex, RegexSet, RegexSetBuilder};
use rules::{PERSONAL, RedactRule, SECRETS};
use std::borrow::Cow;
use std::ops::Range;
use std::sync::{LazyLock, OnceLock};

/// What stands where something was taken out.
pub const REDACTED: &str = "[REDACTED]";

/// How much is taken out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RedactProfile {
    /// Credentials only: for what stays on this machine.
    Secrets,
    /// Also home paths, e-mail addresses, hosts and IP addresses: for what leaves it.
    Publish,
}

/// The text without what the profile takes out; borrowed when there was nothing.
pub fn redact(text: &str, profile: RedactProfile) -> Cow<'_, str> {
    redact_telling(text, profile, &mut |_| {})
}

/// The same, and tells each value that is taken out.
pub fn redact_telling<'t>(
    text: &'t str,
    profile: RedactProfile,
    taken: &mut dyn FnMut(&str),
) -> Cow<'t, str> {
    let text = SECRET_RULES.apply(Cow::Borrowed(text), taken);
    match profile {
        RedactProfile::Secrets => text,
        RedactProfile::Publish => PERSONAL_RULES.apply(text, taken),
    }
}

/// How far around a cut a secret is looked for: a long private key before it, what a token needs to be known after it.
const BEFORE_CUT: usize = 8 << 10;
const AFTER_CUT: usize = 4 << 10;

/// Where to cut a text that is to be cut at `at`: there, or before the secret that lies across it. What was left of
/// such a secret would not be known as one any more. `at` lies between two characters.
pub fn cut_before_secret(text: &str, at: usize) -> usize {
    let start = text.floor_char_boundary(at.saturating_sub(BEFORE_CUT));
    let end = text.floor_char_boundary(at.saturating_add(AFTER_CUT));
    start + SECRET_RULES.cut(&text[start..end], at - start)
}

static SECRET_RULES: LazyLock<CompiledRules> = LazyLock::new(|| CompiledRules::new(SECRETS));
static PERSONAL_RULES: LazyLock<CompiledRules> = LazyLock::new(|| CompiledRules::new(PERSONAL));

/// What the common pass may remember of its way through a text. Too little, and it forgets and begins anew all the time.
const SET_CACHE: usize = 16 << 20;

/// Rules with one pattern that finds those which apply. A rule's own pattern is compiled when it first applies: most
/// texts hold no secret, and compiling all of them would be the longest part of starting the program.
struct CompiledRules {
    any: RegexSet,
    rules: Vec<(OnceLock<Option<Regex>>, &'static RedactRule)>,
}

impl CompiledRules {
    fn new(rules: &[&'static [RedactRule]]) -> Self {
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

    fn cut(&self, text: &str, at: usize) -> usize {
        // With what must follow it: `@` shows that a password stood before.
        let found = |(regex, rule): (&Regex, &'static RedactRule)| -> Vec<Range<usize>> {
            let secret =
                |found: Captures<'_>| Some(rule.secret(text, &found)?.start..found.get_match().end());
            regex.captures_iter(text).filter_map(secret).collect()
        };
        let secrets: Vec<Range<usize>> = self.found_in(text).flat_map(found).collect();
        let mut cut = at;
        while let Some(across) = secrets.iter().find(|secret| secret.start < cut && cut < secret.end) {
            cut = across.start;
        }
        cut
    }

    fn apply<'t>(&self, mut text: Cow<'t, str>, taken: &mut dyn FnMut(&str)) -> Cow<'t, str> {
        for (regex, rule) in self.found_in(&text) {
            let changed = regex.replace_all(&text, |found: &Captures<'_>| rule.replace(&text, found, taken));
            if changed != text {
                text = Cow::Owned(changed.into_owned());
            }
        }
        text
    }
}

#[cfg(test)]
mod tests;
