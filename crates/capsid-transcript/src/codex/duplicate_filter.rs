//! Removes duplicates of items that occur in two forms.

use crate::jsonl::short;
use std::collections::HashMap;

/// The form in which something comes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum MessageForm {
    /// An item of the model's answer.
    Item,
    /// An event for the screen.
    Event,
}

/// Texts whose other form has not come yet. Two equal texts in the same form are two things.
#[derive(Debug, Default)]
pub(super) struct DuplicateFilter {
    alone: HashMap<(MessageForm, u64), u32>,
}

impl DuplicateFilter {
    /// Whether the same text came before in the other form.
    pub(super) fn is_second(&mut self, form: MessageForm, text: &str) -> bool {
        let other = if form == MessageForm::Item { MessageForm::Event } else { MessageForm::Item };
        let text = short(text);
        match self.alone.get_mut(&(other, text)).filter(|count| **count > 0) {
            Some(count) => {
                *count -= 1;
                true
            }
            None => {
                *self.alone.entry((form, text)).or_default() += 1;
                false
            }
        }
    }
}
