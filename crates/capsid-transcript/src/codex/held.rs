//! Actions that wait until it is known what they cost.

use crate::{Action, Kind};
use capsid_model::Result;
use capsid_model::exact::{Fields, Int, Json};

/// So many actions wait behind the one that may still get its tokens.
const MOST: usize = 16;

/// The last call or message, and what came after it that is neither.
pub(super) struct Held<'a> {
    each: &'a mut dyn FnMut(Action) -> Result<()>,
    waiting: Vec<Action>,
}

impl<'a> Held<'a> {
    pub(super) fn new(each: &'a mut dyn FnMut(Action) -> Result<()>) -> Self {
        Self { each, waiting: Vec::new() }
    }

    pub(super) fn push(&mut self, action: Action) -> Result<()> {
        if action.kind == Kind::System && self.waiting.is_empty() {
            return (self.each)(action);
        }
        if action.kind != Kind::System || self.waiting.len() > MOST {
            self.give_all()?;
        }
        self.waiting.push(action);
        Ok(())
    }

    pub(super) fn give_all(&mut self) -> Result<()> {
        self.waiting.drain(..).try_for_each(|action| (self.each)(action))
    }

    /// The call or message that what comes now belongs to.
    pub(super) fn last(&mut self) -> Option<&mut Action> {
        self.waiting.first_mut().filter(|action| action.kind != Kind::System)
    }
}

/// Adds tokens to those that an action has. The size of the window is no sum.
pub(super) fn add(usage: &mut Fields, more: Fields) {
    for (name, value) in more {
        let sum = match (usage.get(&name).and_then(Json::as_i64), &value) {
            (Some(had), Json::Int(Int::Small(more))) if name != "model_context_window" => {
                Json::from(had.saturating_add(*more))
            }
            _ => value,
        };
        usage.insert(name, sum);
    }
}
