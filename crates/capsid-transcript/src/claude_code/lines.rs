//! The second reading: every line that is not the agent's own message.

use super::{ClaudeReader, ConversationState, TranscriptPosition};
use crate::jsonl::{JsonLine, short};
use crate::shape::{authority_of_mode, cap, cap_text, one_line, without_images};
use crate::{Action, ActionKind};
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
        talk: &mut ConversationState,
        place: &mut TranscriptPosition<'_>,
    ) -> Result<()> {
        let kind = document.text("type").unwrap_or_default();
        set_mode(document, kind, talk);
        if let Some(uuid) = document.text("uuid").filter(|uuid| !uuid.is_empty())
            && !self.lines_read.insert(short(uuid))
        {
            return Ok(());
        }
        match kind {
            "assistant" => self.assistant(document, line, talk, place),
            "user" => self.user(document, line, talk, place),
            "attachment" => self.attachment(document, line, talk, place),
            "system" => {
                let about =
                    document.text("subtype").filter(|subtype| !subtype.is_empty()).unwrap_or("notice");
                let summary = format!("system: {about}");
                self.emit_note(document, line, talk, place, ("system", summary, verbatim(document)))
            }
            _ if SAID_ELSEWHERE.contains(&kind) => Ok(()),
            _ => match TITLES.iter().find(|(title, _)| *title == kind) {
                Some((_, member)) => self.title(document, line, talk, place, member),
                None => self.unknown(document, line, talk, place),
            },
        }
    }

    fn user(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        talk: &mut ConversationState,
        place: &TranscriptPosition<'_>,
    ) -> Result<()> {
        let content = document.at(&["message", "content"]).unwrap_or(&ExactJson::Null);
        let results =
            content.as_array().unwrap_or_default().iter().enumerate().filter(|(_, block)| is_result(block));
        let mut has_result = false;
        for (number, block) in results {
            has_result = true;
            if !place.index.is_called(block.text("tool_use_id").unwrap_or_default()) {
                let suffix = format!("result:{number}");
                let result = orphan(document, block);
                self.emit_note(
                    document,
                    line,
                    talk,
                    place,
                    (&suffix, "result of an unknown call".into(), result),
                )?;
            }
        }
        let has_payload = document.get("toolUseResult").is_some_and(|payload| !payload.is_null());
        let Some(text) = spoken(content).filter(|_| !has_result && !has_payload) else { return Ok(()) };
        let is_yes = |name: &str| document.get(name).is_some_and(ExactJson::is_truthy);
        if is_yes("isMeta") {
            let summary = format!("added by the tool: {}", one_line(text));
            self.emit_note(document, line, talk, place, ("meta", summary, text.into()))
        } else if is_yes("isCompactSummary") {
            self.emit_note(document, line, talk, place, ("compact", "history compaction".into(), text.into()))
        } else if text.starts_with("[Request interrupted by user") {
            self.emit_note(
                document,
                line,
                talk,
                place,
                ("interrupted", "interrupted by the user".into(), text.into()),
            )
        } else {
            talk.prompts.insert(tool_requests(document, place), text.to_owned());
            Ok(())
        }
    }

    fn attachment(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        talk: &ConversationState,
        place: &TranscriptPosition<'_>,
    ) -> Result<()> {
        let Some(attachment) = document.get("attachment").filter(|attachment| attachment.is_truthy()) else {
            return Ok(());
        };
        let kind = attachment.get("type").filter(|kind| kind.is_truthy());
        let kind = kind.map_or("context".to_owned(), crate::shape::plain);
        let attached = cap(without_images(attachment.clone()));
        self.emit_note(document, line, talk, place, ("attach", format!("attachment: {kind}"), attached))
    }

    fn title(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        talk: &mut ConversationState,
        place: &TranscriptPosition<'_>,
        member: &str,
    ) -> Result<()> {
        let kind = document.text("type").unwrap_or_default();
        let title = document.text(member).unwrap_or_default();
        if talk.titles.get(kind).is_some_and(|last| last == title) {
            return Ok(());
        }
        talk.titles.insert(kind.to_owned(), title.to_owned());
        let summary = format!("{kind}: {}", one_line(title));
        self.emit_note(document, line, talk, place, (kind, summary, verbatim(document)))
    }

    pub(super) fn unknown(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        talk: &ConversationState,
        place: &TranscriptPosition<'_>,
    ) -> Result<()> {
        let kind = cap_text(document.text("type").unwrap_or_default(), 80);
        *self.report.unknown.entry(kind.clone()).or_default() += 1;
        let summary = format!("unknown line: {}", one_line(&kind));
        self.emit_note(document, line, talk, place, ("unknown", summary, verbatim(document)))
    }

    pub(super) fn too_long(
        &mut self,
        line: &JsonLine<'_>,
        talk: &ConversationState,
        place: &TranscriptPosition<'_>,
    ) -> Result<()> {
        self.report.broken += 1;
        let summary = format!("line of {} bytes, too long to read", line.place.length);
        let result = fields! { "line": line.number, "bytes": line.place.length }.into();
        self.emit_note(&ExactJson::Null, line, talk, place, ("long", summary, result))
    }

    /// An action that is neither a call nor a message of the agent: the key's end, the summary, the result.
    fn emit_note(
        &mut self,
        document: &ExactJson,
        line: &JsonLine<'_>,
        talk: &ConversationState,
        place: &TranscriptPosition<'_>,
        (suffix, summary, result): (&str, String, ExactJson),
    ) -> Result<()> {
        let action = is_noted(document, line, talk, place);
        (self.each)(Action { key: format!("{}:{suffix}", action.key), summary, result, ..action })
    }
}

