//! The lines of a log that show a problem: the error itself first, then what names its test and its frames, then the
//! lines around it.

use super::clip::{clip_end, count_chars};
use super::input::PromptProblem;
use super::marks::clean_data;
use capsid_rules::diagnosis::{Diagnostic, LogWindow};

/// The longest part of a line.
const MAX_LINE: usize = 240;
/// Lines on each side of the problem.
const AROUND: usize = 10;

/// Lines of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct LogExcerpt {
    pub text: String,
    /// The numbers of the first and the last line, if they are known.
    pub lines: Option<(usize, usize)>,
}

/// The lines of the log that matter most, as far as there is room.
pub(super) fn select_evidence(problem: &PromptProblem, max_chars: usize) -> LogExcerpt {
    let diagnostic = &problem.diagnostic;
    let Some(window) = find_window(diagnostic, &problem.windows) else {
        return LogExcerpt { text: clip_end(&missing_facts(diagnostic, ""), max_chars), lines: None };
    };
    let (lines, first_number) = read_window(window);
    let span = find_span(diagnostic, &lines, first_number);
    let mut chosen = vec![false; lines.len()];
    let mut used = 0;
    // Facts that no line shows come on top.
    let facts = clip_end(&missing_facts(diagnostic, &lines.join("\n")), max_chars / 2);
    used += count_chars(&facts);
    for at in rank_lines(diagnostic, &lines, span) {
        // Two more for the line break and for the sign of a gap.
        let size = count_chars(&lines[at]).min(MAX_LINE) + 2;
        if used + size <= max_chars {
            chosen[at] = true;
            used += size;
        } else if !chosen.contains(&true) && max_chars > used + 2 {
            chosen[at] = true;
            used = max_chars;
        }
    }
    let mut text = facts;
    let mut before = None;
    for at in (0..lines.len()).filter(|at| chosen[*at]) {
        if before.is_some_and(|before| before + 1 != at) {
            text.push_str("…\n");
        }
        text.push_str(&clip_end(&lines[at], MAX_LINE.min(max_chars)));
        text.push('\n');
        before = Some(at);
    }
    let first = chosen.iter().position(|is_chosen| *is_chosen);
    let lines =
        first_number.zip(first.zip(before)).map(|(number, (first, last))| (number + first, number + last));
    LogExcerpt { text, lines }
}

/// What the diagnosis knows and the log does not show as it stands, one line each.
fn missing_facts(diagnostic: &Diagnostic, shown: &str) -> String {
    let mut facts = String::new();
    let message = clean_data(diagnostic.message.lines().next().unwrap_or_default());
    for (name, fact) in [
        ("", Some(message.as_str())),
        ("test: ", diagnostic.test.as_deref()),
        ("function: ", diagnostic.frame.as_deref()),
    ] {
        let Some(fact) = fact.map(str::trim).filter(|fact| !fact.is_empty()) else { continue };
        // Test ids are put together from several lines, so their last part decides.
        let part = fact.rsplit(['›', '>', ':', '.']).next().unwrap_or(fact).trim();
        let front: String = fact.chars().take(40).collect();
        let is_shown =
            shown.contains(&front) || (!name.is_empty() && !part.is_empty() && shown.contains(part));
        if !is_shown {
            let fact = clip_end(&capsid_model::text::inert_line(fact), MAX_LINE);
            facts.push_str(&format!("{name}{fact}\n"));
        }
    }
    facts
}

fn find_window<'a>(diagnostic: &Diagnostic, windows: &'a [LogWindow]) -> Option<&'a LogWindow> {
    let holds = |window: &&LogWindow| {
        window.first_line <= diagnostic.first_line && diagnostic.first_line <= window.last_line
    };
    windows.iter().find(holds).or_else(|| windows.first())
}

/// The lines of a window without secrets, and the number of the first. The numbers are unknown if lines vanished.
fn read_window(window: &LogWindow) -> (Vec<String>, Option<usize>) {
    let clean = clean_data(&window.lines.join("\n"));
    let lines: Vec<String> = clean.split('\n').map(|line| line.trim_end().to_owned()).collect();
    let is_same = lines.len() == window.lines.len();
    (lines, is_same.then_some(window.first_line))
}

/// The first and the last line of the problem among these lines.
fn find_span(diagnostic: &Diagnostic, lines: &[String], first_number: Option<usize>) -> (usize, usize) {
    let last = lines.len().saturating_sub(1);
    match first_number {
        Some(number) => {
            let start = diagnostic.first_line.saturating_sub(number).min(last);
            (start, diagnostic.last_line.saturating_sub(number).clamp(start, last))
        }
        None => {
            let start = lines.iter().position(|line| has_message(diagnostic, line)).unwrap_or_default();
            (start, start)
        }
    }
}

/// The numbers of lines, the most important first.
fn rank_lines(diagnostic: &Diagnostic, lines: &[String], (start, end): (usize, usize)) -> Vec<usize> {
    let mut order: Vec<usize> = Vec::new();
    let mut add = |at: usize| {
        if lines.get(at).is_some_and(|line| !line.trim().is_empty()) && !order.contains(&at) {
            order.push(at);
        }
    };
    let names = |line: &String, name: &Option<String>| {
        name.as_ref().is_some_and(|name| !name.is_empty() && line.contains(name.as_str()))
    };
    add(start);
    let message = (start..=end).filter(|at| lines.get(*at).is_some_and(|line| has_message(diagnostic, line)));
    message.take(2).for_each(&mut add);
    let place = |line: &String| names(line, &diagnostic.place) || names(line, &diagnostic.test);
    (start..=end).filter(|at| lines.get(*at).is_some_and(place)).take(6).for_each(&mut add);
    (start..=end).for_each(&mut add);
    for distance in 1..=AROUND {
        add(end + distance);
        if let Some(at) = start.checked_sub(distance) {
            add(at);
        }
    }
    order
}

fn has_message(diagnostic: &Diagnostic, line: &str) -> bool {
    let message = diagnostic.message.lines().next().unwrap_or_default().trim();
    let front: String = message.chars().take(40).collect();
    !front.is_empty() && line.contains(&front)
}
