//! `node --test` in its spec and its TAP form.

use super::javascript::parse_mark;
use super::lines::{indentation, strip_duration};
use super::names::NameList;
use super::tap::parse_tap_line;
use super::{Tally, TestResult, TestRunner, TestSummary};

/// `ℹ tests 2`, `ℹ pass 1`, … or `# tests 2`, `# pass 1`, ….
pub(super) fn parse_node_test(lines: &[&str]) -> Option<TestSummary> {
    let mut numbers = Tally::default();
    let (mut has_tests, mut has_cancelled, mut is_listing) = (false, false, true);
    let mut names = NestedNames::default();
    for line in lines {
        let Some((label, count)) = parse_total(line) else {
            if is_listing {
                names.read(line);
            }
            continue;
        };
        match label {
            // Failures are listed again after the totals.
            "tests" => (has_tests, is_listing) = (true, false),
            "pass" => numbers.add(TestResult::Passed, count),
            "fail" => numbers.add(TestResult::Failed, count),
            "cancelled" => {
                has_cancelled = true;
                numbers.add(TestResult::Failed, count);
            }
            "skipped" | "todo" => numbers.add(TestResult::Skipped, count),
            _ => {}
        }
    }
    let ran = numbers.passed.saturating_add(numbers.failed);
    (has_tests && has_cancelled).then(|| TestSummary::new(TestRunner::NodeTest, numbers, names.choose(ran)))
}

fn parse_total(line: &str) -> Option<(&str, u64)> {
    let line = line.strip_prefix("ℹ ").or_else(|| line.strip_prefix("# "))?;
    let (label, count) = line.split_once(' ')?;
    Some((label, count.trim().parse().ok()?))
}

/// Tests, and what contains tests. Node counts a test with subtests, but not a suite, and both look the same.
#[derive(Default)]
struct NestedNames {
    leaves: NameList,
    parents: NameList,
    /// The names of open groups of the spec form, with their indentation.
    open: Vec<(usize, String)>,
    /// The indentation of the last result of the TAP form.
    last_tap: usize,
}

impl NestedNames {
    fn read(&mut self, line: &str) {
        let indent = indentation(line);
        let text = line.trim();
        if let Some(name) = text.strip_prefix("▶ ") {
            self.open.push((indent, strip_duration(name).to_owned()));
        } else if let Some((name, result)) = parse_mark(text) {
            let (name, result) = match name.split_once(" # ") {
                Some((name, _)) => (strip_duration(name), TestResult::Skipped),
                None => (strip_duration(name), result),
            };
            let opened = self.open.iter().rposition(|(depth, open)| *depth == indent && open == name);
            match opened {
                Some(at) => {
                    self.open.truncate(at);
                    self.parents.push(name, result);
                }
                None => self.leaves.push(name, result),
            }
        } else if let Some((name, result)) = parse_tap_line(text) {
            let is_parent = self.last_tap > indent;
            self.last_tap = indent;
            if is_parent { self.parents.push(name, result) } else { self.leaves.push(name, result) }
        }
    }

    /// The list whose length fits the number of tests.
    fn choose(mut self, ran: u64) -> NameList {
        if self.leaves.count_ran() != ran {
            self.leaves.extend(self.parents);
        }
        self.leaves
    }
}
