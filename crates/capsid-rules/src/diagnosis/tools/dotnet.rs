//! .NET: compilers, MSBuild, NuGet, test runners and exceptions.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::{StackFrame, is_in_app, parse_dotnet};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;
use crate::diagnosis::tools::sql;

static COMPILE: Pattern = Pattern::new(
    r"^\s*(?:[0-9]+>)?(\S.*?)\(([0-9]+)(?:,[0-9]+)*\): error ([A-Z]{2,10}[0-9]{3,5}): (.+?)(?: \[[^\]]+proj(?:::[^\]]*)?\])?$",
);
static PROJECT: Pattern = Pattern::new(
    r"^\s*(?:[0-9]+>)?(\S.*?)\s?: error ([A-Z]{2,10}[0-9]{3,5}): (.+?)(?: \[[^\]]+(?:proj|sln)(?:::[^\]]*)?\])?$",
);
static FAILED: Pattern =
    Pattern::new(r"^\s*(?:Failed|X) (\S.*?)(?: \[(?:<? ?[0-9.,]+ ?m?s|[0-9 ]+ m.*)\])?$");
static XUNIT_FAIL: Pattern = Pattern::new(r"^\[xUnit\.net [0-9:.]+\]\s+(\S.*?) \[FAIL\]$");
static ASSERT: Pattern = Pattern::new(r"^(?:[\w.]+ ?: )?(Assert\.\w+)");
static THROWN: Pattern = Pattern::new(
    r"^(?:Unhandled exception[.:] |Exception Info: |---> |\s*---> |.*?\bUnhandled Exception: )*((?:[A-Z]\w*\.)+[A-Z]\w*(?:Exception|Error)|[A-Z]\w*Exception)(?: \([0-9xA-Fa-f]+\))?\s?: (.*)$",
);

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.contains(": error ") {
        return recognize_compile(log, at);
    }
    if text.trim_start().starts_with("Failed ") || text.starts_with("  X ") {
        return recognize_test(log, at);
    }
    if text.ends_with("[FAIL]") {
        let groups = XUNIT_FAIL.captures(text)?;
        return Some(
            Finding::new("dotnet-test", "dotnet", ProblemClass::TestFailure, at)
                .code("fail")
                .message(symbol(groups.get(1)))
                .text("test failed")
                .test(groups.get(1))
                .role(DiagnosticRole::Summary),
        );
    }
    None
}

fn recognize_compile(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let (file, line, code, message) = if let Some(groups) = COMPILE.captures(text) {
        (groups.get(1).to_owned(), groups.number(2), groups.get(3).to_owned(), groups.get(4).to_owned())
    } else {
        let groups = PROJECT.captures(text)?;
        (groups.get(1).to_owned(), None, groups.get(2).to_owned(), groups.get(3).to_owned())
    };
    let letters: String = code.chars().take_while(|c| c.is_ascii_uppercase()).collect();
    let (tool, class) = match letters.as_str() {
        "CS" => ("csc", ProblemClass::CompileError),
        "FS" => ("fsc", ProblemClass::CompileError),
        "BC" => ("vbc", ProblemClass::CompileError),
        "NU" => ("nuget", ProblemClass::DependencyError),
        "MSB" => ("msbuild", ProblemClass::BuildError),
        "NETSDK" => ("dotnet", ProblemClass::ConfigError),
        "CA" | "IDE" | "SA" | "S" | "RCS" | "SYSLIB" | "xUnit" => ("csc", ProblemClass::LintError),
        "RZ" | "MC" | "XLS" | "CSC" => ("msbuild", ProblemClass::CompileError),
        // Other numbers belong to other compilers.
        "TS" | "C" | "LNK" | "D" => return None,
        _ => ("msbuild", ProblemClass::BuildError),
    };
    let finding = Finding::new(tool, "dotnet", class, at).code(code).message(quote_package(&message));
    let is_program = ["MSBUILD", "CSC", "LINK", "NuGet"].contains(&file.as_str());
    Some(if is_program { finding } else { finding.position(&file, line) })
}

static PACKAGE: Pattern = Pattern::new(
    r"^(Unable to find package|Package|Version conflict detected for) ([\w.-]+?)(\.| is not| with version| [0-9])",
);

