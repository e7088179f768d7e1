//! tsc, eslint, stylelint, biome, prettier and their relatives.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::pattern::Pattern;

static TSC_PAREN: Pattern =
    Pattern::new(r"^(?:ERROR in |Error: )?(\S.*?)\(([0-9]+),[0-9]+\): error (TS[0-9]+): (.+)$");
static TSC_PRETTY: Pattern =
    Pattern::new(r"^(?:Error: )?\s*(\S.*?):([0-9]+):[0-9]+ - error (TS[0-9]+): (.+)$");
static TSC_BARE: Pattern = Pattern::new(
    r"^(?:✘ \[ERROR\] |ERROR in |\[tsl\] ERROR.*)?(?:error )?(TS[0-9]{4,5})(?: \[ERROR\])?: (.+?)(?: \[plugin [\w-]+\])?$",
);
static POSITION: Pattern = Pattern::new(r"^\s+(?:at )?(?:file://)?(\S+?):([0-9]+):[0-9]+:?$");
static STYLISH: Pattern =
    Pattern::new(r"^\s*([0-9]+):([0-9]+)\s+(?:[Ee]rror:?|✖|×|✕)\s+(.+?)(?:\s{2,}(@?[\w./-]+))?$");
static PATH_LINE: Pattern = Pattern::new(r"^(?:[./\\~]|[A-Za-z]:\\|[\w@-]).*\.\w{1,8}$");
static COMPACT: Pattern =
    Pattern::new(r"^(\S.*?): line ([0-9]+), col [0-9]+, Error - (.+?)(?: \((\S+)\))?\.?$");
static UNIX: Pattern = Pattern::new(r"^(\S.*?):([0-9]+):[0-9]+: (.+?) \[Error(?:/(\S+))?\]$");
static BIOME: Pattern = Pattern::new(
    r"^(\S+?)(?::([0-9]+):[0-9]+)? ((?:lint|assist|parse|format|organizeImports|suppressions)(?:/[\w/]+)?)(?:\s+FIXABLE)?\s+━+$",
);

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.starts_with("ESLint couldn't find") {
        return Some(
            Finding::new("eslint", "eslint", ProblemClass::ConfigError, at).code("config").message(text),
        );
    }
    if text.trim_start().starts_with("TS") && at > 0 && log.text(at - 1).contains("[tsl] ERROR in ") {
        return recognize_ts_loader(log, at);
    }
    if text.contains("TS")
        && (text.contains("error TS") || text.contains("ERROR] TS") || text.starts_with("TS"))
    {
        return recognize_tsc(log, at);
    }
    if text.contains("━━") {
        return recognize_biome(log, at);
    }
    if text.contains("rror") || text.contains(['✖', '×', '✕']) {
        return recognize_stylish(log, at).or_else(|| recognize_one_line(log, at));
    }
    if text.contains("Code style issues") {
        return recognize_prettier(log, at);
    }
    None
}

fn recognize_tsc(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = TSC_PAREN.captures(text).or_else(|| TSC_PRETTY.captures(text)) {
        let last = log.end_of(at, 12, |text| text.starts_with("  ") && !text.contains("error TS"));
        return Some(
            Finding::new("tsc", "tsc", ProblemClass::CompileError, at)
                .code(groups.get(3))
                .message(groups.get(4))
                .position(groups.get(1), groups.number(2))
                .until(last),
        );
    }
    let groups = TSC_BARE.captures(text)?;
    let finding =
        Finding::new("tsc", "tsc", ProblemClass::CompileError, at).code(groups.get(1)).message(groups.get(2));
    Some(match log.find_after(at, 6, |text| POSITION.captures(text)) {
        Some((index, position)) => finding.position(position.get(1), position.number(2)).until(index),
        None => finding,
    })
}

/// ts-loader prints the position in the line before.
fn recognize_ts_loader(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let (code, message) = log.text(at).trim_start().split_once(": ")?;
    let place = log.text(at - 1).rsplit(" in ").next().unwrap_or_default();
    let (file, line) = place.split_once('(').unwrap_or((place, ""));
    let line = line.split(',').next().and_then(|line| line.parse().ok());
    Some(
        Finding::new("tsc", "tsc", ProblemClass::CompileError, at)
            .code(code)
            .message(message)
            .position(file, line),
    )
}

