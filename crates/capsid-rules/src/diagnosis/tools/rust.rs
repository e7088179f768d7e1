//! rustc, clippy, cargo, panics, `cargo test`, doc tests and nextest.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::is_in_app;
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;
use crate::diagnosis::tools::generic::located::tool_for_file;

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.contains("panicked at ") {
        return recognize_panic(log, at);
    }
    if let Some(rest) = text.trim_start().strip_prefix("process didn't exit successfully: ") {
        return recognize_signal(rest, at);
    }
    if text.starts_with("Error: ")
        && !text.starts_with("Error: Could not find or load main class")
        && log.find_after(at, 2, |text| text.starts_with("Caused by:").then_some(())).is_some()
    {
        return recognize_report(log, at);
    }
    if text.starts_with("---- ") && text.ends_with(" stdout ----") {
        return recognize_error_result(log, at);
    }
    if text.starts_with("error") {
        return recognize_error(log, at).or_else(|| recognize_cargo(log, at));
    }
    if text.contains(".rs:") && text.contains(": error") {
        return recognize_short(log, at);
    }
    if text.starts_with("warning: ") && has_arrow(log, at).is_some() {
        return Some(Finding::noise(at, end_of_block(log, at)));
    }
    recognize_summary(log, at)
}

static HEADER: Pattern = Pattern::new(r"^error(?:\[(\w+)\])?: (.+)$");
static ARROW: Pattern = Pattern::new(r"^\s*(?:-->|:::|╭▸|╭─\[?) ([^\s:]+(?: [^\s:]+)*?):([0-9]+):[0-9]+");

fn has_arrow(log: &LogView<'_>, at: usize) -> Option<(usize, (String, Option<u32>))> {
    log.find_after(at, 4, |text| {
        if text.starts_with("error") {
            return None;
        }
        ARROW.captures(text).map(|groups| (groups.get(1).to_owned(), groups.number(2)))
    })
}

/// A block ends before an empty line or the next message.
fn end_of_block(log: &LogView<'_>, at: usize) -> usize {
    log.end_of(at, 200, |text| {
        let plain = text.trim_start();
        !plain.is_empty() && !text.starts_with("error") && !text.starts_with("warning")
    })
}

fn recognize_error(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = HEADER.captures(log.text(at))?;
    let (_, (file, line)) = match has_arrow(log, at) {
        Some(arrow) => arrow,
        None if groups.get(1).starts_with('E') => (at, (String::new(), None)),
        None => return None,
    };
    let last = end_of_block(log, at);
    // cargo shows its own files in the same form; compilers of other languages do too.
    if file.ends_with(".toml") {
        return Some(
            Finding::new("cargo", "cargo", ProblemClass::ConfigError, at)
                .code("manifest")
                .message(groups.get(2))
                .position(&file, line)
                .until(last),
        );
    }
    if !file.is_empty() && tool_for_file(&file).is_some() {
        return None;
    }
    let lint = (at..=last).find_map(|index| read_lint(log.text(index)));
    let message = complete_message(groups.get(2), log, at, last);
    let (tool, class) = match &lint {
        Some(lint) if lint.starts_with("clippy::") => ("clippy", ProblemClass::LintError),
        Some(_) => ("rustc", ProblemClass::LintError),
        None => ("rustc", ProblemClass::CompileError),
    };
    let code = groups.some(1).map(str::to_owned).or(lint).unwrap_or_default();
    Some(Finding::new(tool, "rust", class, at).code(code).message(message).position(&file, line).until(last))
}

static LABEL: Pattern = Pattern::new(r"^\s*\|.*\^[-~^]* (\S[^|^]*)$");

/// The message, with the label under the source where the message names nothing.
fn complete_message(message: &str, log: &LogView<'_>, at: usize, last: usize) -> String {
    if message.contains('`') {
        return message.to_owned();
    }
    let label = (at..=last).find_map(|index| {
        let text = log.text(index);
        text.contains('^')
            .then(|| LABEL.captures(text))
            .flatten()
            .map(|groups| groups.get(1).trim().to_owned())
    });
    match label {
        Some(label) if !label.starts_with("help:") => format!("{message}: {label}"),
        _ => message.to_owned(),
    }
}

