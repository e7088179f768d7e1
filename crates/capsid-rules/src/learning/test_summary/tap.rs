//! TAP, bats, and the line `3 tests, 1 failure` of bats and ExUnit.

use super::javascript::parse_mark;
use super::lines::{split_count, strip_duration};
use super::names::NameList;
use super::{Tally, TestResult, TestRunner, TestSummary};

/// Results at the top level of a TAP stream. Subtests are part of their test.
pub(super) fn parse_tap(lines: &[&str]) -> Option<TestSummary> {
    let (mut numbers, mut names) = (Tally::default(), NameList::default());
    let (mut has_plan, mut has_dash) = (false, false);
    for line in lines {
        if let Some((first, last)) = line.split_once("..") {
            let last = last.split(' ').next().unwrap_or_default();
            has_plan |= first.parse::<u64>().is_ok() && last.parse::<u64>().is_ok();
        } else if line.starts_with("TAP version ") {
            has_plan = true;
        } else if let Some((name, result)) = parse_tap_line(line) {
            has_dash |= line.contains(" - ");
            numbers.add(result, 1);
            names.push(name, result);
        }
    }
    let has_results = names.iter().next().is_some();
    // bats writes no dash between the number and the name.
    let runner = if has_results && !has_dash { TestRunner::Bats } else { TestRunner::Tap };
    (has_plan && has_results).then(|| TestSummary::new(runner, numbers, names))
}

/// `not ok 1 - name # SKIP reason`.
pub(super) fn parse_tap_line(line: &str) -> Option<(&str, TestResult)> {
    let (is_ok, rest) = match line.strip_prefix("not ok") {
        Some(rest) => (false, rest),
        None => (true, line.strip_prefix("ok")?),
    };
    let rest = rest.strip_prefix(' ')?.trim_start();
    let name = rest.trim_start_matches(|c: char| c.is_ascii_digit());
    // Without a number it is a sentence, or the line of a Go package.
    if name.len() == rest.len() || !(name.is_empty() || name.starts_with(' ')) {
        return None;
    }
    let name = name.trim_start().trim_start_matches("- ").trim();
    let (name, directive) = name.rsplit_once("# ").unwrap_or((name, ""));
    let directive = directive.to_ascii_lowercase();
    let result = match is_ok {
        _ if directive.starts_with("skip") || directive.starts_with("todo") => TestResult::Skipped,
        true => TestResult::Passed,
        false => TestResult::Failed,
    };
    Some((strip_duration(name.trim_end()), result))
}

/// `3 tests, 1 failure, 1 skipped` of bats, and `1 doctest, 3 tests, 0 failures, 1 excluded` of ExUnit.
pub(super) fn parse_test_counts(lines: &[&str]) -> Option<TestSummary> {
    let (mut numbers, mut names, mut is_found) = (Tally::default(), NameList::default(), false);
    for line in lines {
        if let Some(found) = parse_count_line(line) {
            is_found = true;
            numbers.add(TestResult::Passed, found.passed);
            numbers.add(TestResult::Failed, found.failed);
            numbers.add(TestResult::Skipped, found.skipped);
        } else if let Some((name, result)) = parse_bats_line(line) {
            names.push(name, result);
        }
    }
    let runner = if names.iter().next().is_some() { TestRunner::Bats } else { TestRunner::Exunit };
    is_found.then(|| TestSummary::new(runner, numbers, names))
}

fn parse_count_line(line: &str) -> Option<Tally> {
    let (mut total, mut failed, mut skipped, mut absent) = (0_u64, None, 0_u64, 0_u64);
    for part in line.trim().split(", ") {
        let (count, word) = split_count(part)?;
        match word {
            "test" | "tests" | "doctest" | "doctests" | "property" | "properties" if failed.is_none() => {
                total = total.saturating_add(count);
            }
            "failure" | "failures" => failed = Some(count),
            "invalid" => failed = failed.map(|failed: u64| failed.saturating_add(count)),
            "skipped" => skipped = count,
            "excluded" | "not run" => absent = count,
            _ => return None,
        }
    }
    let mut numbers = Tally::default();
    numbers.add_total(total.saturating_sub(absent), failed?, skipped);
    Some(numbers)
}

/// ` ✓ name`, ` ✗ name` or ` - name (skipped)`.
fn parse_bats_line(line: &str) -> Option<(&str, TestResult)> {
    let line = line.strip_prefix(' ')?;
    match line.strip_prefix("- ").and_then(|line| line.split_once(" (skipped")) {
        Some((name, _)) => Some((name, TestResult::Skipped)),
        None => parse_mark(line).map(|(name, result)| (strip_duration(name), result)),
    }
}
