//! `cargo test` and `cargo nextest`.

use super::lines::{split_count, without_parentheses};
use super::names::NameList;
use super::{Tally, TestResult, TestRunner, TestSummary};

/// `test result: ok. 2 passed; 0 failed; 1 ignored; 0 measured; 3 filtered out`, once per binary.
pub(super) fn parse_cargo_test(lines: &[&str]) -> Option<TestSummary> {
    let (mut numbers, mut names, mut is_found) = (Tally::default(), NameList::default(), false);
    // nextest shows the summary of every failed test, which it counts itself.
    let mut is_nextest = false;
    for line in lines {
        let Some(rest) = line.strip_prefix("test ").filter(|_| !is_nextest) else {
            let line = line.trim_start();
            let is_binary = line.starts_with("Doc-tests ") || line.starts_with("Running unittests ");
            is_nextest =
                (is_nextest && !is_binary) || (line.starts_with("Starting ") && line.contains(" across "));
            continue;
        };
        if let Some(result) = rest.strip_prefix("result: ") {
            let counts = result.split_once(". ").map_or("", |(_, counts)| counts);
            for (count, word) in counts.split(';').filter_map(split_count) {
                match word {
                    "passed" | "measured" => numbers.add(TestResult::Passed, count),
                    "failed" => numbers.add(TestResult::Failed, count),
                    "ignored" => numbers.add(TestResult::Skipped, count),
                    _ => continue,
                }
                is_found = true;
            }
        } else if let Some((name, result)) = rest.rsplit_once(" ... ") {
            let result = match result.split([' ', ',']).next() {
                Some("ok" | "bench:") => TestResult::Passed,
                Some("FAILED") => TestResult::Failed,
                Some("ignored") => TestResult::Skipped,
                _ => continue,
            };
            names.push(strip_doc_line(name.trim_end_matches(" - should panic")), result);
        }
    }
    is_found.then(|| TestSummary::new(TestRunner::CargoTest, numbers, names))
}

/// `src/lib.rs - shop::total (line 3)` without the line, which any change above it moves.
fn strip_doc_line(name: &str) -> &str {
    match name.split_once(" (line ") {
        Some((item, _)) if item.contains(" - ") => item,
        _ => name,
    }
}

/// `Summary [   0.010s] 3 tests run: 2 passed (1 slow), 1 failed, 1 skipped`.
pub(super) fn parse_nextest(lines: &[&str]) -> Option<TestSummary> {
    let (mut numbers, mut names, mut is_found) = (Tally::default(), NameList::default(), false);
    let mut is_running = true;
    for line in lines {
        let line = line.trim_start();
        if let Some(summary) = line.strip_prefix("Summary [") {
            let Some((_, counts)) = summary.split_once(" run:") else { continue };
            for (count, word) in without_parentheses(counts).split(',').filter_map(split_count) {
                match word {
                    "passed" => numbers.add(TestResult::Passed, count),
                    "failed" | "timed out" | "exec failed" => numbers.add(TestResult::Failed, count),
                    "skipped" => numbers.add(TestResult::Skipped, count),
                    _ => {}
                }
            }
            // Failures are listed again after the summary.
            (is_found, is_running) = (true, false);
        } else if line.starts_with("Starting ") {
            is_running = true;
        } else if is_running && let Some((name, result)) = parse_nextest_line(line) {
            names.push(name, result);
        }
    }
    is_found.then(|| TestSummary::new(TestRunner::Nextest, numbers, names))
}

/// `PASS [   0.005s] (1/3) crate module::test`.
fn parse_nextest_line(line: &str) -> Option<(&str, TestResult)> {
    let (status, rest) = line.split_once(" [")?;
    let result = match status {
        "PASS" | "LEAK" => TestResult::Passed,
        "FAIL" | "TIMEOUT" | "ABORT" => TestResult::Failed,
        status if status.starts_with("SIG") && !status.contains(' ') => TestResult::Failed,
        _ => return None,
    };
    let name = rest.split_once("] ")?.1.trim_start();
    let name = match name.strip_prefix('(').and_then(|name| name.split_once(") ")) {
        Some((counter, name)) if counter.contains('/') => name,
        _ => name,
    };
    Some((name.trim(), result))
}
