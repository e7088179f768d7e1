//! RSpec, minitest and test-unit.

use super::lines::split_count;
use super::names::NameList;
use super::{Tally, TestResult, TestRunner, TestSummary};

/// `3 examples, 1 failure, 1 pending`.
pub(super) fn parse_rspec(lines: &[&str]) -> Option<TestSummary> {
    let (mut numbers, mut is_found) = (Tally::default(), false);
    for line in lines {
        let (mut total, mut failed, mut skipped) = (None, None, 0);
        for (count, word) in line.split(", ").filter_map(split_count) {
            match word {
                "example" | "examples" => total = Some(count),
                "failure" | "failures" => failed = Some(count),
                "pending" => skipped = count,
                _ => {}
            }
        }
        if let (Some(total), Some(failed)) = (total, failed) {
            is_found = true;
            numbers.add_total(total, failed, skipped);
        }
    }
    is_found.then(|| TestSummary::new(TestRunner::Rspec, numbers, NameList::default()))
}

/// `3 runs, 5 assertions, 1 failures, 0 errors, 0 skips`; test-unit says `tests`, `pendings` and `omissions`.
pub(super) fn parse_minitest(lines: &[&str]) -> Option<TestSummary> {
    let (mut numbers, mut names, mut is_found) = (Tally::default(), NameList::default(), false);
    for line in lines {
        if let Some((name, result)) = parse_minitest_line(line) {
            names.push(name, result);
            continue;
        }
        let (mut total, mut has_assertions, mut failed, mut skipped) = (None, false, 0_u64, 0_u64);
        for (count, word) in line.split(", ").filter_map(split_count) {
            match word {
                "run" | "runs" | "test" | "tests" => total = Some(count),
                "assertion" | "assertions" => has_assertions = true,
                "failure" | "failures" | "error" | "errors" => failed = failed.saturating_add(count),
                "skip" | "skips" | "pendings" | "omissions" => skipped = skipped.saturating_add(count),
                _ => {}
            }
        }
        if let (Some(total), true) = (total, has_assertions) {
            is_found = true;
            numbers.add_total(total, failed, skipped);
        }
    }
    is_found.then(|| TestSummary::new(TestRunner::Minitest, numbers, names))
}

/// `CartTest#test_total = 0.00 s = .`.
fn parse_minitest_line(line: &str) -> Option<(&str, TestResult)> {
    let (rest, mark) = line.trim_end().rsplit_once(" = ")?;
    let (name, _) = rest.rsplit_once(" = ")?;
    let result = match mark {
        "." => TestResult::Passed,
        "F" | "E" => TestResult::Failed,
        "S" => TestResult::Skipped,
        _ => return None,
    };
    name.contains('#').then_some((name.trim(), result))
}
