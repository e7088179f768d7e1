//! Goes through the messages of a task in their order and makes an action of each that is one.

use super::action_builder::{ClineActionBuilder, ClineMessage};
use super::{messages, tools};
use crate::shape::{cap, one_line, without_images};
use crate::{Action, ActionKind, ReadReport, TriggerKind};
use capsid_model::Result;
use capsid_model::exact::ExactJson;
use std::rc::Rc;

/// The action of a message, if it is one.
pub(super) fn add_message(
    builder: &mut ClineActionBuilder,
    key: &str,
    json: &ExactJson,
    parts: &[ExactJson],
    is_last: bool,
    report: &mut ReadReport,
) -> Result<Option<Action>> {
    builder.ledger.begin(Rc::new(json.clone()));
    let action = action_of(builder, key, json, parts, is_last, report)?;
    let Some(mut action) = action else {
        builder.carry();
        return Ok(None);
    };
    builder.ledger.show(&mut action);
    for part in parts {
        builder.ledger.add(part, &mut action);
    }
    Ok(Some(action))
}

fn action_of(
    builder: &mut ClineActionBuilder,
    key: &str,
    json: &ExactJson,
    parts: &[ExactJson],
    is_last: bool,
    report: &mut ReadReport,
) -> Result<Option<Action>> {
    let is_ask = json.text("type") == Some("ask") || (json.get("say").is_none() && json.get("ask").is_some());
    let kind = json.text(if is_ask { "ask" } else { "say" }).unwrap_or_default();
    let text = json.text("text").unwrap_or_default();
    let message = ClineMessage { key, json, kind, is_ask, text, parts, is_last };
    builder.add_pending(json);
    Ok(match kind {
        "api_req_started" => match builder.request(&message) {
            true => None,
            false => Some(messages::unmatched(builder, &message)),
        },
        "reasoning" => {
            builder.think(text);
            None
        }
        "task" | "user_feedback" | "user_feedback_diff" => Some(messages::by_user(builder, &message)),
        "text" | "completion_result" => messages::by_agent(builder, &message),
        "followup" | "plan_mode_respond" | "act_mode_respond" | "new_task" => {
            Some(messages::question(builder, &message))
        }
        "tool" => Some(tools::tool(builder, &message)?),
        "command" => Some(tools::command(builder, &message)?),
        "browser_action" => Some(tools::browser(builder, &message)?),
        "use_mcp_server" | "mcp_server_response" => Some(tools::mcp(builder, &message)?),
        "use_subagents" => Some(tools::subagents(builder, &message)?),
        "error"
        | "error_retry"
        | "diff_error"
        | "clineignore_error"
        | "api_req_failed"
        | "mistake_limit_reached" => Some(messages::error(builder, &message)),
        "info" | "task_progress" | "condense" | "summarize_task" | "subagent" | "subagent_usage" => {
            Some(messages::note_action(builder, &message))
        }
        // What completes an earlier message is in its action, and does not come here.
        "command_output"
        | "browser_action_result"
        | "shell_integration_warning"
        | "shell_integration_warning_with_suggestion"
            if !message.text.is_empty() =>
        {
            Some(messages::unmatched(builder, &message))
        }
        kind if super::index::is_silent(kind) => None,
        kind => {
            let form = if is_ask { "ask" } else { "say" };
            let name = if kind.is_empty() { "none".to_owned() } else { format!("{form} {}", one_line(kind)) };
            *report.unknown.entry(name.clone()).or_default() += 1;
            builder.ledger.count_noted("unknown message");
            Some(Action {
                kind: ActionKind::System,
                trigger: TriggerKind::System,
                summary: format!("unknown message {name}"),
                result: cap(without_images(json.clone())),
                ..builder.base(&message)
            })
        }
    })
}
