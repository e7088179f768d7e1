//! `go test`, with and without `-v`.

use super::names::NameList;
use super::{Tally, TestResult, TestRunner, TestSummary, TestUnit};

/// With `-v` the lines `--- PASS: TestA (0.00s)`; without it only packages are known.
pub(super) fn parse_go_test(lines: &[&str]) -> Option<TestSummary> {
    let (mut tests, mut packages) = (NameList::default(), NameList::default());
    // The package is named after its tests.
    let mut open: Vec<(&str, Option<TestResult>)> = Vec::new();
    let mut is_verbose = false;
    for line in lines {
        if let Some(name) = line.strip_prefix("=== RUN") {
            is_verbose = true;
            open.push((name.trim(), None));
        } else if let Some((name, result)) = parse_result_line(line.trim_start()) {
            match open.iter_mut().rev().find(|(known, _)| *known == name) {
                Some(test) => test.1 = Some(result),
                None => open.push((name, Some(result))),
            }
        } else if let Some((package, result)) = parse_package_line(line) {
            for (name, ended) in open.drain(..) {
                // A test without a result was running when the program ended.
                tests.push(format!("{package}.{name}"), ended.unwrap_or(TestResult::Failed));
            }
            packages.push(package, result);
        }
    }
    let has_packages = packages.iter().next().is_some();
    let list = if is_verbose { tests } else { packages };
    let mut numbers = Tally::default();
    list.iter().for_each(|(_, result)| numbers.add(*result, 1));
    let unit = if is_verbose { TestUnit::Test } else { TestUnit::Package };
    has_packages.then(|| TestSummary { unit, ..TestSummary::new(TestRunner::GoTest, numbers, list) })
}

/// `--- PASS: TestA/sub (0.00s)`.
fn parse_result_line(line: &str) -> Option<(&str, TestResult)> {
    let (word, name) = line.strip_prefix("--- ")?.split_once(": ")?;
    let result = match word {
        "PASS" => TestResult::Passed,
        "FAIL" => TestResult::Failed,
        "SKIP" => TestResult::Skipped,
        _ => return None,
    };
    Some((name.split(" (").next()?.trim(), result))
}

/// `ok`, the package and the time, with tabs between them; a package without tests did not run any.
fn parse_package_line(line: &str) -> Option<(&str, TestResult)> {
    let mut parts = line.split('\t');
    let (word, package) = (parts.next()?.trim_end(), parts.next()?.trim());
    let rest = parts.next().unwrap_or_default();
    let result = match word {
        "ok" if line.contains("[no tests to run]") => TestResult::Skipped,
        "ok" => TestResult::Passed,
        "FAIL" => TestResult::Failed,
        "?" if rest.contains("[no test files]") => TestResult::Skipped,
        _ => return None,
    };
    let package = package.split(' ').next().unwrap_or(package);
    (!package.is_empty()).then_some((package, result))
}
