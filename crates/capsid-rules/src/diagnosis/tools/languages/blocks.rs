//! Languages whose compilers print blocks: Elm, Crystal, Fortran, Clojure, Julia, Erlang, PureScript, TeX, Sphinx and
//! Godot.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;
use crate::diagnosis::tools::generic::located::named_below;

pub(super) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.starts_with("-- ") && text.contains("---") {
        return recognize_elm(log, at);
    }
    if text.starts_with("In ") && text.contains(".cr:") {
        return recognize_crystal(log, at);
    }
    if text.starts_with("Error: ") || text.starts_with("Fatal Error: ") {
        return recognize_sass(log, at).or_else(|| recognize_fortran(log, at));
    }
    if text.contains(" at (") && text.contains(".clj") {
        return super::clojure::recognize_clojure(log, at);
    }
    if text.starts_with("ERROR: ")
        || text.contains("Test Failed at ")
        || text.contains("Error During Test at ")
    {
        return super::julia::recognize_julia(log, at);
    }
    if text.contains("exception error: ")
        || text.contains("** exception ")
        || text.contains("Reason for termination")
    {
        return super::erlang::recognize_erlang(log, at);
    }
    if text.starts_with("[ERROR ") && text.contains(".purs:") {
        let groups = PURESCRIPT.captures(text)?;
        let (last, message) = log.find_after(at, 8, |text| {
            let said = text.strip_prefix("  ").filter(|said| said.starts_with(char::is_alphabetic))?;
            Some(said.to_owned())
        })?;
        return Some(
            Finding::new("purescript", "purescript", ProblemClass::CompileError, at)
                .code(groups.get(1))
                .message(quote_last(&message))
                .position(groups.get(2), groups.number(3))
                .until(last),
        );
    }
    if text.starts_with("! ") {
        return super::tex::recognize_tex(log, at);
    }
    if text.starts_with("Warning, treated as error:") {
        let groups = SPHINX.captures(log.text(at + 1))?;
        return Some(
            Finding::new("sphinx", "sphinx", ProblemClass::BuildError, at)
                .message(groups.get(3).trim_start_matches("WARNING: "))
                .position(groups.get(1), groups.number(2))
                .until(at + 1),
        );
    }
    if text.starts_with("SCRIPT ERROR: ") || text.starts_with("USER SCRIPT ERROR: ") {
        return recognize_godot(log, at);
    }
    None
}

static PURESCRIPT: Pattern = Pattern::new(r"^\[ERROR [0-9]+/[0-9]+ (\w+)\] (\S+\.purs):([0-9]+)");
static SPHINX: Pattern = Pattern::new(r"^(\S+\.\w+):([0-9]+)?:\s*(.+)$");
static ELM: Pattern = Pattern::new(r"^-- ([A-Z][A-Z ]+[A-Z]) -{3,} (\S+\.elm)$");
static ELM_PLACE: Pattern = Pattern::new(r"^([0-9]+)\|");

/// The title, the file at its end, then sentences.
fn recognize_elm(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = ELM.captures(log.text(at))?;
    let (start, message) = log.find_after(at, 3, |text| Some(text.trim()).filter(|text| !text.is_empty()))?;
    let line = log.find_after(start, 8, |text| ELM_PLACE.captures(text));
    let title = groups.get(1);
    let class =
        if title.contains("SYNTAX") || title.starts_with("UNFINISHED") || title.starts_with("UNEXPECTED") {
            ProblemClass::SyntaxError
        } else {
            ProblemClass::CompileError
        };
    Some(
        Finding::new("elm", "elm", class, at)
            .code(title.to_ascii_lowercase().replace(' ', "_"))
            .message(message.trim_end_matches(':'))
            .position(groups.get(2), line.and_then(|(_, line)| line.number(1)))
            .until(start),
    )
}

static CRYSTAL: Pattern = Pattern::new(r"^In (\S+\.cr):([0-9]+):[0-9]+$");

fn recognize_crystal(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = CRYSTAL.captures(log.text(at))?;
    let (last, message) = log.find_after(at, 8, |text| {
        text.strip_prefix("Error: ").or_else(|| text.strip_prefix("Syntax error: "))
    })?;
    Some(
        Finding::new("crystal", "crystal", ProblemClass::CompileError, at)
            .message(message)
            .position(groups.get(1), groups.number(2))
            .until(last),
    )
}

static FORTRAN: Pattern = Pattern::new(r"^(\S+\.(?:[fF](?:[0-9]{2})?|for|FOR)):([0-9]+):[0-9]+:$");

/// The position stands above the source, the message below it.
fn recognize_fortran(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let (_, place) = log.find_before(at, 8, |text| FORTRAN.captures(text))?;
    let message = log.text(at).split_once(": ")?.1;
    Some(
        Finding::new("gfortran", "gfortran", ProblemClass::CompileError, at)
            .message(message.replace(" at (1)", ""))
            .position(place.get(1), place.number(2)),
    )
}

static SASS: Pattern = Pattern::new(r"^\s+(\S+\.s[ac]ss) ([0-9]+):[0-9]+\s");

/// The source stands below the message, and the file below the source.
fn recognize_sass(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let message = log.text(at).strip_prefix("Error: ")?;
    let (last, place) = log.find_after(at, 8, |text| SASS.captures(text))?;
    let message = match named_below(log, at) {
        Some(name) => format!("{}: {name}", message.trim_end_matches('.')),
        None => message.to_owned(),
    };
    Some(
        Finding::new("sass", "sass", ProblemClass::CompileError, at)
            .message(message)
            .position(place.get(1), place.number(2))
            .until(last),
    )
}

/// `Unknown value totl`: the last word is the name.
fn quote_last(message: &str) -> String {
    match message.rsplit_once(' ') {
        Some((said, name)) if message.starts_with("Unknown ") => format!("{said} {}", symbol(name)),
        _ => message.to_owned(),
    }
}

static GODOT: Pattern = Pattern::new(r"\(res://(\S+?):([0-9]+)\)");

fn recognize_godot(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let message = log.text(at).split_once("ERROR: ")?.1;
    let place = GODOT.captures(log.text(at + 1));
    let class = if message.starts_with("Parse Error") || message.starts_with("Compile Error") {
        ProblemClass::CompileError
    } else {
        ProblemClass::Exception
    };
    let finding = Finding::new("godot", "godot", class, at)
        .message(message.trim_start_matches("Parse Error: "))
        .until(at + usize::from(place.is_some()));
    Some(match place {
        Some(place) => finding.position(place.get(1), place.number(2)),
        None => finding,
    })
}
