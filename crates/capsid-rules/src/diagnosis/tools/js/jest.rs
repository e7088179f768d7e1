//! jest and vitest.

use super::node::missing_module;
use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::{StackFrame, file_name, is_js_in_app, parse_js};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static FILE: Pattern = Pattern::new(
    r"^\s*(?:FAIL|PASS)\s+(?:\S+ )??(\S+\.[cm]?[jt]sx?|\S+\.(?:vue|svelte|coffee))(?: \([0-9.]+ m?s.*\))?$",
);
static MATCHER: Pattern = Pattern::new(r"expect\(.*?\)\.(?:(?:not|resolves|rejects)\.)*(\w+)\(");
static THROWN: Pattern = Pattern::new(
    r"^(?:Uncaught )?((?:[A-Za-z_$][\w$]*\.)*[A-Z]\w*(?:Error|Exception|Rejection)|Error)(?: \[(\w+)\])?: ?(.*)$",
);
static VITEST: Pattern =
    Pattern::new(r"^\s*FAIL\s+(?:\|[^|]+\| |\([^)]+\) )?(\S+\.\w+)(?: > (.+)| \[ .+ \])$");
static VITEST_FRAME: Pattern = Pattern::new(r"^\s*❯ (?:(\S+) )?(\S+?):([0-9]+):[0-9]+$");
static TICK: Pattern = Pattern::new(r"^\s+[✕×✗] (.+?)(?: \(?[0-9.]+ ?m?s\)?)?$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let plain = text.trim_start();
    if plain.starts_with("● ") {
        return recognize_bullet(log, at);
    }
    if plain.starts_with("FAIL") && (text.contains(" > ") || text.ends_with(" ]")) {
        return recognize_vitest(log, at);
    }
    if log.text(at + 1).trim_start().starts_with("❯ ") && THROWN.is_match(plain) {
        return recognize_unhandled(log, at);
    }
    if plain.starts_with(['✕', '×', '✗']) && text.starts_with(' ') {
        return recognize_tick(log, at);
    }
    if plain.starts_with("console.error") || plain.starts_with("console.warn") {
        let last = log.end_of(at, 60, |text| text.is_empty() || text.starts_with("    "));
        return Some(Finding::noise(at, last));
    }
    None
}

/// `● A › B` and what stands below it.
fn recognize_bullet(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let title = log.text(at).trim_start().strip_prefix("● ")?.trim();
    if matches!(
        title,
        "Console"
            | "Cannot log after tests are done. Did you forget to wait for something async in your test?"
    ) || title.starts_with("Deprecation Warning")
    {
        return None;
    }
    let file = log.find_before(at, 4_000, |text| {
        let is_header = text.contains("FAIL") || text.contains("PASS");
        is_header
            .then(|| FILE.captures(text))
            .flatten()
            .map(|groups| groups.get(1).trim_start_matches("./").to_owned())
    });
    let file = file.map(|(_, file)| file);
    // A bullet without a file is one of a text.
    if file.is_none() && !title.contains(" › ") {
        return None;
    }
    let (start, message) = first_line(log, at, 6)?;
    let last = log.end_of(start, 120, |text| {
        let plain = text.trim_start();
        !plain.starts_with("● ")
            && !text.starts_with("Test Suites:")
            && !text.starts_with("FAIL ")
            && !text.starts_with("PASS ")
            && !text.starts_with("npm ")
    });
    let suite = title == "Test suite failed to run";
    let names: Vec<&str> = file.as_deref().into_iter().chain((!suite).then_some(title)).collect();
    let test = names.join(" › ");
    let failure = read_failure(message);
    let mut finding = Finding::new("jest", "js", ProblemClass::TestFailure, at)
        .code(failure.code)
        .message(failure.message)
        .values(true)
        .test(test)
        .until(last);
    finding.place = file.as_deref().and_then(file_name);
    if suite {
        finding = recognize_suite(finding, message, log, start, last)?;
    }
    if let Some(frame) = first_frame(log, start, last) {
        finding.frame.clone_from(&frame.function);
        finding.place = frame.place();
        finding.line = frame.line;
    }
    Some(finding)
}

/// A file that could not be loaded is no failing test.
fn recognize_suite(
    finding: Finding,
    message: &str,
    log: &LogView<'_>,
    start: usize,
    last: usize,
) -> Option<Finding> {
    // The compiler's own rule reads its message better.
    if (start..=last).any(|index| {
        log.text(index).contains("error TS")
            || log.text(index).contains("TS") && log.text(index).contains(" - error")
    }) {
        return None;
    }
    let message = if message.starts_with("Jest encountered an unexpected token")
        || message.starts_with("Jest failed to parse")
    {
        (start..=last)
            .map(|index| log.text(index).trim())
            .find(|text| text.starts_with("SyntaxError"))
            .unwrap_or(message)
    } else {
        message
    };
    let mut finding = finding.values(false);
    if let Some((name, class)) = missing_module(message) {
        finding.class = class;
        return Some(
            finding.code("MODULE_NOT_FOUND").message(format!("Cannot find module {}", symbol(&name))),
        );
    }
    let failure = read_failure(message);
    finding.class =
        if failure.code == "SyntaxError" { ProblemClass::SyntaxError } else { ProblemClass::Exception };
    Some(finding.code(failure.code).message(failure.message))
}

