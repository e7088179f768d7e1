//! A problem as `signals` and `explain` show it.

use crate::output::{self, BAD, DIM, HEAD, paint};
use capsid_model::text::inert_line;
use capsid_model::{Value, json};
use capsid_rules::diagnosis::{Diagnostic, LogWindow};

/// The most lines of a log that are shown for a problem.
const MAX_LINES: usize = 30;

/// Prints what a problem is: tool, code, class, text, test and place.
pub(super) fn print_problem(problem: &Diagnostic, source: Option<&str>) {
    let code = problem.code.as_deref().map(|code| format!(" {}", inert_line(code))).unwrap_or_default();
    output::line(format_args!(
        "{}  {}{code}  {}",
        paint(HEAD, "problem"),
        inert_line(&problem.tool),
        paint(DIM, problem.class.as_str())
    ));
    output::line(format_args!("  {}", paint(BAD, inert_line(&problem.text))));
    let print_field = |name: &str, value: &str| {
        output::line(format_args!("  {} {}", paint(DIM, format!("{name:<6}")), inert_line(value)));
    };
    if let Some(test) = &problem.test {
        print_field("test", test);
    }
    if let Some(place) = render_place(problem) {
        print_field("place", &place);
    }
    let times = if problem.count == 1 { "1 time".to_owned() } else { format!("{} times", problem.count) };
    print_field("seen", &times);
    if let Some(source) = source {
        print_field("log", &format!("{source}, {}", render_lines(problem)));
    }
}

/// The function, file and line.
pub(super) fn render_place(problem: &Diagnostic) -> Option<String> {
    let place = problem.place.as_ref()?;
    let line = problem.line.map(|line| format!(":{line}")).unwrap_or_default();
    let frame = problem.frame.as_ref().map(|frame| format!(" in {frame}")).unwrap_or_default();
    Some(format!("{place}{line}{frame}"))
}

fn render_lines(problem: &Diagnostic) -> String {
    match (problem.first_line, problem.last_line) {
        (first, last) if first >= last => format!("line {first}"),
        (first, last) => format!("lines {first}-{last}"),
    }
}

/// Prints the lines of the log that a problem was read from.
pub(super) fn print_lines(problem: &Diagnostic, windows: &[LogWindow]) {
    let numbered = windows.iter().flat_map(|window| (window.first_line..).zip(&window.lines));
    let lines: Vec<(usize, &String)> =
        numbered.filter(|(number, _)| (problem.first_line..=problem.last_line).contains(number)).collect();
    for (number, line) in lines.iter().take(MAX_LINES) {
        output::line(format_args!("  {} {}", paint(DIM, format!("{number:>6} |")), inert_line(line)));
    }
    if lines.len() > MAX_LINES {
        output::line(paint(DIM, format_args!("         and {} more lines", lines.len() - MAX_LINES)));
    }
}

/// Prints the other problems of a log, one line each.
pub(super) fn print_also(also: &[Diagnostic]) {
    for other in also {
        let place = render_place(other).map(|place| format!("  {}", inert_line(&place))).unwrap_or_default();
        let code = other.code.as_deref().map(|code| format!(" {}", inert_line(code))).unwrap_or_default();
        output::line(format_args!(
            "{}     {}{code}: {}{}",
            paint(HEAD, "also"),
            inert_line(&other.tool),
            inert_line(&other.text),
            paint(DIM, place)
        ));
    }
}

/// A problem for programs.
pub(super) fn to_json(problem: &Diagnostic) -> Value {
    let mut view = serde_json::to_value(problem).unwrap_or_default();
    view["ids"] = serde_json::to_value(problem.ids()).unwrap_or_default();
    view["errsig"] = json!(problem.errsig());
    view
}
