//! The second pass: the agent's messages and calls.

use super::files::Subagent;
use super::lines::{addressee, agent, is_noted, is_sidechain, line_key, member_or_empty, prompt, trigger};
use super::outcome::{RawResult, Refusal, entry_of, shape};
use super::{ClaudeReader, ConversationState, DEEPEST, PendingThinking, TranscriptPosition};
use crate::jsonl::{JsonLine, short};
use crate::shape::{
    CHAT_MAX, authority_of_mode, cap, cap_text, first_text, milliseconds, signature, summary, without_images,
};
use crate::{Action, ActionKind, Authority, OutcomeStatus, ToolInvocation};
use capsid_model::Result;
use capsid_model::exact::{ExactFields, ExactJson};

/// Arguments that say what a call is about, the first one that is there.
const TARGETS: [&str; 9] =
    ["command", "file_path", "path", "pattern", "query", "url", "description", "prompt", "skill"];
/// The call with which a plan is put to the user; that it succeeds means that the user approved.
const PLAN: &str = "ExitPlanMode";

/// The blocks of a message, sorted.
#[derive(Debug, Default)]
struct MessageBlocks<'a> {
    prose: Vec<&'a str>,
    thoughts: Vec<&'a str>,
    /// Signatures of thinking, and thinking that is encrypted.
    proofs: Vec<&'a str>,
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
                    let thought = block.text("thinking").filter(|thought| !thought.is_empty());
                    thinking.is_redacted |= thought.is_none();
                    blocks.thoughts.extend(thought);
                    thinking.blocks += 1;
                    let proofs = ["signature", "data"].iter().filter_map(|name| block.text(name));
                    for proof in proofs.filter(|proof| !proof.is_empty()) {
                        blocks.proofs.push(proof);
                        thinking.signatures.push(signature(proof));
                    }
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
            if blocks.others.is_empty() {
                self.ledger.carry(&blocks.proofs);
                self.thinking_alone(document, line, conversation, position);
            } else {
                self.unknown(document, line, conversation, position)?;
            }
            return self.tokens_alone(document, line, conversation, position);
        }
        conversation.unanswered.remove(&addressee(document, position));
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
        let proofs: ExactJson = blocks.proofs.clone().into();
        let mut elsewhere = vec![&proofs];
        if blocks.calls.is_empty() {
            let mut action = assistant_text(action);
            self.ledger.show_with(&mut action, &elsewhere);
            return (self.each)(action);
        }
        let others = blocks.calls.iter().skip(1);
        elsewhere
            .extend(others.flat_map(|call| ["id", "name", "input"].map(|name| call.get(name))).flatten());
        let key = std::mem::take(&mut action.key);
        for (number, call) in blocks.calls.iter().enumerate() {
            let is_last = number + 1 == blocks.calls.len();
            let mut this = if is_last { std::mem::take(&mut action) } else { action.clone() };
            // The tokens are those of the line, not of each call.
            action.usage = ExactFields::new();
            this.key = format!("{key}:{number}");
            let (mut this, subagents) = self.call(call, this, document, line, position);
            self.ledger.show_with(&mut this, &elsewhere);
            (self.each)(this)?;
            for subagent in subagents {
                self.subagent(&subagent, conversation, position.depth + 1)?;
            }
        }
        Ok(())
    }

    /// What thinking becomes if no action follows it.
    fn thinking_alone(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        conversation: &mut ConversationState,
        position: &TranscriptPosition<'_>,
    ) {
        let mut record = is_noted(document, line, conversation, position);
        let thinking = &mut conversation.thinking;
        if thinking.blocks == 0 {
            return;
        }
        record.key += ":thinking";
        record.summary = "thinking without an action".to_owned();
        record.environment.insert("thinking_blocks".to_owned(), thinking.blocks.into());
        record.environment.insert("thinking_signatures".to_owned(), thinking.signatures.clone().into());
        record.environment.insert("thinking_redacted".to_owned(), thinking.is_redacted.into());
        thinking.alone = Some(Box::new(record));
    }

    fn call(
        &mut self,
        block: &ExactJson,
        mut action: Action,
        document: &ExactJson,
        line: &JsonLine<'_>,
        position: &mut TranscriptPosition<'_>,
    ) -> (Action, Vec<Subagent>) {
        let id = block.text("id").unwrap_or_default();
        let tool = block.text("name").unwrap_or_default();
        let arguments = block.get("input").cloned().unwrap_or_else(|| ExactFields::new().into());
        let found = position.index.result_of(id).and_then(|result| {
            let holder = position.again.at(result.line)?;
            Some((RawResult::find(holder, result.block, id)?, entry_of(tool, holder, result.block)))
        });
        let (raw, entry) = found.unzip();
        let own_agent = document.text("agentId").unwrap_or_default();
        let is_side = document.get("isSidechain").is_some_and(ExactJson::is_truthy);
        action.open = raw.is_none() && position.index.is_last_turn(is_side, own_agent, line.position);
        let raw = raw.unwrap_or_default();
        let started =
            raw.payload.as_ref().and_then(|payload| payload.text("agentId")).unwrap_or_default().to_owned();
        let timestamp = document.text("timestamp").unwrap_or_default();
        let duration_ms = milliseconds(timestamp, &raw.timestamp);
        let long = self.files.long_output(&raw.content, raw.payload.as_ref());
        let (signals, refusal) = (raw.signals.clone(), raw.refusal.clone());
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
        let mode = action.authority.policy_reference.clone();
        action.authority = match refusal {
            None if tool == PLAN && signals.outcome() == OutcomeStatus::Success => Authority::approved(mode),
            None => action.authority,
            Some(Refusal::User) => Authority::escalated(mode, "rejected"),
            Some(Refusal::Rule(rule)) if mode.is_empty() => Authority::policy(format!("rule={rule}")),
            Some(Refusal::Rule(rule)) => Authority::policy(format!("{mode}; rule={rule}")),
        };
        if !id.is_empty() {
            action.environment.insert("call_id".to_owned(), id.into());
        }
        action.result = shaped.payload;
        action.call =
            Some(ToolInvocation { tool: tool.to_owned(), arguments, result: shaped.result, duration_ms });
        if let Some(entry) = entry {
            self.ledger.add(&entry, &mut action);
        }
        let is_deeper = position.depth < DEEPEST;
        let subagents = if is_deeper { self.files.started_by(id, &started) } else { Vec::new() };
        (action, subagents)
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
        self.emit(Action { key, usage, open, summary: "token usage".to_owned(), ..action })
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
    put("thinking_redacted", thinking.is_redacted.into());
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
