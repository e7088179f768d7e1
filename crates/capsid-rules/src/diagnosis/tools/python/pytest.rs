//! pytest in all of its traceback styles.

use super::traceback::{class_of, read_chain};
use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::{file_name, is_in_app};
use crate::diagnosis::pattern::Pattern;

static HEADER: Pattern = Pattern::new(r"^_{3,} (?:\[(?:gw[0-9]+|doctest)\] )?(.+?) _{3,}$");
static LOCATION: Pattern = Pattern::new(r"^(\S.*?\.py[x]?):([0-9]+): ?(?:in (\S+)|([\w.]+))?$");
static RAISED: Pattern = Pattern::new(r"^E\s+([A-Za-z_][\w.]*)(?:: (.*)|:)?$");
static SUMMARY: Pattern =
    Pattern::new(r"^(FAILED|ERROR|SUBFAIL(?:ED)?(?:\([^)]*\))?) (\S+?\.py(?:::\S.*?)?)(?: - (.*))?$");
static VERBOSE: Pattern = Pattern::new(r"^(\S+\.py::\S.*?) (?:FAILED|ERROR)(?: +\[ *[0-9]+%\])?$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.starts_with("___") {
        return recognize_block(log, at);
    }
    if text.starts_with("ImportError while loading conftest ") {
        let last = log.end_of(at, 60, |text| !text.is_empty());
        let (mut block, mut first_file) = (FailureBlock::default(), String::new());
        (at + 1..=last).for_each(|index| read_line(log.text(index), &mut block, &mut first_file, false));
        return Some(to_finding(at, last, block, String::new(), true));
    }
    if text.starts_with("FAILED ") || text.starts_with("ERROR ") || text.starts_with("SUBFAIL") {
        return recognize_summary(log, at);
    }
    if text.contains(".py::") && (text.contains(" FAILED") || text.contains(" ERROR")) {
        let test = VERBOSE.captures(text)?.get(1).to_owned();
        return Some(summary_finding(at, test, "", ""));
    }
    if text.contains(".py:") && is_in_failures(log, at) {
        return recognize_line_style(log, at);
    }
    if text.starts_with("E   ") || text.starts_with("ERROR: ") {
        return recognize_usage(log, at);
    }
    None
}

/// What a block of the section FAILURES or ERRORS says.
#[derive(Default)]
struct FailureBlock {
    kind: String,
    message: String,
    file: String,
    line: Option<u32>,
}

fn recognize_block(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let name = HEADER.captures(log.text(at))?.get(1).to_owned();
    let last = log.end_of(at, 4_000, |text| !text.starts_with("___") && !is_section(text));
    let mut block = FailureBlock::default();
    let mut first_file = String::new();
    let mut native = None;
    let mut handled = false;
    for index in at + 1..=last {
        let text = log.text(index);
        if text.starts_with("Traceback (most recent") && native.is_none() {
            native = read_chain(log, index).map(|(exception, _)| exception);
        }
        if text.starts_with("During handling of the above") {
            handled = true;
        }
        if text.starts_with("---") && text.contains(" Captured ") {
            break;
        }
        read_line(text, &mut block, &mut first_file, handled);
    }
    if let Some(exception) = native.filter(|_| block.kind.is_empty()) {
        exception.short_kind().clone_into(&mut block.kind);
        block.message.clone_from(&exception.message);
        if let Some(frame) = exception.in_app_frame() {
            block.file.clone_from(&frame.file);
            block.line = frame.line;
        }
    }
    let collecting = name.strip_prefix("ERROR collecting ");
    let test = match collecting {
        Some(path) => path.to_owned(),
        None => {
            let name = ["ERROR at setup of ", "ERROR at teardown of "]
                .iter()
                .find_map(|words| name.strip_prefix(words))
                .unwrap_or(&name);
            full_id(log, at, last, name, &first_file)
        }
    };
    Some(to_finding(at, last, block, test, collecting.is_some()))
}

fn is_section(text: &str) -> bool {
    text.starts_with("====") || text.starts_with("!!!!") || SUMMARY.is_match(text)
}

