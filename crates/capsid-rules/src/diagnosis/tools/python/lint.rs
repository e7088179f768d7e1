//! mypy, pyright, ruff, flake8, pylint and other checkers of Python source.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::pattern::Pattern;

static MYPY: Pattern =
    Pattern::new(r"^(\S.*?\.pyi?):([0-9]+)(?::[0-9]+)?(?::[0-9]+:[0-9]+)?: error: (.+?)(?:  \[([\w-]+)\])?$");
static PYRIGHT: Pattern =
    Pattern::new(r"^\s*(\S.*?\.pyi?):([0-9]+):[0-9]+ - error: (.+?)(?: \((report\w+)\))?$");
static PYRIGHT_RULE: Pattern = Pattern::new(r"\((report\w+)\)$");
static CODED: Pattern = Pattern::new(
    r"^(\S.*?\.(?:pyi?|ipynb|pyx)):(?:cell [0-9]+:)?([0-9]+):(?:([0-9]+):)? \[?([A-Z]{1,5}[0-9]{2,5})\]?:? (\[\*\] )?(.+)$",
);
static RUFF_SYNTAX: Pattern =
    Pattern::new(r"^(\S.*?\.pyi?):([0-9]+):[0-9]+: (?:SyntaxError|invalid-syntax): (.+)$");
static RUFF_LONG: Pattern =
    Pattern::new(r"^([A-Z]{1,5}[0-9]{2,5}|invalid-syntax|unformatted)(?:: (?:\[\*\] )?| (?:\[\*\] )?)(.+)$");
static ARROW: Pattern = Pattern::new(r"^\s*--> (\S+):([0-9]+):[0-9]+$");
static PYLINT_NAME: Pattern = Pattern::new(r" \(([a-z][a-z0-9-]+)\)$");

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.contains(".py") {
        if text.contains(": error: ")
            && let Some(groups) = MYPY.captures(text)
        {
            let class = if groups.get(4) == "syntax" {
                ProblemClass::SyntaxError
            } else {
                ProblemClass::CompileError
            };
            return Some(
                Finding::new("mypy", "mypy", class, at)
                    .code(groups.get(4))
                    .message(groups.get(3))
                    .position(groups.get(1), groups.number(2)),
            );
        }
        if text.contains(" - error: ")
            && let Some(groups) = PYRIGHT.captures(text)
        {
            let last = log.end_of(at, 8, |text: &str| {
                text.starts_with([' ', '\u{a0}'])
                    && !text.contains(" - error: ")
                    && !text.contains(" - warning: ")
            });
            let below = (at + 1..=last).find_map(|index| PYRIGHT_RULE.captures(log.text(index)));
            let code = groups.some(4).or_else(|| below.as_ref().map(|rule| rule.get(1))).unwrap_or_default();
            let class = if code.is_empty() && groups.get(3).starts_with("Expected") {
                ProblemClass::SyntaxError
            } else {
                ProblemClass::CompileError
            };
            return Some(
                Finding::new("pyright", "pyright", class, at)
                    .code(code)
                    .message(groups.get(3))
                    .position(groups.get(1), groups.number(2))
                    .until(last),
            );
        }
        if let Some(finding) = recognize_coded(log, at).or_else(|| recognize_formatter(log, at)) {
            return Some(finding);
        }
    }
    if log.text(at + 1).trim_start().starts_with("--> ")
        && let (Some(groups), Some(arrow)) = (RUFF_LONG.captures(text), ARROW.captures(log.text(at + 1)))
    {
        let syntax = groups.get(1) == "invalid-syntax";
        let class = if syntax { ProblemClass::SyntaxError } else { ProblemClass::LintError };
        let last = log.end_of(at, 30, |text| !text.trim().is_empty());
        if groups.get(1) == "unformatted" {
            return Some(
                Finding::new("ruff", "ruff", class, at)
                    .code("format")
                    .message("would reformat")
                    .position(arrow.get(1), arrow.number(2))
                    .until(last),
            );
        }
        return Some(
            Finding::new("ruff", "pylint", class, at)
                .code(groups.get(1))
                .message(groups.get(2))
                .position(arrow.get(1), arrow.number(2))
                .until(last),
        );
    }
    None
}

fn recognize_coded(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = RUFF_SYNTAX.captures(text) {
        return Some(
            Finding::new("ruff", "pylint", ProblemClass::SyntaxError, at)
                .code("invalid-syntax")
                .message(groups.get(3))
                .position(groups.get(1), groups.number(2)),
        );
    }
    let groups = CODED.captures(text)?;
    let code = groups.get(4);
    let mut message = groups.get(6).to_owned();
    let named = PYLINT_NAME.captures(&message).is_some();
    let is_pylint = code.len() == 5 && named && code.starts_with(['C', 'R', 'W', 'E', 'F', 'I']);
    let is_ruff = groups.some(5).is_some()
        || message.contains('`')
        || log
            .find_after(at, 400, |text| {
                (text.starts_with("Found ") && text.contains(" error") || text.contains("fixable with"))
                    .then_some(())
            })
            .is_some();
    let tool = if is_pylint {
        "pylint"
    } else if is_ruff {
        "ruff"
    } else {
        "flake8"
    };
    if is_pylint && let Some((before, _)) = message.rsplit_once(" (") {
        message = before.to_owned();
    }
    let class = if code == "E999" { ProblemClass::SyntaxError } else { ProblemClass::LintError };
    Some(
        Finding::new(tool, "pylint", class, at)
            .code(code)
            .message(message)
            .position(groups.get(1), groups.number(2)),
    )
}

static BLACK: Pattern =
    Pattern::new(r"^would reformat (\S+)$|^error: cannot format (\S+): (.+)$|^Would reformat: (\S+)$");
static ISORT: Pattern = Pattern::new(r"^ERROR: (\S+\.py) Imports are incorrectly sorted");

fn recognize_formatter(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = ISORT.captures(text) {
        return Some(
            Finding::new("isort", "isort", ProblemClass::LintError, at)
                .code("format")
                .message("Imports are incorrectly sorted")
                .file(groups.get(1)),
        );
    }
    let groups = BLACK.captures(text)?;
    if let Some(file) = groups.some(2) {
        return Some(
            Finding::new("black", "black", ProblemClass::SyntaxError, at)
                .code("cannot_format")
                .message(groups.get(3))
                .file(file),
        );
    }
    let (tool, file) = groups.some(1).map_or(("ruff", groups.get(4)), |file| ("black", file));
    Some(
        Finding::new(tool, tool, ProblemClass::LintError, at)
            .code("format")
            .message("would reformat")
            .file(file),
    )
}
