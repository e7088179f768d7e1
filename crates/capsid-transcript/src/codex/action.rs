//! How actions are made and given.

use super::CodexReader;
use crate::jsonl::{JsonLine, short};
use crate::shape::{cap, cap_text, one_line, without_images};
use crate::{Action, ActionKind, DropReason, TriggerKind};
use capsid_model::Result;
use capsid_model::exact::ExactJson;
use capsid_model::fields;

impl CodexReader<'_> {
    /// Gives an action, unless it was given before or a fork repeats it.
    pub(super) fn emit(&mut self, mut action: Action) -> Result<()> {
        if self.repeated_until.is_some() {
            self.ledger.drop_entry(DropReason::RepeatedHistory);
            return Ok(());
        }
        self.ledger.show(&mut action);
        let mut key = action.key.clone();
        // Two calls of one name are two calls: the second is named by its line too.
        if !self.keys.insert(short(&key)) {
            key = format!("{key}:{}", self.context.line);
            if !self.keys.insert(short(&key)) {
                return Ok(());
            }
            action.key = key;
        }
        if action.kind != ActionKind::System {
            self.report.finished = false;
        }
        self.held.push(action)
    }

    /// A call or a message, with the thinking that led to it.
    pub(super) fn begun(&mut self, key: String, kind: ActionKind) -> Action {
        self.unasked = None;
        let mut action = self.blank(key, kind);
        action.reasoning = self.thoughts.drain();
        let images = std::mem::take(&mut self.context.images);
        if images > 0 {
            action.environment.insert("images".to_owned(), images.into());
        }
        let encrypted = std::mem::take(&mut self.thoughts.encrypted);
        // The flag is for thinking that nobody can read.
        if action.reasoning.is_empty() && !encrypted.is_empty() {
            action.environment.insert("thinking_redacted".to_owned(), true.into());
        }
        if !encrypted.is_empty() {
            action.environment.insert("thinking_encrypted".to_owned(), encrypted.into());
        }
        action
    }

    pub(super) fn blank(&self, key: String, kind: ActionKind) -> Action {
        Action {
            key,
            kind,
            trigger: if kind == ActionKind::System { TriggerKind::System } else { TriggerKind::UserRequest },
            agent_id: "codex".to_owned(),
            prompt: self.context.prompt.clone(),
            environment: self.context.environment(),
            model: self.context.model.clone(),
            ..Action::default()
        }
    }

    /// An action that is neither a call nor a message.
    pub(super) fn emit_note(
        &mut self,
        key: String,
        summary: impl Into<String>,
        result: ExactJson,
    ) -> Result<()> {
        let action = self.blank(key, ActionKind::System);
        self.emit(Action { summary: summary.into(), result, ..action })
    }

    /// A text that is neither a call nor a message of the agent.
    pub(super) fn emit_text_note(&mut self, key: String, summary: &str, text: &str) -> Result<()> {
        let action = self.blank(key, ActionKind::System);
        self.emit(Action { summary: summary.to_owned(), analysis: text.to_owned(), ..action })
    }

    pub(super) fn compacted(&mut self, payload: &ExactJson, line: &JsonLine<'_>) -> Result<()> {
        let text = payload.text("message").unwrap_or_default();
        if payload.get("replacement_history").is_some_and(|history| !history.is_null()) {
            self.ledger.drop_part(payload, "replacement_history", DropReason::RepeatedHistory);
        }
        self.emit_text_note(format!("compact:{}", line.number), "history compaction", text)
    }

    pub(super) fn unknown(&mut self, kind: &str, document: &ExactJson, line: &JsonLine<'_>) -> Result<()> {
        let kind = cap_text(kind, 80);
        let summary = format!("unknown line: {}", one_line(&kind));
        *self.report.unknown.entry(kind).or_default() += 1;
        self.ledger.count_noted("unknown line");
        self.emit_note(format!("{}:unknown", line.number), summary, verbatim(document))
    }

    pub(super) fn too_long(&mut self, line: &JsonLine<'_>) -> Result<()> {
        self.report.broken += 1;
        self.ledger.count_noted("line too long to read");
        let summary = format!("line of {} bytes, too long to read", line.position.length);
        let result = fields! { "line": line.number, "bytes": line.position.length }.into();
        self.emit_note(format!("{}:long", line.number), summary, result)
    }

    /// A line that is no object. One that its writer has not ended may still become one.
    pub(super) fn unreadable(&mut self, line: &JsonLine<'_>) -> Result<()> {
        let environment = self.context.environment();
        let key = format!("{}:broken", line.number);
        let record = crate::ledger::unreadable(key, line.bytes, environment, !line.ended);
        if line.ended {
            self.report.broken += 1;
            self.ledger.count_noted("line that cannot be read");
        }
        self.emit(Action { agent_id: "codex".to_owned(), prompt: self.context.prompt.clone(), ..record })
    }

    /// What waits for an action, as a record of its own.
    pub(super) fn leftovers(&mut self, key: String, open: bool) -> Result<()> {
        let Some(rest) = self.ledger.rest() else { return Ok(()) };
        let base = self.blank(String::new(), ActionKind::System);
        self.held.push(Action { open, ..crate::ledger::leftover(key, rest, base) })
    }

    /// Thinking that no action followed. At the end of a turn none will; at the end of the file one may still come.
    pub(super) fn emit_leftover_reasoning(&mut self, end_of_turn: Option<&JsonLine<'_>>) -> Result<()> {
        let last = end_of_turn.map_or(self.thoughts.line, |line| line.number);
        let reasoning = self.thoughts.drain();
        let encrypted = std::mem::take(&mut self.thoughts.encrypted);
        if reasoning.is_empty() && encrypted.is_empty() {
            return Ok(());
        }
        let mut action = self.blank(format!("reasoning:{}", last + 1), ActionKind::System);
        if reasoning.is_empty() {
            action.environment.insert("thinking_redacted".to_owned(), true.into());
        }
        if !encrypted.is_empty() {
            action.environment.insert("thinking_encrypted".to_owned(), encrypted.into());
        }
        let summary = "model reasoning (no following action)".to_owned();
        self.emit(Action { summary, reasoning, open: end_of_turn.is_none(), ..action })
    }
}

/// A value as it is, without the bytes of images, as long as a result may be.
pub(super) fn verbatim(value: &ExactJson) -> ExactJson {
    cap(without_images(value.clone()))
}
