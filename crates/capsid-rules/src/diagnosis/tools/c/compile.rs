//! gcc, clang, clang-tidy, cppcheck and MSVC. Compilers of other languages print the same form; the file says which.

use crate::diagnosis::diagnostic::{DiagnosticRole, ProblemClass};
use crate::diagnosis::errno;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;
use crate::diagnosis::tools::generic::located::tool_for_file;

static GNU: Pattern = Pattern::new(r"^(\S.*?):([0-9]+)(?::([0-9]+))?: (?:fatal )?error: (.+)$");
static MSVC: Pattern = Pattern::new(
    r"^\s*(?:[0-9]+>)?(\S.*?)\(([0-9]+)(?:,[0-9]+)?\)\s?: (?:fatal )?error (C[0-9]{4}|D[0-9]{4}): (.+?)(?: \[[^\]]+proj\])?$",
);
static DRIVER: Pattern = Pattern::new(
    r"^(?:\S*/)?(gcc|g\+\+|cc|c\+\+|clang|clang\+\+|cc1|cc1plus|clang-cl)(?:-[0-9]+)?: (?:fatal )?error: (.+)$",
);
static OPTION: Pattern = Pattern::new(r" \[((?:-W(?:error=)?|[a-z]+[.-])?[A-Za-z][\w.,=+-]*)\]$");
static HINT: Pattern = Pattern::new(r"[;,] did you mean.*$");
static NO_HEADER: Pattern = Pattern::new(
    r"^(\S+): No such file or directory$|^'([^']+)' file not found(?: with .*)?$|^Cannot open include file: '([^']+)'",
);

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if !text.contains("error") {
        return None;
    }
    if (text.contains(": error C") || text.contains("error D") || text.contains(": fatal error C"))
        && let Some(groups) = MSVC.captures(text)
    {
        let finding = Finding::new("msvc", "c", ProblemClass::CompileError, at)
            .position(groups.get(1), groups.number(2));
        return Some(with_message(finding, groups.get(4)).code(groups.get(3)));
    }
    if let Some(groups) = DRIVER.captures(text) {
        let message = groups.get(2);
        if message.starts_with("linker command failed") || message.contains("command failed") {
            return Some(
                Finding::new("clang", "c", ProblemClass::LinkError, at)
                    .message(message)
                    .role(DiagnosticRole::Wrapper),
            );
        }
        let mut finding = Finding::new(groups.get(1), "c", ProblemClass::CompileError, at).message(message);
        if let Some(error) = errno::classify("", message) {
            finding.apply_system(error);
        }
        return Some(finding);
    }
    if !text.contains(": error: ") && !text.contains(": fatal error: ") {
        return None;
    }
    let groups = GNU.captures(text)?;
    let file = groups.get(1);
    let last = log.end_of(at, 8, |text| text.starts_with("   ") || text.starts_with("      |"));
    let finding =
        Finding::new("gcc", "c", ProblemClass::CompileError, at).position(file, groups.number(2)).until(last);
    let message = groups.get(4);
    let mut finding = with_message(finding, message);
    let said = OPTION.captures(message).map(|option| option.get(1).to_owned());
    finding.tool = choose_tool(log, at, message).to_owned();
    if let Some(option) = said {
        read_option(&mut finding, &option);
    }
    if let Some(tool) = tool_for_file(file).filter(|tool| *tool != "nvcc" && *tool != "metal") {
        (finding.tool, finding.family) = (tool.to_owned(), tool.to_owned());
    }
    Some(finding)
}

/// The option or check in brackets at the end of a message.
fn read_option(finding: &mut Finding, option: &str) {
    let name = option.split(',').next().unwrap_or(option);
    if let Some(warning) = name.strip_prefix("-Werror=").or_else(|| name.strip_prefix("-W")) {
        finding.code = Some(warning.to_owned());
        return;
    }
    let is_tidy = option.contains("-warnings-as-errors")
        || [
            "bugprone",
            "cert",
            "clang-analyzer",
            "clang-diagnostic",
            "cppcoreguidelines",
            "google",
            "hicpp",
            "llvm",
            "misc",
            "modernize",
            "performance",
            "portability",
            "readability",
        ]
        .iter()
        .any(|group| name.starts_with(group));
    let is_cppcheck = name.bytes().all(|b| b.is_ascii_alphanumeric())
        && name.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    if is_tidy || is_cppcheck {
        finding.tool = if is_tidy { "clang-tidy" } else { "cppcheck" }.to_owned();
        finding.class = ProblemClass::LintError;
        finding.code = Some(name.to_owned());
    }
}

fn with_message(finding: Finding, message: &str) -> Finding {
    let message = HINT.replace_all(message, |_| String::new());
    let message = OPTION.replace_all(&message, |_| String::new());
    if let Some(groups) = NO_HEADER.captures(&message) {
        let header = (1..=3).find_map(|index| groups.some(index)).unwrap_or_default();
        return finding.code("missing_header").message(format!("header {} not found", symbol(header)));
    }
    finding.message(message)
}

/// gcc and clang print the same form; their quotes and summaries differ.
fn choose_tool(log: &LogView<'_>, at: usize, message: &str) -> &'static str {
    if message.contains('‘') {
        return "gcc";
    }
    let says_generated = |text: &str| (text.ends_with(" generated.") && text.contains("error")).then_some(());
    let clang_words = [
        "use of undeclared",
        "no member named",
        "no matching function for call to",
        "file not found",
        "expected ';' after",
        "unknown type name '",
        "undeclared function '",
    ];
    let is_clang = clang_words.iter().any(|words| message.contains(words))
        || log.find_after(at, 300, says_generated).is_some();
    if is_clang { "clang" } else { "gcc" }
}
