//! The signals of a live problem: its head, its keywords, and whether it keeps coming back.

use super::pattern::SignalPattern;
use capsid_rules::diagnosis::{Diagnosis, Diagnostic, ProblemClass};

/// Times that one exact problem must be in a log to be called recurring.
const RECURRING_AT: usize = 3;

/// Words that the protocol lists as signals, where the problem itself is told with them.
static KEYWORDS: [(&str, SignalPattern); 4] = [
    ("failed", SignalPattern::new(r"(?i-u:\bfail(?:ed|ure|ures|s)?\b)|失败")),
    ("exception", SignalPattern::new(r"(?i-u:\b[a-z0-9_.]*exception\b)|异常")),
    ("timeout", SignalPattern::new(r"(?i-u:\btime[d]?[ -]?out)|超时")),
    ("crash", SignalPattern::new(r"(?i-u:\bcrash(?:ed|es)?\b)|崩溃")),
];

/// Adds `log_error`, the signature and the class.
pub(super) fn add_problem(diagnosis: &Diagnosis, signals: &mut Vec<String>) {
    let Some(problem) = &diagnosis.problem else { return };
    signals.push("log_error".to_owned());
    signals.push(problem.errsig());
    // A plain line of which nothing more is known keeps the signals, and so the keys, that it had before.
    if problem.plain.is_none() || problem.class != ProblemClass::UnknownError {
        signals.push(problem.class.as_str().to_owned());
    }
}

/// Adds `recurring_error` if one exact problem stands in the log often.
pub(super) fn add_recurrence(diagnosis: &Diagnosis, signals: &mut Vec<String>) {
    if diagnosis.problem.iter().chain(&diagnosis.also).any(|found| found.count >= RECURRING_AT) {
        signals.push("recurring_error".to_owned());
    }
}

/// Adds the words of the protocol that the problem's own lines hold.
pub(super) fn add_keywords(diagnosis: &Diagnosis, signals: &mut Vec<String>) {
    let Some(problem) = &diagnosis.problem else { return };
    let lines = problem_lines(diagnosis, problem);
    for (name, pattern) in &KEYWORDS {
        if pattern.is_in(&problem.message) || lines.iter().any(|line| pattern.is_in(line)) {
            signals.push((*name).to_owned());
        }
    }
}

/// The lines that a problem was read from.
fn problem_lines<'d>(diagnosis: &'d Diagnosis, problem: &Diagnostic) -> Vec<&'d str> {
    let of_problem = problem.first_line..=problem.last_line;
    let numbered = diagnosis.windows.iter().flat_map(|window| (window.first_line..).zip(&window.lines));
    numbered.filter(|(number, _)| of_problem.contains(number)).map(|(_, line)| line.as_str()).collect()
}

#[cfg(test)]
pub(super) fn patterns() -> impl Iterator<Item = &'static SignalPattern> {
    KEYWORDS.iter().map(|(_, pattern)| pattern)
}
