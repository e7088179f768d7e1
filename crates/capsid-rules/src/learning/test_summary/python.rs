//! pytest and unittest.

use super::lines::{split_count, split_labeled};
use super::names::NameList;
use super::{Tally, TestResult, TestRunner, TestSummary};

/// `==== 1 failed, 2 passed, 1 skipped in 0.10s ====`, or the same without the rule with `-q`.
pub(super) fn parse_pytest(lines: &[&str]) -> Option<TestSummary> {
    let (mut numbers, mut names, mut is_found) = (Tally::default(), NameList::default(), false);
    for line in lines {
        if let Some(found) = parse_pytest_end(line) {
            is_found = true;
            numbers.add(TestResult::Passed, found.passed);
            numbers.add(TestResult::Failed, found.failed);
            numbers.add(TestResult::Skipped, found.skipped);
        } else if let Some((name, result)) = parse_pytest_line(line) {
            names.push(name, result);
        }
    }
    is_found.then(|| TestSummary::new(TestRunner::Pytest, numbers, names))
}

fn parse_pytest_end(line: &str) -> Option<Tally> {
    let line = line.trim_matches(['=', ' ']);
    // `in 61.02s (0:01:01)` after a minute.
    let (counts, time) = line.rsplit_once(" in ")?;
    let seconds = time.split(' ').next()?.strip_suffix('s')?;
    seconds.parse::<f64>().ok()?;
    let mut numbers = Tally::default();
    if counts == "no tests ran" {
        return Some(numbers);
    }
    for part in counts.split(", ") {
        let (count, word) = split_count(part)?;
        match word {
            "passed" | "xpassed" => numbers.add(TestResult::Passed, count),
            "failed" | "error" | "errors" => numbers.add(TestResult::Failed, count),
            "skipped" | "xfailed" => numbers.add(TestResult::Skipped, count),
            "deselected" | "warning" | "warnings" | "rerun" => {}
            _ => return None,
        }
    }
    Some(numbers)
}

/// `tests/test_a.py::test_b PASSED   [ 50%]`, or with workers `[gw0] [ 50%] PASSED tests/test_a.py::test_b`.
fn parse_pytest_line(line: &str) -> Option<(&str, TestResult)> {
    if let Some(rest) = line.strip_prefix("[gw") {
        let (_, rest) = rest.split_once("%] ")?;
        let (word, name) = rest.split_once(' ')?;
        return Some((name.trim(), parse_pytest_word(word)?));
    }
    if !line.contains("::") {
        return None;
    }
    let words = [" PASSED", " FAILED", " ERROR", " SKIPPED", " XFAIL", " XPASS"];
    let (at, word) = words.iter().filter_map(|word| Some((line.find(word)?, *word))).min()?;
    let rest = &line[at + word.len()..];
    let is_end = rest.is_empty() || rest.starts_with(' ');
    let name = &line[..at];
    (is_end && name.contains("::")).then_some(())?;
    Some((name.trim(), parse_pytest_word(word.trim())?))
}

fn parse_pytest_word(word: &str) -> Option<TestResult> {
    Some(match word {
        "PASSED" | "XPASS" => TestResult::Passed,
        "FAILED" | "ERROR" => TestResult::Failed,
        "SKIPPED" | "XFAIL" => TestResult::Skipped,
        _ => return None,
    })
}

/// `Ran 3 tests in 0.005s`, then `OK (skipped=1)` or `FAILED (failures=1, errors=1)`.
pub(super) fn parse_unittest(lines: &[&str]) -> Option<TestSummary> {
    let (mut numbers, mut names, mut is_found) = (Tally::default(), NameList::default(), false);
    let mut method: Option<&str> = None;
    for (at, line) in lines.iter().enumerate() {
        if let Some(total) = parse_unittest_total(line) {
            let end = lines[at + 1..].iter().take(3).find(|line| !line.trim().is_empty());
            let Some(tally) = end.and_then(|end| parse_unittest_end(end, total)) else { continue };
            is_found = true;
            numbers.add(TestResult::Passed, tally.passed);
            numbers.add(TestResult::Failed, tally.failed);
            numbers.add(TestResult::Skipped, tally.skipped);
        } else if let Some((name, result)) = line.split_once(" ... ") {
            if let Some(result) = parse_unittest_word(result) {
                // A doc string stands on a line of its own, between the name and the result.
                names.push(method.filter(|_| !is_unittest_name(name)).unwrap_or(name), result);
            }
            method = None;
        } else {
            method = Some(*line).filter(|line| is_unittest_name(line));
        }
    }
    is_found.then(|| TestSummary::new(TestRunner::Unittest, numbers, names))
}

fn parse_unittest_total(line: &str) -> Option<u64> {
    let (total, time) = line.strip_prefix("Ran ")?.split_once(" in ")?;
    time.strip_suffix('s')?.parse::<f64>().ok()?;
    let (total, word) = split_count(total)?;
    matches!(word, "test" | "tests").then_some(total)
}

fn parse_unittest_end(line: &str, total: u64) -> Option<Tally> {
    let (word, rest) = line.trim().split_once(" (").unwrap_or((line.trim(), ""));
    matches!(word, "OK" | "FAILED" | "NO TESTS RAN").then_some(())?;
    let (mut failed, mut skipped) = (0_u64, 0_u64);
    for (label, count) in rest
        .trim_end_matches(')')
        .split(", ")
        .map(|part| part.replace('=', ":"))
        .filter_map(|part| split_labeled(&part).map(|(label, count)| (label.to_owned(), count)))
    {
        match label.as_str() {
            "failures" | "errors" | "unexpected successes" => failed = failed.saturating_add(count),
            "skipped" | "expected failures" => skipped = skipped.saturating_add(count),
            _ => {}
        }
    }
    let mut numbers = Tally::default();
    // An error while a class is set up counts no test, so the total may be smaller than the failures.
    numbers.add_total(total.max(failed.saturating_add(skipped)), failed, skipped);
    Some(numbers)
}

/// `test_a (module.Class.test_a)`.
fn is_unittest_name(line: &str) -> bool {
    line.split_once(" (")
        .is_some_and(|(name, rest)| !name.contains(' ') && rest.ends_with(')') && rest.contains('.'))
}

fn parse_unittest_word(result: &str) -> Option<TestResult> {
    Some(match result.trim() {
        "ok" | "unexpected success" => TestResult::Passed,
        "FAIL" | "ERROR" => TestResult::Failed,
        "expected failure" => TestResult::Skipped,
        result if result.starts_with("skipped") => TestResult::Skipped,
        _ => return None,
    })
}
