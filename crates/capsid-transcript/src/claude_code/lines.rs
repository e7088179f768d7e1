//! The second reading: every line that is not the agent's own message.

use super::{ClaudeReader, ConversationState, TranscriptPosition};
use crate::jsonl::{JsonLine, short};
use crate::shape::{authority_of_mode, cap, cap_text, one_line, without_images};
use crate::{Action, ActionKind, DropReason, TriggerKind};
use capsid_model::Result;
use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::fields;

/// Lines that give no record: their words are in the actions that follow.
const CARRIED: [&str; 3] = ["file-history-snapshot", "permission-mode", "mode"];
/// Lines with a prompt that may come again as one, and the member with its text.
const QUEUED: [(&str, &str); 2] = [("queue-operation", "content"), ("last-prompt", "lastPrompt")];
/// Lines that give the session a name, and the member with the name.
const TITLES: [(&str, &str); 6] = [
    ("summary", "summary"),
    ("custom-title", "customTitle"),
    ("ai-title", "aiTitle"),
    ("agent-name", "agentName"),
    ("tag", "tag"),
    ("pr-link", "prUrl"),
];

impl ClaudeReader<'_> {
    pub(super) fn line(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        conversation: &mut ConversationState,
        position: &mut TranscriptPosition<'_>,
    ) -> Result<()> {
        let kind = document.text("type").unwrap_or_default();
        set_mode(document, kind, conversation);
        if let Some(uuid) = document.text("uuid").filter(|uuid| !uuid.is_empty())
            && !self.lines_read.insert(short(uuid))
        {
            self.ledger.drop_entry(DropReason::RepeatedHistory);
            return Ok(());
        }
        match kind {
            "assistant" => self.assistant(document, line, conversation, position),
            "user" => self.user(document, line, conversation, position),
            "attachment" => self.attachment(document, line, conversation, position),
            "system" => {
                let about =
                    document.text("subtype").filter(|subtype| !subtype.is_empty()).unwrap_or("notice");
                let summary = format!("system: {about}");
                self.emit_note(
                    document,
                    line,
                    conversation,
                    position,
                    ("system", summary, verbatim(document)),
                )
            }
            "progress" => {
                self.ledger.drop_entry(DropReason::Progress);
                Ok(())
            }
            _ if CARRIED.contains(&kind) => Ok(()),
            _ if let Some((_, member)) = QUEUED.iter().find(|(queued, _)| *queued == kind) => {
                self.queued(document, line, conversation, position, member);
                Ok(())
            }
            _ => match TITLES.iter().find(|(title, _)| *title == kind) {
                Some((_, member)) => self.title(document, line, conversation, position, member),
                None => self.unknown(document, line, conversation, position),
            },
        }
    }

    fn user(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        conversation: &mut ConversationState,
        position: &TranscriptPosition<'_>,
    ) -> Result<()> {
        let content = document.at(&["message", "content"]).unwrap_or(&ExactJson::Null);
        let blocks = content.as_array().unwrap_or_default();
        let has_result = blocks.iter().any(is_result);
        if has_result {
            // The results of known calls are in the actions of the calls.
            self.ledger.replace(without_results(document, line, position));
        }
        for (number, block) in blocks.iter().enumerate().filter(|(_, block)| is_result(block)) {
            let call = block.text("tool_use_id").unwrap_or_default();
            if !position.index.is_result_in(call, line.position) {
                let suffix = format!("result:{number}");
                let result = orphan(document, block);
                let is_second = position.index.is_called(call);
                let summary = if is_second { "second result of a call" } else { "result of an unknown call" };
                self.emit_note(document, line, conversation, position, (&suffix, summary.into(), result))?;
            }
        }
        let has_payload = document.get("toolUseResult").is_some_and(|payload| !payload.is_null());
        let is_message = has_result || !has_payload;
        let Some(text) = spoken(content).filter(|_| is_message) else { return Ok(()) };
        let is_yes = |name: &str| document.get(name).is_some_and(ExactJson::is_truthy);
        let note = if is_yes("isMeta") || (has_result && text.trim_start().starts_with("<system-reminder>")) {
            Some(("meta", format!("added by the tool: {}", one_line(&text))))
        } else if is_yes("isCompactSummary") {
            Some(("compact", "history compaction".to_owned()))
        } else if text.starts_with("[Request interrupted by user") {
            Some(("interrupted", "interrupted by the user".to_owned()))
        } else {
            None
        };
        match note {
            Some((suffix, summary)) => {
                self.emit_note(document, line, conversation, position, (suffix, summary, text.into()))
            }
            None => self.prompt(text, document, line, conversation, position),
        }
    }

    /// A request to the line's agent. One that nothing followed so far gets a record of its own.
    fn prompt(
        &mut self,
        text: String,
        document: &ExactJson,
        line: &JsonLine<'_>,
        conversation: &mut ConversationState,
        position: &TranscriptPosition<'_>,
    ) -> Result<()> {
        self.ledger.carry(&[&text]);
        self.unanswered.add_prompt(&text);
        let agent = addressee(document, position);
        conversation.is_scheduled = is_scheduled(document, &text);
        conversation.prompts.insert(agent.clone(), text.clone());
        let mut record = is_noted(document, line, conversation, position);
        record.key += ":prompt";
        record.trigger = trigger(document, conversation, position);
        record.summary = format!("prompt without an answer: {}", one_line(&text));
        record.result = text.into();
        match conversation.unanswered.insert(agent, record) {
            Some(earlier) => self.emit(earlier),
            None => Ok(()),
        }
    }

    /// A prompt that waits, or that was the last one. It comes again as a prompt, as a rule.
    fn queued(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        conversation: &ConversationState,
        position: &TranscriptPosition<'_>,
        member: &str,
    ) {
        let text = document.get(member).map(crate::shape::plain).unwrap_or_default();
        self.ledger.carry(&[&text]);
        let mut record = is_noted(document, line, conversation, position);
        record.key += ":queued";
        record.summary = format!("queued prompt: {}", one_line(&text));
        record.result = text.as_str().into();
        self.unanswered.add_queued(&text, record);
    }

    fn attachment(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        conversation: &ConversationState,
        position: &TranscriptPosition<'_>,
    ) -> Result<()> {
        let Some(attachment) = document.get("attachment").filter(|attachment| attachment.is_truthy()) else {
            return Ok(());
        };
        let kind = attachment.get("type").filter(|kind| kind.is_truthy());
        let kind = kind.map_or("context".to_owned(), crate::shape::plain);
        let attached = cap(without_images(attachment.clone()));
        self.emit_note(
            document,
            line,
            conversation,
            position,
            ("attach", format!("attachment: {kind}"), attached),
        )
    }

    fn title(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        conversation: &mut ConversationState,
        position: &TranscriptPosition<'_>,
        member: &str,
    ) -> Result<()> {
        let kind = document.text("type").unwrap_or_default();
        let title = document.text(member).unwrap_or_default();
        if conversation.titles.get(kind).is_some_and(|last| last == title) {
            self.ledger.carry(&[title]);
            return Ok(());
        }
        conversation.titles.insert(kind.to_owned(), title.to_owned());
        let summary = format!("{kind}: {}", one_line(title));
        self.emit_note(document, line, conversation, position, (kind, summary, verbatim(document)))
    }

    pub(super) fn unknown(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        conversation: &ConversationState,
        position: &TranscriptPosition<'_>,
    ) -> Result<()> {
        let kind = cap_text(document.text("type").unwrap_or_default(), 80);
        *self.report.unknown.entry(kind.clone()).or_default() += 1;
        self.ledger.count_noted("unknown line");
        let summary = format!("unknown line: {}", one_line(&kind));
        self.emit_note(document, line, conversation, position, ("unknown", summary, verbatim(document)))
    }

    pub(super) fn too_long(
        &mut self,
        line: &JsonLine<'_>,
        conversation: &ConversationState,
        position: &TranscriptPosition<'_>,
    ) -> Result<()> {
        if !line.ended {
            return Ok(());
        }
        self.report.broken += 1;
        self.ledger.count_noted("line too long to read");
        let summary = format!("line of {} bytes, too long to read", line.position.length);
        let result = fields! { "line": line.number, "bytes": line.position.length }.into();
        self.emit_note(&ExactJson::Null, line, conversation, position, ("long", summary, result))
    }

    /// A line that is no object. One that its writer has not ended may still become one.
    pub(super) fn unreadable(
        &mut self,
        line: &JsonLine<'_>,
        conversation: &ConversationState,
        position: &TranscriptPosition<'_>,
    ) -> Result<()> {
        let base = is_noted(&ExactJson::Null, line, conversation, position);
        let key = format!("{}:broken", base.key);
        let record = crate::ledger::unreadable(key, line.bytes, base.environment, !line.ended);
        if !line.ended {
            self.unanswered.add_cut(record);
            return Ok(());
        }
        self.report.broken += 1;
        self.ledger.count_noted("line that cannot be read");
        self.emit(Action { agent_id: base.agent_id, prompt: base.prompt, ..record })
    }

    /// What waits for an action, as a record of its own.
    pub(super) fn leftovers(
        &mut self,
        line: &JsonLine<'_>,
        conversation: &ConversationState,
        position: &TranscriptPosition<'_>,
    ) -> Result<()> {
        let Some(rest) = self.ledger.rest() else { return Ok(()) };
        let base = is_noted(&ExactJson::Null, line, conversation, position);
        let key = format!("{}:leftover", base.key);
        (self.each)(crate::ledger::leftover(key, rest, base))
    }

    /// An action that is neither a call nor a message of the agent: the key's end, the summary, the result.
    fn emit_note(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        conversation: &ConversationState,
        position: &TranscriptPosition<'_>,
        (suffix, summary, result): (&str, String, ExactJson),
    ) -> Result<()> {
        let action = is_noted(document, line, conversation, position);
        self.emit(Action { key: format!("{}:{suffix}", action.key), summary, result, ..action })
    }
}

