//! PHPUnit and Pest.

use super::lines::{split_count, split_labeled};
use super::names::NameList;
use super::{Tally, TestResult, TestRunner, TestSummary};

/// `OK (4 tests, 9 assertions)`, `Tests: 4, Assertions: 9, Failures: 1.` or Pest's `Tests:  1 failed, 2 passed (5 assertions)`.
pub(super) fn parse_phpunit(lines: &[&str]) -> Option<TestSummary> {
    let (mut numbers, mut is_found) = (Tally::default(), false);
    for line in lines {
        let line = line.trim();
        let found = parse_ok(line).or_else(|| parse_counts(line)).or_else(|| parse_pest(line));
        if let Some(found) = found {
            is_found = true;
            numbers.add(TestResult::Passed, found.passed);
            numbers.add(TestResult::Failed, found.failed);
            numbers.add(TestResult::Skipped, found.skipped);
        }
    }
    is_found.then(|| TestSummary::new(TestRunner::Phpunit, numbers, NameList::default()))
}

fn parse_ok(line: &str) -> Option<Tally> {
    if line == "No tests executed!" {
        return Some(Tally::default());
    }
    let (tests, assertions) = line.strip_prefix("OK (")?.strip_suffix(')')?.split_once(", ")?;
    let (count, word) = split_count(tests)?;
    (matches!(word, "test" | "tests") && assertions.contains("assertion")).then_some(())?;
    Some(Tally { passed: count, ..Tally::default() })
}

fn parse_counts(line: &str) -> Option<Tally> {
    line.contains("Assertions:").then_some(())?;
    let (mut total, mut failed, mut skipped) = (None, 0_u64, 0_u64);
    for (label, count) in line.split(',').filter_map(split_labeled) {
        match label {
            "Tests" => total = Some(count),
            "Failures" | "Errors" => failed = failed.saturating_add(count),
            "Skipped" | "Incomplete" => skipped = skipped.saturating_add(count),
            _ => {}
        }
    }
    let mut numbers = Tally::default();
    numbers.add_total(total?, failed, skipped);
    Some(numbers)
}

fn parse_pest(line: &str) -> Option<Tally> {
    let (counts, assertions) = line.strip_prefix("Tests:")?.rsplit_once(" (")?;
    assertions.contains("assertion").then_some(())?;
    let mut numbers = Tally::default();
    for (count, word) in counts.split(',').filter_map(split_count) {
        match word {
            "passed" => numbers.add(TestResult::Passed, count),
            "failed" => numbers.add(TestResult::Failed, count),
            "skipped" | "todo" | "todos" | "incomplete" => numbers.add(TestResult::Skipped, count),
            _ => {}
        }
    }
    Some(numbers)
}
