//! What a capsule says about itself: a title, an explanation, a summary, and the message of its commit.
//!
//! Texts come from agents, so their control characters are escaped and their length is bounded. The caller redacts
//! secrets before it stores them.

pub mod change_facts;
mod clip;
pub mod commit_message;
mod functions;
pub mod generated;
pub mod note;
pub mod old_asset;
mod title;

pub use clip::first_sentence;
pub use title::{MAX_TITLE_CHARS, is_title};

use clip::cut_chars;
use note::{CapsuleNote, find_note_block, parse_commit_message, parse_note};
use title::{clean_explanation, clean_title};

/// The longest explanation.
pub const MAX_EXPLANATION_CHARS: usize = 2_000;
/// The shortest summary that hubs accept.
const MIN_SUMMARY_CHARS: usize = 20;
/// The longest first sentence in a summary.
const MAX_SENTENCE_CHARS: usize = 300;

/// Where a text comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TextSource {
    /// `--title` or `--summary`.
    Option,
    NoteFile,
    /// The last block `capsid-note` on stdout.
    NoteBlock,
    /// A commit that the agent made.
    Commit,
    Generated,
}

/// The title and the explanation of a capsule.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct CapsuleText {
    pub title: String,
    pub explanation: String,
    /// Where the title comes from.
    pub source: TextSource,
    /// What the agent says it cost, in US dollars.
    pub cost_usd: Option<f64>,
}

/// All that the text of a capsule is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextInputs<'a> {
    pub title_option: Option<&'a str>,
    pub summary_option: Option<&'a str>,
    /// The content of the note file.
    pub note_file: Option<&'a str>,
    /// What the agent printed.
    pub stdout: Option<&'a str>,
    /// The message of the agent's last commit.
    pub commit_message: Option<&'a str>,
    /// The generated title.
    pub generated_title: &'a str,
}

/// Chooses the text of a capsule: the first source whose title is one.
pub fn choose_text(inputs: &TextInputs<'_>) -> CapsuleText {
    let sources: [(TextSource, Option<CapsuleNote>); 3] = [
        (TextSource::NoteFile, inputs.note_file.and_then(parse_note)),
        (TextSource::NoteBlock, inputs.stdout.and_then(find_note_block).and_then(|block| parse_note(&block))),
        (TextSource::Commit, inputs.commit_message.and_then(parse_commit_message)),
    ];
    let cost_usd = sources.iter().find_map(|(_, note)| note.as_ref().and_then(|note| note.cost_usd));
    let chosen = sources.into_iter().find_map(|(source, note)| {
        let note = note.filter(|note| is_title(&note.title))?;
        Some((source, note))
    });
    let (mut source, title, explanation) = match chosen {
        Some((source, note)) => (source, note.title, note.explanation),
        None => (TextSource::Generated, inputs.generated_title.to_owned(), String::new()),
    };
    let mut text = match source {
        TextSource::Generated => CapsuleText { title, explanation, source, cost_usd },
        _ => CapsuleText::from_written(&title, &explanation, source, cost_usd),
    };
    if let Some(title) = inputs.title_option.filter(|title| is_title(title)) {
        source = TextSource::Option;
        text = CapsuleText::from_written(title, &text.explanation, source, cost_usd);
    }
    if let Some(summary) = inputs.summary_option.filter(|summary| !summary.trim().is_empty()) {
        text.explanation = clean_explanation(summary);
    }
    text
}

impl CapsuleText {
    /// A text that somebody wrote. A title that is too long is cut, and the explanation begins with the whole of it.
    fn from_written(title: &str, explanation: &str, source: TextSource, cost_usd: Option<f64>) -> Self {
        let (title, is_cut) = clean_title(title);
        let explanation = match is_cut {
            Some(whole) => clean_explanation(&format!("{whole}\n\n{explanation}")),
            None => clean_explanation(explanation),
        };
        Self { title, explanation, source, cost_usd }
    }

    /// The `summary` of the capsule: the title and the first sentence of the explanation, at least 20 characters.
    pub fn to_summary(&self, files: u64, lines: u64) -> String {
        let mut summary = self.title.clone();
        if let Some(sentence) = first_sentence(&self.explanation) {
            let end = if summary.ends_with(['.', '!', '?', '。', '！', '？']) { " " } else { ". " };
            summary.push_str(end);
            summary.push_str(&cut_chars(&sentence, MAX_SENTENCE_CHARS));
        }
        if summary.chars().count() < MIN_SUMMARY_CHARS {
            let blast = capsid_model::event::BlastRadius { files, lines };
            summary = format!("{summary} (a change of {blast})").trim_start().to_owned();
        }
        summary
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
