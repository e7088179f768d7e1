//! webpack, vite, esbuild, rollup, Babel and Next.js.

use super::node::missing_module;
use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

static RESOLVE: Pattern = Pattern::new(
    r#"(?:Can't resolve|Could not resolve|Failed to resolve|failed to resolve import|Failed to resolve import) ["'`]([^"'`]+)["'`](?: from ["'`]?([^"'`\s]+)["'`]?| in ([\w./-]+\.\w+)(?:$|\s))?"#,
);
static ESBUILD: Pattern = Pattern::new(r"^(?:✘|X) \[ERROR\] (.+?)(?: \[plugin [\w-]+\])?$");
static POSITION: Pattern = Pattern::new(r"^\s+(\S+?):([0-9]+):[0-9]+:?$");
static IN_FILE: Pattern = Pattern::new(
    r"^(?:ERROR in )?(\.{1,2}/\S+|\S+\.(?:[cm]?[jt]sx?|vue|svelte|s?css))(?:[ :]([0-9]+)[:0-9-]*)?$",
);
static ROLLUP: Pattern = Pattern::new(
    r"^(?:\[!\] |error during build:\s*)?(?:\(plugin ([\w@/.-]+)\) )?(RollupError|Error|SyntaxError): (.+)$",
);
static BABEL: Pattern = Pattern::new(
    r"^(?:\[error\] )?(?:\S+: )?SyntaxError: (\S+\.[cm]?[jt]sx?): (.+?)(?: \(([0-9]+):[0-9]+\))?$",
);

pub(crate) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.body(at);
    if text.contains("esolve ")
        && let Some(groups) = RESOLVE.captures(text)
    {
        return recognize_resolve(log, at, groups.get(1), groups.some(2).or_else(|| groups.some(3)));
    }
    if text.contains("[ERROR] ") {
        return recognize_esbuild(log, at);
    }
    if text.contains("SyntaxError: ") && BABEL.is_match(text) {
        let groups = BABEL.captures(text)?;
        return Some(
            Finding::new("babel", "js", ProblemClass::SyntaxError, at)
                .code("SyntaxError")
                .message(groups.get(2))
                .position(groups.get(1), groups.number(3)),
        );
    }
    if text.starts_with("[UNRESOLVED_IMPORT]") || text.starts_with("[UNRESOLVED_ENTRY]") {
        return None;
    }
    if text.starts_with("[!] ") || text.contains("RollupError: ") {
        let groups = ROLLUP.captures(text)?;
        let finding = Finding::new("rollup", "js", ProblemClass::BuildError, at)
            .code(groups.get(2))
            .message(groups.get(3));
        return Some(with_file(log, at, finding));
    }
    if text.starts_with("Type error: ") {
        // Next.js prints the position above.
        let finding = Finding::new("tsc", "tsc", ProblemClass::CompileError, at)
            .message(text.trim_start_matches("Type error: "));
        return Some(with_file(log, at, finding));
    }
    if text.starts_with("ERROR in ")
        || text.starts_with("Module build failed")
        || text.starts_with("Module parse failed")
    {
        return recognize_webpack(log, at);
    }
    None
}

/// A module that no one provides. A path is a mistake in the source, a name a missing package.
fn recognize_resolve(log: &LogView<'_>, at: usize, name: &str, from: Option<&str>) -> Option<Finding> {
    let text = log.body(at);
    let own = name.starts_with(['.', '/', '~', '#']) || name.starts_with("@/") || name.starts_with("src/");
    let class = if own { ProblemClass::BuildError } else { ProblemClass::DependencyError };
    let tool = if text.contains("[vite")
        || text.starts_with("[UNRESOLVED_IMPORT]")
        || text.contains("import \"") && text.contains("Does the file exist")
        || text.contains("Rollup failed")
    {
        "vite"
    } else if text.contains("[ERROR]") {
        "esbuild"
    } else if text.starts_with("[!]") || text.contains("RollupError") {
        "rollup"
    } else {
        "webpack"
    };
    let shown = if own { name.rsplit('/').next().unwrap_or(name) } else { name };
    let mut finding = Finding::new(tool, "js", class, at)
        .code("MODULE_NOT_FOUND")
        .message(format!("Cannot find module {}", symbol(shown)));
    match from {
        Some(from) => finding = finding.file(from),
        None => finding = with_file(log, at, finding),
    }
    Some(finding)
}

/// The file that stands in a line nearby.
fn with_file(log: &LogView<'_>, at: usize, finding: Finding) -> Finding {
    if let Some((index, groups)) = log.find_after(at, 3, |text| POSITION.captures(text)) {
        return finding.position(groups.get(1), groups.number(2)).until(index);
    }
    match log.find_before(at, 3, |text| IN_FILE.captures(text.trim())) {
        Some((_, groups)) => finding.position(groups.get(1), groups.number(2)),
        None => finding,
    }
}

fn recognize_esbuild(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = ESBUILD.captures(log.text(at))?;
    let message = groups.get(1);
    let class = if message.starts_with("Expected ")
        || message.starts_with("Unexpected ")
        || message.starts_with("Unterminated")
    {
        ProblemClass::SyntaxError
    } else {
        ProblemClass::BuildError
    };
    Some(with_file(log, at, Finding::new("esbuild", "js", class, at).message(message)))
}

fn recognize_webpack(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.body(at);
    let (index, message) = if text.starts_with("ERROR in ") {
        log.find_after(at, 3, |text| Some(text.trim()).filter(|text| !text.is_empty()))?
    } else {
        (at, text)
    };
    // Other rules read what the compiler or the resolver says.
    if RESOLVE.is_match(message)
        || message.contains("TS")
        || IN_FILE.is_match(message)
        || message.starts_with("ERROR in")
        || missing_module(message).is_some()
    {
        return None;
    }
    let message = message.split_once("): ").map_or(message, |(_, rest)| rest);
    let (kind, said) =
        message.split_once(": ").filter(|(kind, _)| kind.ends_with("Error")).unwrap_or(("", message));
    let class =
        if kind.contains("SyntaxError") { ProblemClass::SyntaxError } else { ProblemClass::BuildError };
    let finding = Finding::new("webpack", "js", class, at).code(kind).message(said).until(index);
    let file = IN_FILE.captures(text.split(" in ").last().unwrap_or(text).trim());
    Some(match file {
        Some(groups) => finding.position(groups.get(1), groups.number(2)),
        None => with_file(log, at, finding),
    })
}
