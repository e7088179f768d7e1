//! One redactor for every output: credentials always, and what names a person or a machine before publishing.
//!
//! Secrets are found in two ways. The structure of a text shows where one stands: behind a name, behind a flag of a
//! program, in a field of a file. And a rule finds a shape; where the shape alone would also catch ordinary words, a check
//! looks at the value itself. Both look at the text as it is and as it was meant, without colours, line numbers and
//! escapes. All of it takes linear time.

mod checks;
mod compiled;
mod exact;
mod lists;
mod names;
mod normalize;
mod ranges;
mod rules;
mod structure;
mod value;

pub use exact::redact_exact;
pub use value::redact_value;

use compiled::CompiledRules;
use normalize::TextView;
use ranges::{Finding, cut_before, merge};
use rules::{PERSONAL, SECRETS};
use std::borrow::Cow;
use std::sync::LazyLock;

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
    let text = without(text, &find_secrets(text), taken);
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
    start + cut_before(&find_secrets(&text[start..end]), at - start)
}

static SECRET_RULES: LazyLock<CompiledRules> = LazyLock::new(|| CompiledRules::new(SECRETS));
static PERSONAL_RULES: LazyLock<CompiledRules> = LazyLock::new(|| CompiledRules::new(PERSONAL));

/// How often escapes are undone.
const MAX_ESCAPES: usize = 3;

/// Where the secrets of a text are.
fn find_secrets(text: &str) -> Vec<Finding> {
    let mut found = Vec::new();
    find_shapes(text, &mut found);
    let plain = TextView::plain(text);
    find_in_view(&plain, structure::find, &mut found);
    if let Some(uncoloured) = TextView::uncoloured(text) {
        find_in_view(&uncoloured, find_shapes, &mut found);
    }
    // Strings in strings in strings.
    let mut view = plain;
    for _ in 0..MAX_ESCAPES {
        let Some(inner) = TextView::unescaped(&view.text) else { break };
        let inner = if view.is_original() { inner } else { view.deeper(inner) };
        find_in_view(&inner, structure::find, &mut found);
        find_in_view(&inner, find_shapes, &mut found);
        view = inner;
    }
    found
}

fn find_shapes(text: &str, found: &mut Vec<Finding>) {
    SECRET_RULES.find(text, found);
}

/// Adds what is found in a view, where it stands in the original.
fn find_in_view(view: &TextView<'_>, find: fn(&str, &mut Vec<Finding>), found: &mut Vec<Finding>) {
    let first = found.len();
    find(&view.text, found);
    if !view.is_original() {
        for finding in &mut found[first..] {
            let until = view.original(finding.secret.start..finding.until).end;
            *finding = Finding { secret: view.original(finding.secret.clone()), until };
        }
    }
}

/// The text with `[REDACTED]` in the place of what was found.
fn without<'t>(text: &'t str, found: &[Finding], taken: &mut dyn FnMut(&str)) -> Cow<'t, str> {
    let mut clean = String::new();
    let mut copied = 0;
    for range in merge(found) {
        taken(&text[range.clone()]);
        clean += &text[copied..range.start];
        clean += REDACTED;
        copied = range.end;
    }
    if copied == 0 { Cow::Borrowed(text) } else { Cow::Owned(clean + &text[copied..]) }
}

#[cfg(test)]
mod cost_tests;
#[cfg(test)]
mod tests;
