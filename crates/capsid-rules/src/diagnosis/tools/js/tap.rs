//! node:test in its two forms, TAP of other programs, and bats.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::{is_js_in_app, parse_js};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;
use crate::diagnosis::segment::read_verdict;
use crate::diagnosis::tools::generic;

static NOT_OK: Pattern =
    Pattern::new(r"^\s*not ok(?: [0-9]+)?(?: -)?(?: (.*?))?(?: # (?:time=)?[0-9.]+ ?m?s)?$");
static SPEC: Pattern = Pattern::new(r"^\s*✖ (.+?) \([0-9.]+ ?m?s\)$");
static THROWN: Pattern =
    Pattern::new(r"^((?:[A-Za-z_$][\w$]*\.)*[A-Z]\w*(?:Error|Exception)|Error)(?: \[(\w+)\])?(?:: (.*)|:)?$");
static POSITION: Pattern = Pattern::new(r"^(.+?):([0-9]+)(?::[0-9]+)?$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let plain = log.text(at).trim_start();
    if plain.starts_with("not ok") {
        return recognize_not_ok(log, at);
    }
    if plain.starts_with('✖') {
        return recognize_spec(log, at);
    }
    if plain.starts_with("✗ ") {
        return recognize_bats(log, at);
    }
    None
}

fn recognize_not_ok(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = NOT_OK.captures(log.text(at))?;
    let name = groups.get(1).trim();
    if name.contains("# TODO")
        || name.contains("# todo")
        || name.contains("# SKIP")
        || name.contains("# skip")
    {
        return Some(Finding::noise(at, at));
    }
    if log.text(at + 1).trim() == "---" {
        return Some(read_yaml(log, at, name));
    }
    if let Some(finding) = read_comments(log, at, name) {
        return Some(finding);
    }
    Some(read_lines_beside(log, at, name))
}

static STATUS: Pattern = Pattern::new(r"^\s*(?:(ok)|not ok)(?: [0-9]+\b| - | [\w.:]+(?: |$))");
static TAP_LINE: Pattern = Pattern::new(r"^\s*(?:(?:not )?ok\b|[0-9]+\.\.[0-9]+|TAP version |# Subtest)");
static SAID: Pattern = Pattern::new(
    r"(?i)\b(?:expected|actual|got|assert\w*|error|exception|fail(?:ed|ure)?|mismatch|differs?|wrong|not equal|should be|instead of|missing|cannot|unexpected|is not|did not|does not)\b",
);
static AS_INTENDED: Pattern = Pattern::new(r"(?i)\bas (?:it should|expected|intended)\b|^expect(?:ed|ing): ");

/// Whether the next test that reports its end passed: what stands before that belongs to it.
pub(crate) fn belongs_to_passed_test(log: &LogView<'_>, at: usize) -> bool {
    log.find_after(at, 12, |text| STATUS.captures(text).map(|groups| groups.some(1).is_some()))
        .is_some_and(|(_, passed)| passed)
}

/// A test without a YAML block: what it printed before, or the comments after it, say why it failed. Otherwise only
/// its name does.
fn read_lines_beside(log: &LogView<'_>, at: usize, name: &str) -> Finding {
    let first = (at.saturating_sub(40)..at)
        .rev()
        .find(|index| TAP_LINE.is_match(log.text(*index)))
        .map_or(at.saturating_sub(40), |index| index + 1);
    if let Some(mut found) = (first..at).rev().find_map(|index| generic::recognize(log, index)) {
        found.class = ProblemClass::TestFailure;
        (found.first, found.last) = (at, at);
        return found.test(name).role(DiagnosticRole::Summary);
    }
    let after = log.end_of(at, 30, |text| text.trim_start().starts_with("# "));
    let said = (first..at)
        .chain(at + 1..=after)
        .map(|index| log.text(index).trim().trim_start_matches('#').trim_start())
        .find(|text| SAID.is_match(text) && !AS_INTENDED.is_match(text) && read_verdict(text).is_none());
    let finding = Finding::new("tap", "tap", ProblemClass::TestFailure, at)
        .code("fail")
        .test(name)
        .role(DiagnosticRole::Summary);
    match said {
        Some(said) => finding.message(said),
        None => finding.message(symbol(name)).text(format!("test failed: {name}")),
    }
}

