//! What the tools hand to the hook.

use capsid_model::exact::{ExactFields, ExactJson, parse_lossy};
use capsid_model::{Code, Problem, Result};
use capsid_transcript::Tool;
use capsid_transcript::cursor::hook_fields;
use std::path::{Path, PathBuf};

/// What a tool passed to the hook.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HookPayload {
    /// The session, where the tool named it.
    pub session: Option<String>,
    /// The transcript, where the tool named it.
    pub transcript: Option<PathBuf>,
    /// Whether the conversation's state is to be recorded in the meta-chain now.
    pub finalize: bool,
    /// What belongs into the environment of each action (Cursor).
    pub fields: ExactFields,
    /// Whether the call is none of ours: nothing is to be sealed.
    pub ignore: bool,
}

/// Reads what the tool gave: Codex as the last argument, the others on standard input.
///
/// A field of the wrong type counts as missing. Nothing at all, or a call that names no session, is to be ignored.
pub fn parse(tool: Tool, stdin: &str, argv: &[String]) -> Result<HookPayload> {
    let text = match tool {
        Tool::Codex => argv.last().map_or("", String::as_str),
        _ => stdin,
    };
    let text = text.trim_start_matches('\u{feff}').trim();
    if text.is_empty() {
        return Ok(HookPayload { ignore: true, ..HookPayload::default() });
    }
    let value = parse_lossy(text.as_bytes())?;
    if value.as_object().is_none() {
        let message = format!("What {} handed to the hook is no JSON object.", tool.name());
        return Err(Problem::new(Code::JsonInvalid, message)
            .fix("Let the tool call the hook; by hand, use `capsid trail seal`."));
    }
    let payload = match tool {
        Tool::ClaudeCode => claude_code(&value),
        Tool::Codex => codex(&value),
        Tool::Cursor => cursor(&value),
        Tool::Cline => cline(&value),
    };
    let nameless = payload.session.is_none() && payload.transcript.is_none();
    Ok(HookPayload { ignore: payload.ignore || nameless, ..payload })
}

/// What the hook must print for the tool to be content.
pub fn reply(tool: Tool) -> &'static str {
    match tool {
        Tool::Cursor | Tool::Cline => "{}",
        Tool::ClaudeCode | Tool::Codex => "",
    }
}

fn claude_code(value: &ExactJson) -> HookPayload {
    let transcript = path(value, "transcript_path");
    // The transcript is named after its session.
    let stem = |path: &Path| path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned);
    let session = name(value, "session_id").or_else(|| transcript.as_deref().and_then(stem));
    let finalize = value.text("hook_event_name") == Some("SessionEnd");
    HookPayload { session, transcript, finalize, ..HookPayload::default() }
}

/// Codex has no event for the end of a session, so each turn may be the last one.
fn codex(value: &ExactJson) -> HookPayload {
    let ignore = value.text("type") != Some("agent-turn-complete");
    HookPayload { session: name(value, "thread-id"), finalize: !ignore, ignore, ..HookPayload::default() }
}

fn cursor(value: &ExactJson) -> HookPayload {
    let over = matches!(value.text("status"), Some("completed" | "aborted" | "error"));
    HookPayload {
        session: name(value, "conversation_id").or_else(|| name(value, "session_id")),
        transcript: path(value, "transcript_path"),
        finalize: over || value.text("hook_event_name") == Some("sessionEnd"),
        fields: hook_fields(value),
        ignore: false,
    }
}

fn cline(value: &ExactJson) -> HookPayload {
    HookPayload { session: name(value, "taskId"), finalize: true, ..HookPayload::default() }
}

/// An id: a text, or the number that some tools make of it.
fn name(value: &ExactJson, field: &str) -> Option<String> {
    match value.get(field)? {
        ExactJson::String(text) => Some(text.clone()).filter(|text| !text.is_empty()),
        number => number.as_i64().map(|number| number.to_string()),
    }
}

fn path(value: &ExactJson, field: &str) -> Option<PathBuf> {
    value.text(field).filter(|text| !text.is_empty()).map(PathBuf::from)
}

#[cfg(test)]
mod tests;