fn read_line(text: &str, block: &mut FailureBlock, first_file: &mut String, handled: bool) {
    if text.starts_with("E ") {
        if let Some(groups) = RAISED.captures(text)
            && looks_like_kind(groups.get(1), groups.some(2).is_some())
        {
            if block.kind.is_empty() || block.kind == "assert" || handled {
                let kind = groups.get(1);
                kind.rsplit('.').next().unwrap_or(kind).clone_into(&mut block.kind);
                groups.get(2).clone_into(&mut block.message);
            }
            return;
        }
        let said = text.trim_start_matches('E').trim();
        if block.kind.is_empty() && (said.starts_with("assert ") || said == "assert") {
            block.kind = "AssertionError".to_owned();
            said.clone_into(&mut block.message);
        } else if let Some(rest) = said.strip_prefix("fixture '") {
            block.kind = "fixture_not_found".to_owned();
            block.message = format!("fixture '{rest}");
        } else if said.starts_with("Failed: ")
            || block.message.is_empty()
                && !said.is_empty()
                && block.kind.is_empty()
                && !said.starts_with("File \"")
        {
            said.trim_start_matches("Failed: ").clone_into(&mut block.message);
        }
        if let Some(rest) = said.strip_prefix("File \"")
            && let Some((file, rest)) = rest.split_once("\", line ")
        {
            file.clone_into(&mut block.file);
            block.line = rest.split(',').next().and_then(|number| number.trim().parse().ok());
        }
        return;
    }
    if !text.contains(".py") {
        return;
    }
    if let Some(groups) = LOCATION.captures(text) {
        let file = groups.get(1);
        if first_file.is_empty() {
            file.clone_into(first_file);
        }
        if is_in_app("", file) {
            file.clone_into(&mut block.file);
            block.line = groups.number(2);
        }
        if let Some(kind) = groups.some(4)
            && block.kind.is_empty()
        {
            kind.rsplit('.').next().unwrap_or(kind).clone_into(&mut block.kind);
        }
    } else if let Some(rest) = text.strip_prefix("file ")
        && let Some((file, line)) = rest.split_once(", line ")
    {
        file.clone_into(&mut block.file);
        file.clone_into(first_file);
        block.line = line.trim().parse().ok();
    }
}

/// Whether a word is the name of an exception and not the start of a sentence.
fn looks_like_kind(word: &str, has_message: bool) -> bool {
    let last = word.rsplit('.').next().unwrap_or(word);
    let named = [
        "Error",
        "Exception",
        "Warning",
        "Exit",
        "Interrupt",
        "Failure",
        "NotFound",
        "DoesNotExist",
        "Timeout",
        "Violation",
        "Failed",
        "Refused",
        "Denied",
    ]
    .iter()
    .any(|end| last.ends_with(end));
    named && last != "Failed" || (word.contains('.') && last.starts_with(char::is_uppercase) && has_message)
}

fn to_finding(at: usize, last: usize, block: FailureBlock, test: String, collecting: bool) -> Finding {
    let kind = if block.kind.is_empty() { "Failed".to_owned() } else { block.kind };
    let class = if collecting { class_of(&kind) } else { ProblemClass::TestFailure };
    let values = kind == "AssertionError";
    let mut finding = Finding::new("pytest", "python", class, at)
        .code(kind)
        .message(block.message)
        .values(values)
        .test(test)
        .until(last);
    finding.place = file_name(&block.file);
    finding.line = block.line;
    finding
}

/// The whole id of a test, as the summary prints it; otherwise made of the file in the block.
fn full_id(log: &LogView<'_>, at: usize, last: usize, name: &str, first_file: &str) -> String {
    let tail = format!("::{}", name.replace('.', "::"));
    let plain = format!("::{name}");
    let matches = |text: &str| {
        let id = if let Some(groups) = SUMMARY.captures(text) {
            groups.get(2).to_owned()
        } else {
            VERBOSE.captures(text)?.get(1).to_owned()
        };
        (id.ends_with(&tail) || id.ends_with(&plain)).then_some(id)
    };
    let listed = |text: &str| {
        let is_candidate =
            text.starts_with("FAILED ") || text.starts_with("ERROR ") || text.contains(".py::");
        is_candidate.then(|| matches(text)).flatten()
    };
    if let Some((_, id)) = log.find_after(last, 6_000, listed).or_else(|| log.find_before(at, 2_000, listed))
    {
        return id;
    }
    let file = first_file.trim_start_matches("./");
    if file.is_empty() { name.to_owned() } else { format!("{}{tail}", relative_to_tests(file)) }
}

