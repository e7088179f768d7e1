//! make, ninja, CMake, Meson, Bazel, autoconf, just, pre-commit and tox.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static NO_RULE: Pattern = Pattern::new(r"\*\*\* No rule to make target [`'‘]([^'’]+)['’]");
static MAKEFILE: Pattern = Pattern::new(r"^(\S+):([0-9]+): \*\*\* (.+?)\.?  Stop\.$");
static NINJA: Pattern =
    Pattern::new(r"^ninja: error: '([^']+)', needed by '[^']+', missing and no known rule to make it");
static CMAKE: Pattern = Pattern::new(r"^CMake Error(?: \(dev\))? at (\S+?):([0-9]+)(?: \((\w+)\))?:$");
static CMAKE_PACKAGE: Pattern = Pattern::new(
    r#"(?:provided by "([^"]+)"|Could NOT find (\w+)|No package '([^']+)' found|The following required packages were not found: ?)"#,
);
static MESON: Pattern = Pattern::new(r"^(\S*meson\.build):([0-9]+):[0-9]+: ERROR: (.+)$");
static MESON_NAME: Pattern = Pattern::new(
    r#"^(?:Dependency "([^"]+)" not found|(?:C|C\+\+) (?:shared or static )?library '([^']+)' not found)"#,
);
static BAZEL_PLACE: Pattern = Pattern::new(r"^ERROR: (\S+?):([0-9]+):[0-9]+: (.+)$");
static BAZEL_TEST: Pattern = Pattern::new(r"^(//\S+)\s+(FAILED|TIMEOUT|FAILED TO BUILD)(?: in .*)?$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.contains("No rule to make target") {
        let groups = NO_RULE.captures(text)?;
        return Some(
            make("no_rule", ProblemClass::BuildError, at)
                .message(format!("No rule to make target {}", symbol(groups.get(1)))),
        );
    }
    if text.contains(": *** ") && text.contains("Stop.") {
        return recognize_makefile(log, at);
    }
    if text.starts_with("ninja: error: ") {
        let finding = Finding::new("ninja", "ninja", ProblemClass::BuildError, at);
        return Some(match NINJA.captures(text) {
            Some(groups) => {
                finding.code("no_rule").message(format!("No rule to make target {}", symbol(groups.get(1))))
            }
            None => finding.message(text.trim_start_matches("ninja: error: ")).or_system(),
        });
    }
    if text.starts_with("CMake Error") {
        return recognize_cmake(log, at);
    }
    if text.contains("meson.build:") && text.contains(": ERROR: ") {
        let groups = MESON.captures(text)?;
        let finding = Finding::new("meson", "meson", ProblemClass::ConfigError, at)
            .message(groups.get(3))
            .position(groups.get(1), groups.number(2));
        return Some(match MESON_NAME.captures(groups.get(3)) {
            Some(name) => {
                let mut finding = finding
                    .code("package_not_found")
                    .message(format!("package {} not found", symbol(name.some(1).unwrap_or(name.get(2)))));
                finding.class = ProblemClass::DependencyError;
                finding
            }
            None => finding,
        });
    }
    if text.starts_with("configure: error: ") {
        return Some(
            Finding::new("configure", "configure", ProblemClass::ConfigError, at)
                .message(text.trim_start_matches("configure: error: ")),
        );
    }
    if text.starts_with("ERROR: ") || text.starts_with("//") {
        return recognize_bazel(log, at);
    }
    recognize_hooks(log, at)
}

fn make(code: &str, class: ProblemClass, at: usize) -> Finding {
    Finding::new("make", "make", class, at).code(code)
}

fn recognize_makefile(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = MAKEFILE.captures(text) {
        let message = groups.get(3);
        let (code, class) = if message.starts_with("missing separator") {
            ("missing_separator", ProblemClass::SyntaxError)
        } else {
            ("error", ProblemClass::ConfigError)
        };
        return Some(make(code, class, at).message(message).position(groups.get(1), groups.number(2)));
    }
    let message = text.split_once(": *** ")?.1.split(".  Stop").next()?;
    Some(make("error", ProblemClass::ConfigError, at).message(message))
}

