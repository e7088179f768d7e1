//! go build, go vet, go test, golangci-lint and panics.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::{StackFrame, is_in_app, parse_go_file, parse_go_function};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static COMPILE: Pattern = Pattern::new(r"^(?:vet: )?(\S+\.go):([0-9]+):([0-9]+): (.+)$");
static LINTER: Pattern = Pattern::new(r" \(([a-z][a-z0-9]+|(?:SA|ST|S|QF|U)[0-9]{4})\)$");
static FAILED: Pattern = Pattern::new(r"^(\s*)--- FAIL: (\S+)(?: \([0-9.]+s\))?$");
static DETAIL: Pattern = Pattern::new(r"^\s+(\S+\.go):([0-9]+): ?(.*)$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.contains("--- FAIL: ") {
        return recognize_test(log, at);
    }
    if text.contains("http: panic serving ") {
        let message = text.split_once("panic serving ")?.1.split_once(": ")?.1;
        let last = log.end_of(at, 120, |text| !text.is_empty());
        let frame = in_app_frame(log, at, last);
        return Some(
            Finding::new("go", "go", ProblemClass::Crash, at)
                .code("panic")
                .message(message)
                .at_frame(frame.as_ref())
                .until(last),
        );
    }
    if text.starts_with("panic: ") || text.starts_with("fatal error: ") {
        return recognize_panic(log, at);
    }
    if text.starts_with("WARNING: DATA RACE") {
        let last = log.end_of(at, 40, |text| !text.starts_with("===="));
        let frame = in_app_frame(log, at, last);
        return Some(
            Finding::new("go", "go", ProblemClass::Crash, at)
                .code("data_race")
                .message("data race")
                .at_frame(frame.as_ref())
                .until(last),
        );
    }
    if text.contains(".go:") {
        return recognize_compile(log, at);
    }
    if text.starts_with("go: ")
        || text.starts_with("package ")
        || text.contains("is not in std")
        || text.starts_with("go.mod:")
    {
        return recognize_module(log, at);
    }
    None
}

static MISSING: Pattern = Pattern::new(
    r#"(?:no required module provides package|cannot find module providing package|missing go\.sum entry for module providing package|cannot find package|package) "?([\w./~@-]+?)"?(?:;|:| is not in std| is not in GOROOT| \(imported by|$| in any of| provided by)"#,
);

fn recognize_compile(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = COMPILE.captures(log.text(at))?;
    let message = groups.get(4);
    let (file, line) = (groups.get(1), groups.number(2));
    if let Some(finding) = missing_module(message, at) {
        return Some(finding.position(file, line));
    }
    if let Some(linter) = LINTER.captures(message) {
        let said = message.rsplit_once(" (").map_or(message, |(said, _)| said);
        if linter.get(1) != "typecheck" {
            let tool = if linter.get(1).starts_with(|c: char| c.is_ascii_uppercase()) {
                "staticcheck"
            } else {
                "golangci-lint"
            };
            return Some(
                Finding::new(tool, "golint", ProblemClass::LintError, at)
                    .code(linter.get(1))
                    .message(quote_names(said))
                    .position(file, line),
            );
        }
    }
    let vet = log.text(at).starts_with("vet: ")
        || log
            .find_before(at, 20, |text| {
                if text.starts_with("# [") {
                    Some(true)
                } else if text.starts_with("# ") {
                    Some(false)
                } else {
                    None
                }
            })
            .is_some_and(|(_, vet)| vet);
    let (tool, class) = match message {
        text if text.starts_with("syntax error") || text.starts_with("expected ") => {
            ("go", ProblemClass::SyntaxError)
        }
        text if VET.is_match(text) => ("go-vet", ProblemClass::LintError),
        _ if vet && !log.text(at).starts_with("vet: ") => ("go-vet", ProblemClass::LintError),
        _ => ("go", ProblemClass::CompileError),
    };
    Some(Finding::new(tool, "go", class, at).message(quote_names(message)).position(file, line))
}

/// What only vet says; the compiler has other words.
static VET: Pattern = Pattern::new(
    r"^(?:[\w.]+\.\w+ (?:format %|call (?:has|needs)|arg list ends)|unreachable code$|result of .+ call not used|self-assignment of |composite literal uses unkeyed|struct field .+ repeats|the cancel function|loop variable .+ captured|possible misuse of|call to .+ passes|using .+ before checking for errors|assignment copies lock value)",
);
static UNDEFINED: Pattern = Pattern::new(
    r"^(undefined: |declared and not used: |undefined method |missing method |duplicate method |duplicate case )(\S+)(.*)$",
);
static UNUSED: Pattern =
    Pattern::new(r"^(\S+) (declared and not used|redeclared in this block|undefined)(.*)$");
