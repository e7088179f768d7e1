//! Sanitizers, signals, aborted programs, and test programs in C++.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::{StackFrame, file_name, is_in_app};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static SANITIZER: Pattern =
    Pattern::new(r"^\s*(?:==[0-9]+==)?\s?(?:ERROR|WARNING): (\w+Sanitizer): ([\w-]+(?: [a-z]+)?)");
static FRAME: Pattern = Pattern::new(r"^\s*#[0-9]+ 0x[0-9a-f]+ in (.+?) ([^\s(]+?):([0-9]+)(?::[0-9]+)?$");
static UNDEFINED_BEHAVIOR: Pattern = Pattern::new(r"^(\S+):([0-9]+):[0-9]+: runtime error: (.+)$");
static VALGRIND: Pattern = Pattern::new(
    r"^==[0-9]+== (Invalid (?:read|write|free)|Conditional jump|Use of uninitialised|Mismatched free|Process terminating)(.*)$",
);
/// What the C library says before it aborts.
static GLIBC: Pattern = Pattern::new(
    r"^(?:\S+: )?((?:free|malloc|realloc|calloc|munmap_chunk|malloc_consolidate)\(\): [a-z].+|double free or corruption.*|corrupted (?:size|double-linked).*)$|^\*\*\* (.+ detected) \*\*\*: ",
);
static VALGRIND_FRAME: Pattern =
    Pattern::new(r"^==[0-9]+==\s+(?:at|by) 0x[0-9A-Fa-f]+: (\S+) \(([^:()]+):([0-9]+)\)$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.contains("segfault at ") {
        let program = KERNEL_SEGFAULT.captures(text)?.get(1).to_owned();
        return Some(signal_finding(at, "SIGSEGV", &program, text));
    }
    if text.contains("Sanitizer: ") {
        return recognize_sanitizer(log, at);
    }
    if text.contains(": runtime error: ") {
        let groups = UNDEFINED_BEHAVIOR.captures(text)?;
        return Some(
            Finding::new("ubsan", "c", ProblemClass::Crash, at)
                .code("undefined-behavior")
                .message(groups.get(3))
                .position(groups.get(1), groups.number(2)),
        );
    }
    if text.starts_with("==") && VALGRIND.is_match(text) {
        return recognize_valgrind(log, at);
    }
    if let Some(finding) = recognize_signal(text, at) {
        return Some(finding);
    }
    if text.starts_with("terminate called after throwing")
        || text.starts_with("libc++abi: terminating")
        || text.starts_with("libc++abi.dylib: terminating")
    {
        return recognize_terminate(log, at);
    }
    if (text.contains("(): ") || text.contains("corrupt") || text.starts_with("*** "))
        && let Some(groups) = GLIBC.captures(text)
    {
        let said = groups.some(1).or_else(|| groups.some(2))?;
        return Some(Finding::new("c", "c", ProblemClass::Crash, at).code("SIGABRT").message(said));
    }
    if text.contains("ssertion") && text.contains("ailed") {
        return recognize_assert(log, at);
    }
    recognize_gtest(log, at)
}

fn recognize_sanitizer(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = SANITIZER.captures(log.text(at))?;
    let tool = match groups.get(1) {
        "AddressSanitizer" => "asan",
        "ThreadSanitizer" => "tsan",
        "MemorySanitizer" => "msan",
        "LeakSanitizer" => "lsan",
        _ => "ubsan",
    };
    let kind = groups.get(2).split(' ').next().unwrap_or_default();
    let kind = match (tool, kind) {
        ("lsan", _) => "memory-leak",
        ("tsan", "data") => "data-race",
        (_, kind) => kind,
    };
    let last = log.end_of(at, 60, |text| !text.trim().is_empty());
    let frame = (at..=last).find_map(|index| {
        let groups = FRAME.captures(log.text(index))?;
        let file = groups.get(2);
        is_in_app("", file).then(|| StackFrame {
            function: Some(groups.get(1).split('(').next().unwrap_or_default().to_owned()),
            file: file.to_owned(),
            line: groups.number(3),
        })
    });
    Some(
        Finding::new(tool, "c", ProblemClass::Crash, at)
            .code(kind)
            .message(kind)
            .at_frame(frame.as_ref())
            .until(last),
    )
}