fn quote_package(message: &str) -> String {
    match PACKAGE.captures(message) {
        Some(groups) => {
            let rest = message.get(groups.range().end..).unwrap_or_default();
            let end = if groups.get(3).starts_with(' ') { groups.get(3) } else { "." };
            format!("{} {}{end}{rest}", groups.get(1), symbol(groups.get(2)))
        }
        None => message.to_owned(),
    }
}

/// `Failed T [3 ms]` with its message and its stack.
fn recognize_test(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = FAILED.captures(log.text(at))?;
    let (start, ()) =
        log.find_after(at, 2, |text| text.trim().starts_with("Error Message:").then_some(()))?;
    let (index, message) =
        log.find_after(start, 3, |text| Some(text.trim()).filter(|text| !text.is_empty()))?;
    let last = log.end_of(index, 80, |text| {
        let plain = text.trim_start();
        !plain.starts_with("Failed ")
            && !plain.starts_with("Passed ")
            && !plain.starts_with("Failed!")
            && !plain.starts_with("Total tests")
            && !plain.starts_with("Standard Output")
    });
    let test = groups.get(1).split('(').next().unwrap_or_default().trim();
    let (code, said) = read_failure(message);
    let frame = in_app_frame(log, index, last);
    let mut finding = Finding::new("dotnet-test", "dotnet", ProblemClass::TestFailure, at)
        .code(code)
        .message(said)
        .values(true)
        .test(test)
        .at_frame(frame.as_ref())
        .until(last);
    // The test is no frame of its own.
    let method = test.rsplit('.').next().unwrap_or(test);
    if finding.frame.as_deref().is_some_and(|frame| frame.rsplit('.').next() == Some(method)) {
        finding.frame = None;
    }
    Some(finding)
}

fn read_failure(message: &str) -> (String, String) {
    if let Some(groups) = ASSERT.captures(message) {
        let start = message.find("Assert.").unwrap_or_default();
        return (groups.get(1).to_owned(), message.get(start..).unwrap_or(message).to_owned());
    }
    if let Some(groups) = THROWN.captures(message) {
        let kind = groups.get(1).rsplit('.').next().unwrap_or_default();
        return (kind.to_owned(), groups.get(2).to_owned());
    }
    ("assert".to_owned(), message.to_owned())
}

fn in_app_frame(log: &LogView<'_>, first: usize, last: usize) -> Option<StackFrame> {
    (first..=last).find_map(|index| {
        let (whole, frame) = parse_dotnet(log.text(index))?;
        (is_in_app(&whole, &frame.file) && !frame.file.is_empty()).then_some(frame)
    })
}

/// An exception; of several, the innermost with an own frame.
pub(crate) fn recognize_exception(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if !text.contains("Exception") {
        return None;
    }
    let groups = THROWN.captures(text.trim_start())?;
    let (_, ()) = log.find_after(at, 8, |text| is_dotnet_frame(text).then_some(()))?;
    let last = log.end_of(at, 200, |text| {
        let plain = text.trim_start();
        is_dotnet_frame(text)
            || plain.starts_with("--->")
            || plain.starts_with("---")
            || plain.starts_with("File name:")
            || text.starts_with("   ")
    });
    let mut chain = vec![(groups.get(1).to_owned(), groups.get(2).to_owned())];
    for index in at + 1..=last {
        let plain = log.text(index).trim_start();
        if plain.starts_with("---> ")
            && let Some(groups) = THROWN.captures(plain)
        {
            chain.push((groups.get(1).to_owned(), groups.get(2).to_owned()));
        }
    }
    let (kind, message) = chain.pop()?;
    let short = kind.rsplit('.').next().unwrap_or(&kind);
    let frame = in_app_frame(log, at, last);
    let mut finding = Finding::new("dotnet", "dotnet", ProblemClass::Exception, at)
        .code(short)
        .message(message.clone())
        .at_frame(frame.as_ref())
        .until(last);
    if let Some(error) = sql::classify(&kind, &message, "") {
        sql::apply(&mut finding, error);
        return Some(finding);
    }
    Some(finding.or_system())
}

fn is_dotnet_frame(text: &str) -> bool {
    let plain = text.trim_start();
    plain.starts_with("at ")
        && (plain.contains(":line ") || plain.ends_with(')'))
        && !plain.contains(".java:")
}
