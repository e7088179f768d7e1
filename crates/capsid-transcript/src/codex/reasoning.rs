//! Thinking that waits for the action it leads to.

use super::duplicate_filter::{DuplicateFilter, MessageForm};
use capsid_model::exact::ExactJson;

/// What was thought since the last action.
#[derive(Debug, Default)]
pub(super) struct PendingReasoning {
    waiting: Vec<ReasoningPart>,
    twins: DuplicateFilter,
    /// Thinking that nobody can read, by its hash.
    pub(super) encrypted: Vec<ExactJson>,
    /// The last line that held a thought.
    pub(super) line: u64,
}

#[derive(Debug)]
struct ReasoningPart {
    text: String,
    form: MessageForm,
}

impl PendingReasoning {
    /// Takes an event in.
    pub(super) fn event(&mut self, text: &str, line: u64) {
        if !text.is_empty() && !self.twins.is_second(MessageForm::Event, text) {
            self.waiting.push(ReasoningPart { text: text.to_owned(), form: MessageForm::Event });
            self.line = line;
        }
    }

    /// Adds an item: its content, or else its summary, without what events have reported already. Returns the texts
    /// that an action shows.
    pub(super) fn item(&mut self, payload: &ExactJson, line: u64) -> Vec<String> {
        let (content, summary) = (texts(payload.get("content")), texts(payload.get("summary")));
        let (chosen, other) = if content.is_empty() { (summary, Vec::new()) } else { (content, summary) };
        let mut shown: Vec<String> = chosen.iter().map(|text| (*text).to_owned()).collect();
        for part in other {
            if self.is_told(part) {
                shown.push(part.to_owned());
            }
        }
        let unreported: Vec<&str> = chosen.iter().copied().filter(|part| !self.is_told(part)).collect();
        if !unreported.is_empty() {
            self.waiting.push(ReasoningPart { text: unreported.join("\n\n"), form: MessageForm::Item });
            self.line = line;
        }
        if let Some(encrypted) = payload.text("encrypted_content").filter(|text| !text.is_empty()) {
            self.encrypted.push(crate::shape::digest(encrypted));
            if chosen.is_empty() {
                self.line = line;
            }
        }
        shown
    }

    /// Whether an event gave this part of an item to an action; a part that still waits is replaced by the item.
    fn is_told(&mut self, part: &str) -> bool {
        if !self.twins.is_second(MessageForm::Item, part) {
            return false;
        }
        let waits = |thought: &ReasoningPart| thought.form == MessageForm::Event && thought.text == part;
        let waiting = self.waiting.iter().position(waits);
        waiting.map(|at| self.waiting.remove(at)).is_none()
    }

    pub(super) fn drain(&mut self) -> String {
        let texts: Vec<String> = self.waiting.drain(..).map(|thought| thought.text).collect();
        texts.join("\n\n")
    }
}

/// The texts of a list of parts, or the text itself.
fn texts(parts: Option<&ExactJson>) -> Vec<&str> {
    let texts: Vec<&str> = match parts {
        Some(ExactJson::String(text)) => vec![text],
        Some(ExactJson::Array(parts)) => parts.iter().filter_map(|part| part.text("text")).collect(),
        _ => Vec::new(),
    };
    texts.into_iter().filter(|text| !text.is_empty()).collect()
}
