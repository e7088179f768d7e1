//! The note that an agent leaves: a title, an empty line, then the cause and the change.

use super::super::terminal_text::clean_output;

/// The language of the fenced block on stdout.
const BLOCK: &str = "capsid-note";
/// The highest cost of a call that is believed.
const MAX_COST_USD: f64 = 100_000.0;

/// What an agent wrote, not cleaned yet.
#[derive(Debug, Clone, PartialEq)]
pub struct CapsuleNote {
    pub title: String,
    pub explanation: String,
    pub cost_usd: Option<f64>,
}

/// Reads a note: its first line is the title. Lines `Cost: 0.12` are no part of the explanation.
pub fn parse_note(text: &str) -> Option<CapsuleNote> {
    let mut cost_usd = None;
    let mut lines = Vec::new();
    for line in text.lines() {
        match parse_cost(line) {
            Some(cost) => cost_usd = Some(cost),
            None => lines.push(line),
        }
    }
    let first = lines.iter().position(|line| !line.trim().is_empty());
    let Some(first) = first else {
        return cost_usd.map(|_| CapsuleNote { title: String::new(), explanation: String::new(), cost_usd });
    };
    let explanation = lines[first + 1..].join("\n").trim().to_owned();
    Some(CapsuleNote { title: lines[first].trim().to_owned(), explanation, cost_usd })
}

/// The content of the last closed block ` ```capsid-note ` in what an agent printed.
pub fn find_note_block(stdout: &str) -> Option<String> {
    let cleaned = clean_output(stdout);
    let (mut found, mut open): (Option<String>, Option<(usize, Vec<&str>)>) = (None, None);
    for line in cleaned.lines() {
        let text = line.trim();
        let ticks = text.len() - text.trim_start_matches('`').len();
        let language = text[ticks..].trim();
        if ticks >= 3 && language == BLOCK {
            open = Some((ticks, Vec::new()));
        } else if let Some((opened, lines)) = &mut open {
            if ticks >= *opened && language.is_empty() {
                found = Some(lines.join("\n"));
                open = None;
            } else {
                lines.push(line);
            }
        }
    }
    found
}

/// Reads the message of a commit: subject and body, without trailers.
pub fn parse_commit_message(message: &str) -> Option<CapsuleNote> {
    let mut note = parse_note(message)?;
    let mut paragraphs: Vec<&str> = note.explanation.split("\n\n").collect();
    if paragraphs.last().is_some_and(|last| last.lines().all(is_trailer)) {
        paragraphs.pop();
    }
    note.explanation = paragraphs.join("\n\n").trim().to_owned();
    Some(note)
}

/// `Signed-off-by: A`.
fn is_trailer(line: &str) -> bool {
    line.split_once(": ").is_some_and(|(name, value)| {
        name.contains('-')
            && !value.trim().is_empty()
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    })
}

/// `Cost: 0.12`, `Cost: $0.12` or `Cost: 0.12 USD`.
pub fn parse_cost(line: &str) -> Option<f64> {
    let (label, amount) = line.trim().split_once(':')?;
    label.trim().eq_ignore_ascii_case("cost").then_some(())?;
    let amount = amount.trim().trim_start_matches('$');
    let amount = amount.strip_suffix("USD").or_else(|| amount.strip_suffix("usd")).unwrap_or(amount).trim();
    let is_plain = !amount.is_empty() && amount.chars().all(|c| c.is_ascii_digit() || c == '.');
    let cost: f64 = amount.parse().ok().filter(|_| is_plain)?;
    (0.0..=MAX_COST_USD).contains(&cost).then_some(cost)
}