static LINT_FLAG: Pattern =
    Pattern::new(r"`(?:-[DF] |#!?\[(?:deny|forbid|warn)\()((?:clippy::|rustdoc::)?[\w-]+)");
static LINT_LINK: Pattern = Pattern::new(r"rust-clippy/\S*index\.html#(\w+)");

fn read_lint(text: &str) -> Option<String> {
    let plain = text.trim_start();
    if !plain.starts_with("= ") {
        return None;
    }
    if let Some(groups) = LINT_LINK.captures(plain) {
        return Some(format!("clippy::{}", groups.get(1)));
    }
    let groups = LINT_FLAG.captures(plain)?;
    let lint = groups.get(1).replace('-', "_");
    (lint != "warnings").then_some(lint)
}

static SHORT: Pattern = Pattern::new(r"^(\S+\.rs):([0-9]+):[0-9]+: error(?:\[(\w+)\])?: (.+)$");

fn recognize_short(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = SHORT.captures(log.text(at))?;
    Some(
        Finding::new("rustc", "rust", ProblemClass::CompileError, at)
            .code(groups.get(3))
            .message(groups.get(4))
            .position(groups.get(1), groups.number(2)),
    )
}

/// Messages of cargo itself: words, code, class.
const CARGO: [(&str, &str, ProblemClass); 20] = [
    ("no matching package named", "no_matching_package", ProblemClass::DependencyError),
    ("no matching package found", "no_matching_package", ProblemClass::DependencyError),
    ("failed to select a version for", "no_matching_version", ProblemClass::DependencyError),
    ("failed to get `", "dependency_unavailable", ProblemClass::DependencyError),
    ("failed to load source for dependency", "dependency_unavailable", ProblemClass::DependencyError),
    ("failed to download", "dependency_unavailable", ProblemClass::DependencyError),
    ("failed to parse manifest", "manifest", ProblemClass::ConfigError),
    ("failed to load manifest", "manifest", ProblemClass::ConfigError),
    ("could not find `Cargo.toml`", "no_manifest", ProblemClass::ConfigError),
    ("the lock file ", "lock_file", ProblemClass::DependencyError),
    ("cannot update the lock file", "lock_file", ProblemClass::DependencyError),
    ("no bin target named", "no_target", ProblemClass::ConfigError),
    ("no test target named", "no_target", ProblemClass::ConfigError),
    ("no example target named", "no_target", ProblemClass::ConfigError),
    ("package ID specification", "no_package", ProblemClass::ConfigError),
    ("no such command:", "no_command", ProblemClass::NotFound),
    ("no such subcommand:", "no_command", ProblemClass::NotFound),
    ("failed to run custom build command for", "build_script", ProblemClass::BuildError),
    ("toolchain '", "toolchain", ProblemClass::NotFound),
    ("cyclic package dependency", "cycle", ProblemClass::DependencyError),
];

fn recognize_cargo(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let message = log.text(at).strip_prefix("error: ")?;
    if let Some(inner) = message.strip_prefix("process didn't exit successfully: ") {
        return recognize_signal(inner, at);
    }
    if message.starts_with("linking with ") {
        return Some(
            Finding::new("rustc", "rust", ProblemClass::LinkError, at)
                .message(message)
                .role(DiagnosticRole::Wrapper),
        );
    }
    if message.starts_with("internal compiler error") {
        return Some(Finding::new("rustc", "rust", ProblemClass::Crash, at).code("ICE").message(message));
    }
    let (_, code, class) = CARGO.iter().find(|(words, ..)| message.starts_with(words))?;
    let mut finding = Finding::new("cargo", "cargo", *class, at).code(*code).message(message);
    if *class == ProblemClass::ConfigError
        && let Some((index, cause)) = log.find_after(at, 12, |text| {
            let plain = text.trim_start_matches([' ', '0', '1', ':']);
            let is_cause = text.starts_with("  ") && !plain.starts_with("|") && plain.len() > 4;
            is_cause.then(|| plain.to_owned())
        })
    {
        finding = finding.message(format!("{message}: {cause}")).until(index);
    }
    Some(finding)
}

