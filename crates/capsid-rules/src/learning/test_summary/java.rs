//! JUnit, as Maven Surefire, its own console and XML files show it, and Gradle.

use super::lines::{split_count, split_labeled};
use super::names::NameList;
use super::{Tally, TestResult, TestRunner, TestSummary, TestUnit};

/// `Tests run: 6, Failures: 1, Errors: 0, Skipped: 0`, once per class and once per module.
pub(super) fn parse_junit(lines: &[&str]) -> Option<TestSummary> {
    let (mut classes, mut modules, mut console, mut xml) =
        (Tally::default(), Tally::default(), Tally::default(), Tally::default());
    let mut is_found = [false; 4];
    for line in lines {
        if let Some(at) = line.find("Tests run:") {
            let Some(numbers) = parse_surefire(&line[at..]) else { continue };
            let is_class = line.contains("Time elapsed:");
            let (sum, kind) = if is_class { (&mut classes, 0) } else { (&mut modules, 1) };
            add(sum, numbers);
            is_found[kind] = true;
        } else if let Some(numbers) = parse_console(line.trim()) {
            add(&mut console, numbers);
            is_found[2] = true;
        } else if let Some(numbers) = parse_xml_suite(line) {
            add(&mut xml, numbers);
            is_found[3] = true;
        }
    }
    // The totals of the modules contain those of their classes.
    let (at, _) = [1, 0, 2, 3].into_iter().map(|at| (at, is_found[at])).find(|(_, found)| *found)?;
    let numbers = [classes, modules, console, xml].get(at).copied()?;
    let names = if at == 3 { NameList::default() } else { surefire_names(lines) };
    Some(TestSummary::new(TestRunner::Junit, numbers, names))
}

fn add(sum: &mut Tally, numbers: Tally) {
    sum.add(TestResult::Passed, numbers.passed);
    sum.add(TestResult::Failed, numbers.failed);
    sum.add(TestResult::Skipped, numbers.skipped);
}

fn parse_surefire(text: &str) -> Option<Tally> {
    let (mut total, mut failed, mut skipped) = (None, 0_u64, 0);
    for (label, count) in text.split(',').filter_map(split_labeled) {
        match label {
            "Tests run" => total = Some(count),
            "Failures" | "Errors" => failed = failed.saturating_add(count),
            "Skipped" => skipped = count,
            _ => {}
        }
    }
    let mut numbers = Tally::default();
    numbers.add_total(total?, failed, skipped);
    Some(numbers)
}

/// `OK (5 tests)` of JUnit 4; `[ 3 tests successful ]` of the console of JUnit 5.
fn parse_console(line: &str) -> Option<Tally> {
    let mut numbers = Tally::default();
    if let Some(inner) = line.strip_prefix("OK (").and_then(|line| line.strip_suffix(')')) {
        let (count, word) = split_count(inner)?;
        matches!(word, "test" | "tests").then_some(())?;
        numbers.add(TestResult::Passed, count);
        return Some(numbers);
    }
    let inner = line.strip_prefix('[')?.strip_suffix(']')?;
    let (count, word) = split_count(inner)?;
    let result = match word {
        "tests successful" => TestResult::Passed,
        "tests failed" | "tests aborted" => TestResult::Failed,
        "tests skipped" => TestResult::Skipped,
        _ => return None,
    };
    numbers.add(result, count);
    Some(numbers)
}

/// `<testsuite name="a" tests="3" failures="1" errors="0" skipped="0">`.
fn parse_xml_suite(line: &str) -> Option<Tally> {
    let suite = line.trim_start().strip_prefix("<testsuite ")?.split('>').next()?;
    let attribute = |name: &str| -> Option<u64> {
        let (_, rest) = suite.split_once(&format!("{name}=\""))?;
        rest.split('"').next()?.parse().ok()
    };
    let failed = attribute("failures").unwrap_or(0).saturating_add(attribute("errors").unwrap_or(0));
    let mut numbers = Tally::default();
    numbers.add_total(
        attribute(" tests").or_else(|| attribute("tests"))?,
        failed,
        attribute("skipped").unwrap_or(0),
    );
    Some(numbers)
}

/// Surefire names failed tests only, so the list is complete if everything failed. The tree of the JUnit console and of
/// Surefire's tree reporter names every test.
fn surefire_names(lines: &[&str]) -> NameList {
    let mut names = NameList::default();
    for line in lines {
        if let Some(name) =
            line.trim_end().strip_suffix("[OK]").or_else(|| line.trim_end().strip_suffix("[X]"))
        {
            let result =
                if line.trim_end().ends_with("[OK]") { TestResult::Passed } else { TestResult::Failed };
            names.push(name.trim_matches(|c: char| !c.is_alphanumeric() && c != '(' && c != ')'), result);
        }
    }
    names
}

/// `3 tests completed, 1 failed, 1 skipped`, which Gradle prints only if a test failed.
pub(super) fn parse_gradle(lines: &[&str]) -> Option<TestSummary> {
    let (mut numbers, mut names) = (Tally::default(), NameList::default());
    let (mut has_total, mut tasks, mut is_successful) = (false, 0_u64, false);
    for line in lines {
        let line = line.trim();
        if let Some(found) = parse_gradle_total(line) {
            has_total = true;
            add(&mut numbers, found);
        } else if let Some((name, result)) = parse_gradle_line(line) {
            names.push(name, result);
        } else if let Some(task) = line.strip_prefix("> Task :") {
            let (name, state) = task.split_once(' ').unwrap_or((task, ""));
            let is_test = name.rsplit(':').next().is_some_and(|name| name.to_lowercase().ends_with("test"));
            tasks += u64::from(is_test && !matches!(state, "NO-SOURCE" | "SKIPPED"));
        }
        is_successful |= line.starts_with("BUILD SUCCESSFUL");
    }
    if has_total {
        return Some(TestSummary::new(TestRunner::Gradle, numbers, names));
    }
    if names.iter().next().is_some() {
        names.iter().for_each(|(_, result)| numbers.add(*result, 1));
        return Some(TestSummary::new(TestRunner::Gradle, numbers, names));
    }
    numbers.add(TestResult::Passed, tasks);
    let summary = TestSummary::new(TestRunner::Gradle, numbers, names);
    (is_successful && tasks > 0).then_some(TestSummary { unit: TestUnit::Task, names: None, ..summary })
}

fn parse_gradle_total(line: &str) -> Option<Tally> {
    let (mut total, mut failed, mut skipped) = (None, 0, 0);
    for part in line.split(", ") {
        match split_count(part)? {
            (count, "test completed" | "tests completed") => total = Some(count),
            (count, "failed") if total.is_some() => failed = count,
            (count, "skipped") if total.is_some() => skipped = count,
            _ => return None,
        }
    }
    let mut numbers = Tally::default();
    numbers.add_total(total?, failed, skipped);
    Some(numbers)
}

/// `InvoiceTest > rounds() PASSED`.
fn parse_gradle_line(line: &str) -> Option<(&str, TestResult)> {
    let (name, word) = line.rsplit_once(' ')?;
    let result = match word {
        "PASSED" => TestResult::Passed,
        "FAILED" => TestResult::Failed,
        "SKIPPED" => TestResult::Skipped,
        _ => return None,
    };
    (name.contains(" > ") && !name.starts_with('>')).then_some((name, result))
}