/// An action of the system without its content; the key is that of the line.
pub(super) fn is_noted(
    document: &ExactJson,
    line: &JsonLine<'_>,
    conversation: &ConversationState,
    position: &TranscriptPosition<'_>,
) -> Action {
    let mut environment = ExactFields::new();
    for (name, member) in [("cwd", "cwd"), ("timestamp", "timestamp"), ("message_uuid", "uuid")] {
        environment.insert(name.to_owned(), member_or_empty(document, member));
    }
    if let Some(subagent) = position.subagent {
        environment.insert("subagent".to_owned(), subagent.about());
    }
    Action {
        key: line_key(document, line, position),
        kind: ActionKind::System,
        agent_id: agent(document, position),
        trigger: if is_sidechain(document, position) { TriggerKind::Agent } else { TriggerKind::System },
        prompt: prompt(document, conversation, position),
        environment,
        authority: authority_of_mode(&conversation.mode),
        ..Action::default()
    }
}

/// A member as it is; an empty text if there is none.
pub(super) fn member_or_empty(document: &ExactJson, name: &str) -> ExactJson {
    document.get(name).cloned().unwrap_or_else(|| "".into())
}

/// The uuid of a line, or else its number, with a prefix in a subagent's file.
pub(super) fn line_key(
    document: &ExactJson,
    line: &JsonLine<'_>,
    position: &TranscriptPosition<'_>,
) -> String {
    match (document.text("uuid").filter(|uuid| !uuid.is_empty()), position.subagent) {
        (Some(uuid), _) => uuid.to_owned(),
        (None, None) => line.number.to_string(),
        (None, Some(subagent)) => format!("agent-{}:{}", subagent.id, line.number),
    }
}

