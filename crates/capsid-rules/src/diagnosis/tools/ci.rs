//! CI systems: lines that only report that a command or a step failed, and annotations.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::pattern::Pattern;

/// Lines that say only that something failed: how they begin.
const WRAPPER_STARTS: [&str; 40] = [
    "error: could not compile",
    "error: aborting due to",
    "error: test failed, to rerun",
    "error: doctest failed",
    "error: build failed",
    "error: bench failed",
    "error: failed to run custom build command",
    "error: 1 target failed",
    "collect2: error:",
    "ninja: build stopped",
    "Failed to execute goal",
    "Execution failed for task",
    "Process completed with exit code",
    "exit status ",
    "ERROR: Job failed",
    "ERROR: failed to solve: process",
    "error Command failed with exit code",
    "error: emit-module command failed",
    "error: fatalError",
    "error: script \"",
    "make: Target ",
    "Build step '",
    "Finished: FAILURE",
    "ERROR: script returned exit code",
    "🚨 Error: The command exited with status",
    "The command \"",
    "Error: The process '",
    "Error: Process completed with exit code",
    "There was an error while processing",
    "subprocess.CalledProcessError: Command",
    "error: Recipe `",
    "error: recipe `",
    "nx run ",
    "Command failed with exit code",
    "gmake: ***",
    "For more information about this error",
    "error: command failed",
    "ERROR: Encountered errors while",
    "error: subprocess-exited-with-error",
    "Cleaning up project directory",
];
static MAKE_ERROR: Pattern = Pattern::new(
    r"^(?:g?make|mingw32-make|nmake)(?:\[[0-9]+\])?: \*\*\* (?:\[.*\] )?(?:Error [0-9]+|Waiting for unfinished jobs|\[.*\] Error.*)|^(?:g?make)(?:\[[0-9]+\])?: \*\*\* \[[^\]]+\] (?:Error|Interrupt|Terminated)",
);
static DID_NOT: Pattern = Pattern::new(
    r"did not complete successfully: exit code|returned a non-zero code: |[Ee]xited with code(?: exit status)? [1-9]|exited with status [1-9]|failed with exit code [1-9]|finished with non-zero exit value|exit code(?: is)?:? [1-9][0-9]*\.?$|returned exit code [1-9]|returned exit status [1-9]|Exit Code: [1-9]",
);
static COUNTED: Pattern = Pattern::new(
    r"^(?:error: )?aborting due to |^[1-9][0-9]* errors? generated\.?$|^Found [1-9][0-9]* errors?|^[1-9][0-9]* errors?$|^\s*[1-9][0-9]* Error\(s\)|^Tests:\s+[1-9][0-9]* failed|^Test(?:s| Suites| Files):? +[1-9][0-9]* failed|^[1-9][0-9]* failed(?:, [0-9]+ \w+)*(?: in .*)?$|^=+ .*[1-9][0-9]* (?:failed|errors?).* in .*=+$|^FAILED \((?:failures|errors)=|^Build FAILED|^BUILD FAILED|^BUILD FAILURE|^Build failed\b|^Failed!  - Failed:|^FAILURES!$|^Tests run: [0-9]+, .*(?:Failures: [1-9]|Errors: [1-9])|^\s*[1-9][0-9]* failing$|^FAILURE: Build failed|^Failed to compile\.?$|^# fail +[1-9]|^✖ [0-9]+ problems? \([1-9]|^FAIL\s+\S+\s+(?:[0-9.]+s|\[build failed\])$|^FAIL$|^COMPILATION ERROR|^There are test failures|^[0-9]+ examples?, [1-9][0-9]* failures?|^test result: FAILED|^error during build:?$|^Lint errors found|^Linting failed|^ERROR: InvocationError",
);

