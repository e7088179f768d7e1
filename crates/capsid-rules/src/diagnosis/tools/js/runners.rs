//! mocha, Cypress, Playwright, jasmine, karma and ava.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::{is_js_in_app, parse_js};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static NUMBERED: Pattern = Pattern::new(r"^\s*([0-9]+)\) (.+)$");
static FAILING: Pattern = Pattern::new(r"^\s*[0-9]+ (?:failing|failed)$");
static PLAYWRIGHT: Pattern =
    Pattern::new(r"^\s+[0-9]+\) (?:\[([^\]]+)\] › )?(\S+?):[0-9]+:[0-9]+ › (.+?)(?: [─-]+)?$");
static THROWN: Pattern = Pattern::new(
    r"^(?:Uncaught )?((?:[A-Za-z_$][\w$]*\.)*[A-Z]\w*(?:Error|Exception)|Error)(?: \[(\w+)\])?:? ?(.*)$",
);
static MATCHER: Pattern = Pattern::new(r"expect\(.*?\)\.(?:(?:not|resolves|rejects)\.)*(\w+)\(");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let plain = text.trim_start();
    if plain.starts_with(|c: char| c.is_ascii_digit()) && plain.contains(") ") {
        if text.contains(" › ") {
            return recognize_playwright(log, at);
        }
        return recognize_mocha(log, at).or_else(|| recognize_jasmine(log, at));
    }
    if text.ends_with(" FAILED") && log.text(at + 1).starts_with('\t') {
        return recognize_karma(log, at);
    }
    if let Some(title) = plain.strip_prefix("✘ [fail]: ").or_else(|| plain.strip_prefix("✖ [fail]: ")) {
        return Some(
            Finding::new("ava", "js", ProblemClass::TestFailure, at)
                .code("fail")
                .message(symbol(title))
                .text("test failed")
                .test(title)
                .role(DiagnosticRole::Summary),
        );
    }
    None
}

/// Below `N failing`: a number, names up to a colon, then the error.
fn recognize_mocha(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = NUMBERED.captures(log.text(at))?;
    let mut names = vec![groups.get(2).trim()];
    let mut index = at;
    while !names.last()?.ends_with(':') {
        index += 1;
        let text = log.text(index);
        if text.trim().is_empty() || index > at + 8 || !text.starts_with(' ') {
            return None;
        }
        names.push(text.trim());
    }
    log.find_before(at, 5_000, |text| (text.contains("fail") && FAILING.is_match(text)).then_some(()))?;
    let (start, message) =
        log.find_after(index, 4, |text| Some(text.trim()).filter(|text| !text.is_empty()))?;
    let last = log.end_of(start, 150, |text| {
        !NUMBERED.is_match(text) && !text.starts_with(|c: char| c.is_alphabetic())
    });
    let test = names.join(" ").trim_end_matches(':').to_owned();
    let (code, said) = read_error(message);
    let frame = (start..=last).find_map(|index| parse_js(log.text(index)).filter(is_js_in_app));
    let tool = if message.starts_with("CypressError") || message.contains("Timed out retrying") {
        "cypress"
    } else {
        "mocha"
    };
    let finding = Finding::new(tool, "js", ProblemClass::TestFailure, at)
        .code(code)
        .message(said)
        .values(true)
        .test(test)
        .at_frame(frame.as_ref())
        .until(last);
    Some(finding)
}

fn read_error(message: &str) -> (String, String) {
    if message.contains("Timeout of ") && message.contains("exceeded") || message.contains("Test timeout of")
    {
        return ("timeout".to_owned(), "test timed out".to_owned());
    }
    match THROWN.captures(message) {
        Some(groups) => {
            let said = groups.get(3);
            let kind = groups.get(1).rsplit('.').next().unwrap_or_default();
            let code = MATCHER.captures(said).map_or(kind, |matcher| matcher.get(1));
            (code.to_owned(), said.to_owned())
        }
        None => ("fail".to_owned(), message.to_owned()),
    }
}

fn recognize_playwright(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = PLAYWRIGHT.captures(log.text(at))?;
    // The list at the end repeats the titles without an error.
    let (start, message) = log.find_after(at, 4, |text| {
        let plain = text.trim();
        let is_error =
            THROWN.is_match(plain) || plain.contains("Test timeout of") || plain.starts_with("Retry #");
        is_error.then_some(plain)
    })?;
    let last =
        log.end_of(start, 80, |text| !PLAYWRIGHT.is_match(text) && !text.trim_start().ends_with(" failed"));
    let (code, said) = read_error(message);
    let frame = (start..=last).find_map(|index| parse_js(log.text(index)).filter(is_js_in_app));
    let mut finding = Finding::new("playwright", "js", ProblemClass::TestFailure, at)
        .code(code)
        .message(said)
        .values(true)
        .test(format!("{} › {}", groups.get(2), groups.get(3).trim()))
        .file(groups.get(2))
        .until(last);
    if let Some(frame) = frame {
        finding.place = frame.place();
        finding.line = frame.line;
        finding.frame = frame.function;
    }
    Some(finding)
}

/// `1) suite test` with `Message:` and `Stack:`.
fn recognize_jasmine(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = NUMBERED.captures(log.text(at))?;
    if log.text(at + 1).trim() != "Message:" {
        return None;
    }
    let (code, said) = read_error(log.text(at + 2).trim());
    let last = log.end_of(at + 2, 40, |text| !text.is_empty());
    let frame = (at..=last).find_map(|index| parse_js(log.text(index)).filter(is_js_in_app));
    Some(
        Finding::new("jasmine", "js", ProblemClass::TestFailure, at)
            .code(code)
            .message(said)
            .values(true)
            .test(groups.get(2))
            .at_frame(frame.as_ref())
            .until(last),
    )
}

static BROWSER: Pattern = Pattern::new(
    r"^(?:Chrome|Headless ?Chrome|Firefox|Safari|ChromeHeadless)[\w ]* [0-9.]+ \([^)]*\)\)?:? (.+) FAILED$",
);

fn recognize_karma(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = BROWSER.captures(log.text(at))?;
    let (code, said) = read_error(log.text(at + 1).trim());
    let last = log.end_of(at, 30, |text| text.starts_with('\t') || text.starts_with("  "));
    let frame = (at..=last).find_map(|index| parse_js(log.text(index)).filter(is_js_in_app));
    Some(
        Finding::new("karma", "js", ProblemClass::TestFailure, at)
            .code(code)
            .message(said)
            .values(true)
            .test(groups.get(1))
            .at_frame(frame.as_ref())
            .until(last),
    )
}
