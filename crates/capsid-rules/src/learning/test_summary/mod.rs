//! What a test runner says at the end of its output: how many tests ran, passed, failed and were skipped.
//!
//! One file per family of runners. Each parser wants the runner's own summary line; a list of names counts only if it
//! is complete. Several summaries in one output add up, because `cargo test` prints one per binary.

mod dotnet;
mod go;
mod java;
mod javascript;
mod lines;
mod names;
mod node_test;
mod php;
mod python;
mod ruby;
mod rust;
mod tap;

use super::proof::TestCounts;
use super::terminal_text::clean_output;
use capsid_model::text_enum;
use names::NameList;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How one test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestResult {
    Passed,
    Failed,
    /// Ignored, pending, to do, or expected to fail.
    Skipped,
}

/// The program that ran the tests.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestRunner {
    CargoTest,
    Nextest,
    Pytest,
    Unittest,
    Jest,
    Vitest,
    Mocha,
    NodeTest,
    Tap,
    GoTest,
    Junit,
    Gradle,
    Dotnet,
    Rspec,
    Minitest,
    Phpunit,
    Exunit,
    Bats,
    /// More than one of them.
    Mixed,
}

text_enum!(TestRunner {
    CargoTest = "cargo_test",
    Nextest = "nextest",
    Pytest = "pytest",
    Unittest = "unittest",
    Jest = "jest",
    Vitest = "vitest",
    Mocha = "mocha",
    NodeTest = "node_test",
    Tap = "tap",
    GoTest = "go_test",
    Junit = "junit",
    Gradle = "gradle",
    Dotnet = "dotnet",
    Rspec = "rspec",
    Minitest = "minitest",
    Phpunit = "phpunit",
    Exunit = "exunit",
    Bats = "bats",
    Mixed = "mixed",
});

/// What the numbers of a summary count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TestUnit {
    #[default]
    Test,
    /// `go test` without `-v` names packages only.
    Package,
    /// A Gradle build that succeeds names tasks only.
    Task,
}

/// What a test run says about itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TestSummary {
    /// Passed and failed tests.
    pub ran: u64,
    pub passed: u64,
    pub failed: u64,
    pub skipped: u64,
    /// Every test that ran, by name; none if the output does not list them all.
    pub names: Option<BTreeMap<String, TestResult>>,
    pub runner: TestRunner,
    #[serde(default)]
    pub unit: TestUnit,
}

impl TestSummary {
    /// The numbers that a proof records.
    pub fn counts(&self) -> TestCounts {
        TestCounts { ran: self.ran, failed: self.failed, skipped: self.skipped }
    }

    /// A summary of these numbers, with the names if they are complete.
    fn new(runner: TestRunner, numbers: Tally, names: NameList) -> Self {
        let ran = numbers.passed.saturating_add(numbers.failed);
        let names = names.into_complete(ran);
        let Tally { passed, failed, skipped } = numbers;
        Self { ran, passed, failed, skipped, names, runner, unit: TestUnit::Test }
    }

    /// Both summaries as one. Equal names are told apart by a number.
    fn merge(self, other: Self) -> Self {
        let add = u64::saturating_add;
        let names = self.names.zip(other.names).map(|(names, others)| {
            let mut list = NameList::default();
            names.into_iter().chain(others).for_each(|(name, result)| list.push(name, result));
            list.into_map()
        });
        Self {
            ran: add(self.ran, other.ran),
            passed: add(self.passed, other.passed),
            failed: add(self.failed, other.failed),
            skipped: add(self.skipped, other.skipped),
            names,
            runner: if self.runner == other.runner { self.runner } else { TestRunner::Mixed },
            unit: if self.unit == other.unit { self.unit } else { TestUnit::Task },
        }
    }
}

/// Numbers of tests by their result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct Tally {
    passed: u64,
    failed: u64,
    skipped: u64,
}

impl Tally {
    fn add(&mut self, result: TestResult, count: u64) {
        let slot = match result {
            TestResult::Passed => &mut self.passed,
            TestResult::Failed => &mut self.failed,
            TestResult::Skipped => &mut self.skipped,
        };
        *slot = slot.saturating_add(count);
    }

    /// From a total that includes the failed and skipped tests.
    fn add_total(&mut self, total: u64, failed: u64, skipped: u64) {
        self.add(TestResult::Passed, total.saturating_sub(failed).saturating_sub(skipped));
        self.add(TestResult::Failed, failed);
        self.add(TestResult::Skipped, skipped);
    }
}

/// Reads the lines of one runner.
type SummaryParser = fn(&[&str]) -> Option<TestSummary>;

/// Reads the summary of a test run; none if the output has none.
pub fn parse_test_summary(output: &str) -> Option<TestSummary> {
    let cleaned = clean_output(output);
    let lines: Vec<&str> = cleaned.lines().collect();
    let parsers: [SummaryParser; 16] = [
        rust::parse_cargo_test,
        rust::parse_nextest,
        python::parse_pytest,
        python::parse_unittest,
        javascript::parse_jest,
        javascript::parse_vitest,
        javascript::parse_mocha,
        node_test::parse_node_test,
        go::parse_go_test,
        java::parse_junit,
        java::parse_gradle,
        dotnet::parse_dotnet,
        ruby::parse_rspec,
        ruby::parse_minitest,
        php::parse_phpunit,
        tap::parse_test_counts,
    ];
    let summaries = parsers.iter().filter_map(|parse| parse(&lines));
    // Other runners print TAP lines too, so TAP counts only on its own.
    summaries.reduce(TestSummary::merge).or_else(|| tap::parse_tap(&lines))
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
