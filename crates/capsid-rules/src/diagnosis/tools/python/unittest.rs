//! unittest, Django's test runner and doctest.

use super::traceback::{class_of, read_chain};
use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static HEADER: Pattern = Pattern::new(r"^(FAIL|ERROR): (\S+)(?: \(([\w.]+)\))?(?: [\[(].*[\])])?$");
static VERBOSE: Pattern = Pattern::new(r"^(\w+) \(([\w.]+)\)(?: .*)? \.\.\. (?:FAIL|ERROR)$");
static DOCTEST: Pattern = Pattern::new(r#"^File "([^"]+)", line ([0-9]+), in ([\w.]+)$"#);

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.starts_with("FAIL: ") || text.starts_with("ERROR: ") {
        return recognize_block(log, at);
    }
    if text.ends_with("... FAIL") || text.ends_with("... ERROR") {
        let groups = VERBOSE.captures(text)?;
        let test = join_test(groups.get(1), groups.get(2));
        return Some(
            Finding::new("unittest", "python", ProblemClass::TestFailure, at)
                .code("fail")
                .message(symbol(&test))
                .text("test failed")
                .test(test)
                .role(DiagnosticRole::Summary),
        );
    }
    if text.starts_with("File \"") && log.text(at + 1).starts_with("Failed example:") {
        let groups = DOCTEST.captures(text)?;
        let last = log.end_of(at, 40, |text| !text.starts_with("***"));
        return Some(
            Finding::new("doctest", "python", ProblemClass::TestFailure, at)
                .code("example")
                .message(log.text(at + 2).trim())
                .values(true)
                .test(groups.get(3))
                .position(groups.get(1), groups.number(2))
                .until(last),
        );
    }
    None
}

/// `test_x (mod.Class)` and `test_x (mod.Class.test_x)` are the same test.
fn join_test(name: &str, module: &str) -> String {
    if module.is_empty() {
        name.to_owned()
    } else if module.rsplit('.').next() == Some(name) {
        module.to_owned()
    } else {
        format!("{module}.{name}")
    }
}

fn recognize_block(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = HEADER.captures(log.text(at))?;
    let (start, ()) =
        log.find_after(at, 6, |text| text.starts_with("Traceback (most recent call last)").then_some(()))?;
    let (exception, last) = read_chain(log, start)?;
    let kind = exception.short_kind();
    let is_loader = groups.get(3).contains("_FailedTest");
    // A module that cannot be imported is no failing test.
    let class = if is_loader { class_of(kind) } else { ProblemClass::TestFailure };
    let test = if is_loader { groups.get(2).to_owned() } else { join_test(groups.get(2), groups.get(3)) };
    Some(
        Finding::new("unittest", "python", class, at)
            .code(kind)
            .message(exception.message.clone())
            .values(kind == "AssertionError")
            .test(test)
            .at_frame(exception.in_app_frame())
            .until(last),
    )
}