/// The first line of a failure that is not empty.
fn first_line<'l>(log: &LogView<'l>, at: usize, within: usize) -> Option<(usize, &'l str)> {
    log.find_after(at, within, |text| Some(text.trim()).filter(|text| !text.is_empty()))
}

fn first_frame(log: &LogView<'_>, start: usize, last: usize) -> Option<StackFrame> {
    (start..=last).find_map(|index| parse_js(log.text(index)).filter(is_js_in_app))
}

struct TestError {
    code: String,
    message: String,
}

/// What the first line of a failing test says.
fn read_failure(line: &str) -> TestError {
    if line.contains("Exceeded timeout of")
        || line.contains("Test timed out in")
        || line.contains("Timeout of ")
        || line.contains("Timeout - Async")
    {
        return TestError { code: "timeout".to_owned(), message: "test timed out".to_owned() };
    }
    if let Some(groups) = THROWN.captures(line) {
        let kind = groups.get(1);
        let message = groups.get(3).to_owned();
        if let Some(matcher) = MATCHER.captures(&message) {
            return TestError { code: matcher.get(1).to_owned(), message };
        }
        return TestError { code: kind.rsplit('.').next().unwrap_or(kind).to_owned(), message };
    }
    if let Some(groups) = MATCHER.captures(line) {
        return TestError { code: groups.get(1).to_owned(), message: line.to_owned() };
    }
    TestError { code: "fail".to_owned(), message: line.to_owned() }
}

/// `FAIL  F > A > B` and the error in the next line. Tests that fail with one error share it.
fn recognize_vitest(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = VITEST.captures(log.text(at))?;
    let (start, message) = log.find_after(at, 30, |text| {
        let plain = text.trim();
        (!plain.is_empty() && !plain.starts_with("FAIL ")).then_some(plain)
    })?;
    let next_is_fail = log.text(at + 1).trim_start().starts_with("FAIL ");
    let end = log.end_of(start, 80, |text| !text.contains("⎯⎯⎯") && !text.trim_start().starts_with("FAIL "));
    let last = if next_is_fail { at } else { end };
    let file = groups.get(1);
    let test = groups.some(2).map_or(file.to_owned(), |names| format!("{file} > {names}"));
    let failure = read_failure(message);
    let mut finding = Finding::new("vitest", "js", ProblemClass::TestFailure, at)
        .code(failure.code)
        .message(failure.message.clone())
        .values(true)
        .test(test)
        .until(last);
    finding.place = file_name(file);
    if groups.some(2).is_none() {
        // The file could not be loaded.
        finding.values = false;
        finding.class = ProblemClass::Exception;
        if let Some((name, class)) = missing_module(&failure.message) {
            finding =
                finding.code("MODULE_NOT_FOUND").message(format!("Cannot find module {}", symbol(&name)));
            finding.class = class;
        } else if failure.message.starts_with("Failed to resolve import") {
            finding.class = ProblemClass::DependencyError;
        } else if finding.code.as_deref() == Some("SyntaxError") {
            finding.class = ProblemClass::SyntaxError;
        }
    }
    let frame = (start..=end).find_map(|index| vitest_frame(log.text(index)));
    Some(finding.at_frame(frame.as_ref()))
}

/// `❯ function file:line:column`.
fn vitest_frame(text: &str) -> Option<StackFrame> {
    let groups = text.contains('❯').then(|| VITEST_FRAME.captures(text)).flatten()?;
    let function = groups.some(1).filter(|name| !name.contains("anonymous"));
    let function = function.map(|name| name.trim_start_matches("Module.").to_owned());
    let frame = StackFrame { function, file: groups.get(2).to_owned(), line: groups.number(3) };
    is_js_in_app(&frame).then_some(frame)
}

/// An error outside of any test, which vitest reports at the end.
fn recognize_unhandled(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let failure = read_failure(log.text(at).trim());
    let last = log.end_of(at, 20, |text| text.trim_start().starts_with("❯ "));
    let frame = (at..=last).find_map(|index| vitest_frame(log.text(index)));
    let class =
        if failure.code == "SyntaxError" { ProblemClass::SyntaxError } else { ProblemClass::Exception };
    let finding = Finding::new("vitest", "js", class, at).code(failure.code).message(failure.message);
    Some(finding.at_frame(frame.as_ref()).until(last))
}

/// A failing test in the list of a file, without its detail.
fn recognize_tick(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let name = TICK.captures(log.text(at))?.get(1).to_owned();
    let file = log.find_before(at, 200, |text| {
        let is_header = text.contains("FAIL") || text.contains("❯ ");
        if !is_header {
            return None;
        }
        if let Some(groups) = FILE.captures(text) {
            return Some(groups.get(1).trim_start_matches("./").to_owned());
        }
        text.trim_start().strip_prefix("❯ ").and_then(|rest| rest.split(' ').next()).map(str::to_owned)
    });
    let (header, file) = file?;
    let is_vitest = log.text(header).trim_start().starts_with('❯');
    let (tool, joint) = if is_vitest { ("vitest", ">") } else { ("jest", "›") };
    let mut finding = Finding::new(tool, "js", ProblemClass::TestFailure, at)
        .code("fail")
        .message(symbol(&name))
        .text("test failed")
        .test(format!("{file} {joint} {name}"))
        .role(DiagnosticRole::Summary);
    finding.place = file_name(&file);
    Some(finding)
}
