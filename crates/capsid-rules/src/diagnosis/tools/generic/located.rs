//! Messages with the position of a file before them, in the forms that most compilers and linters share. The name of
//! the file says whose words they are.

use super::extensions::TOOLS;
use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::pattern::Pattern;

static COLON: Pattern = Pattern::new(
    r"^(?:%?[Ee]rror: |ERROR: |\[error\] )?((?:[A-Za-z]:)?[^\s:()\[\]']*\.(\w{1,8})):([0-9]+)(?:[.:]([0-9]+)(?:-[0-9.:]+)?)?:\s?(.+)$",
);
static PARENTHESES: Pattern = Pattern::new(
    r"^\s*(?:\[[0-9]+/[0-9]+\] |Error: )?((?:[A-Za-z]:)?[^\s:()\[\]']*\.(\w{1,8}))\(([0-9]+)(?:, ?[0-9]+)?(?:[,-] ?[0-9]+)*\)\s?:?\s(.+)$",
);
static SEVERITY: Pattern = Pattern::new(
    r"^(?i:(?:fatal |syntax |parser? |compile |type |semantic |internal )*error|fatal|syntax error)(?: ?\[?([A-Z]{1,6}-?[0-9]{2,6}|[\w-]+)\]?)?\s?: ?(.+)$",
);
static MILD: Pattern = Pattern::new(
    r"^(?i:\(?(?:warning|warn|note|info|hint|remark|style|suggestion|debug|trace|performance|convention|refactor)\b)",
);
static RULE: Pattern = Pattern::new(
    r"^(?:(?i:error)(?: ?:)? )?(.+?) (?:\[([A-Za-z][\w./:-]{2,60})\]|\(([a-z][\w-]*:[\w./-]{2,60})\))\.?$",
);

/// `F:L:C: error: M`, `F(L,C): Error: M`, `F:L:C: M [rule]`.
pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.body(at);
    if !has_position(text) || text.starts_with([' ', '\t']) || text.len() > 600 {
        return None;
    }
    let groups = COLON.captures(text);
    let (groups, message, has_column) = match groups {
        Some(groups) => {
            let (message, has_column) = (groups.get(5), groups.some(4).is_some());
            (groups, message, has_column)
        }
        None => {
            let groups = PARENTHESES.captures(text)?;
            let message = groups.get(4);
            (groups, message, false)
        }
    };
    if MILD.is_match(message) || text.contains("://") && text.find("://") < text.find(groups.get(1)) {
        return None;
    }
    let known = TOOLS.iter().find(|(extension, ..)| *extension == groups.get(2));
    let marked = text.starts_with("%Error") || text.starts_with("Error: ") || text.starts_with("ERROR: ");
    let said = SEVERITY.captures(message);
    let rule = RULE.captures(message).filter(|_| has_column || log.is_error(at));
    let (code, said) = match &said {
        Some(said) => (said.get(1), said.get(2)),
        None if marked => ("", message),
        None if rule.is_some() => ("", message),
        None if has_column && known.is_some_and(|(.., bare)| *bare) => ("", message),
        None => return None,
    };
    let lint = rule.and_then(|rule| {
        let name = rule.some(2).or_else(|| rule.some(3))?.to_owned();
        Some((rule.get(1).to_owned(), name))
    });
    let is_buf = groups.get(2) == "proto" && text.contains(&format!(":{message}"));
    let tool = if is_buf { "buf" } else { known.map_or("compiler", |(_, tool, _)| tool) };
    let (line, file) = (groups.number(3), groups.get(1));
    if let Some((said, name)) = lint {
        let tool = linter(groups.get(2), &name, tool);
        return Some(
            Finding::new(tool, tool, ProblemClass::LintError, at)
                .code(name)
                .message(said)
                .position(file, line),
        );
    }
    let class = class_of(groups.get(0), said);
    let last = log.end_of(at, 4, |text| text.starts_with("   "));
    Some(Finding::new(tool, tool, class, at).code(code).message(said).position(file, line).until(last))
}

