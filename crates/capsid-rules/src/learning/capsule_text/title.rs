//! Which texts are titles, and how titles and explanations are cleaned.

use super::MAX_EXPLANATION_CHARS;
use super::clip::cut_chars;
use super::old_asset::is_boilerplate;
use capsid_model::text::{inert, inert_line};

/// The longest title that somebody writes.
pub const MAX_TITLE_CHARS: usize = 72;

/// Words that say nothing about a change.
const EMPTY_TITLES: [&str; 16] = [
    "done",
    "all done",
    "fix",
    "fixed",
    "finished",
    "complete",
    "completed",
    "ok",
    "success",
    "wip",
    "update",
    "updates",
    "changes",
    "title",
    "n/a",
    "none",
];

/// Prefixes of ids.
const ID_PREFIXES: [&str; 6] = ["gene_", "capsule_", "run_", "evt_", "sha256:", "errsig:"];

/// Whether a text can be a title: it is not empty, a path, an id or a word such as "done".
pub fn is_title(text: &str) -> bool {
    let title = inert_line(text);
    let bare = title.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    !bare.is_empty()
        && !EMPTY_TITLES.contains(&bare.as_str())
        && !is_path(&title)
        && !ID_PREFIXES.iter().any(|prefix| !title.contains(' ') && title.starts_with(prefix))
        && !is_boilerplate(&title)
}

/// One word with a separator or with the ending of a file.
fn is_path(title: &str) -> bool {
    let title = title.trim_matches(['`', '"', '\'']);
    let has_extension = || {
        let ending = title.rsplit_once('.').map(|(stem, ending)| (stem.len(), ending));
        ending.is_some_and(|(stem, ending)| {
            stem > 0 && (1..=5).contains(&ending.len()) && ending.chars().all(|c| c.is_ascii_alphanumeric())
        })
    };
    !title.contains(' ') && (title.contains(['/', '\\']) || has_extension())
}

/// The title on one line, and, if it had to be cut, the whole line too.
pub(super) fn clean_title(title: &str) -> (String, Option<String>) {
    let whole = inert_line(strip_marks(title));
    let title = cut_chars(&whole, MAX_TITLE_CHARS);
    let is_cut = title != whole;
    (title, is_cut.then_some(whole))
}

/// The title without the marks that Markdown and agents put around one.
fn strip_marks(title: &str) -> &str {
    let title = title.trim().trim_start_matches('#').trim_start();
    let title =
        ["Title:", "title:", "TITLE:"].iter().find_map(|mark| title.strip_prefix(mark)).unwrap_or(title);
    let title = title.trim();
    let is_bold = title.len() > 4 && title.starts_with("**") && title.ends_with("**");
    if is_bold { title.trim_matches('*').trim() } else { title }
}

/// The explanation with its line breaks, without other control characters.
pub(super) fn clean_explanation(text: &str) -> String {
    let text = inert(&text.replace("\r\n", "\n").replace('\r', "\n"));
    cut_chars(text.trim(), MAX_EXPLANATION_CHARS)
}
