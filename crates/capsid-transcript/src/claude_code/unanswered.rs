//! Prompts that no action of the agent follows: their text would be in no record.

use super::ConversationState;
use crate::Action;
use crate::jsonl::{KeyNumbers, short};
use crate::shape::start_of;

/// Queued prompts that are remembered.
const QUEUED_MAX: usize = 1000;
/// A shortened prompt is compared by so many characters.
const START: usize = 60;

/// Prompts that may turn out to be in no action.
#[derive(Debug, Default)]
pub(super) struct UnansweredPrompts {
    /// Texts that became prompts, whole and by their start.
    prompts: KeyNumbers,
    /// Texts that were queued, or noted as the last prompt, and their records.
    queued: Vec<(String, Action)>,
    /// Records of prompts that nothing followed.
    last: Vec<Action>,
}

impl UnansweredPrompts {
    /// A text became a prompt.
    pub(super) fn add_prompt(&mut self, text: &str) {
        let text = text.trim();
        self.prompts.insert(short(text));
        self.prompts.insert(short(start_of(text, START)));
    }

    /// A text was queued. It is a record if it never becomes a prompt.
    pub(super) fn add_queued(&mut self, text: &str, record: Action) {
        let text = text.trim();
        let is_known = self.queued.iter().any(|(queued, _)| queued == text);
        if !text.is_empty() && !is_known && self.queued.len() < QUEUED_MAX {
            self.queued.push((text.to_owned(), record));
        }
    }

    /// The record of a last line that its writer has not ended.
    pub(super) fn add_cut(&mut self, record: Action) {
        self.last.push(record);
    }

    /// Takes what a file leaves: requests and thinking that nothing followed.
    pub(super) fn file_ends(&mut self, conversation: &mut ConversationState) {
        let mut left: Vec<Action> = conversation.unanswered.drain().map(|(_, record)| record).collect();
        left.extend(conversation.thinking.alone.take().map(|record| *record));
        left.sort_by(|a, b| a.key.cmp(&b.key));
        self.last.extend(left);
    }

    /// The records of all that no action shows.
    pub(super) fn into_records(self) -> Vec<Action> {
        let Self { prompts, queued, last } = self;
        let is_prompt = |text: &str| {
            let shortened = text.strip_suffix('…').or_else(|| text.strip_suffix("..."));
            prompts.contains(&short(text))
                || shortened.is_some_and(|start| prompts.contains(&short(start_of(start.trim(), START))))
        };
        let queued = queued.into_iter().filter(|(text, _)| !is_prompt(text)).map(|(_, record)| record);
        last.into_iter().chain(queued).collect()
    }
}