/// The YAML block below a failing test.
#[derive(Default)]
struct TapDetail {
    message: String,
    name: String,
    code: String,
    file: String,
    operator: String,
    stack_file: String,
    is_parent: bool,
    is_node: bool,
}

fn read_yaml(log: &LogView<'_>, at: usize, name: &str) -> Finding {
    let last = log.end_of(at + 1, 400, |text| text.trim() != "...");
    let mut detail = TapDetail::default();
    let mut index = at + 2;
    while index <= last {
        let text = log.text(index).trim();
        index += 1;
        let Some((key, value)) = text.split_once(':') else { continue };
        let value = value.trim();
        let is_block = matches!(value, "|-" | "|" | ">" | ">-" | "|+");
        let first = if is_block { log.text(index).trim() } else { value.trim_matches(['\'', '"']) };
        match key {
            "error" | "message" if detail.message.is_empty() => first.clone_into(&mut detail.message),
            "name" => first.clone_into(&mut detail.name),
            "code" => first.clone_into(&mut detail.code),
            "operator" => first.clone_into(&mut detail.operator),
            "location" | "at" => first.clone_into(&mut detail.file),
            "failureType" => {
                detail.is_node = true;
                detail.is_parent = first == "subtestsFailed";
            }
            "duration_ms" => detail.is_node = true,
            "stack" => {
                let frame = (index..=last).find_map(|index| {
                    parse_js(&format!("at {}", log.text(index).trim())).filter(is_js_in_app)
                });
                detail.stack_file = frame.map(|frame| frame.file).unwrap_or_default();
            }
            _ => {}
        }
    }
    let last = (last + 1).min(log.len().saturating_sub(1));
    if detail.is_parent {
        return Finding::noise(at, last);
    }
    let (tool, family) = if detail.is_node { ("node-test", "js") } else { ("tap", "tap") };
    let code = if !detail.name.is_empty() {
        detail.name
    } else if detail.code == "ERR_ASSERTION" {
        "AssertionError".to_owned()
    } else if !detail.operator.is_empty() {
        detail.operator
    } else if detail.is_node {
        "Error".to_owned()
    } else {
        "fail".to_owned()
    };
    let values = code == "AssertionError" || family == "tap";
    let finding = Finding::new(tool, family, ProblemClass::TestFailure, at)
        .code(code)
        .message(detail.message)
        .values(values)
        .test(name)
        .until(last);
    let file = if detail.file.is_empty() { detail.stack_file } else { detail.file };
    let file = file.rsplit('(').next().unwrap_or_default().trim_end_matches(')').to_owned();
    match POSITION.captures(&file) {
        Some(groups) => finding.position(groups.get(1), groups.number(2)),
        None if file.is_empty() => finding,
        None => finding.file(&file),
    }
}

static BATS_PLACE: Pattern =
    Pattern::new(r"^#? *\((?:in test file|from function .* in file) (\S+?),? line ([0-9]+)");
static PERL_PLACE: Pattern = Pattern::new(r"^#\s+(?:in \S+ )?at (\S+) line ([0-9]+)\.?$");

/// bats and Perl's prove explain a failure in comments.
fn read_comments(log: &LogView<'_>, at: usize, name: &str) -> Option<Finding> {
    let (_, (tool, file, line)) = log.find_after(at, 6, |text| {
        let plain = text.trim();
        if let Some(groups) = BATS_PLACE.captures(plain) {
            return Some(("bats", groups.get(1).trim_end_matches(',').to_owned(), groups.number(2)));
        }
        PERL_PLACE.captures(plain).map(|groups| ("prove", groups.get(1).to_owned(), groups.number(2)))
    })?;
    let last = log.end_of(at, 30, |text| text.trim_start().starts_with('#'));
    let said = (at + 1..=last)
        .map(|index| log.text(index).trim_start_matches(['#', ' ']))
        .find(|text| text.contains("' failed") || text.starts_with("Failed test"))
        .unwrap_or("test failed");
    let message = if said.starts_with("Failed test") { "test failed" } else { said };
    let family = if tool == "bats" { "bats" } else { "perl" };
    Some(
        Finding::new(tool, family, ProblemClass::TestFailure, at)
            .code("fail")
            .message(message.trim_matches('`'))
            .values(false)
            .test(name)
            .position(&file, line)
            .until(last),
    )
}

