//! Languages whose compilers print blocks: Elm, Crystal, Fortran, Clojure, Julia, Erlang, PureScript, TeX, Sphinx and
//! Godot.

use crate::diagnosis::diagnostic::ProblemClass;
use crate::diagnosis::finding::{Finding, LogView};
use crate::diagnosis::frames::StackFrame;
use crate::diagnosis::mask::symbol;
use crate::diagnosis::pattern::Pattern;

pub(super) fn recognize(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if text.starts_with("-- ") && text.contains("---") {
        return recognize_elm(log, at);
    }
    if text.starts_with("In ") && text.contains(".cr:") {
        return recognize_crystal(log, at);
    }
    if text.starts_with("Error: ") || text.starts_with("Fatal Error: ") {
        return recognize_fortran(log, at);
    }
    if text.contains(" at (") && text.contains(".clj") {
        return recognize_clojure(log, at);
    }
    if text.starts_with("ERROR: ")
        || text.contains("Test Failed at ")
        || text.contains("Error During Test at ")
    {
        return recognize_julia(log, at);
    }
    if text.contains("exception error: ")
        || text.contains("** exception ")
        || text.contains("Reason for termination")
    {
        return recognize_erlang(log, at);
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
        return recognize_tex(log, at);
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

static CLOJURE: Pattern = Pattern::new(
    r"^(Syntax error|Execution error|Error|Unexpected error)(?: \(([\w.$-]+)\))?.*? at (?:(\S+) )?\((\S+?\.cljc?s?):([0-9]+)(?::[0-9]+)?\)\.$",
);

fn recognize_clojure(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = CLOJURE.captures(log.text(at))?;
    let (last, message) = log.find_after(at, 2, |text| Some(text.trim()).filter(|text| !text.is_empty()))?;
    let is_run = groups.get(1) == "Execution error";
    let class = if is_run { ProblemClass::Exception } else { ProblemClass::CompileError };
    let mut finding = Finding::new("clojure", "clojure", class, at)
        .code(groups.get(2).rsplit('.').next().unwrap_or_default())
        .message(quote_name(message))
        .position(groups.get(4), groups.number(5))
        .until(last);
    finding.frame = groups.some(3).map(str::to_owned);
    Some(if is_run { finding.or_system() } else { finding })
}

static NAME: Pattern =
    Pattern::new(r"^(Unable to resolve (?:symbol|classname)|No such (?:var|namespace)): (\S+)(.*)$");

fn quote_name(message: &str) -> String {
    match NAME.captures(message) {
        Some(groups) => format!("{}: {}{}", groups.get(1), symbol(groups.get(2)), groups.get(3)),
        None => message.to_owned(),
    }
}

/// `Unknown value totl`: the last word is the name.
fn quote_last(message: &str) -> String {
    match message.rsplit_once(' ') {
        Some((said, name)) if message.starts_with("Unknown ") => format!("{said} {}", symbol(name)),
        _ => message.to_owned(),
    }
}

static JULIA: Pattern =
    Pattern::new(r"^ERROR: (?:LoadError: |InitError: )*(?:([A-Z]\w*(?:Error|Exception)): ?)?(.*)$");
static JULIA_FRAME: Pattern = Pattern::new(r"^\s+\[[0-9]+\] (.+?)(?:\(.*\))?$");
static JULIA_PLACE: Pattern = Pattern::new(r"^\s+@ (?:[\w.]+ )?(\S+\.jl):([0-9]+)");
static JULIA_TEST: Pattern = Pattern::new(r"^(.+): (?:Test Failed|Error During Test) at (\S+\.jl):([0-9]+)$");

fn recognize_julia(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let text = log.text(at);
    if let Some(groups) = JULIA_TEST.captures(text) {
        let said = log.find_after(at, 3, |text| text.trim_start().strip_prefix("Expression: "));
        let (last, message) = said.unwrap_or((at, "test failed"));
        return Some(
            Finding::new("julia", "julia", ProblemClass::TestFailure, at)
                .code("fail")
                .message(message)
                .values(true)
                .test(groups.get(1))
                .position(groups.get(2), groups.number(3))
                .until(last),
        );
    }
    let groups = JULIA.captures(text)?;
    let (stack, ()) = log.find_after(at, 6, |text| (text == "Stacktrace:").then_some(()))?;
    let last = log.end_of(stack, 60, |text| text.starts_with(' ') || text.starts_with("in expression"));
    let frame = (stack + 1..last).find_map(|index| {
        let function = JULIA_FRAME.captures(log.text(index))?;
        let place = JULIA_PLACE.captures(log.text(index + 1))?;
        let file = place.get(1);
        if file.starts_with("./") || file.contains("/stdlib/") || file.contains(".julia/packages") {
            return None;
        }
        let name = function.get(1);
        let is_named = !name.contains("top-level") && !name.contains("macro expansion");
        Some(StackFrame {
            function: is_named.then(|| name.split(['(', '{']).next().unwrap_or(name).to_owned()),
            file: file.to_owned(),
            line: place.number(2),
        })
    });
    let (kind, message) = (groups.get(1), groups.get(2));
    let class = match kind {
        "ArgumentError" if message.starts_with("Package ") => ProblemClass::DependencyError,
        "ParseError" => ProblemClass::SyntaxError,
        _ => ProblemClass::Exception,
    };
    let finding = Finding::new("julia", "julia", class, at)
        .code(kind)
        .message(message)
        .at_frame(frame.as_ref())
        .until(last);
    Some(if class == ProblemClass::Exception { finding.or_system() } else { finding })
}

static ERLANG: Pattern =
    Pattern::new(r"(?:exception (?:error|exit|throw): |Reason for termination ==\s*\*?\*?\s*)(.+)$");
static ERLANG_CALL: Pattern =
    Pattern::new(r"in (?:function|call from)\s+(\S+?)(?:/[0-9]+)? \((\S+\.erl), line ([0-9]+)\)");

fn recognize_erlang(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let groups = ERLANG.captures(log.text(at))?;
    let message = groups.get(1).trim_matches(['*', ' ']);
    let code = match message {
        "bad argument" => "badarg",
        "undefined function" => "undef",
        said if said.starts_with("no function clause") => "function_clause",
        said if said.starts_with("no match of right hand side") => "badmatch",
        said if said.starts_with("no case clause") => "case_clause",
        said if said.starts_with("undefined function") => "undef",
        said if said.contains("arithmetic expression") => "badarith",
        _ => "",
    };
    let last = log.end_of(at, 10, |text| text.starts_with("   "));
    let frame = (at..=last).find_map(|index| {
        let groups = ERLANG_CALL.captures(log.text(index))?;
        Some(StackFrame {
            function: Some(groups.get(1).to_owned()),
            file: groups.get(2).to_owned(),
            line: groups.number(3),
        })
    });
    Some(
        Finding::new("erlang", "erlang", ProblemClass::Exception, at)
            .code(code)
            .message(message)
            .at_frame(frame.as_ref())
            .until(last),
    )
}

static TEX_LINE: Pattern = Pattern::new(r"^l\.([0-9]+) ?(.*)$");
static TEX_FILE: Pattern = Pattern::new(r"^\(?\.?/?([\w./-]+\.(?:tex|ltx))");
static TEX_COMMAND: Pattern = Pattern::new(r"(\\[A-Za-z@]+)\s*$");

fn recognize_tex(log: &LogView<'_>, at: usize) -> Option<Finding> {
    let message = log.text(at).strip_prefix("! ")?;
    let (last, place) = log.find_after(at, 8, |text| TEX_LINE.captures(text))?;
    let (_, file) = log
        .find_before(at, 60, |text| TEX_FILE.captures(text).map(|groups| groups.get(1).to_owned()))
        .unwrap_or((at, String::new()));
    let message = message.trim_start_matches("LaTeX Error: ").trim_start_matches("Package ");
    let message = match TEX_COMMAND.captures(place.get(2)) {
        Some(command) if message.starts_with("Undefined control") => {
            format!("{} {}", message.trim_end_matches('.'), symbol(command.get(1)))
        }
        _ => message.to_owned(),
    };
    Some(
        Finding::new("latex", "latex", ProblemClass::CompileError, at)
            .message(message)
            .position(&file, place.number(1))
            .until(last),
    )
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
