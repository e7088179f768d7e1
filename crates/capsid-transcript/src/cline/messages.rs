//! The messages of the user, of the agent, and of Cline itself.

use super::action_builder::{ClineActionBuilder, ClineMessage};
use crate::shape::{CHAT_MAX, cap, cap_text, one_line, without_images};
use crate::{Action, ActionKind};
use capsid_model::exact::ExactJson;
use capsid_model::fields;

/// The user's message is the request of the following actions.
pub(super) fn by_user(builder: &mut ClineActionBuilder, message: &ClineMessage<'_>) -> Action {
    // A change that the user made to the agent's edit is reported, but it is not a request.
    if message.kind != "user_feedback_diff" {
        builder.prompt = message.text.to_owned();
    }
    Action {
        summary: format!("user: {}", one_line(message.text)),
        result: fields! {
            "role": "user",
            "say": message.kind,
            "text": cap_text(message.text, CHAT_MAX),
        }
        .into(),
        ..builder.base(message)
    }
}

/// The agent's message, or its reasoning if it is empty.
pub(super) fn by_agent(builder: &mut ClineActionBuilder, message: &ClineMessage<'_>) -> Option<Action> {
    if message.text.is_empty() && !builder.has_thought() {
        return None;
    }
    let summary = match message.text {
        "" => "assistant reasoning".to_owned(),
        text => cap_text(text, CHAT_MAX),
    };
    let result = if message.text.is_empty() { ExactJson::Null } else { message.text.into() };
    Some(Action { analysis: message.text.to_owned(), summary, result, ..builder.act(message) })
}

/// A question or a plan that the agent put to the user: its words, and what may be answered.
pub(super) fn question(builder: &mut ClineActionBuilder, message: &ClineMessage<'_>) -> Action {
    let object = message.object();
    let question = object.as_ref().and_then(|object| {
        ["question", "response", "context"]
            .iter()
            .find_map(|name| object.text(name).filter(|text| !text.is_empty()))
    });
    let question = question.unwrap_or(message.text).to_owned();
    let options = object.as_ref().and_then(|object| object.get("options")).is_some_and(ExactJson::is_truthy);
    let result = match object {
        Some(object) if options => object,
        _ => question.as_str().into(),
    };
    Action { summary: cap_text(&question, CHAT_MAX), analysis: question, result, ..builder.act(message) }
}

/// Something went wrong outside of any tool.
pub(super) fn error(builder: &mut ClineActionBuilder, message: &ClineMessage<'_>) -> Action {
    Action {
        kind: ActionKind::System,
        trigger: crate::TriggerKind::System,
        status: crate::OutcomeStatus::Failure,
        summary: crate::shape::summary(message.kind, message.text),
        result: cap(message.text.into()),
        ..builder.base(message)
    }
}

/// A message that belongs to no action: an output without a command, a second result, a request that is no JSON.
pub(super) fn unmatched(builder: &mut ClineActionBuilder, message: &ClineMessage<'_>) -> Action {
    builder.ledger.count_unmatched("message without an action");
    let mut action = note_action(builder, message);
    action.key += ":note";
    action
}

/// A note of Cline, stored as it is.
pub(super) fn note_action(builder: &mut ClineActionBuilder, message: &ClineMessage<'_>) -> Action {
    let result = message.object().unwrap_or_else(|| message.text.into());
    Action {
        kind: ActionKind::System,
        trigger: crate::TriggerKind::System,
        summary: crate::shape::summary(message.kind, message.text),
        result: cap(without_images(result)),
        ..builder.base(message)
    }
}
