//! Events.

use super::CodexReader;
use super::action::verbatim;
use super::duplicate_filter::MessageForm;
use super::held_action::add;
use crate::OutcomeStatus;
use crate::jsonl::JsonLine;
use crate::shape::{plain, summary};
use capsid_model::Result;
use capsid_model::exact::{ExactFields, ExactJson};

/// Events that only report the beginning, the progress or the end of what is recorded elsewhere.
const SAID_ELSEWHERE: [&str; 29] = [
    "task_started",
    "turn_started",
    "session_configured",
    "context_compacted",
    "agent_message_delta",
    "agent_message_content_delta",
    "agent_reasoning_delta",
    "agent_reasoning_raw_content_delta",
    "agent_reasoning_section_break",
    "reasoning_content_delta",
    "reasoning_raw_content_delta",
    "raw_response_item",
    "item_started",
    "item_completed",
    "exec_command_begin",
    "exec_command_output_delta",
    "exec_command_end",
    "patch_apply_begin",
    "patch_apply_end",
    "mcp_tool_call_begin",
    "mcp_tool_call_end",
    "web_search_begin",
    "image_generation_begin",
    "image_generation_end",
    "view_image_tool_call",
    "turn_diff",
    "plan_update",
    "terminal_interaction",
    "background_event",
];
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
            "user_message" => {
                self.user_message(text("message"));
                Ok(())
            }
            "agent_message" => self.assistant_message(text("message"), MessageForm::Event, line),
            "agent_reasoning" | "agent_reasoning_raw_content" => {
                self.thoughts.event(text("text"), line.number);
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
                self.emit_leftover_reasoning(Some(line))?;
                self.report.finished = self.repeated_until.is_none();
                Ok(())
            }
            _ if SAID_ELSEWHERE.contains(&kind) => Ok(()),
            _ if NOTED.contains(&kind) => {
                self.emit_note(format!("event:{}", line.number), format!("event: {kind}"), verbatim(payload))
            }
            _ => self.unknown(&format!("event_msg/{kind}"), document, line),
        }
    }

    /// Tokens belong to the last call or message; a count before the first one becomes a separate action.
    fn tokens(&mut self, payload: &ExactJson, line: &JsonLine<'_>) -> Result<()> {
        let usage = payload.get("info").and_then(|info| self.tokens.since_last(info));
        if self.repeated_until.is_some() {
            return Ok(());
        }
        let limits = payload.get("rate_limits").filter(|limits| limits.is_truthy());
        if let Some(action) = self.held.last() {
            add(&mut action.usage, usage.unwrap_or_default());
            if let Some(limits) = limits {
                action.environment.insert("rate_limits".to_owned(), limits.clone());
            }
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
