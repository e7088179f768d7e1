//! Tests that cannot be relied on: said to be flaky, or seen both to pass and to fail.

use super::pattern::SignalPattern;
use std::collections::HashMap;

/// Tested on the lowercase text.
static SAID: SignalPattern = SignalPattern::new(concat!(
    r"(?-u:\b(?:flaky|flakiness|intermittent|intermittently|unstable)\b)",
    r"|passes sometimes|sometimes (?:passes|fails)|fails (?:randomly|sometimes)|randomly fails",
));

/// One test's line of a runner: the name is the first group, or the third when the outcome stands before it.
static RESULT: SignalPattern = SignalPattern::new(concat!(
    r"(?m)^[ \t]*(?:",
    r"(?:test ([^\s]+) \.\.\. |([^\s]+::[^\s]+) )(ok|PASSED|FAILED)(?-u:\b)",
    r"|(✓|✔|✕|✗|PASSED|FAILED|--- PASS:|--- FAIL:|(?:not )?ok [0-9]+ -?) ?([^\r\n(]+)",
    r")",
));

/// Whether the text shows or says that something does not always behave the same.
pub(super) fn is_unstable(text: &str, lower: &str) -> bool {
    SAID.is_in(lower) || has_two_minds(text)
}

/// Whether one test both passes and fails.
fn has_two_minds(text: &str) -> bool {
    let mut outcomes: HashMap<&str, bool> = HashMap::new();
    RESULT.captures_all(text).any(|line| {
        let group = |n| line.get(n).map(|found| found.as_str());
        let name = group(1).or(group(2)).or(group(5)).unwrap_or_default();
        let word = group(3).or(group(4)).unwrap_or_default();
        let passed = !(word.contains("FAIL") || word.starts_with("not") || "✕✗".contains(word));
        // Pytest adds the reason after the name of a failed test.
        let name = name.split(" - ").next().unwrap_or_default().trim();
        *outcomes.entry(name).or_insert(passed) != passed
    })
}

#[cfg(test)]
pub(super) fn patterns() -> [&'static SignalPattern; 2] {
    [&SAID, &RESULT]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_test_that_passes_and_fails_is_unstable() {
        for text in [
            "test a::b ... ok\ntest a::b ... FAILED",
            "--- FAIL: TestA (0.00s)\n--- PASS: TestA (0.01s)",
            "t.py::test_a PASSED [50%]\nFAILED t.py::test_a - assert 0",
            "  ✓ adds (2 ms)\n  ✕ adds (3 ms)",
            "ok 1 - adds\nnot ok 2 - adds",
        ] {
            assert!(has_two_minds(text), "{text}");
        }
        for text in [
            "test a ... ok\ntest b ... FAILED",
            "ok 1 - adds\nok 2 - adds",
            "t.py::test_a FAILED\nFAILED t.py::test_a - assert 0",
            "",
        ] {
            assert!(!has_two_minds(text), "{text}");
        }
    }
}
