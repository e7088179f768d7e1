//! The second pass: the agent's messages and calls.

use super::lines::{agent, is_noted, is_sidechain, line_key, member_or_empty, prompt, trigger};
use super::outcome::{RawResult, Refusal, shape};
use super::{ClaudeReader, ConversationState, DEEPEST, PendingThinking, TranscriptPosition};
use crate::jsonl::{JsonLine, short};
use crate::shape::{
    CHAT_MAX, authority_of_mode, cap, cap_text, first_text, start_of, summary, without_images,
};
use crate::{Action, ActionKind, Authority, ToolInvocation};
use capsid_model::Result;
use capsid_model::exact::{ExactFields, ExactJson};

/// Arguments that say what a call is about, the first one that is there.
const TARGETS: [&str; 9] =
    ["command", "file_path", "path", "pattern", "query", "url", "description", "prompt", "skill"];
/// How much of a thinking block's signature is stored.
const SIGNATURE_MAX: usize = 24;

/// The blocks of a message, sorted.
#[derive(Debug, Default)]
struct MessageBlocks<'a> {
    prose: Vec<&'a str>,
    thoughts: Vec<&'a str>,
    calls: Vec<&'a ExactJson>,
    others: Vec<&'a ExactJson>,
    images: u64,
}

impl<'a> MessageBlocks<'a> {
    fn split(content: &'a ExactJson, thinking: &mut PendingThinking) -> Self {
        let mut blocks = Self::default();
        if let Some(text) = content.as_str() {
            blocks.prose.push(text);
        }
        for block in content.as_array().unwrap_or_default() {
            match block.text("type").unwrap_or_default() {
                "text" => blocks.prose.push(block.text("text").unwrap_or_default()),
                "thinking" | "redacted_thinking" => {
                    blocks.thoughts.extend(block.text("thinking").filter(|thought| !thought.is_empty()));
                    thinking.blocks += 1;
                    let signature = block.text("signature").filter(|signature| !signature.is_empty());
                    thinking.signatures.extend(signature.map(|s| start_of(s, SIGNATURE_MAX).to_owned()));
                }
                "tool_use" => blocks.calls.push(block),
                "image" => blocks.images += 1,
                _ => blocks.others.push(block),
            }
        }
        blocks
    }

    fn act(&self) -> bool {
        let has_prose = self.prose.iter().any(|text| !text.is_empty());
        has_prose || !self.thoughts.is_empty() || !self.calls.is_empty()
    }
}