/// A line that is a path, then `L:C  error  M  rule`.
fn recognize_stylish(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = STYLISH.captures(log.text(at))?;
    let (_, file) = log.find_before(at, 2_000, |text| {
        let plain = text.trim_end();
        let is_path = !plain.starts_with(' ')
            && plain.contains('.')
            && !plain.contains("  ")
            && PATH_LINE.is_match(plain);
        is_path.then(|| plain.to_owned())
    })?;
    let message = groups.get(3).trim();
    let rule = groups.get(4);
    let is_style =
        [".css", ".scss", ".less", ".sass"].iter().any(|end| file.ends_with(end)) && !rule.starts_with('@');
    let tool = if is_style { "stylelint" } else { "eslint" };
    let class = if message.starts_with("Parsing error") || rule == "CssSyntaxError" {
        ProblemClass::SyntaxError
    } else {
        ProblemClass::LintError
    };
    let rule = if message.starts_with("Parsing error") { "parsing-error" } else { rule };
    // YAML and Markdown checkers print the same form.
    let tool = match file.rsplit('.').next() {
        Some("yml" | "yaml") if rule.is_empty() || message.ends_with(')') => "yamllint",
        _ => tool,
    };
    if tool == "yamllint" {
        return Some(yamllint(at, message, &file, groups.number(1)));
    }
    Some(Finding::new(tool, tool, class, at).code(rule).message(message).position(&file, groups.number(1)))
}

fn yamllint(at: usize, message: &str, file: &str, line: Option<u32>) -> Finding {
    let (message, rule) = message
        .rsplit_once(" (")
        .map_or((message, ""), |(message, rule)| (message, rule.trim_end_matches(')')));
    let class = if rule == "syntax" || message.starts_with("syntax error") {
        ProblemClass::SyntaxError
    } else {
        ProblemClass::LintError
    };
    Finding::new("yamllint", "yamllint", class, at).code(rule).message(message).position(file, line)
}

fn recognize_one_line(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    let groups = COMPACT.captures(text).or_else(|| UNIX.captures(text))?;
    Some(
        Finding::new("eslint", "eslint", ProblemClass::LintError, at)
            .code(groups.get(4))
            .message(groups.get(3))
            .position(groups.get(1), groups.number(2)),
    )
}

fn recognize_biome(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = BIOME.captures(log.text(at))?;
    let (start, (mark, message)) = log.find_after(at, 4, |text| {
        let plain = text.trim_start();
        let mark = plain.chars().next()?;
        matches!(mark, '✖' | '×' | '!' | '⚠' | 'ℹ')
            .then(|| (mark, plain[mark.len_utf8()..].trim().to_owned()))
    })?;
    let last = log.end_of(start, 60, |text| !text.contains("━━") && !text.starts_with("Checked "));
    if matches!(mark, '!' | '⚠' | 'ℹ') {
        return Some(Finding::noise(at, last));
    }
    let class = if groups.get(3) == "parse" { ProblemClass::SyntaxError } else { ProblemClass::LintError };
    Some(
        Finding::new("biome", "biome", class, at)
            .code(groups.get(3))
            .message(message)
            .position(groups.get(1), groups.number(2))
            .until(last),
    )
}

static PRETTIER_FILE: Pattern = Pattern::new(r"^(\S+\.\w+)$");

/// prettier marks what it would change as warnings.
pub(crate) fn recognize_prettier(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if !text.contains("Code style issues") {
        return None;
    }
    let finding = Finding::new("prettier", "prettier", ProblemClass::LintError, at)
        .code("format")
        .message("Code style issues found");
    let file = (at.saturating_sub(200)..at).find_map(|index| {
        let is_marked =
            log.line(index).is_some_and(|line| line.level != crate::diagnosis::lines::LineLevel::Unstated);
        is_marked
            .then(|| PRETTIER_FILE.captures(log.text(index)))
            .flatten()
            .map(|groups| groups.get(1).to_owned())
    });
    Some(match file {
        Some(file) => finding.file(&file),
        None => finding,
    })
}