fn recognize_cmake(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let last = log.end_of(at, 60, |text| text.trim().is_empty() || text.starts_with("  "));
    let lines: Vec<&str> = (at + 1..=last).map(|index| log.text(index).trim()).collect();
    let Some(groups) = CMAKE.captures(text) else {
        let message = text.split_once(": ").map_or("", |(_, message)| message);
        return Some(Finding::new("cmake", "cmake", ProblemClass::ConfigError, at).message(message));
    };
    let joined = lines.join(" ");
    let finding = Finding::new("cmake", "cmake", ProblemClass::ConfigError, at)
        .position(groups.get(1), groups.number(2))
        .until(last);
    if let Some(package) = CMAKE_PACKAGE.captures(&joined) {
        let name = (1..=3).find_map(|index| package.some(index)).unwrap_or_default();
        let mut finding =
            finding.code("package_not_found").message(format!("package {} not found", symbol(name)));
        finding.class = ProblemClass::DependencyError;
        return Some(finding);
    }
    let first: Vec<&str> = lines
        .iter()
        .skip_while(|line| line.is_empty())
        .take_while(|line| !line.is_empty())
        .copied()
        .collect();
    Some(finding.code(groups.get(3)).message(first.join(" ")))
}

fn recognize_bazel(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = BAZEL_TEST.captures(text) {
        return Some(
            Finding::new("bazel", "bazel", ProblemClass::TestFailure, at)
                .code("fail")
                .message(symbol(groups.get(1)))
                .text("test failed")
                .test(groups.get(1))
                .role(DiagnosticRole::Summary),
        );
    }
    let message = text.strip_prefix("ERROR: ")?;
    if let Some(groups) = BAZEL_PLACE.captures(text)
        && (groups.get(1).ends_with("BUILD")
            || groups.get(1).ends_with(".bazel")
            || groups.get(1).ends_with(".bzl")
            || groups.get(1).ends_with("WORKSPACE"))
    {
        let said = groups.get(3);
        let is_wrapper = said.contains(" failed: (Exit ") || said.contains(" failed (Exit ");
        let role = if is_wrapper { DiagnosticRole::Wrapper } else { DiagnosticRole::Cause };
        return Some(
            Finding::new("bazel", "bazel", ProblemClass::BuildError, at)
                .message(said)
                .position(groups.get(1), groups.number(2))
                .role(role),
        );
    }
    let is_bazel = [
        "no such target",
        "no such package",
        "Skipping '",
        "Unable to find package",
        "Analysis of target",
        "The project you're trying to build",
    ]
    .iter()
    .any(|start| message.starts_with(start));
    let message =
        message.split(": no such ").nth(1).map_or(message.to_owned(), |rest| format!("no such {rest}"));
    is_bazel.then(|| Finding::new("bazel", "bazel", ProblemClass::BuildError, at).message(message))
}

static PRE_COMMIT: Pattern = Pattern::new(r"^(.+?)\.{3,}Failed$");
static TOX: Pattern = Pattern::new(
    r"^(?:ERROR: +)?\s*([\w.-]+): (?:commands failed|FAIL(?: code [0-9]+)?(?: \(.*\))?|exit [0-9]+ .*|InvocationError.*)$",
);
static NOX: Pattern = Pattern::new(r"^(?:nox > )?\* ([\w.()=', -]+): failed$|^nox > Session (\S+) failed\.$");

/// Programs that run other checkers: what those print is better, but these know the name of the step.
fn recognize_hooks(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.ends_with("...Failed") {
        let groups = PRE_COMMIT.captures(text)?;
        let id = log.find_after(at, 3, |text| text.strip_prefix("- hook id: ").map(str::to_owned));
        let (last, name) = id.unwrap_or((at, groups.get(1).to_owned()));
        return Some(
            Finding::new("pre-commit", "pre-commit", ProblemClass::LintError, at)
                .code("hook_failed")
                .message(format!("hook {} failed", symbol(&name)))
                .role(DiagnosticRole::Summary)
                .until(last),
        );
    }
    if text.contains("commands failed") || text.contains(": FAIL") || text.contains("InvocationError") {
        let groups = TOX.captures(text)?;
        return Some(
            Finding::new("tox", "tox", ProblemClass::TestFailure, at)
                .code("env_failed")
                .message(format!("environment {} failed", symbol(groups.get(1))))
                .role(DiagnosticRole::Wrapper),
        );
    }
    if text.contains("nox > ") || text.ends_with(": failed") {
        let groups = NOX.captures(text)?;
        let name = groups.some(1).or_else(|| groups.some(2))?;
        return Some(
            Finding::new("nox", "nox", ProblemClass::TestFailure, at)
                .code("session_failed")
                .message(format!("session {} failed", symbol(name)))
                .role(DiagnosticRole::Wrapper),
        );
    }
    None
}
