//! How programs of a shell report, one row each.

use super::{Form, form};
use crate::diagnosis::diagnostic::ProblemClass::{
    CompileError, ConfigError, HttpError, SyntaxError, Timeout, UnknownError,
};

pub(super) static FORMS: [Form; 9] = [
    form("jq", UnknownError, "jq: error", r"^jq: error(?: \(at .*?\))?: (?P<m>.+)$", "", ""),
    form("awk", SyntaxError, "awk: cmd. line:", r"^\w*awk: cmd\. line:[0-9]+:\s+\^ (?P<m>.+)$", "", ""),
    form(
        "make",
        CompileError,
        "*** recursive variable",
        r"\*\*\* (?P<m>[Rr]ecursive variable .+?)\.\s+Stop\.$",
        "error",
        "",
    ),
    form(
        "dotnet",
        ConfigError,
        ".NET",
        r"^(?P<m>(?:No \.NET SDKs were found|A compatible \.NET SDK was not found|The application '[^']*' does not exist or is not a \.NET executable|You must install(?: or update)? \.NET to run this application).*)$",
        "sdk_not_found",
        "",
    ),
    form(
        "timeout",
        Timeout,
        "timeout: sending signal",
        r"^timeout: sending signal \w+ to command [‘']?(?P<s>[^’']+)",
        "timeout",
        "timed out:",
    ),
    form(
        "wait-for-it",
        Timeout,
        "timeout occurred after waiting",
        r"timeout occurred after waiting [0-9]+ seconds for (?P<s>\S+)$",
        "timeout",
        "timed out waiting for",
    ),
    form(
        "ci",
        Timeout,
        "maximum execution time",
        r"(?P<m>has exceeded the maximum execution time)",
        "timeout",
        "",
    ),
    form("ci", Timeout, "execution took longer than", r"(?P<m>execution took longer than)", "timeout", ""),
    form(
        "http",
        HttpError,
        "upstream returned",
        r"upstream returned (?:HTTP )?(?P<c>[45][0-9]{2})(?P<m>.*)$",
        "",
        "upstream returned an error",
    ),
];
