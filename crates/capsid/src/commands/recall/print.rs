//! What is recalled, for people: each answer on a few lines, the last of which is the command that shows it whole.

use super::query::{RecallHistory, RecallResult};
use crate::output::{self, DIM, NAME, paint, table};
use capsid_engine::recall::ProvenSolution;
use capsid_engine::recall::history::{RecallHit, quoted, shortened};
use capsid_model::text::{cut, inert_line};

/// How much of a text, of the words that it answers and of the signals is shown.
const TEXT: usize = 240;
const WORDS: usize = 60;
const SIGNALS: usize = 240;

/// Prints what was recalled, or that nothing was.
pub(super) fn print(recalled: &RecallResult) {
    let hits = recalled.past.as_ref().map(|past| past.hits.as_slice()).unwrap_or_default();
    if recalled.proven.is_empty() && hits.is_empty() {
        output::talk(nothing(recalled.past.as_ref()));
    }
    let answers: Vec<RecallAnswer> = recalled
        .proven
        .iter()
        .map(RecallAnswer::from_solution)
        .chain(hits.iter().map(RecallAnswer::from_hit))
        .collect();
    output::print(&listed(&answers));
    if !recalled.signals.is_empty() {
        let signals = shortened(&recalled.signals.join(", "), SIGNALS);
        output::talk(paint(DIM, format_args!("signals: {}", inert_line(&signals))));
    }
}

/// The message for no result, with what else could be searched.
fn nothing(past: Option<&RecallHistory>) -> &'static str {
    match past {
        None => {
            "Nothing that was proven here answers these signals; `--where events,memory` shows what was tried on them."
        }
        Some(past) if past.is_vague => "These words say nothing that could be looked for.",
        Some(past) if past.is_part => {
            "Nothing there matches; without `--where` the whole past of this repository is searched."
        }
        Some(_) => "Nothing in this repository's past matches.",
    }
}

/// One answer: its row in the list, and the lines below.
struct RecallAnswer {
    row: Vec<String>,
    lines: Vec<String>,
}

impl RecallAnswer {
    fn from_solution(solution: &ProvenSolution) -> Self {
        let use_here = match solution.last_event_id {
            Some(_) => format!("{} in a row", solution.streak),
            None => "not used here yet".to_owned(),
        };
        let last = solution.last_event_id.as_deref().map(|event| format!(", last in {}", inert_line(event)));
        let about = format!(
            "gene {}, confidence {:.2}, from {}{}",
            inert_line(&solution.gene),
            solution.confidence,
            inert_line(solution.source.as_str()),
            last.unwrap_or_default(),
        );
        let lines = vec![
            inert_line(&shortened(&solution.summary, TEXT)),
            paint(DIM, about),
            paint(DIM, inert_line(&format!("capsid capsules show {}", quoted(&solution.id)))),
        ];
        Self { row: row("proven", solution.last_used.as_deref(), &use_here, &solution.id, ""), lines }
    }

    fn from_hit(hit: &RecallHit) -> Self {
        let piece = &hit.piece;
        let why = [shortened(&describe_piece(&hit.words).join(", "), WORDS), like_it(hit.more)];
        let why = why.into_iter().filter(|part| !part.is_empty()).collect::<Vec<_>>().join("; ");
        let ended = piece.ended.as_deref().unwrap_or_default();
        Self {
            row: row(piece.location.as_str(), piece.at.as_deref(), ended, &piece.id, &why),
            lines: vec![inert_line(&shortened(&piece.text, TEXT)), paint(DIM, inert_line(&piece.show))],
        }
    }
}

/// Where, on which day, how it ended, its name, and why it is shown.
fn row(source: &str, at: Option<&str>, ended: &str, id: &str, why: &str) -> Vec<String> {
    let day = cut(&inert_line(at.unwrap_or("-")), 10).to_owned();
    let mut name = paint(NAME, inert_line(id));
    if !why.is_empty() {
        name += &format!("  {}", paint(DIM, format_args!("({})", inert_line(why))));
    }
    vec![source.to_owned(), paint(DIM, day), inert_line(ended), name]
}

/// The words that an answer answers, without those that are parts of others.
fn describe_piece(words: &[String]) -> Vec<&str> {
    let is_part = |word: &String| words.iter().any(|other| other != word && other.contains(word.as_str()));
    words.iter().filter(|word| !is_part(word)).map(String::as_str).collect()
}

fn like_it(more: usize) -> String {
    if more == 0 { String::new() } else { format!("{more} more like it") }
}

/// The rows stand in columns, each above its lines.
fn listed(answers: &[RecallAnswer]) -> String {
    let rows: Vec<Vec<String>> = answers.iter().map(|answer| answer.row.clone()).collect();
    let mut text = String::new();
    for (row, answer) in table(&rows).lines().zip(answers) {
        text += &format!("{row}\n");
        answer.lines.iter().for_each(|line| text += &format!("  {line}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_words_are_not_told_beside_them() {
        let words = ["购物车", "购物", "物车", "cart"].map(str::to_owned);
        assert_eq!(describe_piece(&words), ["购物车", "cart"]);
        assert_eq!(like_it(2), "2 more like it");
    }
}