fn recognize_valgrind(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = VALGRIND.captures(log.text(at))?;
    let message = format!("{}{}", groups.get(1), groups.get(2));
    let last = log.end_of(at, 30, |text| {
        text.starts_with("==") && text.trim_end_matches(['=', ' ']).len() > 4 && VALGRIND_FRAME.is_match(text)
    });
    let frame = (at..=last).find_map(|index| {
        let groups = VALGRIND_FRAME.captures(log.text(index))?;
        Some(StackFrame {
            function: Some(groups.get(1).to_owned()),
            file: groups.get(2).to_owned(),
            line: groups.number(3),
        })
    });
    Some(
        Finding::new("valgrind", "c", ProblemClass::Crash, at)
            .message(message)
            .at_frame(frame.as_ref())
            .until(last),
    )
}

const SIGNALS: [(&str, &str); 8] = [
    ("segmentation fault", "SIGSEGV"),
    ("bus error", "SIGBUS"),
    ("illegal instruction", "SIGILL"),
    ("floating point exception", "SIGFPE"),
    ("trace/breakpoint trap", "SIGTRAP"),
    ("aborted", "SIGABRT"),
    ("abort trap", "SIGABRT"),
    ("killed", "SIGKILL"),
];
static SHELL_SIGNAL: Pattern = Pattern::new(
    r"(?i)^(?:\S+: line [0-9]+:\s+[0-9]+ |zsh: |\S+: |)(segmentation fault|bus error|illegal instruction|floating point exception|trace/breakpoint trap|aborted|abort trap|killed)(?:: [0-9]+)?\s*(?:\(core dumped\))?\s*(.*)$",
);
static KERNEL_SEGFAULT: Pattern =
    Pattern::new(r"^([\w.-]+)\[[0-9]+\]: segfault at |segfault at .* in ([\w.-]+)\[");
static TEST_SIGNAL: Pattern = Pattern::new(
    r"^make(?:\[[0-9]+\])?: \*\*\* \[[^\]]*?([^\]\s:/]+)\] (Segmentation fault|Aborted|Killed|Bus error)",
);

/// What the shell says about a program that a signal ended.
fn recognize_signal(text: &str, at: usize) -> Option<Finding> {
    let lower = text.to_ascii_lowercase();
    let (words, signal) = SIGNALS.iter().find(|(words, _)| lower.contains(words))?;
    if let Some(groups) = TEST_SIGNAL.captures(text) {
        return Some(signal_finding(at, signal, groups.get(1), text));
    }
    let groups = SHELL_SIGNAL.captures(text)?;
    let is_shell = text.contains(": line ") || text.starts_with("zsh: ");
    let alone = groups.get(2).is_empty();
    if !is_shell && !(alone && (lower.starts_with(words) || lower.contains("core dumped"))) {
        return None;
    }
    let command = groups.get(2).split_whitespace().find(|word| !word.contains('=')).unwrap_or_default();
    let program = command.rsplit('/').next().unwrap_or_default().trim_matches(['"', '\'']);
    let mut finding = signal_finding(at, signal, program, text);
    // Without a program it only follows what was said before.
    if alone && !is_shell && matches!(*signal, "SIGABRT" | "SIGKILL") {
        finding.role = DiagnosticRole::Generic;
    }
    Some(finding)
}

fn signal_finding(at: usize, signal: &str, program: &str, text: &str) -> Finding {
    Finding::new("os", "os", ProblemClass::Crash, at)
        .code(signal)
        .message(text)
        .text(format!("{signal} {program}").trim_end().to_owned())
}

static THROWN: Pattern = Pattern::new(r"(?:instance of '([^']+)'|exception of type ([\w:]+)(?:: (.*))?)");

fn recognize_terminate(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = THROWN.captures(log.text(at))?;
    let kind = groups.some(1).or_else(|| groups.some(2))?;
    let what = log.find_after(at, 2, |text| {
        text.trim_start().strip_prefix("what():").map(|what| what.trim().to_owned())
    });
    let (last, message) = what.unwrap_or_else(|| (at, groups.get(3).to_owned()));
    Some(
        Finding::new("c++", "c", ProblemClass::Crash, at).code(kind).message(message).until(last).or_system(),
    )
}

