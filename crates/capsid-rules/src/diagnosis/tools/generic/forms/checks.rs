//! How linters and formatters report, one row each.

use super::{Form, form};
use crate::diagnosis::diagnostic::ProblemClass::{BuildError, Exception, LintError, NotFound, SyntaxError};

pub(super) static FORMS: [Form; 13] = [
    form("commitlint", LintError, "✖ ", r"^✖\s+(?P<m>.+) \[(?P<c>[\w-]+)\]$", "", ""),
    form("bandit", LintError, ">> Issue: [", r"^>> Issue: \[(?P<c>B[0-9]{3}):[\w-]+\] (?P<m>.+)$", "", ""),
    form(
        "rustfmt",
        LintError,
        "Diff in ",
        r"^Diff in (?P<f>\S+?)(?: at line |:)(?P<l>[0-9]+):$",
        "format",
        "not formatted",
    ),
    form(
        "spotless",
        LintError,
        "had format violations",
        r"The following files had format violations:(?P<m>)$",
        "format",
        "",
    ),
    form(
        "gofmt",
        LintError,
        "gofmt",
        r"^(?P<f>\S+\.go): (?:not gofmt|File is not)",
        "format",
        "not formatted",
    ),
    form(
        "checkstyle",
        LintError,
        "[checkstyle] ",
        r"\[checkstyle\] \[ERROR\] (?P<f>\S+?):(?P<l>[0-9]+)(?::[0-9]+)?: (?P<m>.+?) \[(?P<c>\w+)\]$",
        "",
        "",
    ),
    form(
        "sqlfluff",
        LintError,
        " | P:",
        r"^L:\s+(?P<l>[0-9]+) \| P:\s+[0-9]+ \|\s+(?P<c>[A-Z]{2,3}[0-9]{2,3}|PRS) \| (?P<m>.+)$",
        "",
        "",
    ),
    form("xcodebuild", BuildError, "xcodebuild: error: ", r"^xcodebuild: error: (?P<m>.+)$", "", ""),
    form(
        "java",
        NotFound,
        "Could not find or load main class",
        r"^Error: Could not find or load main class (?P<s>\S+)",
        "ClassNotFoundException",
        "Could not find or load main class",
    ),
    form(
        "java",
        NotFound,
        "Unable to access jarfile",
        r"^Error: Unable to access jarfile (?P<s>\S+)",
        "no_jar",
        "Unable to access jarfile",
    ),
    form(
        "prettier",
        SyntaxError,
        "[error] ",
        r"^\[error\] (?P<f>\S+\.\w+): SyntaxError: (?P<m>.+?)(?: \([0-9]+:[0-9]+\))?$",
        "SyntaxError",
        "",
    ),
    form(
        "ocaml",
        Exception,
        "xception",
        r#"^(?:Fatal error: exception |Exception: )(?P<c>(?:[A-Z]\w*\.)*[A-Z]\w*)(?:\s*\(?"?(?P<m>.+?)"?\)?)?\.?$"#,
        "",
        "uncaught exception",
    ),
    form("haskell", Exception, ": Prelude.", r"^[\w.-]+: Prelude\.(?P<c>\w+!*): (?P<m>.+)$", "", ""),
];
