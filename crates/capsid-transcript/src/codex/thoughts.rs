//! Thinking that waits for the action it leads to.

use super::twins::{Form, Twins};
use capsid_model::exact::Json;

/// What was thought since the last action.
#[derive(Debug, Default)]
pub(super) struct Thoughts {
    waiting: Vec<Thought>,
    twins: Twins,
    /// Something was thought that nobody can read.
    pub(super) encrypted: bool,
    /// The last line that held a thought.
    pub(super) line: u64,
}

#[derive(Debug)]
struct Thought {
    text: String,
    form: Form,
}

impl Thoughts {
    /// Takes an event in.
    pub(super) fn event(&mut self, text: &str, line: u64) {
        if !text.is_empty() && !self.twins.is_second(Form::Event, text) {
            self.waiting.push(Thought { text: text.to_owned(), form: Form::Event });
            self.line = line;
        }
    }

    /// Takes an item in: its content, or else its summary, without what events have told of it.
    pub(super) fn item(&mut self, payload: &Json, line: u64) {
        let (content, summary) = (texts(payload.get("content")), texts(payload.get("summary")));
        let (chosen, beside) = if content.is_empty() { (summary, Vec::new()) } else { (content, summary) };
        for part in beside {
            self.is_told(part);
        }
        let untold: Vec<&str> = chosen.iter().copied().filter(|part| !self.is_told(part)).collect();
        if !untold.is_empty() {
            self.waiting.push(Thought { text: untold.join("\n\n"), form: Form::Item });
            self.line = line;
        } else if chosen.is_empty() && payload.get("encrypted_content").is_some_and(Json::is_truthy) {
            self.encrypted = true;
        }
    }

    /// Whether an event told this part of an item to an action; one that still waits gives way to the item.
    fn is_told(&mut self, part: &str) -> bool {
        if !self.twins.is_second(Form::Item, part) {
            return false;
        }
        let waits = |thought: &Thought| thought.form == Form::Event && thought.text == part;
        let waiting = self.waiting.iter().position(waits);
        waiting.map(|at| self.waiting.remove(at)).is_none()
    }

    pub(super) fn take(&mut self) -> String {
        let texts: Vec<String> = self.waiting.drain(..).map(|thought| thought.text).collect();
        texts.join("\n\n")
    }
}

/// The texts of a list of parts, or the text itself.
fn texts(parts: Option<&Json>) -> Vec<&str> {
    let found: Vec<&str> = match parts {
        Some(Json::String(text)) => vec![text],
        Some(Json::Array(parts)) => parts.iter().filter_map(|part| part.text("text")).collect(),
        _ => Vec::new(),
    };
    found.into_iter().filter(|text| !text.is_empty()).collect()
}