/// A line that only reports that a command or step failed.
pub(crate) fn recognize_wrapper(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.body(at).trim_start();
    let quick = [
        "rror", "xit", "ail", "FAIL", "***", "stopped", "ould not", "aborting", "FAILED", "ERROR", "roblem",
        "For more",
    ]
    .iter()
    .any(|word| text.contains(word));
    if !quick || text.len() > 600 {
        return None;
    }
    let starts = WRAPPER_STARTS.iter().any(|start| text.starts_with(start));
    let counted = !starts && COUNTED.is_match(text);
    if !(starts || counted || MAKE_ERROR.is_match(text) || DID_NOT.is_match(text)) {
        return None;
    }
    // Some names of steps begin like a wrapper and are none.
    if text.starts_with("For more information")
        || text.starts_with("nx run ") && !text.contains("ailed")
        || text.starts_with("Cleaning up")
        // The result of a tool in a transcript quotes whole outputs.
        || text.starts_with("**TOOLRESULT**")
    {
        return None;
    }
    if text.starts_with("The command \"") && !text.contains("exited with")
        || text.starts_with("exit status 0")
    {
        return None;
    }
    if text.starts_with("Build failed with an exception")
        || text.starts_with("Tests run:") && text.contains("<<<")
    {
        return None;
    }
    // What is missing is the cause, although the line begins like a wrapper.
    if text.starts_with("Failed to execute goal")
        && (text.contains("Could not find artifact")
            || text.contains("could not be resolved")
            || text.contains("Failure to find"))
    {
        return None;
    }
    let (tool, class) = wrapper_kind(text);
    let family = if tool == "ci" { "ci" } else { tool };
    Some(Finding::new(tool, family, class, at).message(text).role(DiagnosticRole::Wrapper))
}

fn wrapper_kind(text: &str) -> (&'static str, ProblemClass) {
    if text.starts_with("make") || text.starts_with("gmake") {
        return ("make", ProblemClass::BuildError);
    }
    if text.starts_with("error: could not compile") || text.starts_with("error: aborting due to") {
        return ("cargo", ProblemClass::CompileError);
    }
    if text.starts_with("error: test failed") || text.starts_with("test result: FAILED") {
        return ("cargo", ProblemClass::TestFailure);
    }
    if text.starts_with("Failed to execute goal") {
        return ("maven", ProblemClass::BuildError);
    }
    if text.starts_with("Execution failed for task") || text.starts_with("FAILURE: Build failed") {
        return ("gradle", ProblemClass::BuildError);
    }
    let lower = text.to_ascii_lowercase();
    if lower.starts_with("test")
        || lower.contains(" failing")
        || lower.contains("examples,")
        || lower.starts_with("fail") && !lower.starts_with("failed to compile")
    {
        return ("ci", ProblemClass::TestFailure);
    }
    if lower.starts_with("build fail")
        || lower.contains("compile")
        || lower.starts_with("compilation")
        || lower.contains("during build")
    {
        return ("ci", ProblemClass::BuildError);
    }
    ("ci", ProblemClass::CiError)
}

static GITHUB: Pattern = Pattern::new(r"^::error(?: ([^:]*(?::[^:]+)*?))?::(.+)$");
static FIELD: Pattern = Pattern::new(r"(?:^|,)\s*(file|line|title)=([^,]*)");
static AZURE: Pattern = Pattern::new(r"^##vso\[task\.logissue ([^\]]*)\](.+)$");
static AZURE_FIELD: Pattern = Pattern::new(r"(?:sourcepath|linenumber|code)=[^;]*");

/// `::error file=…::M` and its relatives.
pub(crate) fn recognize_annotation(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.starts_with("::error") {
        let groups = GITHUB.captures(text)?;
        let mut finding = Finding::new("ci", "ci", ProblemClass::CiError, at)
            .message(groups.get(2).replace("%0A", " ").replace("%25", "%"))
            .role(DiagnosticRole::Annotation);
        let mut rest = groups.get(1);
        while let Some(field) = FIELD.captures(rest) {
            match field.get(1) {
                "file" => finding = finding.file(field.get(2)),
                "line" => finding.line = field.number(2),
                _ => {}
            }
            rest = rest.get(field.range().end..).unwrap_or_default();
        }
        return Some(finding);
    }
    if text.starts_with("##vso[task.logissue") {
        let groups = AZURE.captures(text)?;
        if !groups.get(1).contains("type=error") {
            return Some(Finding::noise(at, at));
        }
        let mut finding = Finding::new("ci", "ci", ProblemClass::CiError, at)
            .message(groups.get(2))
            .role(DiagnosticRole::Annotation);
        let mut rest = groups.get(1);
        while let Some(range) = AZURE_FIELD.find_range(rest) {
            if let Some(file) = rest[range.clone()].strip_prefix("sourcepath=") {
                finding = finding.file(file);
            }
            rest = rest.get(range.end..).unwrap_or_default();
        }
        return Some(finding);
    }
    None
}