/// The form that node:test prints for people.
fn recognize_spec(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = SPEC.captures(log.text(at))?;
    let name = groups.get(1);
    let (start, said) = log.find_after(at, 2, |text| {
        let plain = text.trim();
        (text.starts_with("  ") && (THROWN.is_match(plain) || plain.starts_with('\''))).then_some(plain)
    })?;
    let last = log.end_of(start, 120, |text| text.trim().is_empty() || text.starts_with("  "));
    let frame = (start..=last).find_map(|index| parse_js(log.text(index)).filter(is_js_in_app));
    let thrown = THROWN.captures(said);
    let code = thrown.as_ref().map_or("fail", |groups| groups.get(1)).to_owned();
    let message = thrown.map_or(said, |groups| groups.get(3)).to_owned();
    if message.ends_with("subtest failed")
        || message.ends_with("subtests failed")
        || said.contains("subtest failed")
    {
        return Some(Finding::noise(at, last));
    }
    let values = code == "AssertionError";
    Some(
        Finding::new("node-test", "js", ProblemClass::TestFailure, at)
            .code(code)
            .message(message)
            .values(values)
            .test(name)
            .at_frame(frame.as_ref())
            .until(last),
    )
}

/// bats in its pretty form.
fn recognize_bats(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let name = log.text(at).trim_start().strip_prefix("✗ ")?;
    let groups = BATS_PLACE.captures(log.text(at + 1).trim())?;
    let message = log.text(at + 2).trim().trim_matches('`');
    Some(
        Finding::new("bats", "bats", ProblemClass::TestFailure, at)
            .code("fail")
            .message(message)
            .test(name)
            .position(groups.get(1).trim_end_matches(','), groups.number(2))
            .until(at + 2),
    )
}

#[cfg(test)]
mod tests {
    use crate::diagnosis::diagnose;

    fn read(log: &str) -> (String, Option<String>) {
        let problem = diagnose(log).problem.unwrap();
        (problem.text, problem.test)
    }

    #[test]
    fn a_bare_failure_is_explained_by_the_lines_beside_it() {
        let test = Some("prices".to_owned());
        let first =
            read("ok 1 - a\nerror: exit code of price.sh is 0, expected 3\nnot ok 2 - prices\n1..2\n");
        assert_eq!(first, ("exit code of price.sh is <n>, expected <n>".to_owned(), test.clone()));
        let got = read(
            "expected blue, got green\nnot ok 1 - prices\n# a bad price is an error, as it should be\nok 2 - b\n1..2\n",
        );
        assert_eq!(got, ("expected blue, got green".to_owned(), test.clone()));
        let after = read("not ok 1 - prices\n# the total is wrong\nok 2 - b\n1..2\n");
        assert_eq!(after, ("the total is wrong".to_owned(), test.clone()));
        let none = read("not ok 1 - prices\nok 2 - b\n1..2\n");
        assert_eq!(none, ("test failed: prices".to_owned(), test));
    }

    #[test]
    fn what_a_passing_test_prints_is_no_problem() {
        for log in [
            "ok log.line\nexpected: unknown level: FATAL\nok log.level\n",
            "ok 1 - a\nerror: cache is cold\nok 2 - b\n1..2\n",
            "start\nexpecting: invalid port: x\ndone\n",
        ] {
            assert_eq!(diagnose(log).problem, None, "{log}");
        }
    }

    #[test]
    fn a_shell_names_the_parameter_that_is_not_set() {
        let log = "bin/ship.sh: line 6: SHIP_HOST: is not set\nnot ok 1 - ship\n1..1\n";
        let problem = diagnose(log).problem.unwrap();
        assert_eq!((problem.tool.as_str(), problem.text.as_str()), ("shell", "`SHIP_HOST`: is not set"));
        assert_eq!(problem.place.as_deref(), Some("ship.sh"));
    }
}