/// An action of the system without its content; the key is that of the line.
pub(super) fn is_noted(
    document: &ExactJson,
    line: &JsonLine<'_>,
    talk: &ConversationState,
    place: &TranscriptPosition<'_>,
) -> Action {
    let mut environment = ExactFields::new();
    for (name, member) in [("cwd", "cwd"), ("timestamp", "timestamp"), ("message_uuid", "uuid")] {
        environment.insert(name.to_owned(), member_or_empty(document, member));
    }
    if let Some(subagent) = place.subagent {
        environment.insert("subagent".to_owned(), subagent.about());
    }
    Action {
        key: line_key(document, line, place),
        kind: ActionKind::System,
        agent_id: agent(document, place),
        prompt: prompt(document, talk, place),
        environment,
        authority: authority_of_mode(&talk.mode),
        ..Action::default()
    }
}

/// A member as it is; an empty text if there is none.
pub(super) fn member_or_empty(document: &ExactJson, name: &str) -> ExactJson {
    document.get(name).cloned().unwrap_or_else(|| "".into())
}

/// The uuid of a line, or else its number, which in a subagent's file is told from that of the main one.
pub(super) fn line_key(document: &ExactJson, line: &JsonLine<'_>, place: &TranscriptPosition<'_>) -> String {
    match (document.text("uuid").filter(|uuid| !uuid.is_empty()), place.subagent) {
        (Some(uuid), _) => uuid.to_owned(),
        (None, None) => line.number.to_string(),
        (None, Some(subagent)) => format!("agent-{}:{}", subagent.id, line.number),
    }
}

pub(super) fn is_sidechain(document: &ExactJson, place: &TranscriptPosition<'_>) -> bool {
    place.subagent.is_some() || document.get("isSidechain").is_some_and(ExactJson::is_truthy)
}

pub(super) fn agent(document: &ExactJson, place: &TranscriptPosition<'_>) -> String {
    if is_sidechain(document, place) { "claude-code-subagent" } else { "claude-code" }.to_owned()
}

/// The agent that a line belongs to: the main agent or a subagent.
fn tool_requests(document: &ExactJson, place: &TranscriptPosition<'_>) -> String {
    let id = document.text("agentId").or(place.subagent.map(|subagent| subagent.id.as_str()));
    if is_sidechain(document, place) { format!("agent {}", id.unwrap_or_default()) } else { String::new() }
}

/// The request to the line's agent, or else to the main one.
pub(super) fn prompt(
    document: &ExactJson,
    talk: &ConversationState,
    place: &TranscriptPosition<'_>,
) -> String {
    let own = talk.prompts.get(&tool_requests(document, place));
    own.or_else(|| talk.prompts.get("")).cloned().unwrap_or_default()
}

fn set_mode(document: &ExactJson, kind: &str, talk: &mut ConversationState) {
    let truthy = |name: &str| document.text(name).filter(|mode| !mode.is_empty());
    let told = truthy("permissionMode").or_else(|| {
        let is_mode = matches!(kind, "permission-mode" | "mode");
        truthy("mode").or_else(|| truthy("permission_mode")).filter(|_| is_mode)
    });
    if let Some(mode) = told {
        talk.mode = mode.to_owned();
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
