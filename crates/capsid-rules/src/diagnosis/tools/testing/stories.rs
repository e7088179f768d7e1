//! Robot Framework, behave, Cucumber and Newman: tests that are written as sentences.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::pattern::Pattern;

static ROBOT: Pattern = Pattern::new(r"^(\S.*?)\s+\| FAIL \|$");
static ROBOT_RULE: Pattern = Pattern::new(r"^={20,}$");

pub(super) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.ends_with("| FAIL |") {
        return recognize_robot(log, at);
    }
    if text.contains("Assertion Failed: ") || text.starts_with("      Traceback (most recent call last):") {
        return recognize_behave(log, at);
    }
    if text.contains(") Scenario: ") {
        return recognize_cucumber(log, at);
    }
    if text.starts_with(' ') && text.trim_start().starts_with(|c: char| c.is_ascii_digit()) {
        return recognize_newman(log, at);
    }
    None
}

fn recognize_robot(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = ROBOT.captures(log.text(at))?;
    let name = groups.get(1);
    let message = log.text(at + 1).trim();
    // A suite sums up its tests.
    if message.contains(" tests, ") || message.contains(" test, ") {
        return Some(Finding::noise(at, at + 1));
    }
    let suite = (1..at).rev().find_map(|index| {
        let is_title = ROBOT_RULE.is_match(log.text(index - 1)) && ROBOT_RULE.is_match(log.text(index + 1));
        is_title.then(|| log.text(index).split(" :: ").next().unwrap_or_default().trim().to_owned())
    });
    let test = suite.map_or_else(|| name.to_owned(), |suite| format!("{suite}.{name}"));
    Some(
        Finding::new("robot", "robot", ProblemClass::TestFailure, at)
            .code("fail")
            .message(message)
            .values(true)
            .test(test)
            .until(at + 1),
    )
}

static SCENARIO: Pattern = Pattern::new(r"^\s+Scenario(?: Outline)?: (.+?)\s+# (\S+):([0-9]+)$");
static ERROR: Pattern = Pattern::new(r"^\s+(?:\w+\.)*([A-Z]\w+(?:Error|Exception)): (.*)$");

fn recognize_behave(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let (_, scenario) = log.find_before(at, 60, |text| SCENARIO.captures(text))?;
    let text = log.text(at);
    let (last, code, message) = match text.split_once("Assertion Failed: ") {
        Some((_, message)) => (at, "AssertionError".to_owned(), message.to_owned()),
        None => {
            let (last, error) = log.find_after(at, 60, |text| ERROR.captures(text))?;
            (last, error.get(1).to_owned(), error.get(2).to_owned())
        }
    };
    let is_assertion = code == "AssertionError";
    Some(
        Finding::new("behave", "python", ProblemClass::TestFailure, at)
            .code(code)
            .message(message)
            .values(is_assertion)
            .test(scenario.get(1))
            .position(scenario.get(2), scenario.number(3))
            .until(last),
    )
}

static CUCUMBER: Pattern =
    Pattern::new(r"^\s*[0-9]+\) Scenario: (.+?)(?: \(attempt [0-9, a-z]+\))? # (\S+):([0-9]+)$");
static STEP_ERROR: Pattern = Pattern::new(r"^\s+(?:([A-Z]\w*(?:Error|Exception))(?: \[\w+\])?: )(.+)$");
static FAILED_STEP: Pattern = Pattern::new(r"^\s+(?:✖|×|x) (.+?)(?: # .*)?$");

fn recognize_cucumber(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = CUCUMBER.captures(log.text(at))?;
    let last = log.end_of(at, 60, |text| {
        !CUCUMBER.is_match(text) && !text.contains(" scenario (") && !text.contains(" scenarios (")
    });
    let error = (at + 1..=last).find_map(|index| STEP_ERROR.captures(log.text(index)));
    let step = (at + 1..=last).find_map(|index| FAILED_STEP.captures(log.text(index)));
    let (code, message) = match (&error, &step) {
        (Some(error), _) => (error.get(1), error.get(2)),
        (None, Some(step)) => ("fail", step.get(1)),
        (None, None) => ("fail", "scenario failed"),
    };
    Some(
        Finding::new("cucumber", "cucumber", ProblemClass::TestFailure, at)
            .code(code)
            .message(message)
            .values(true)
            .test(groups.get(1))
            .position(groups.get(2), groups.number(3))
            .until(last),
    )
}

static NEWMAN: Pattern = Pattern::new(r"^\s*[0-9]+\.\s+(\w*Error)\s+(\S.*)$");
static NEWMAN_REQUEST: Pattern = Pattern::new(r#"^\s+inside "(.+)"$"#);

fn recognize_newman(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = NEWMAN.captures(log.text(at))?;
    let (last, request) = log.find_after(at, 8, |text| NEWMAN_REQUEST.captures(text))?;
    Some(
        Finding::new("newman", "newman", ProblemClass::TestFailure, at)
            .code(groups.get(1))
            .message(log.text(at + 1).trim())
            .values(true)
            .test(format!("{} › {}", request.get(1), groups.get(2)))
            .until(last),
    )
}
