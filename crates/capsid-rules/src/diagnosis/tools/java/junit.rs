//! JUnit and TestNG as Surefire, Gradle and the console launcher print them; ScalaTest.

use super::exception::{JavaException, read_chain};
use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::file_name;
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static SUREFIRE: Pattern = Pattern::new(
    r"^(?:(?:[a-z_]\w*\.)*([A-Z][\w$]*)\.)?([\w$]+)(?:\((?:[\w]+\.)*([A-Z]\w*)\)|[\[{(].*[\]})])?\s+(?:--\s+)?Time elapsed: [0-9.,]+ s(?:ec)?\s+<<< (FAILURE|ERROR)!(?:.*)$",
);
static GRADLE: Pattern =
    Pattern::new(r"^(?:\S+ > )?((?:[a-z_]\w*\.)*[A-Z]\w*) > (?:.+ > )?(.+?)(?:\(\))? FAILED$");
static SHORT: Pattern = Pattern::new(
    r"^\s+((?:[a-z_]\w*\.)+[A-Z]\w*|[A-Z]\w*(?:Error|Exception))(?:: (.*?))?(?: at (\w+\.(?:java|kt|groovy|scala)):([0-9]+))?$",
);
static AT_FILE: Pattern = Pattern::new(r"\bat (\w+\.(?:java|kt|groovy|scala)):([0-9]+)$");
static LISTED: Pattern =
    Pattern::new(r"^\s+(?:[\w.]+\.)?([A-Z]\w*)\.(\w+)(?::([0-9]+))?(?:->\S+)? (?:» )?(.*)$");
static LAUNCHER: Pattern =
    Pattern::new(r"^\s+(?:JUnit \w+|Kotest):((?:[\w.]+\.)?[A-Z]\w*):(\w+)(?:\(.*\))?$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.body(at);
    if text.contains("<<< FAILURE!") || text.contains("<<< ERROR!") {
        return recognize_surefire(log, at);
    }
    if text.ends_with(" FAILED") && text.contains(" > ") {
        return recognize_gradle(log, at);
    }
    if text.contains(":") && text.starts_with("    JUnit ") {
        let groups = LAUNCHER.captures(text)?;
        let (start, said) =
            log.find_after(at, 3, |text| text.trim_start().strip_prefix("=> ").map(str::to_owned))?;
        let (kind, message) = said.split_once(": ").unwrap_or((&said, ""));
        let exception = JavaException { kind: kind.to_owned(), message: message.to_owned(), frame: None };
        return Some(test_finding(at, start, groups.get(1), groups.get(2), &exception));
    }
    if text.contains("*** FAILED ***") {
        return recognize_scalatest(log, at);
    }
    if log.is_error(at) && text.starts_with("  ") {
        return recognize_listed(log, at);
    }
    None
}

fn simple_class(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

fn test_finding(at: usize, last: usize, class: &str, method: &str, exception: &JavaException) -> Finding {
    let kind = exception.short_kind();
    let class = simple_class(class);
    let is_assertion = [
        "AssertionError",
        "AssertionFailedError",
        "ComparisonFailure",
        "MultipleFailuresError",
        "AssertionFailure",
    ]
    .contains(&kind);
    let mut finding = Finding::new("junit", "java", ProblemClass::TestFailure, at)
        .code(kind)
        .message(exception.message.clone())
        .values(is_assertion)
        .test(if class.is_empty() { method.to_owned() } else { format!("{class}.{method}") })
        .at_frame(exception.frame.as_ref())
        .until(last);
    // The test itself is no frame of its own class.
    if finding.frame.as_deref() == Some(&format!("{class}.{method}")) {
        finding.frame = Some(method.to_owned());
    }
    finding
}

fn recognize_surefire(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.body(at);
    if text.starts_with("Tests run:") {
        return None;
    }
    let groups = SUREFIRE.captures(text)?;
    let class = groups.some(1).or_else(|| groups.some(3)).unwrap_or_default();
    let (exception, last) = read_chain(log, at + 1).unwrap_or_else(|| {
        let text = log.text(at + 1);
        let (kind, message) = text.split_once(": ").unwrap_or((text, ""));
        (JavaException { kind: kind.to_owned(), message: message.to_owned(), frame: None }, at + 1)
    });
    Some(test_finding(at, last, class, groups.get(2), &exception))
}

fn recognize_gradle(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = GRADLE.captures(log.text(at))?;
    let (class, method) = (groups.get(1), groups.get(2));
    let Some((start, ())) =
        log.find_after(at, 2, |text| (text.starts_with("    ") && !text.trim().is_empty()).then_some(()))
    else {
        return Some(
            Finding::new("junit", "java", ProblemClass::TestFailure, at)
                .code("fail")
                .message(symbol(method))
                .text("test failed")
                .test(format!("{}.{method}", simple_class(class)))
                .role(DiagnosticRole::Summary),
        );
    };
    let last = log.end_of(start, 80, |text| text.starts_with("    "));
    if let Some((exception, end)) = read_chain(log, start) {
        return Some(test_finding(at, end.max(last), class, method, &exception));
    }
    let short = SHORT.captures(log.text(start))?;
    let exception =
        JavaException { kind: short.get(1).to_owned(), message: short.get(2).to_owned(), frame: None };
    let mut finding = test_finding(at, last, class, method, &exception);
    let position = (start..=last).find_map(|index| AT_FILE.captures(log.text(index)));
    if let Some(position) = position {
        finding.place = file_name(position.get(1));
        finding.line = position.number(2);
    }
    Some(finding)
}

/// The list at the end of a Surefire run.
fn recognize_listed(log: &LogView<'_>, at: usize) -> Option<Finding> {
    log.find_before(at, 60, |text| {
        let plain = text.trim();
        (plain.ends_with("Failures:") || plain.ends_with("Errors:")).then_some(())
    })?;
    let groups = LISTED.captures(log.body(at))?;
    let said = groups.get(4);
    let (code, message) = said
        .split_once(' ')
        .filter(|(kind, _)| kind.ends_with("Error") || kind.ends_with("Exception"))
        .unwrap_or(("fail", said));
    let mut finding = Finding::new("junit", "java", ProblemClass::TestFailure, at)
        .code(code)
        .message(message)
        .values(true)
        .test(format!("{}.{}", groups.get(1), groups.get(2)))
        .role(DiagnosticRole::Summary);
    finding.line = groups.number(3);
    Some(finding)
}

static SCALATEST: Pattern = Pattern::new(r"^(?:\[info\] )?\s*-? ?(.+?) \*\*\* FAILED \*\*\*(?: \([^)]*\))?$");
static SCALATEST_PLACE: Pattern = Pattern::new(r"^(.*?) \((\w+\.scala):([0-9]+)\)$");

pub(crate) fn recognize_scalatest(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let name = SCALATEST.captures(log.text(at))?.get(1).to_owned();
    let said = log.text(at + 1).trim_start_matches("[info]").trim();
    let (message, file, line) = match SCALATEST_PLACE.captures(said) {
        Some(groups) => (groups.get(1).to_owned(), groups.get(2).to_owned(), groups.number(3)),
        None => (said.to_owned(), String::new(), None),
    };
    let mut finding = Finding::new("scalatest", "scala", ProblemClass::TestFailure, at)
        .code("fail")
        .message(message)
        .values(true)
        .test(name)
        .until(at + 1);
    finding.place = file_name(&file);
    finding.line = line;
    Some(finding)
}
