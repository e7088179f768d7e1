//! Texts of any length, cleaned once and cut to what a prompt could ever show.

use super::clip::{clip_end, count_chars};
use super::hunks::CUT_MARK;
use super::input::{PromptInput, PromptProblem};
use super::marks::clean_data;
use capsid_rules::diagnosis::LogWindow;

/// Lines before and after the problem that are read. More than are shown, so that a secret of several lines is seen as a
/// whole.
const READ_AROUND: usize = 100;
/// Lines of the problem that are read.
const READ_SPAN: usize = 300;
/// The longest part of a line that is read.
const READ_LINE: usize = 600;
/// Lines of output that are read.
const READ_OUTPUT: usize = 100;

/// The input with bounded texts. Rendering it gives the same as rendering the whole, many times faster.
pub(super) fn shorten_input(input: &PromptInput, limit: usize) -> PromptInput {
    let mut short = input.clone();
    short.problem.iter_mut().for_each(shorten_log);
    for piece in &mut short.evidence {
        piece.text = clip_front(&clean_data(&piece.text), limit);
    }
    let first = short.attempts.len().saturating_sub(2);
    short.attempts.drain(..first);
    for attempt in &mut short.attempts {
        attempt.diff = shorten_diff(&attempt.diff, limit);
        let lines: Vec<&str> = attempt.output.trim_end().lines().collect();
        let last = lines.get(lines.len().saturating_sub(READ_OUTPUT)..).unwrap_or_default();
        let last: Vec<String> = last.iter().map(|line| clip_end(line, READ_LINE)).collect();
        attempt.output = clean_data(&last.join("\n"));
    }
    if let Some(solution) = &mut short.solution {
        solution.diff = shorten_diff(&solution.diff, limit);
        solution.explanation = clip_end(&clean_data(&solution.explanation), limit);
    }
    short.narrative = clip_front(&clean_data(&short.narrative), limit);
    short
}

/// A diff without secrets, as long as a prompt. The hunk at its end is marked as cut.
fn shorten_diff(diff: &str, limit: usize) -> String {
    let clean = clean_data(diff);
    if count_chars(&clean) <= limit {
        return clean;
    }
    format!("{}\n{CUT_MARK}", clip_end(&clean, limit))
}

/// The end of a text.
fn clip_front(text: &str, max_chars: usize) -> String {
    let skipped = count_chars(text).saturating_sub(max_chars);
    text.chars().skip(skipped).collect()
}

/// Only the window of the problem, and of that the lines near it.
fn shorten_log(problem: &mut PromptProblem) {
    let diagnostic = &mut problem.diagnostic;
    let holds = |window: &&LogWindow| {
        window.first_line <= diagnostic.first_line && diagnostic.first_line <= window.last_line
    };
    let Some(window) = problem.windows.iter().find(holds).or_else(|| problem.windows.first()) else { return };
    let last = window.lines.len().saturating_sub(1);
    let mut start = diagnostic.first_line.saturating_sub(window.first_line).min(last);
    let end = diagnostic.last_line.saturating_sub(window.first_line).clamp(start, last);
    if end - start > READ_SPAN {
        // The error of a long trace may stand at its end.
        let front: String = diagnostic.message.chars().take(40).collect();
        let has_message = |line: &String| !front.is_empty() && line.contains(&front);
        let at = window.lines.get(start..=end).and_then(|lines| lines.iter().position(has_message));
        start += at.unwrap_or_default().saturating_sub(READ_SPAN / 2);
    }
    let end = end.min(start + READ_SPAN);
    let from = start.saturating_sub(READ_AROUND);
    let lines = window.lines.get(from..(end + READ_AROUND + 1).min(window.lines.len())).unwrap_or_default();
    let lines: Vec<String> = lines.iter().map(|line| clip_end(line, READ_LINE)).collect();
    diagnostic.message = clip_end(&diagnostic.message, READ_LINE);
    let first_line = window.first_line + from;
    (diagnostic.first_line, diagnostic.last_line) = (window.first_line + start, window.first_line + end);
    problem.windows =
        vec![LogWindow { first_line, last_line: first_line + lines.len().saturating_sub(1), lines }];
}