/// The report of anyhow and eyre: a message and its causes, the innermost last.
fn recognize_report(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let message = log.text(at).strip_prefix("Error: ")?;
    let (start, ()) = log.find_after(at, 2, |text| text.starts_with("Caused by:").then_some(()))?;
    let last = log.end_of(start, 12, |text| text.starts_with("    "));
    let cause = log.text(last).trim().trim_start_matches(|c: char| c.is_ascii_digit() || c == ':').trim();
    let message = if last > start { format!("{message}: {cause}") } else { message.to_owned() };
    Some(
        Finding::new("rust", "rust", ProblemClass::Exception, at)
            .code("Error")
            .message(message)
            .until(last)
            .or_system(),
    )
}

/// A test that returned an error instead of panicking.
fn recognize_error_result(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let test = STDOUT_OF.captures(log.text(at))?.get(1).to_owned();
    let (index, message) = log.find_after(at, 2, |text| text.strip_prefix("Error: "))?;
    let test = DOC_LINE.replace_all(&test, |_| String::new());
    Some(
        Finding::new("cargo-test", "rust", ProblemClass::TestFailure, at)
            .code("error")
            .message(message)
            .test(test)
            .until(index),
    )
}

static SIGNAL: Pattern = Pattern::new(r"^`([^`]+)` \(signal: [0-9]+, (SIG\w+)");

fn recognize_signal(text: &str, at: usize) -> Option<Finding> {
    let groups = SIGNAL.captures(text)?;
    let command = groups.get(1).split(' ').next().unwrap_or_default();
    let program = command.rsplit('/').next().unwrap_or_default();
    let program =
        program.rsplit_once('-').filter(|(_, hash)| hash.len() == 16).map_or(program, |(name, _)| name);
    Some(
        Finding::new("cargo", "os", ProblemClass::Crash, at)
            .code(groups.get(2))
            .message(text)
            .text(format!("{} {program}", groups.get(2))),
    )
}

static PANIC: Pattern = Pattern::new(
    r"^\s*thread '([^']*)' (?:\([0-9]+\) )?panicked at (?:'(.*)', )?(.+?)(?::([0-9]+):[0-9]+)?:?$",
);
static OLD_END: Pattern = Pattern::new(r"', \S+:[0-9]+:[0-9]+$");
static STDOUT_OF: Pattern = Pattern::new(r"^---- (.+?) stdout ----$");
static DOC_LINE: Pattern = Pattern::new(r" \(line [0-9]+\)$");

fn recognize_panic(log: &LogView<'_>, at: usize) -> Option<Finding> {
    // The old form spreads a long message over lines; the place stands after the closing quote.
    let mut joined = log.text(at).to_owned();
    if joined.contains("panicked at '") && !OLD_END.is_match(&joined) {
        for index in at + 1..(at + 8).min(log.len()) {
            joined.push(' ');
            joined.push_str(log.text(index).trim());
            if OLD_END.is_match(&joined) {
                break;
            }
        }
    }
    let groups = PANIC.captures(&joined)?;
    let message = match groups.some(2) {
        Some(message) => message.to_owned(),
        None => log.text(at + 1).trim().to_owned(),
    };
    let thread = groups.get(1);
    // A test that is to panic passes.
    let passes = log.find_after(at, 600, |text| {
        let rest = text.trim_start().strip_prefix("test ")?.strip_prefix(thread)?;
        rest.ends_with(" ok").then_some(())
    });
    if passes.is_some() {
        return Some(Finding::noise(at, at + 1));
    }
    let block = log.find_before(at, 60, |text| {
        if text.starts_with("failures:") {
            return Some(None);
        }
        STDOUT_OF.captures(text).map(|groups| Some(groups.get(1).to_owned()))
    });
    let test = match block {
        Some((_, Some(name))) => Some(DOC_LINE.replace_all(&name, |_| String::new())),
        _ if thread.contains("::") => Some(thread.to_owned()),
        _ if thread != "main" && is_listed_test(log, at, thread) => Some(thread.to_owned()),
        _ => None,
    };
    let (code, values) = match message.as_str() {
        text if text.starts_with("assertion `left") || text.starts_with("assertion failed: `(left") => {
            ("assert", true)
        }
        text if text.starts_with("assertion ") => ("assert", false),
        text if text.starts_with("called `") => ("unwrap", false),
        text if text.starts_with("index out of bounds") || text.contains("out of range for slice") => {
            ("bounds", false)
        }
        _ => ("panic", false),
    };
    let message =
        if values { message.split(": `(left").next().unwrap_or(&message).to_owned() } else { message };
    let message =
        if message == "assertion failed" { "assertion `left == right` failed".to_owned() } else { message };
    let last = log.end_of(at, 120, |text| {
        !text.trim().is_empty()
            && !text.contains("panicked at ")
            && !text.starts_with("----")
            && !text.starts_with("test ")
    });
    let (file, line) = in_app_position(log, at, last, groups.get(3), groups.number(4));
    let (tool, class) = match &test {
        Some(_) if is_nextest(log, at) => ("nextest", ProblemClass::TestFailure),
        Some(_) => ("cargo-test", ProblemClass::TestFailure),
        None => ("rust", ProblemClass::Crash),
    };
    let finding = Finding::new(tool, "rust", class, at)
        .code(code)
        .message(message)
        .values(values)
        .position(&file, line)
        .until(last);
    Some(match test {
        Some(test) => finding.test(test),
        None => finding,
    })
}

