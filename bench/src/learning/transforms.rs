//! Seven ways in which the same log looks different. None of them may change an id.

/// A change of how a log looks.
pub struct LogTransform {
    pub name: &'static str,
    /// Whether every line is changed: logs that are JSON or XML are left out then.
    pub touches_lines: bool,
    pub apply: fn(&str) -> String,
}

pub const TRANSFORMS: [LogTransform; 7] = [
    LogTransform {
        name: "ci_times",
        touches_lines: true,
        apply: |log| map_lines(log, |at, line| format!("{} {line}", iso_time(at))),
    },
    LogTransform {
        name: "crlf",
        touches_lines: true,
        apply: |log| map_lines(log, |_, line| format!("{line}\r")),
    },
    LogTransform {
        name: "compose",
        touches_lines: true,
        apply: |log| map_lines(log, |_, line| format!("web-1  | {line}")),
    },
    LogTransform {
        name: "noise_after",
        touches_lines: false,
        apply: |log| format!("{}\n{}", log.trim_end_matches('\n'), noise()),
    },
    LogTransform { name: "noise_before", touches_lines: false, apply: |log| format!("{}{log}", noise()) },
    LogTransform {
        name: "moved",
        touches_lines: false,
        apply: |log| log.replace("/home/dev/app", "/mnt/agent/7/s/checkout"),
    },
    LogTransform { name: "ansi", touches_lines: true, apply: color_words },
];

/// Whether a log is a document in which a line cannot be changed on its own.
pub fn is_structured(log: &str) -> bool {
    log.trim_start().starts_with(['{', '<']) || log.trim_start().starts_with("[{")
}

pub fn map_lines(log: &str, change: impl Fn(usize, &str) -> String) -> String {
    log.lines().enumerate().map(|(at, line)| change(at, line) + "\n").collect()
}

/// A time that grows from line to line.
pub fn iso_time(at: usize) -> String {
    let seconds = at / 7;
    format!(
        "2026-11-03T08:{:02}:{:02}.{:07}Z",
        15 + seconds / 60 % 40,
        seconds % 60,
        at * 31_337 % 10_000_000
    )
}

/// 6,000 lines of level INFO, about 350 kB.
fn noise() -> String {
    (0..6_000).map(|at| format!("{} INFO request {at} served by worker {}\n", iso_time(at), at % 8)).collect()
}

/// Colors whole words, as terminals get them.
fn color_words(log: &str) -> String {
    let mut colored = String::with_capacity(log.len() * 2);
    let mut rest = log;
    let mut before = ' ';
    while let Some(first) = rest.chars().next() {
        let word = ["error", "Error", "FAILED", "FAIL", "warning"].into_iter().find(|word| {
            let ends = rest.get(word.len()..).and_then(|after| after.chars().next());
            rest.starts_with(word) && !is_word(before) && !ends.is_some_and(is_word)
        });
        let part = word.unwrap_or_else(|| rest.get(..first.len_utf8()).unwrap_or(rest));
        match word {
            Some(word) => colored.push_str(&format!("\u{1b}[1m\u{1b}[31m{word}\u{1b}[0m")),
            None => colored.push_str(part),
        }
        before = part.chars().last().unwrap_or(' ');
        rest = rest.get(part.len()..).unwrap_or_default();
    }
    colored
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}