pub(super) fn is_sidechain(document: &ExactJson, position: &TranscriptPosition<'_>) -> bool {
    position.subagent.is_some() || document.get("isSidechain").is_some_and(ExactJson::is_truthy)
}

/// What began an action: the work of a subagent was begun by an agent.
pub(super) fn trigger(
    document: &ExactJson,
    conversation: &ConversationState,
    position: &TranscriptPosition<'_>,
) -> TriggerKind {
    match is_sidechain(document, position) {
        true => TriggerKind::Agent,
        false if conversation.is_scheduled => TriggerKind::Scheduled,
        false => TriggerKind::UserRequest,
    }
}

pub(super) fn agent(document: &ExactJson, position: &TranscriptPosition<'_>) -> String {
    if is_sidechain(document, position) { "claude-code-subagent" } else { "claude-code" }.to_owned()
}

/// The agent that a line belongs to: the main agent or a subagent.
pub(super) fn addressee(document: &ExactJson, position: &TranscriptPosition<'_>) -> String {
    let id = document.text("agentId").or(position.subagent.map(|subagent| subagent.id.as_str()));
    if is_sidechain(document, position) { format!("agent {}", id.unwrap_or_default()) } else { String::new() }
}

/// The request to the line's agent, or else to the main one.
pub(super) fn prompt(
    document: &ExactJson,
    conversation: &ConversationState,
    position: &TranscriptPosition<'_>,
) -> String {
    let own = conversation.prompts.get(&addressee(document, position));
    own.or_else(|| conversation.prompts.get("")).cloned().unwrap_or_default()
}