static ASSERT: Pattern =
    Pattern::new(r"^(?:\S+: )?(\S+?):([0-9]+): (?:(.+?): )?Assertion [`'](.+)' failed\.?$");
static APPLE_ASSERT: Pattern =
    Pattern::new(r"^Assertion failed: \((.+)\), function (\w+), file (\S+), line ([0-9]+)\.?$");

fn recognize_assert(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = ASSERT.captures(text) {
        let frame = groups.get(3).split('(').next().unwrap_or_default();
        let function = frame.rsplit([' ', '*']).next().unwrap_or_default().to_owned();
        let mut finding = Finding::new("c", "c", ProblemClass::Crash, at)
            .code("assert")
            .message(format!("assertion {} failed", symbol(groups.get(4))))
            .position(groups.get(1), groups.number(2));
        finding.frame = (!function.is_empty()).then_some(function);
        return Some(finding);
    }
    let groups = APPLE_ASSERT.captures(text)?;
    let mut finding = Finding::new("c", "c", ProblemClass::Crash, at)
        .code("assert")
        .message(format!("assertion {} failed", symbol(groups.get(1))))
        .position(groups.get(3), groups.number(4));
    finding.frame = Some(groups.get(2).to_owned());
    Some(finding)
}

static GTEST: Pattern = Pattern::new(r"^(\S+?)[:(]([0-9]+)\)?: (?:Failure|error: Failure)$");
static GTEST_RUN: Pattern = Pattern::new(r"^\[ RUN {6}\] (\S+)$");
static GTEST_FAILED: Pattern =
    Pattern::new(r"^\[  FAILED  \] (\w[\w/]*\.\w[\w/]*)(?:, where .*)?(?: \([0-9]+ ms\))?$");
static CATCH: Pattern = Pattern::new(r"^(\S+):([0-9]+): FAILED:$");
static CTEST: Pattern =
    Pattern::new(r"^\s+[0-9]+ - (\S+) \((Failed|SEGFAULT|Timeout|Subprocess aborted|Not Run)\)");

fn recognize_gtest(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.ends_with(": Failure") {
        let groups = GTEST.captures(text)?;
        let (_, test) =
            log.find_before(at, 200, |text| GTEST_RUN.captures(text).map(|groups| groups.get(1).to_owned()))?;
        let last = log.end_of(at, 20, |text| !text.starts_with('['));
        return Some(
            Finding::new("gtest", "c", ProblemClass::TestFailure, at)
                .code("fail")
                .message(log.text(at + 1).trim())
                .values(true)
                .test(test)
                .position(groups.get(1), groups.number(2))
                .until(last),
        );
    }
    if text.ends_with(": FAILED:") {
        let groups = CATCH.captures(text)?;
        let (_, test) = log.find_before(at, 12, |text| {
            let is_title = !text.is_empty()
                && !text.starts_with(['-', '.', '=', ' '])
                && !text.contains(": FAILED:")
                && !text.contains(".cpp:");
            is_title.then(|| text.to_owned())
        })?;
        return Some(
            Finding::new("catch2", "c", ProblemClass::TestFailure, at)
                .code("fail")
                .message(log.text(at + 1).trim())
                .values(true)
                .test(test)
                .position(groups.get(1), groups.number(2))
                .until(at + 1),
        );
    }
    let name = if text.starts_with("[  FAILED  ]") {
        GTEST_FAILED.captures(text)?.get(1)
    } else if text.contains(" - ") && text.starts_with(' ') && text.contains('(') {
        CTEST.captures(text)?.get(1)
    } else {
        return None;
    };
    let tool = if text.starts_with('[') { "gtest" } else { "ctest" };
    let mut finding = Finding::new(tool, "c", ProblemClass::TestFailure, at)
        .code("fail")
        .message(symbol(name))
        .text("test failed")
        .test(name)
        .role(DiagnosticRole::Summary);
    finding.place = file_name("");
    Some(finding)
}
