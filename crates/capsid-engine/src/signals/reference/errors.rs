//! Errors in a text: whether there is one, its signature, and which one keeps coming back.

use crate::signals::pattern::SignalPattern;
use crate::signals::tally::SignalTally;
use capsid_model::text::{collapse, cut, is_space, trim};

/// Tested on the lowercase text.
static LOGGED: SignalPattern = SignalPattern::new(
    r#"\[error\]|error:|exception:|iserror":true|"status":[\s\u{feff}]*"(?:error|failed)"|(?:错误|异常|报错|失败)[\s\u{feff}]*[：:]"#,
);

/// A line that names an error, `TypeError:` and its like included.
static SIGNATURE: SignalPattern = SignalPattern::new(
    r"(?i)error[\s\u{feff}]*:|exception[\s\u{feff}]*:|\[error|(?:错误|异常|报错|失败)[\s\u{feff}]*[：:]",
);

/// How an error begins that may come back; what follows belongs to it up to a closing brace.
static RECURRING: SignalPattern =
    SignalPattern::new(r#"(?i-u:LLM error)|(?i-u:"error")|(?i-u:"status"):[\s\u{feff}]*(?i-u:"error")"#);

/// Lines of programs that report failure without the word `error:`. What is not anchored may also stand inside a
/// tool's result, whose line breaks are gone.
static PLAIN: SignalPattern = SignalPattern::new(concat!(
    // compilers, package managers, version control
    r"(?-u:\b)error\[[A-Z]+[0-9]+\]|npm (?:ERR!|error )|^fatal: |^make(?:\[[0-9]+\])?: \*\*\*",
    r"|^BUILD FAILED|undefined reference to|: command not found(?:$|\s)",
    // panics, tracebacks and uncaught exceptions
    r"|panicked at |^panic: |goroutine [0-9]+ \[|Traceback \(most recent call last\)|Exception in thread ",
    r"|^[A-Za-z_][A-Za-z0-9_.]*(?:Error|Exception)$|terminate called after throwing|Segmentation fault",
    // test runners
    r"|^FAILED |^FAIL |\sFAILED$|test result: FAILED|--- FAIL:|^✕ |^✗ |^not ok [0-9]|^E\s{2,}assert ",
    r"|FAILED [^\s]+::",
    // exit statuses
    r"|(?i-u:exit(?:ed)?(?: with)?(?: exit)? (?:code|status):? [1-9])",
));

/// Characters of a match that belong to a recurring error, and how many of them name it.
const RECURRING_REACH: usize = 200;
const RECURRING_KEY: usize = 100;
/// Times an error must be seen to be called recurring.
const RECURRING_MIN: usize = 3;
/// Longest error signature.
const SIGNATURE_MAX: usize = 260;

/// Whether the lowercase text logs an error.
pub(super) fn is_logged(lower: &str) -> bool {
    LOGGED.is_in(lower)
}

/// `errsig:` and the first line that names an error.
pub(super) fn signature(text: &str) -> Option<String> {
    first_line(text, &SIGNATURE)
}

/// The same for programs that report failure in other words.
pub(super) fn plain_signature(text: &str) -> Option<String> {
    first_line(text, &PLAIN)
}

fn first_line(text: &str, pattern: &SignalPattern) -> Option<String> {
    let line = text.lines().map(trim).find(|line| pattern.is_in(line))?;
    Some(format!("errsig:{}", cut(&collapse(line), SIGNATURE_MAX)))
}

/// The error seen most often, if it was seen often enough; the first one on ties.
pub(super) fn most_recurring(text: &str) -> Option<(usize, String)> {
    let mut at = 0;
    let keys = std::iter::from_fn(|| {
        let found = RECURRING.find_from(text, at)?;
        let reach = cut(&text[found.end()..], RECURRING_REACH);
        at = found.end() + reach.find('}').unwrap_or(reach.len());
        let key = single_spaced(&text[found.start()..at]);
        Some(cut(&key, RECURRING_KEY).to_owned())
    });
    let (key, count) = SignalTally::from_iter(keys).top()?;
    (count >= RECURRING_MIN).then_some((count, key))
}

/// Runs of white space as one space each; unlike `collapse`, the ends keep theirs.
fn single_spaced(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut in_space = false;
    for c in text.chars() {
        let space = is_space(c);
        if !space {
            out.push(c);
        } else if !in_space {
            out.push(' ');
        }
        in_space = space;
    }
    out
}

#[cfg(test)]
pub(super) fn patterns() -> [&'static SignalPattern; 4] {
    [&LOGGED, &SIGNATURE, &RECURRING, &PLAIN]
}