/// The place of the panic, or of the first own frame where the panic is inside a library.
fn in_app_position(
    log: &LogView<'_>,
    at: usize,
    last: usize,
    file: &str,
    line: Option<u32>,
) -> (String, Option<u32>) {
    if is_in_app("", file) {
        return (file.to_owned(), line);
    }
    for index in at..=last {
        if let Some(place) = log.text(index).trim_start().strip_prefix("at ")
            && is_in_app("", place)
            && let Some((place, _)) = place.rsplit_once(':')
            && let Some((place, line)) = place.rsplit_once(':')
        {
            return (place.to_owned(), line.parse().ok());
        }
    }
    (file.to_owned(), line)
}

fn is_listed_test(log: &LogView<'_>, at: usize, name: &str) -> bool {
    let listed = format!("test {name} ... ");
    log.find_before(at, 400, |text| text.starts_with(&listed).then_some(())).is_some()
        || log.find_after(at, 60, |text| text.starts_with(&listed).then_some(())).is_some()
        || is_nextest(log, at)
}

fn is_nextest(log: &LogView<'_>, at: usize) -> bool {
    let marks = |text: &str| {
        (text.contains("Nextest run")
            || text.contains("FAIL [")
            || text.contains("STDERR:")
            || text.contains("stderr ───"))
        .then_some(())
    };
    log.find_before(at, 40, marks).is_some()
}

static NEXTEST_FAIL: Pattern = Pattern::new(
    r"^\s*(?:TRY [0-9]+ )?(?:FAIL|SIGSEGV|SIGABRT|TIMEOUT) \[\s*[>0-9.]+s\] (?:\([ 0-9/]+\) )?(\S+) (\S.*)$",
);

fn recognize_summary(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let name = if let Some(rest) = text.strip_prefix("test ") {
        rest.strip_suffix(" ... FAILED")?.trim_end_matches(" - should panic").to_owned()
    } else if text.contains("FAIL [")
        || text.contains("TIMEOUT [")
        || text.contains("SIGSEGV [")
        || text.contains("SIGABRT [")
    {
        NEXTEST_FAIL.captures(text)?.get(2).to_owned()
    } else {
        return None;
    };
    let tool = if text.starts_with("test ") { "cargo-test" } else { "nextest" };
    let code = if text.contains("TIMEOUT [") { "timeout" } else { "fail" };
    let name = DOC_LINE.replace_all(&name, |_| String::new());
    Some(
        Finding::new(tool, "rust", ProblemClass::TestFailure, at)
            .code(code)
            .message(symbol(&name))
            .text("test failed")
            .test(name)
            .role(DiagnosticRole::Summary),
    )
}
