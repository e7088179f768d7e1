//! Titles for assets that were made before assets had titles.

use super::clip::{cut_chars, first_sentence};
use capsid_model::text::inert_line;

/// The longest title of an old asset.
const MAX_OLD_TITLE_CHARS: usize = 120;

/// Whether an engine wrote this summary without saying anything about the change.
pub fn is_boilerplate(summary: &str) -> bool {
    let summary = summary.trim_start();
    let answered = summary.split_once(" answered ").map(|(front, _)| front);
    // `gene_x answered …`, `gene_x (repair) answered …`, `a change answered …`.
    let is_answer = answered.is_some_and(|front| {
        let id = front.split(" (").next().unwrap_or(front);
        front == "a change" || (id.starts_with("gene_") && !id.contains(' '))
    });
    summary.starts_with("固化：") || summary.starts_with("固化:") || is_answer
}

/// The title of an old asset: the first sentence of its summary, or the text of its error if that is boilerplate.
pub fn find_old_title<S: AsRef<str>>(summary: &str, triggers: &[S]) -> String {
    let sentence = first_sentence(summary).filter(|sentence| !is_boilerplate(sentence));
    let error =
        || triggers.iter().find_map(|trigger| trigger.as_ref().strip_prefix("errsig:")).map(str::to_owned);
    let signal =
        || triggers.iter().map(|trigger| trigger.as_ref().to_owned()).find(|trigger| !trigger.is_empty());
    let title =
        sentence.or_else(error).or_else(signal).unwrap_or_else(|| "Change without a title".to_owned());
    cut_chars(&inert_line(&title), MAX_OLD_TITLE_CHARS)
}