fn set_mode(document: &ExactJson, kind: &str, conversation: &mut ConversationState) {
    let truthy = |name: &str| document.text(name).filter(|mode| !mode.is_empty());
    let mode = truthy("permissionMode").or_else(|| {
        let is_mode = matches!(kind, "permission-mode" | "mode");
        truthy("mode").or_else(|| truthy("permission_mode")).filter(|_| is_mode)
    });
    if let Some(mode) = mode {
        conversation.mode = mode.to_owned();
    }
}

fn is_result(block: &ExactJson) -> bool {
    block.text("type") == Some("tool_result")
}

/// The text of a message, or those of its blocks.
fn spoken(content: &ExactJson) -> Option<String> {
    let text = match content {
        ExactJson::String(text) => text.clone(),
        ExactJson::Array(blocks) => {
            let texts = blocks.iter().filter(|block| block.text("type") == Some("text"));
            let texts: Vec<&str> =
                texts.filter_map(|block| block.text("text")).filter(|text| !text.is_empty()).collect();
            texts.join("\n")
        }
        _ => String::new(),
    };
    (!text.is_empty()).then_some(text)
}

/// Whether a schedule gave the prompt, and no person.
fn is_scheduled(document: &ExactJson, text: &str) -> bool {
    let origin = document.at(&["origin", "kind"]).or_else(|| document.get("promptSource"));
    origin.is_some_and(|origin| matches!(origin.as_str(), Some("scheduled" | "schedule" | "cron")))
        || text.trim_start().starts_with("<scheduled-task")
}

/// A line of results without the results of known calls, and without what is reported about them.
fn without_results(
    document: &ExactJson,
    line: &JsonLine<'_>,
    position: &TranscriptPosition<'_>,
) -> ExactJson {
    let is_known = |block: &ExactJson| {
        let call = block.text("tool_use_id").unwrap_or_default();
        is_result(block) && position.index.is_result_in(call, line.position)
    };
    let mut rest = document.clone();
    let ExactJson::Object(fields) = &mut rest else { return rest };
    let Some(ExactJson::Object(message)) = fields.get_mut("message") else { return rest };
    let Some(ExactJson::Array(blocks)) = message.get_mut("content") else { return rest };
    let count = blocks.len();
    blocks.retain(|block| !is_known(block));
    if blocks.len() < count {
        fields.shift_remove("toolUseResult");
    }
    rest
}

fn orphan(document: &ExactJson, block: &ExactJson) -> ExactJson {
    let payload = document.get("toolUseResult").cloned().unwrap_or_default();
    cap(without_images(fields! { "tool_result": block.clone(), "tool_use_result": payload }.into()))
}

fn verbatim(document: &ExactJson) -> ExactJson {
    cap(without_images(document.clone()))
}
