//! Actions that wait until it is known what they cost.

use crate::{Action, ActionKind};
use capsid_model::Result;
use capsid_model::exact::{ExactFields, ExactInt, ExactJson};

/// So many actions wait behind the one that may still get its tokens.
const MAX: usize = 16;

/// The last call or message, and what came after it that is neither.
pub(super) struct HeldAction<'a> {
    each: &'a mut dyn FnMut(Action) -> Result<()>,
    waiting: Vec<Action>,
}

impl<'a> HeldAction<'a> {
    pub(super) fn new(each: &'a mut dyn FnMut(Action) -> Result<()>) -> Self {
        Self { each, waiting: Vec::new() }
    }

    pub(super) fn push(&mut self, action: Action) -> Result<()> {
        if action.kind == ActionKind::System && self.waiting.is_empty() {
            return (self.each)(action);
        }
        if action.kind != ActionKind::System || self.waiting.len() > MAX {
            self.emit_all()?;
        }
        self.waiting.push(action);
        Ok(())
    }

    pub(super) fn emit_all(&mut self) -> Result<()> {
        self.waiting.drain(..).try_for_each(|action| (self.each)(action))
    }

    /// The call or message that what comes now belongs to.
    pub(super) fn last(&mut self) -> Option<&mut Action> {
        self.waiting.first_mut().filter(|action| action.kind != ActionKind::System)
    }
}

/// Adds tokens to those that an action has. The size of the window is no sum.
pub(super) fn add(usage: &mut ExactFields, more: ExactFields) {
    for (name, value) in more {
        let sum = match (usage.get(&name).and_then(ExactJson::as_i64), &value) {
            (Some(had), ExactJson::Int(ExactInt::Small(more))) if name != "model_context_window" => {
                ExactJson::from(had.saturating_add(*more))
            }
            _ => value,
        };
        usage.insert(name, sum);
    }
}
