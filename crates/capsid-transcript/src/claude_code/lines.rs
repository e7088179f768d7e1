//! The second reading: every line that is not the agent's own message.

use super::{ClaudeReader, ConversationState, TranscriptPosition};
use crate::jsonl::{JsonLine, short};
use crate::shape::{authority_of_mode, cap, cap_text, one_line, without_images};
use crate::{Action, ActionKind, TriggerKind};
use capsid_model::Result;
use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::fields;

/// Lines that repeat what is sealed anyway.
const SAID_ELSEWHERE: [&str; 6] =
    ["progress", "queue-operation", "last-prompt", "file-history-snapshot", "permission-mode", "mode"];
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
            _ if SAID_ELSEWHERE.contains(&kind) => Ok(()),
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
        let results =
            content.as_array().unwrap_or_default().iter().enumerate().filter(|(_, block)| is_result(block));
        let mut has_result = false;
        for (number, block) in results {
            has_result = true;
            if !position.index.is_called(block.text("tool_use_id").unwrap_or_default()) {
                let suffix = format!("result:{number}");
                let result = orphan(document, block);
                self.emit_note(
                    document,
                    line,
                    conversation,
                    position,
                    (&suffix, "result of an unknown call".into(), result),
                )?;
            }
        }
        let has_payload = document.get("toolUseResult").is_some_and(|payload| !payload.is_null());
        let Some(text) = spoken(content).filter(|_| !has_result && !has_payload) else { return Ok(()) };
        let is_yes = |name: &str| document.get(name).is_some_and(ExactJson::is_truthy);
        if is_yes("isMeta") {
            let summary = format!("added by the tool: {}", one_line(text));
            self.emit_note(document, line, conversation, position, ("meta", summary, text.into()))
        } else if is_yes("isCompactSummary") {
            self.emit_note(
                document,
                line,
                conversation,
                position,
                ("compact", "history compaction".into(), text.into()),
            )
        } else if text.starts_with("[Request interrupted by user") {
            self.emit_note(
                document,
                line,
                conversation,
                position,
                ("interrupted", "interrupted by the user".into(), text.into()),
            )
        } else {
            conversation.prompts.insert(tool_requests(document, position), text.to_owned());
            Ok(())
        }
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
        let summary = format!("unknown line: {}", one_line(&kind));
        self.emit_note(document, line, conversation, position, ("unknown", summary, verbatim(document)))
    }

    pub(super) fn too_long(
        &mut self,
        line: &JsonLine<'_>,
        conversation: &ConversationState,
        position: &TranscriptPosition<'_>,
    ) -> Result<()> {
        self.report.broken += 1;
        let summary = format!("line of {} bytes, too long to read", line.position.length);
        let result = fields! { "line": line.number, "bytes": line.position.length }.into();
        self.emit_note(&ExactJson::Null, line, conversation, position, ("long", summary, result))
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
        (self.each)(Action { key: format!("{}:{suffix}", action.key), summary, result, ..action })
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
fn tool_requests(document: &ExactJson, position: &TranscriptPosition<'_>) -> String {
    let id = document.text("agentId").or(position.subagent.map(|subagent| subagent.id.as_str()));
    if is_sidechain(document, position) { format!("agent {}", id.unwrap_or_default()) } else { String::new() }
}

/// The request to the line's agent, or else to the main one.
pub(super) fn prompt(
    document: &ExactJson,
    conversation: &ConversationState,
    position: &TranscriptPosition<'_>,
) -> String {
    let own = conversation.prompts.get(&tool_requests(document, position));
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

/// The text of a message, or its first block of text.
fn spoken(content: &ExactJson) -> Option<&str> {
    let text = match content {
        ExactJson::String(text) => Some(text.as_str()),
        ExactJson::Array(blocks) => blocks
            .iter()
            .find(|block| block.text("type") == Some("text"))
            .and_then(|block| block.text("text")),
        _ => None,
    };
    text.filter(|text| !text.is_empty())
}

fn orphan(document: &ExactJson, block: &ExactJson) -> ExactJson {
    let payload = document.get("toolUseResult").cloned().unwrap_or_default();
    cap(without_images(fields! { "tool_result": block.clone(), "tool_use_result": payload }.into()))
}

fn verbatim(document: &ExactJson) -> ExactJson {
    cap(without_images(document.clone()))
}