static FIELD: Pattern =
    Pattern::new(r"^(\S+)( undefined \(type )(.+?)( has no field or method )(\w+)(.*)\)$");
static LITERAL: Pattern = Pattern::new(r#"^cannot use (".*?"|`.*?`|-?[0-9][\w.]*|'.*?') \("#);
static ARGUMENT: Pattern = Pattern::new(r"^cannot use (\S.*?) \((.+?)\) as (.+?) value in (.+?)(?::.*)?$");

/// Puts quotes around the names that the compiler prints without them.
fn quote_names(message: &str) -> String {
    let message = LITERAL.replace_all(message, |_| "cannot use <s> (".to_owned());
    if let Some(groups) = FIELD.captures(&message) {
        return format!(
            "{}{}{}{}{}",
            symbol(groups.get(1)),
            groups.get(2),
            symbol(groups.get(3)),
            groups.get(4),
            symbol(groups.get(5))
        );
    }
    if let Some(groups) = UNDEFINED.captures(&message) {
        return format!("{}{}{}", groups.get(1), symbol(groups.get(2)), groups.get(3));
    }
    if let Some(groups) = UNUSED.captures(&message)
        && !groups.get(1).contains('"')
    {
        if groups.get(2) == "declared and not used" {
            return format!("declared and not used: {}", symbol(groups.get(1)));
        }
        return format!("{} {}", symbol(groups.get(1)), groups.get(2));
    }
    if let Some(groups) = ARGUMENT.captures(&message) {
        let value = if groups.get(1) == "<s>" { "<s>".to_owned() } else { symbol(groups.get(1)) };
        return format!(
            "cannot use {value} ({}) as {} value in {}",
            groups.get(2),
            symbol(groups.get(3)),
            groups.get(4)
        );
    }
    message
}

fn missing_module(message: &str, at: usize) -> Option<Finding> {
    let groups = MISSING.captures(message)?;
    Some(
        Finding::new("go", "go", ProblemClass::DependencyError, at)
            .code("missing_module")
            .message(format!("no module provides package {}", symbol(groups.get(1)))),
    )
}

static MODULE_LINE: Pattern =
    Pattern::new(r"^(?:go: |go\.mod:[0-9]+: )(?:module )?([\w./~-]+?)(?:@(\S+?))?: (.+)$");

fn recognize_module(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if [
        "go: downloading",
        "go: finding",
        "go: added",
        "go: upgraded",
        "go: found",
        "go: creating",
        "go: to add",
        "go: warning",
        "go: writing",
    ]
    .iter()
    .any(|start| text.starts_with(start))
    {
        return None;
    }
    if text.contains("package ")
        && (text.contains("is not in")
            || text.contains("no required module")
            || text.contains("cannot find")
            || text.contains("missing go.sum"))
        && let Some(finding) = missing_module(text.trim_start_matches("go: "), at)
    {
        return Some(finding);
    }
    let rest = text.strip_prefix("go: ")?;
    if let Some(groups) = MODULE_LINE.captures(text)
        && groups.get(1).contains(['.', '/'])
    {
        let said = groups.get(3).rsplit(": ").next().unwrap_or_default();
        return Some(
            Finding::new("go", "go", ProblemClass::DependencyError, at)
                .code("module")
                .message(format!("{}: {said}", symbol(groups.get(1))))
                .or_system(),
        );
    }
    let is_error = [
        "errors parsing",
        "cannot",
        "no ",
        "unknown",
        "updates to go.mod",
        "inconsistent",
        "go.mod",
        "build",
        "error",
    ]
    .iter()
    .any(|word| rest.starts_with(word));
    is_error.then(|| Finding::new("go", "go", ProblemClass::ConfigError, at).code("module").message(rest))
}

static ARGUMENTS: Pattern = Pattern::new(r"(\b[A-Za-z_][\w.]*)\([^()]*\)");

fn recognize_test(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = FAILED.captures(log.text(at))?;
    let (indent, name) = (groups.get(1).len(), groups.get(2));
    let next = log.text(at + 1);
    // A test of which a part failed says nothing itself.
    let parent = log.find_after(at, 200, |text| {
        let groups = FAILED.captures(text)?;
        Some(groups.get(2).starts_with(&format!("{name}/")))
    });
    if next.trim_start().starts_with("--- ") && parent.is_some_and(|(_, is_part)| is_part) {
        return Some(Finding::noise(at, at));
    }
    let base = Finding::new("go-test", "go", ProblemClass::TestFailure, at).code("fail").test(name);
    let belongs = |text: &str| {
        text.starts_with(' ') && text.len() - text.trim_start().len() > indent || text.starts_with('\t')
    };
    let last = log.end_of(at, 200, |text| {
        belongs(text) && !text.contains("--- FAIL: ") && !text.contains("--- PASS: ")
    });
    let after =
        (at + 1..=last).find_map(|index| DETAIL.captures(log.text(index)).map(|groups| (index, groups)));
    let detail = after.or_else(|| {
        // With -v the message stands before its test.
        let begin = log
            .find_before(at, 400, |text| {
                (text.starts_with("=== RUN") && text.split_whitespace().nth(2) == Some(name)).then_some(())
            })?
            .0;
        (begin + 1..at).find_map(|index| DETAIL.captures(log.text(index)).map(|groups| (index, groups)))
    });
    if let Some((index, groups)) = detail {
        let message = test_message(log, index, groups.get(3));
        return Some(
            base.message(message).values(true).position(groups.get(1), groups.number(2)).until(last),
        );
    }
    // A panic stands below; its own rule reads it and finds the name of the test here.
    if log
        .find_after(at, 6, |text| {
            (text.starts_with("panic: ") || text.starts_with("fatal error: ")).then_some(())
        })
        .is_some()
    {
        return Some(Finding::noise(at, at));
    }
    Some(base.message("test failed").until(last))
}

/// The message of a failing test; that of testify stands in a table.
fn test_message(log: &LogView<'_>, index: usize, said: &str) -> String {
    let said = said.trim();
    if said.is_empty() {
        let error = log.find_after(index, 30, |text| {
            let (key, value) = text.split_once(':')?;
            (key.trim() == "Error").then(|| value.trim().to_owned())
        });
        return match error {
            Some((_, value)) => value,
            None => log.text(index + 1).trim().to_owned(),
        };
    }
    ARGUMENTS.replace_all(said, |groups| format!("{}(…)", &groups[1]))
}

static RUNNING_TEST: Pattern = Pattern::new(r"^\s+(Test\w[\w/]*) \([0-9.hms]+\)$");

fn recognize_panic(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let (code, message) = match text.strip_prefix("panic: ") {
        Some(message) => ("panic", message),
        None => ("fatal", text.strip_prefix("fatal error: ")?),
    };
    log.find_after(at, 30, |text| {
        (text.starts_with("goroutine ") || text.starts_with("[signal ")).then_some(())
    })?;
    let message = message.split(" [recovered").next().unwrap_or(message).trim();
    let last = log.end_of(at, 300, |text| {
        !text.starts_with("FAIL") && !text.starts_with("exit status") && !text.starts_with("ok ")
    });
    let mut test = log
        .find_before(at, 30, |text| FAILED.captures(text).map(|groups| groups.get(2).to_owned()))
        .map(|(_, name)| name);
    if test.is_none() {
        let in_test = (at..=last).any(|index| log.text(index).starts_with("testing."));
        test = in_test
            .then(|| {
                log.find_before(at, 200, |text| {
                    text.strip_prefix("=== RUN ").map(|name| name.trim().to_owned())
                })
                .map(|(_, name)| name)
            })
            .flatten();
    }
    let mut code = match message {
        text if text.contains("all goroutines are asleep") => "deadlock",
        _ => code,
    };
    let mut message = message.to_owned();
    if message.starts_with("test timed out after") {
        code = "timeout";
        "test timed out".clone_into(&mut message);
        let running =
            log.find_after(at, 12, |text| RUNNING_TEST.captures(text).map(|groups| groups.get(1).to_owned()));
        test = running.map(|(_, name)| name).or(test);
    }
    let frame = in_app_frame(log, at, last);
    let (tool, class) = match (&test, code) {
        (Some(_), "timeout") => ("go-test", ProblemClass::TestFailure),
        (None, "timeout") => ("go-test", ProblemClass::Timeout),
        (Some(_), _) => ("go-test", ProblemClass::TestFailure),
        (None, _) => ("go", ProblemClass::Crash),
    };
    let finding =
        Finding::new(tool, "go", class, at).code(code).message(message).at_frame(frame.as_ref()).until(last);
    Some(match test {
        Some(test) => finding.test(test),
        None => finding,
    })
}

/// The first own function of the goroutine that panicked.
fn in_app_frame(log: &LogView<'_>, at: usize, last: usize) -> Option<StackFrame> {
    for index in at..last {
        let text = log.text(index);
        if text.starts_with("panic(") || text.starts_with("created by ") {
            continue;
        }
        let Some((whole, short)) = parse_go_function(text.trim_start()) else { continue };
        let Some((file, line)) = parse_go_file(log.text(index + 1)) else { continue };
        if is_in_app(&whole, &file) {
            return Some(StackFrame { function: Some(short), file, line });
        }
    }
    None
}
