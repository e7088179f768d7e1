//! Whether the tests after a change prove less than those before it.

use super::test_summary::{TestResult, TestRunner, TestSummary, TestUnit};
use std::fmt;

/// How many names a sentence lists.
const MAX_NAMES: usize = 3;

/// How the tests after a change are weaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Weakening {
    /// The run before had a summary of its tests, and the run after has none.
    SummaryGone,
    /// Tests that ran before do not exist any more.
    Missing(Vec<String>),
    /// Tests that ran before are skipped now.
    Skipped(Vec<String>),
    FewerRan {
        before: u64,
        after: u64,
    },
}

/// How the tests of the run after are weaker than those before, if they are.
pub fn find_weakening(before: Option<&TestSummary>, after: Option<&TestSummary>) -> Option<Weakening> {
    let before = before?;
    let Some(after) = after else { return Some(Weakening::SummaryGone) };
    if after.unit != before.unit {
        // A Gradle build counts its tests only if one failed, and a Go package that does not build has none to count.
        // Any other run that stops counting lost its summary.
        let is_gradle = before.runner == TestRunner::Gradle && after.runner == TestRunner::Gradle;
        let is_finer = before.unit == TestUnit::Package && after.unit == TestUnit::Test;
        let is_comparable = (is_gradle || is_finer) && after.ran > 0;
        return (!is_comparable).then_some(Weakening::SummaryGone);
    }
    if let (Some(old), Some(new)) = (&before.names, &after.names) {
        let ran = || old.iter().filter(|(_, result)| **result != TestResult::Skipped).map(|(name, _)| name);
        let may_go = |name: &String| old.get(name) == Some(&TestResult::Failed) && stands_for_others(name);
        let is_missing = |name: &&String| !new.contains_key(*name) && !may_go(name);
        let missing: Vec<String> = ran().filter(is_missing).cloned().collect();
        if !missing.is_empty() {
            return Some(Weakening::Missing(missing));
        }
        let skipped: Vec<String> =
            ran().filter(|name| new.get(*name) == Some(&TestResult::Skipped)).cloned().collect();
        if !skipped.is_empty() {
            return Some(Weakening::Skipped(skipped));
        }
    }
    (after.ran < before.ran).then_some(Weakening::FewerRan { before: before.ran, after: after.ran })
}