/// An absolute path from the folder of the tests on.
fn relative_to_tests(path: &str) -> String {
    if !path.starts_with('/') {
        return path.to_owned();
    }
    path.rfind("/tests/").or_else(|| path.rfind("/test/")).map_or_else(
        || file_name(path).unwrap_or_default(),
        |at| path.get(at + 1..).unwrap_or_default().to_owned(),
    )
}

/// `FAILED path::T - M`, which is all that `--tb=no` prints.
fn recognize_summary(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = SUMMARY.captures(log.text(at))?;
    let detail = groups.get(3);
    let (kind, message) = match detail.split_once(": ") {
        Some((kind, message)) if looks_like_kind(kind, true) => {
            (kind.rsplit('.').next().unwrap_or(kind), message)
        }
        _ if detail.starts_with("assert") => ("AssertionError", detail),
        _ if looks_like_kind(detail, false) => (detail, ""),
        _ => ("", detail),
    };
    let mut finding = summary_finding(at, groups.get(2).to_owned(), kind, message);
    if groups.get(1) == "ERROR" && !groups.get(2).contains("::") && !kind.is_empty() {
        finding.class = class_of(kind);
    }
    Some(finding)
}

fn summary_finding(at: usize, test: String, kind: &str, message: &str) -> Finding {
    let place = test.split("::").next().and_then(file_name);
    let finding = Finding::new("pytest", "python", ProblemClass::TestFailure, at)
        .code(if kind.is_empty() { "fail" } else { kind })
        .message(message.trim_end_matches("...").to_owned())
        .values(kind == "AssertionError")
        .test(test)
        .role(DiagnosticRole::Summary);
    let mut finding = if message.is_empty() { finding.text("test failed") } else { finding };
    finding.place = place;
    finding
}

fn is_in_failures(log: &LogView<'_>, at: usize) -> bool {
    log.find_before(at, 60, |text| {
        if text.starts_with("====") {
            Some(text.contains("= FAILURES =") || text.contains("= ERRORS ="))
        } else {
            None
        }
    })
    .is_some_and(|(_, is_failures)| is_failures)
}

static LINE_STYLE: Pattern = Pattern::new(
    r"^(\S+\.py):([0-9]+): (?:([A-Z][\w.]*(?:Error|Exception|Exit|Failed)): (.*)|(assert .*)|([A-Z]\w*(?:Error|Exception)))$",
);

/// `--tb=line`: one line per failure.
fn recognize_line_style(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = LINE_STYLE.captures(log.text(at))?;
    let (kind, message) = match (groups.some(3), groups.some(5), groups.some(6)) {
        (Some(kind), ..) => (kind, groups.get(4)),
        (None, Some(assert), _) => ("AssertionError", assert),
        (_, _, kind) => (kind.unwrap_or("Failed"), ""),
    };
    let nth = (0..at)
        .rev()
        .take(200)
        .take_while(|index| !log.text(*index).starts_with("===="))
        .filter(|index| LINE_STYLE.is_match(log.text(*index)))
        .count();
    let ids: Vec<String> = (at..(at + 400).min(log.len()))
        .filter_map(|index| SUMMARY.captures(log.text(index)).map(|groups| groups.get(2).to_owned()))
        .collect();
    let block = FailureBlock {
        kind: kind.to_owned(),
        message: message.to_owned(),
        file: groups.get(1).to_owned(),
        line: groups.number(2),
    };
    let test = ids.get(nth).cloned().unwrap_or_default();
    Some(to_finding(at, at, block, test, false))
}

/// What pytest says before it runs anything.
fn recognize_usage(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let message = log.text(at).strip_prefix("ERROR: ")?;
    // The line after the usage says what is wrong.
    let message = match log
        .text(at + 1)
        .split_once("pytest: error: ")
        .or_else(|| log.text(at + 1).split_once(": error: "))
    {
        Some((_, said)) if message.starts_with("usage: ") => said,
        _ => message,
    };
    let code = if message.starts_with("file or directory not found") || message.starts_with("not found: ") {
        "file_not_found"
    } else if message.starts_with("usage: pytest") || message.contains("unrecognized arguments") {
        "usage"
    } else {
        return None;
    };
    Some(Finding::new("pytest", "python", ProblemClass::ConfigError, at).code(code).message(message))
}