impl ClaudeReader<'_> {
    pub(super) fn assistant(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        conversation: &mut ConversationState,
        position: &mut TranscriptPosition<'_>,
    ) -> Result<()> {
        let message = document.get("message").unwrap_or(&ExactJson::Null);
        let blocks = MessageBlocks::split(
            message.get("content").unwrap_or(&ExactJson::Null),
            &mut conversation.thinking,
        );
        if !blocks.act() {
            if !blocks.others.is_empty() {
                self.unknown(document, line, conversation, position)?;
            }
            return self.tokens_alone(document, line, conversation, position);
        }
        let thinking = std::mem::take(&mut conversation.thinking);
        let mut action = Action {
            key: line_key(document, line, position),
            agent_id: agent(document, position),
            trigger: trigger(document, conversation, position),
            prompt: prompt(document, conversation, position),
            environment: environment(document, &blocks, thinking, conversation, position),
            analysis: blocks.prose.join("\n"),
            reasoning: blocks.thoughts.join("\n"),
            model: message.text("model").unwrap_or_default().to_owned(),
            authority: authority_of_mode(&conversation.mode),
            usage: self.usage(document, line, position),
            ..Action::default()
        };
        if blocks.calls.is_empty() {
            return (self.each)(assistant_text(action));
        }
        let key = std::mem::take(&mut action.key);
        for (number, call) in blocks.calls.iter().enumerate() {
            let is_last = number + 1 == blocks.calls.len();
            let mut this = if is_last { std::mem::take(&mut action) } else { action.clone() };
            // The tokens are those of the line, not of each call.
            action.usage = ExactFields::new();
            this.key = format!("{key}:{number}");
            self.call(call, this, document, line, conversation, position)?;
        }
        Ok(())
    }

    fn call(
        &mut self,
        block: &ExactJson,
        mut action: Action,
        document: &ExactJson,
        line: &JsonLine<'_>,
        conversation: &mut ConversationState,
        position: &mut TranscriptPosition<'_>,
    ) -> Result<()> {
        let id = block.text("id").unwrap_or_default();
        let tool = block.text("name").unwrap_or_default();
        let arguments = block.get("input").cloned().unwrap_or_else(|| ExactFields::new().into());
        let raw = position.index.result_of(id).and_then(|result| {
            let holder = position.again.at(result.line)?;
            RawResult::find(holder, result.block, id)
        });
        let own_agent = document.text("agentId").unwrap_or_default();
        let is_side = document.get("isSidechain").is_some_and(ExactJson::is_truthy);
        action.open = raw.is_none() && position.index.is_last_turn(is_side, own_agent, line.position);
        let raw = raw.unwrap_or_default();
        let started =
            raw.payload.as_ref().and_then(|payload| payload.text("agentId")).unwrap_or_default().to_owned();
        let timestamp = document.text("timestamp").unwrap_or_default();
        let duration_ms = milliseconds(timestamp, &raw.timestamp);
        let long = self.files.long_output(&raw.content, raw.payload.as_ref());
        let (signals, refusal) = (raw.signals.clone(), raw.refusal);
        let mut shaped = shape(tool, &arguments, raw);
        if let Some((text, about)) = long {
            shaped.result = text.into();
            if let ExactJson::Object(payload) = &mut shaped.payload {
                payload.insert("persisted_output".to_owned(), about);
            }
        }
        let target = first_text(&arguments, &TARGETS).unwrap_or_default();
        action.summary = format!("{}{}", summary(tool, &target), shaped.suffix);
        let is_interrupted = shaped.suffix.ends_with("(interrupted)");
        action.kind = if matches!(tool, "Agent" | "Task") { ActionKind::Agent } else { ActionKind::Tool };
        action.side_effects = shaped.side_effects;
        action.end_with(&signals, if is_interrupted { "" } else { " (error)" });
        action.authority = match refusal {
            None => action.authority,
            Some(Refusal::User) => Authority::escalated(action.authority.policy_reference, "rejected"),
            Some(Refusal::Rule) => Authority::policy(action.authority.policy_reference),
        };
        action.result = shaped.payload;
        action.call =
            Some(ToolInvocation { tool: tool.to_owned(), arguments, result: shaped.result, duration_ms });
        (self.each)(action)?;
        if position.depth < DEEPEST {
            for subagent in self.files.started_by(id, &started) {
                self.subagent(&subagent, conversation, position.depth + 1)?;
            }
        }
        Ok(())
    }

    /// The tokens of a line's message, the first time one of its lines becomes an action. Several lines can repeat
    /// the count, and the last one has it right.
    fn usage(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        position: &mut TranscriptPosition<'_>,
    ) -> ExactFields {
        let usage_in = |document: &ExactJson| document.at(&["message", "usage"])?.as_object().cloned();
        let own = usage_in(document).unwrap_or_default();
        if document.get("forkedFrom").is_some_and(ExactJson::is_truthy) {
            return ExactFields::new();
        }
        let Some(id) = document.get("message").and_then(|message| message.text("id")) else { return own };
        if !self.messages_counted.insert(short(id)) {
            return ExactFields::new();
        }
        match position.index.message(id).filter(|known| known.usage != line.position) {
            None => own,
            Some(known) => {
                let last = position.again.at(known.usage);
                let last =
                    last.filter(|last| last.at(&["message", "id"]).and_then(ExactJson::as_str) == Some(id));
                last.and_then(usage_in).unwrap_or(own)
            }
        }
    }

    /// A message of which no line becomes an action still took tokens.
    fn tokens_alone(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        conversation: &ConversationState,
        position: &mut TranscriptPosition<'_>,
    ) -> Result<()> {
        let id = document.at(&["message", "id"]).and_then(ExactJson::as_str).unwrap_or_default();
        let is_alone = position
            .index
            .message(id)
            .is_none_or(|known| !known.acts && known.usage.offset <= line.position.offset);
        let usage = if is_alone { self.usage(document, line, position) } else { ExactFields::new() };
        if usage.is_empty() {
            return Ok(());
        }
        let own_agent = document.text("agentId").unwrap_or_default();
        let is_side = document.get("isSidechain").is_some_and(ExactJson::is_truthy);
        let open = position.index.is_last_turn(is_side, own_agent, line.position);
        let action = is_noted(document, line, conversation, position);
        let key = format!("{}:usage", action.key);
        (self.each)(Action { key, usage, open, summary: "token usage".to_owned(), ..action })
    }
}

