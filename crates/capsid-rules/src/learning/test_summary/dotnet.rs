//! `dotnet test`.

use super::lines::split_labeled;
use super::names::NameList;
use super::{Tally, TestResult, TestRunner, TestSummary};

/// `Failed!  - Failed:     1, Passed:    11, Skipped:     0, Total:    12`, once per project; the block
/// `Total tests: 12`; or the line `Test summary: total: 12, failed: 1, succeeded: 11, skipped: 0`.
pub(super) fn parse_dotnet(lines: &[&str]) -> Option<TestSummary> {
    let (mut projects, mut blocks, mut summary) = (Tally::default(), Tally::default(), Tally::default());
    let mut is_found = [false; 3];
    let mut is_block = false;
    let mut names = NameList::default();
    for line in lines {
        let text = line.trim();
        if let Some((_, counts)) =
            text.split_once("!  - ").filter(|(word, _)| matches!(*word, "Passed" | "Failed" | "Skipped"))
        {
            is_found[0] |= add_labels(&mut projects, counts);
        } else if let Some((_, counts)) = text.split_once("Test summary: ") {
            is_found[1] |= add_labels(&mut summary, counts);
        } else if text.starts_with("Total tests: ") {
            (is_block, is_found[2]) = (true, true);
        } else if is_block && split_labeled(text).is_some() {
            add_labels(&mut blocks, text);
        } else if let Some((name, result)) = parse_test_line(line) {
            names.push(name, result);
        } else {
            is_block = false;
        }
    }
    let at = is_found.iter().position(|found| *found)?;
    let numbers = [projects, summary, blocks].get(at).copied()?;
    Some(TestSummary::new(TestRunner::Dotnet, numbers, names))
}

fn add_labels(numbers: &mut Tally, counts: &str) -> bool {
    let mut is_found = false;
    for (label, count) in counts.split(',').filter_map(split_labeled) {
        match label {
            "Passed" | "succeeded" => numbers.add(TestResult::Passed, count),
            "Failed" | "failed" => numbers.add(TestResult::Failed, count),
            "Skipped" | "skipped" => numbers.add(TestResult::Skipped, count),
            _ => continue,
        }
        is_found = true;
    }
    is_found
}

/// `  Passed Shop.Tests.CartTests.Adds [3 ms]`.
fn parse_test_line(line: &str) -> Option<(&str, TestResult)> {
    let (word, rest) = line.strip_prefix("  ")?.split_once(' ')?;
    let result = match word {
        "Passed" => TestResult::Passed,
        "Failed" => TestResult::Failed,
        "Skipped" => TestResult::Skipped,
        _ => return None,
    };
    let (name, time) = rest.rsplit_once(" [")?;
    time.ends_with(']').then_some((name, result))
}
