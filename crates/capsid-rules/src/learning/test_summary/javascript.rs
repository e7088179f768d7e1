//! jest, vitest and mocha.
//!
//! Names of nested tests are those of the test alone: what tests print between the lines would otherwise be taken for
//! the name of a group.

use super::lines::{split_count, strip_duration};
use super::names::NameList;
use super::{Tally, TestResult, TestRunner, TestSummary};

/// `Tests:       1 failed, 1 skipped, 1 todo, 1 passed, 4 total`.
pub(super) fn parse_jest(lines: &[&str]) -> Option<TestSummary> {
    let (mut numbers, mut names, mut is_found) = (Tally::default(), NameList::default(), false);
    for line in lines {
        if let Some(counts) =
            line.strip_prefix("Tests:").filter(|counts| counts.trim_end().ends_with(" total"))
        {
            is_found = true;
            add_counts(&mut numbers, counts.split(','));
        } else if let Some((name, result)) = parse_mark(line.trim_start()) {
            let name = name.trim_start_matches("skipped ").trim_start_matches("todo ");
            names.push(strip_duration(name), result);
        }
    }
    is_found.then(|| TestSummary::new(TestRunner::Jest, numbers, names))
}

/// `      Tests  1 failed | 2 passed | 1 skipped (4)`.
pub(super) fn parse_vitest(lines: &[&str]) -> Option<TestSummary> {
    let (mut numbers, mut names, mut is_found) = (Tally::default(), NameList::default(), false);
    for line in lines {
        let line = line.trim_start();
        if let Some(counts) = line.strip_prefix("Tests  ") {
            let Some((counts, total)) = counts.trim().rsplit_once(" (") else { continue };
            if total.trim_end_matches(')').parse::<u64>().is_ok() {
                is_found = true;
                add_counts(&mut numbers, counts.split('|'));
            }
        } else if let Some((name, result)) = parse_mark(line)
            && name.contains(" > ")
        {
            names.push(strip_duration(name), result);
        }
    }
    is_found.then(|| TestSummary::new(TestRunner::Vitest, numbers, names))
}

/// `2 passing (5ms)`, `1 failing`, `1 pending`.
pub(super) fn parse_mocha(lines: &[&str]) -> Option<TestSummary> {
    let (mut numbers, mut names, mut is_found) = (Tally::default(), NameList::default(), false);
    let mut is_listing = true;
    for line in lines {
        let line = line.trim();
        match split_count(line) {
            Some((count, word)) if word == "passing" || word.starts_with("passing (") => {
                is_found = true;
                is_listing = false;
                numbers.add(TestResult::Passed, count);
            }
            Some((count, "failing")) if is_found => numbers.add(TestResult::Failed, count),
            Some((count, "pending")) if is_found => numbers.add(TestResult::Skipped, count),
            _ if is_listing => {
                if let Some((name, result)) = parse_mocha_line(line) {
                    names.push(strip_duration(name), result);
                }
            }
            _ => {}
        }
    }
    is_found.then(|| TestSummary::new(TestRunner::Mocha, numbers, names))
}

/// `✔ name`, `1) name` or `- name`.
fn parse_mocha_line(line: &str) -> Option<(&str, TestResult)> {
    if let Some(name) = line.strip_prefix("- ") {
        return Some((name, TestResult::Skipped));
    }
    match line.split_once(") ") {
        Some((number, name)) if number.parse::<u32>().is_ok() => Some((name, TestResult::Failed)),
        _ => parse_mark(line),
    }
}

/// A line that begins with the mark of a result.
pub(super) fn parse_mark(line: &str) -> Option<(&str, TestResult)> {
    let mark = line.chars().next()?;
    let result = match mark {
        '✓' | '✔' | '√' => TestResult::Passed,
        '✕' | '✖' | '✗' | '×' | '✘' => TestResult::Failed,
        '○' | '✎' | '↓' | '﹣' => TestResult::Skipped,
        _ => return None,
    };
    let name = line[mark.len_utf8()..].strip_prefix(' ')?.trim();
    (!name.is_empty()).then_some((name, result))
}

fn add_counts<'a>(numbers: &mut Tally, parts: impl Iterator<Item = &'a str>) {
    for (count, word) in parts.filter_map(split_count) {
        match word {
            "passed" => numbers.add(TestResult::Passed, count),
            "failed" => numbers.add(TestResult::Failed, count),
            "skipped" | "todo" | "pending" => numbers.add(TestResult::Skipped, count),
            _ => {}
        }
    }
}