/// An action without a call: the message, or else the reasoning.
fn assistant_text(action: Action) -> Action {
    let text = if action.analysis.is_empty() { &action.reasoning } else { &action.analysis };
    let summary = cap_text(text, CHAT_MAX);
    let result = if action.analysis.is_empty() { ExactJson::Null } else { action.analysis.as_str().into() };
    Action { key: format!("{}:resp", action.key), kind: ActionKind::Chat, summary, result, ..action }
}

fn environment(
    document: &ExactJson,
    blocks: &MessageBlocks<'_>,
    thinking: PendingThinking,
    conversation: &ConversationState,
    position: &TranscriptPosition<'_>,
) -> ExactFields {
    let message = document.get("message").unwrap_or(&ExactJson::Null);
    let mut environment = ExactFields::new();
    let mut put = |name: &str, value: ExactJson| {
        environment.insert(name.to_owned(), value);
    };
    let member = |name: &str| member_or_empty(document, name);
    put("cwd", member("cwd"));
    put("git_branch", member("gitBranch"));
    put("cc_version", member("version"));
    put("model", member_or_empty(message, "model"));
    put("is_sidechain", is_sidechain(document, position).into());
    put("request_id", member("requestId"));
    put("prompt_id", member("promptId"));
    put("parent_uuid", member("parentUuid"));
    put("message_uuid", member("uuid"));
    put("timestamp", member("timestamp"));
    put("permission_mode", conversation.mode.as_str().into());
    put("user_type", member("userType"));
    put("stop_reason", member_or_empty(message, "stop_reason"));
    put("attribution_skill", member("attributionSkill"));
    put("images", blocks.images.into());
    put("thinking_blocks", thinking.blocks.into());
    put("thinking_signatures", thinking.signatures.into());
    put("thinking_redacted", (thinking.blocks > 0).into());
    if !blocks.others.is_empty() {
        let others: Vec<ExactJson> = blocks.others.iter().map(|block| (*block).clone()).collect();
        put("other_blocks", cap(without_images(others.into())));
    }
    if let Some(parent) = document.get("forkedFrom").filter(|parent| parent.is_truthy()) {
        put("forked_from", parent.clone());
    }
    if let Some(subagent) = position.subagent {
        put("subagent", subagent.about());
    }
    environment
}

/// The time from one moment to another. Through seconds as a double, as `agent-capsule` reckons it: a thousandth can
/// get lost that way, and is to get lost here too.
fn milliseconds(from: &str, to: &str) -> Option<i64> {
    let moment = |text: &str| text.parse::<jiff::Timestamp>().ok().map(jiff::Timestamp::as_microsecond);
    let microseconds = moment(to)?.checked_sub(moment(from)?)?;
    let seconds = microseconds as f64 / 1e6;
    Some((seconds * 1000.0) as i64).map(|milliseconds| milliseconds.max(0))
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn a_thousandth_gets_lost_where_the_reference_loses_it() {
        let after = |thousandths: i64| {
            let (seconds, rest) = (thousandths / 1000, thousandths % 1000);
            milliseconds("2026-06-01T10:00:00.000Z", &format!("2026-06-01T10:00:{seconds:02}.{rest:03}Z"))
        };
        assert_eq!(after(250), Some(250));
        assert_eq!(after(1001), Some(1000));
        assert_eq!((0..20_000).filter(|&n| after(n) != Some(n)).count(), 187);
        assert_eq!(milliseconds("2026-06-01T10:00:01Z", "2026-06-01T10:00:00Z"), Some(0));
        assert_eq!(milliseconds("", "2026-06-01T10:00:00Z"), None);
        assert_eq!(milliseconds("2026-06-01T12:00:00+02:00", "2026-06-01T10:00:01Z"), Some(1000));
    }
}