/// A check that a compiler would not make.
fn linter<'t>(extension: &str, rule: &str, tool: &'t str) -> &'t str {
    match extension {
        "kt" | "kts" if rule.contains(':') || rule.contains('-') => "ktlint",
        "kt" | "kts" => "detekt",
        "java" => "checkstyle",
        "scala" => "scalafix",
        "tf" => "tflint",
        "swift" => "swiftlint",
        "proto" => "buf",
        "rst" | "md" => "doc8",
        _ if tool == "compiler" => "linter",
        _ => tool,
    }
}

fn class_of(whole: &str, message: &str) -> ProblemClass {
    let lower = message.to_ascii_lowercase();
    let is_syntax = ["syntax error", "parse error", "unexpected token", "unterminated", "mismatch: "]
        .iter()
        .any(|words| lower.contains(words))
        || whole.contains("parser error")
        || whole.contains("yntax error");
    if is_syntax { ProblemClass::SyntaxError } else { ProblemClass::CompileError }
}

static ARROW: Pattern = Pattern::new(
    r"^\s*(?:-->|┌─+|╭─+\[?|at|In|in|@|on|==>|\[)\s*((?:[A-Za-z]:)?[^\s:()\[\]']*?([\w-]+)\.(\w{1,8})):([0-9]+)(?::[0-9]+)?\]?:?\s*$",
);

/// `Error: M` with the position in an arrow below: ` --> F:L:C`, `┌─ F:L:C`.
pub(crate) fn recognize_arrow(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let (kind, message) = text.split_once(": ")?;
    let (kind, code) = match kind.split_once('[') {
        Some((kind, code)) => (kind, code.trim_end_matches(']')),
        None => (kind, ""),
    };
    let is_error = kind.len() < 40
        && (kind.eq_ignore_ascii_case("error") || kind.ends_with("Error") && !kind.contains(' '));
    if !is_error {
        return None;
    }
    let (index, place) = log.find_after(at, 3, |text| ARROW.captures(text))?;
    let tool = TOOLS
        .iter()
        .find(|(extension, ..)| *extension == place.get(3))
        .map_or("compiler", |(_, tool, _)| tool);
    let code = match (code, kind) {
        ("", "error" | "Error" | "ERROR") => "",
        ("", kind) => kind,
        (code, _) => code,
    };
    if tool == "compiler" && !matches!(place.get(3), "toml" | "yaml" | "yml" | "json") {
        return None;
    }
    let message = match named_below(log, index) {
        Some(name) if !message.contains(['`', '\'', '"']) => {
            format!("{}: {name}", message.trim_end_matches('.'))
        }
        _ => message.to_owned(),
    };
    let is_config = tool == "compiler";
    let (tool, class) = match place.get(2) {
        "deny" | "Cargo" if is_config => ("cargo-deny", ProblemClass::ConfigError),
        _ if is_config => ("config", ProblemClass::ConfigError),
        _ => (tool, class_of(kind, &message)),
    };
    let last = log.end_of(index, 12, |text| text.starts_with([' ', '│', '|']) || text.trim().is_empty());
    Some(
        Finding::new(tool, tool, class, at)
            .code(code)
            .message(message)
            .position(place.get(1), place.number(4))
            .until(last),
    )
}

static UNDERLINE: Pattern = Pattern::new(r"^[\s│|]*([~^━─]{1,60})");

/// What the marks under a line of source point at.
pub(crate) fn named_below(log: &LogView<'_>, at: usize) -> Option<String> {
    (at + 2..at + 6).find_map(|index| {
        let marks = UNDERLINE.captures(log.text(index))?;
        let start = log.text(index).find(marks.get(1)).map(|at| log.text(index)[..at].chars().count())?;
        let source: Vec<char> = log.text(index - 1).chars().collect();
        let named: String = source.get(start..start + marks.get(1).chars().count())?.iter().collect();
        let is_name = named.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '$' | '-'));
        is_name.then(|| crate::diagnosis::mask::symbol(&named))
    })
}

/// The tool that reads files with such a name.
pub(crate) fn tool_for_file(file: &str) -> Option<&'static str> {
    let (_, extension) = file.rsplit_once('.')?;
    TOOLS.iter().find(|(known, ..)| *known == extension).map(|(_, tool, _)| *tool)
}

/// Whether a number follows a colon or a parenthesis.
fn has_position(text: &str) -> bool {
    text.as_bytes().windows(2).any(|pair| matches!(pair, [b':' | b'(', b'0'..=b'9']))
}