/// Whether a runner uses this name for tests that could not run: their file did not load, or their setup failed. The
/// name goes when the tests run.
fn stands_for_others(name: &str) -> bool {
    let is_file = !name.contains(' ')
        && [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts", ".jsx", ".tsx"]
            .iter()
            .any(|end| name.ends_with(end));
    let is_setup = [
        "setUpClass (",
        "tearDownClass (",
        "setUpModule (",
        "tearDownModule (",
        "setup_file failed",
        "\"before ",
    ]
    .iter()
    .any(|start| name.starts_with(start));
    is_file
        || is_setup
        || name.contains("(unittest.loader._FailedTest")
        || name.ends_with("initializationError")
}

/// Whether a run without the source part failed in a test that is new: one that the run before does not have. Without
/// names, more failures in more tests than before show it.
pub fn has_new_failing_test(before: Option<&TestSummary>, without_source: Option<&TestSummary>) -> bool {
    let Some(without) = without_source else { return false };
    let Some(before) = before else { return without.failed > 0 };
    match (&before.names, &without.names) {
        (Some(old), Some(new)) => {
            new.iter().any(|(name, result)| *result == TestResult::Failed && !old.contains_key(name))
        }
        _ => without.unit == TestUnit::Test && without.failed > before.failed && without.ran > before.ran,
    }
}

impl fmt::Display for Weakening {
    /// One sentence.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let list = |names: &[String]| {
            let shown: Vec<String> = names
                .iter()
                .take(MAX_NAMES)
                .map(|name| format!("`{}`", capsid_model::text::inert_line(name)))
                .collect();
            let more = names.len().saturating_sub(MAX_NAMES);
            let more = if more == 0 { String::new() } else { format!(" and {more} more") };
            format!("{}{more}", shown.join(", "))
        };
        match self {
            Self::SummaryGone => f.write_str(
                "The run before the change ended with a summary of its tests; the run after it has none.",
            ),
            Self::Missing(names) => {
                write!(f, "Tests that ran before the change are missing: {}.", list(names))
            }
            Self::Skipped(names) => {
                write!(f, "Tests that ran before the change are skipped: {}.", list(names))
            }
            Self::FewerRan { before, after } => {
                write!(f, "{before} tests ran before the change, and only {after} ran after it.")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::test_summary::parse_test_summary;
    use super::*;

    fn cargo(tests: &[(&str, &str)]) -> TestSummary {
        let count = |word: &str| tests.iter().filter(|(_, result)| *result == word).count();
        let lines: String =
            tests.iter().map(|(name, result)| format!("test {name} ... {result}\n")).collect();
        let (passed, failed, ignored) = (count("ok"), count("FAILED"), count("ignored"));
        let text = format!(
            "{lines}\ntest result: x. {passed} passed; {failed} failed; {ignored} ignored; 0 measured\n"
        );
        parse_test_summary(&text).unwrap()
    }

    fn weakening(before: &[(&str, &str)], after: &[(&str, &str)]) -> Option<Weakening> {
        find_weakening(Some(&cargo(before)), Some(&cargo(after)))
    }

    #[test]
    fn the_same_or_more_tests_are_not_weaker() {
        let before = [("a", "ok"), ("b", "FAILED"), ("c", "ignored")];
        assert_eq!(weakening(&before, &[("a", "ok"), ("b", "ok"), ("c", "ignored")]), None);
        assert_eq!(weakening(&before, &[("a", "ok"), ("b", "ok"), ("c", "ok"), ("d", "ok")]), None);
        assert_eq!(weakening(&before, &[("a", "ok"), ("b", "ok")]), None, "a skipped test may go");
    }

    #[test]
    fn a_missing_or_skipped_test_is_weaker_even_if_others_are_new() {
        let before = [("a", "ok"), ("b", "FAILED")];
        let missing = weakening(&before, &[("a", "ok"), ("c", "ok"), ("d", "ok")]).unwrap();
        assert_eq!(missing, Weakening::Missing(vec!["b".to_owned()]));
        assert_eq!(missing.to_string(), "Tests that ran before the change are missing: `b`.");
        let skipped = weakening(&before, &[("a", "ok"), ("b", "ignored"), ("d", "ok")]);
        assert_eq!(skipped, Some(Weakening::Skipped(vec!["b".to_owned()])));
    }

    #[test]
    fn fewer_tests_are_weaker_without_names() {
        let parse = |text: &str| parse_test_summary(text).unwrap();
        let (before, after) = (parse("1 failed, 7 passed in 0.1s"), parse("7 passed, 1 skipped in 0.1s"));
        assert_eq!(
            find_weakening(Some(&before), Some(&after)),
            Some(Weakening::FewerRan { before: 8, after: 7 })
        );
        assert_eq!(find_weakening(Some(&before), Some(&parse("8 passed in 0.1s"))), None);
    }

    #[test]
    fn a_pass_without_the_summary_is_weaker() {
        let before = cargo(&[("a", "FAILED")]);
        assert_eq!(find_weakening(Some(&before), None), Some(Weakening::SummaryGone));
        assert_eq!(find_weakening(None, Some(&before)), None);
        assert_eq!(find_weakening(None, None), None);
    }

    #[test]
    fn a_gradle_build_that_succeeds_needs_no_numbers() {
        let failed = parse_test_summary("> Task :test FAILED\n\n3 tests completed, 1 failed\n").unwrap();
        let passed = parse_test_summary("> Task :test\n\nBUILD SUCCESSFUL in 2s\n").unwrap();
        assert_eq!(find_weakening(Some(&failed), Some(&passed)), None);
        let no_tests = parse_test_summary("> Task :test NO-SOURCE\n\nBUILD SUCCESSFUL in 2s\n");
        assert_eq!(find_weakening(Some(&failed), no_tests.as_ref()), Some(Weakening::SummaryGone));
    }

    #[test]
    fn names_that_stand_for_a_file_or_a_setup_may_go() {
        let unittest = |name: &str, word: &str, end: &str| {
            parse_test_summary(&format!("{name} ... {word}\n\nRan 1 test in 0.001s\n\n{end}\n")).unwrap()
        };
        let before = unittest("test_a (unittest.loader._FailedTest.test_a)", "ERROR", "FAILED (errors=1)");
        let after = unittest("test_sum (test_a.A.test_sum)", "ok", "OK");
        assert_eq!(find_weakening(Some(&before), Some(&after)), None);
        let node = |line: &str, pass: u64, fail: u64| {
            let text = format!("{line}\nℹ tests 1\nℹ pass {pass}\nℹ fail {fail}\nℹ cancelled 0\n");
            parse_test_summary(&text).unwrap()
        };
        let (before, after) = (node("✖ /app/a.test.mjs (45.1ms)", 0, 1), node("✔ adds (1.5ms)", 1, 0));
        assert_eq!(find_weakening(Some(&before), Some(&after)), None);
        let renamed = node("✔ other (1.5ms)", 1, 0);
        assert!(find_weakening(Some(&after), Some(&renamed)).is_some());
    }

    #[test]
    fn a_go_package_that_builds_again_counts_its_tests() {
        let broken = parse_test_summary("FAIL\ta.org/x [build failed]\nFAIL\n").unwrap();
        let fixed =
            parse_test_summary("=== RUN   TestA\n--- PASS: TestA (0.00s)\nok  \ta.org/x\t0.1s\n").unwrap();
        assert_eq!(find_weakening(Some(&broken), Some(&fixed)), None);
        assert_eq!(find_weakening(Some(&fixed), Some(&broken)), Some(Weakening::SummaryGone));
    }

    #[test]
    fn a_doc_test_that_moved_is_not_missing() {
        let before = cargo(&[("src/lib.rs - total (line 3)", "FAILED")]);
        let after = cargo(&[("src/lib.rs - total (line 9)", "ok")]);
        assert_eq!(find_weakening(Some(&before), Some(&after)), None);
    }

    #[test]
    fn a_new_test_that_fails_without_the_source_is_found() {
        let before = cargo(&[("a", "ok"), ("b", "FAILED")]);
        let with_new = cargo(&[("a", "ok"), ("b", "FAILED"), ("c", "FAILED")]);
        assert!(has_new_failing_test(Some(&before), Some(&with_new)));
        assert!(!has_new_failing_test(Some(&before), Some(&before)));
        assert!(!has_new_failing_test(Some(&before), None));
        assert!(has_new_failing_test(None, Some(&before)));
    }
}
