//! Events.

use super::CodexReader;
use super::action::verbatim;
use super::duplicate_filter::MessageForm;
use super::held_action::add;
use crate::jsonl::{JsonLine, short};
use crate::shape::{plain, summary};
use crate::{DropReason, OutcomeStatus};
use capsid_model::Result;
use capsid_model::exact::{ExactFields, ExactJson, canonical};

/// Pieces of texts that come whole.
const DELTAS: [&str; 7] = [
    "agent_message_delta",
    "agent_message_content_delta",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content_delta",
    "reasoning_content_delta",
    "reasoning_raw_content_delta",
    "exec_command_output_delta",
];
/// Events about a call, which is an action if it is in the file.
const OF_CALLS: [&str; 10] = [
    "exec_command_begin",
    "exec_command_end",
    "patch_apply_begin",
    "patch_apply_end",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "image_generation_begin",
    "image_generation_end",
    "view_image_tool_call",
    "terminal_interaction",
];
/// Events about something under way.
const PROGRESS: [&str; 8] = [
    "task_started",
    "turn_started",
    "context_compacted",
    "agent_reasoning_section_break",
    "item_started",
    "web_search_begin",
    "turn_diff",
    "background_event",
];
/// Events whose texts are in other actions, as a rule.
const CARRIED: [&str; 3] = ["session_configured", "raw_response_item", "item_completed"];
/// Events that become actions of their own.
const NOTED: [&str; 11] = [
    "error",
    "stream_error",
    "warning",
    "entered_review_mode",
    "exited_review_mode",
    "undo_completed",
    "thread_rolled_back",
    "thread_name_updated",
    "thread_settings_applied",
    "exec_approval_request",
    "apply_patch_approval_request",
];

impl CodexReader<'_> {
    pub(super) fn event(
        &mut self,
        document: &ExactJson,
        payload: &ExactJson,
        line: &JsonLine<'_>,
    ) -> Result<()> {
        let kind = payload.text("type").unwrap_or_default();
        let text = |name: &str| payload.text(name).unwrap_or_default();
        match kind {
            "user_message" => self.user_message(text("message"), MessageForm::Event, line),
            "agent_message" => self.assistant_message(text("message"), MessageForm::Event, line),
            "agent_reasoning" | "agent_reasoning_raw_content" => {
                self.thoughts.event(text("text"), line.number);
                self.ledger.carry(&[text("text")]);
                Ok(())
            }
            "token_count" => self.tokens(payload, line),
            "web_search_end" => self.search(payload, MessageForm::Event, line),
            "turn_aborted" => {
                self.emit_leftover_reasoning(Some(line))?;
                let reason = payload.get("reason").map(plain).unwrap_or_default();
                let action = self.blank(format!("aborted:{}", line.number), crate::ActionKind::System);
                let (summary, result) = (summary("turn aborted", &reason), verbatim(payload));
                self.emit(crate::Action { summary, result, status: OutcomeStatus::Failure, ..action })
            }
            "task_complete" | "turn_complete" => {
                // It repeats the last message.
                self.ledger.carry(&[self.said.as_str()]);
                self.emit_leftover_reasoning(Some(line))?;
                self.report.finished = self.repeated_until.is_none();
                Ok(())
            }
            _ if DELTAS.contains(&kind) => {
                self.ledger.drop_entry(DropReason::Delta);
                Ok(())
            }
            _ if PROGRESS.contains(&kind) => {
                self.ledger.drop_entry(DropReason::Progress);
                Ok(())
            }
            _ if OF_CALLS.contains(&kind) && self.index.is_called(text("call_id")) => {
                self.ledger.drop_entry(DropReason::Repeated);
                Ok(())
            }
            "plan_update" if self.is_planned(payload) => {
                self.ledger.drop_entry(DropReason::Repeated);
                Ok(())
            }
            _ if CARRIED.contains(&kind) => self.carried(payload),
            _ if NOTED.contains(&kind) || OF_CALLS.contains(&kind) || kind == "plan_update" => {
                self.emit_note(format!("event:{}", line.number), format!("event: {kind}"), verbatim(payload))
            }
            _ => self.unknown(&format!("event_msg/{kind}"), document, line),
        }
    }

    /// Whether a call recorded the plan of an event.
    fn is_planned(&self, payload: &ExactJson) -> bool {
        payload.get("plan").is_some_and(|plan| self.plans.contains(&short(&canonical(plan))))
    }

    /// An event whose texts are in other actions, as a rule: what the last ones do not show waits for the next one.
    fn carried(&mut self, _payload: &ExactJson) -> Result<()> {
        let mut known = vec![ExactJson::from(self.context.environment())];
        known.push(self.context.prompt.as_str().into());
        known.push(self.said.as_str().into());
        if let Some(action) = self.held.last() {
            let call = action.call.as_ref();
            known.extend(call.map(|call| call.arguments.clone()));
            known.extend(call.map(|call| call.result.clone()));
            known.push(action.reasoning.as_str().into());
        }
        self.ledger.carry_known(&known.iter().collect::<Vec<_>>());
        Ok(())
    }

    /// Tokens belong to the last call or message; a count before the first one becomes a separate action.
    fn tokens(&mut self, payload: &ExactJson, line: &JsonLine<'_>) -> Result<()> {
        let usage = payload.get("info").and_then(|info| self.tokens.since_last(info));
        if self.repeated_until.is_some() {
            return Ok(());
        }
        let known = payload.get("rate_limits").cloned().unwrap_or_default();
        let limits = payload.get("rate_limits").filter(|limits| limits.is_truthy());
        if let Some(action) = self.held.last() {
            add(&mut action.usage, usage.unwrap_or_default());
            if let Some(limits) = limits {
                action.environment.insert("rate_limits".to_owned(), limits.clone());
            }
            self.ledger.carry_known(&[&known]);
            return Ok(());
        }
        match usage {
            Some(usage) => self.tokens_alone(usage, limits, line),
            None => Ok(()),
        }
    }

    fn tokens_alone(
        &mut self,
        usage: ExactFields,
        limits: Option<&ExactJson>,
        line: &JsonLine<'_>,
    ) -> Result<()> {
        let mut action = self.blank(format!("usage:{}", line.number), crate::ActionKind::System);
        action.summary = "token usage".to_owned();
        action.usage = usage;
        if let Some(limits) = limits {
            action.environment.insert("rate_limits".to_owned(), limits.clone());
        }
        self.emit(action)
    }
}
