//! The session's head, and the items of the model's answers.

use super::CodexReader;
use super::action::verbatim;
use super::duplicate_filter::{DuplicateFilter, MessageForm};
use super::fork;
use super::output::{CallOutput, is_output, output_of};
use super::patch::patch_of;
use crate::jsonl::{JsonLine, short};
use crate::shape::{CHAT_MAX, cap_text, first_text, joined, milliseconds, one_line, plain, summary};
use crate::status::StatusSignals;
use crate::{Action, ActionKind, DropReason, OutcomeStatus, ToolInvocation, TriggerKind};
use capsid_model::Result;
use capsid_model::exact::{ExactJson, canonical, parse_lossy};
use capsid_model::fields;

/// Items that the first versions wrote without an envelope.
pub(super) const KNOWN: [&str; 9] = [
    "message",
    "reasoning",
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "local_shell_call",
    "local_shell_call_output",
    "web_search_call",
];
/// Calls that hand work to a subagent, or to one for each row of a table.
const DELEGATIONS: [&str; 2] = ["spawn_agent", "spawn_agents_on_csv"];
/// Arguments that say what a call is about, the first one that is there.
const TARGETS: [&str; 7] = ["command", "cmd", "path", "file_path", "pattern", "query", "input"];

impl CodexReader<'_> {
    pub(super) fn session(&mut self, payload: &ExactJson, line: &JsonLine<'_>) -> Result<()> {
        let is_first = self.context.session.is_none();
        if self.repeated_until.is_some() || !self.context.session(payload) {
            self.ledger.drop_entry(DropReason::RepeatedHistory);
            return Ok(());
        }
        let texts = ["base_instructions", "instructions"]
            .map(|name| payload.get(name).map(instructions).unwrap_or_default());
        self.ledger.carry(&texts.each_ref().map(String::as_str));
        if is_first && !self.context.forked_from.is_empty() {
            self.forked(line)?;
        }
        let fields = [
            ("base_instructions", "sysprompt", "session base instructions (system prompt)"),
            ("instructions", "instructions", "session instructions"),
        ];
        for (name, key, summary) in fields {
            let text = payload.get(name).map(instructions).unwrap_or_default();
            if !text.is_empty() {
                let action = Action {
                    key: format!("{key}:{}", line.number),
                    kind: ActionKind::System,
                    trigger: TriggerKind::System,
                    agent_id: "codex".to_owned(),
                    environment: self.context.of_session(),
                    analysis: text,
                    summary: summary.to_owned(),
                    ..Action::default()
                };
                self.emit(action)?;
            }
        }
        Ok(())
    }

    /// Records that this rollout was forked, and skips what it repeats.
    fn forked(&mut self, line: &JsonLine<'_>) -> Result<()> {
        let parent = self.context.forked_from.clone();
        let until = fork::repeated_until(self.path, &parent);
        let repeated = until.map(|until| until - line.number);
        let summary = match repeated {
            Some(lines) => format!("forked from {parent}, whose history is repeated in {lines} lines"),
            None => format!("forked from {parent}; repeated history cannot be told apart"),
        };
        let result = fields! { "forked_from_id": parent, "repeated_lines": repeated }.into();
        self.emit_note(format!("fork:{}", line.number), summary, result)?;
        self.repeated_until = until;
        Ok(())
    }

    pub(super) fn item(
        &mut self,
        document: &ExactJson,
        payload: &ExactJson,
        line: &JsonLine<'_>,
    ) -> Result<()> {
        let kind = payload.text("type").unwrap_or_default();
        match kind {
            "message" => self.message(payload, line),
            "reasoning" => {
                let encrypted = payload.text("encrypted_content").unwrap_or_default();
                if !encrypted.is_empty() {
                    self.ledger.count_dropped(DropReason::Summarised);
                }
                let shown = self.thoughts.item(payload, line.number);
                let texts: Vec<&str> = shown.iter().map(String::as_str).chain([encrypted]).collect();
                self.ledger.carry(&texts);
                Ok(())
            }
            "function_call" => {
                let arguments = payload.get("arguments").map(arguments).unwrap_or_default();
                self.call(payload.text("name").unwrap_or_default(), arguments, payload, line)
            }
            "custom_tool_call" => {
                let input = payload.get("input").cloned().unwrap_or_default();
                let arguments = fields! { "input": input }.into();
                self.call(payload.text("name").unwrap_or_default(), arguments, payload, line)
            }
            "local_shell_call" => {
                let action = payload.get("action").cloned().unwrap_or_default();
                self.call("local_shell", action, payload, line)
            }
            "web_search_call" | "web_search" => self.search(payload, MessageForm::Item, line),
            "image_generation_call" => self.image(payload, line),
            "ghost_snapshot" => {
                let commit = payload.at(&["ghost_commit", "id"]).map(plain).unwrap_or_default();
                let summary = summary("ghost_snapshot", &commit);
                self.emit_note(format!("snapshot:{}", line.number), summary, verbatim(payload))
            }
            "compaction" | "compaction_summary" | "context_compaction" => self.compacted(payload, line),
            _ if is_output(kind) => self.output(payload, line),
            _ => self.unknown(&format!("response_item/{kind}"), document, line),
        }
    }

    fn message(&mut self, payload: &ExactJson, line: &JsonLine<'_>) -> Result<()> {
        let text = content(payload.get("content").unwrap_or(&ExactJson::Null));
        match payload.text("role").unwrap_or_default() {
            "assistant" => self.assistant_message(&text, MessageForm::Item, line),
            "user" => {
                let parts = payload.get("content").and_then(ExactJson::as_array).unwrap_or_default();
                let is_image =
                    |part: &&ExactJson| part.text("type").is_some_and(|kind| kind.contains("image"));
                self.context.images += parts.iter().filter(is_image).count();
                self.user_message(&text, MessageForm::Item, line)
            }
            role => self.instructed(role, &text, line),
        }
    }

    /// A request, or a message in the user's name that only sets the stage.
    pub(super) fn user_message(&mut self, text: &str, form: MessageForm, line: &JsonLine<'_>) -> Result<()> {
        if text.trim().is_empty() {
            return Ok(());
        }
        if self.context.is_set_up(text) {
            return self.instructed("set-up", text, line);
        }
        self.ledger.carry(&[text]);
        let is_repeated = self.requests.is_second(form, text);
        self.context.prompt = text.to_owned();
        self.report.finished = false;
        if is_repeated || self.repeated_until.is_some() {
            return Ok(());
        }
        (self.duplicates, self.searched) = (DuplicateFilter::default(), DuplicateFilter::default());
        let record = self.blank(format!("prompt:{}", line.number), ActionKind::System);
        let summary = format!("prompt without an answer: {}", one_line(text));
        let record = Action { trigger: TriggerKind::UserRequest, summary, result: text.into(), ..record };
        match self.unasked.replace(record) {
            Some(earlier) => self.emit(earlier),
            None => Ok(()),
        }
    }

    fn instructed(&mut self, role: &str, text: &str, line: &JsonLine<'_>) -> Result<()> {
        if text.is_empty() || !self.instructed.insert(short(text)) {
            self.ledger.carry(&[text]);
            return Ok(());
        }
        self.emit_text_note(format!("msg:{}", line.number), &format!("{role} instructions"), text)
    }

    pub(super) fn assistant_message(
        &mut self,
        text: &str,
        form: MessageForm,
        line: &JsonLine<'_>,
    ) -> Result<()> {
        if text.is_empty() || self.duplicates.is_second(form, text) {
            self.ledger.carry(&[text]);
            return Ok(());
        }
        let action = self.begun(format!("msg:{}", line.number), ActionKind::Chat);
        text.clone_into(&mut self.said);
        let summary = cap_text(text, CHAT_MAX);
        self.emit(Action { analysis: text.to_owned(), summary, result: text.into(), ..action })
    }

    fn call(
        &mut self,
        tool: &str,
        arguments: ExactJson,
        payload: &ExactJson,
        line: &JsonLine<'_>,
    ) -> Result<()> {
        let id = payload.text("call_id").or(payload.text("id")).unwrap_or_default();
        let key = if id.is_empty() { format!("call:{}", line.number) } else { id.to_owned() };
        let mut action = self.begun(key, ActionKind::Tool);
        if !id.is_empty() {
            action.environment.insert("call_id".to_owned(), id.into());
        }
        if tool == "update_plan" {
            self.plans.extend(arguments.get("plan").map(|plan| short(&canonical(plan))));
        }
        let began = self.context.time().to_owned();
        let (output, answer) = self.output_for(id).unzip();
        action.open = output.is_none() && self.index.is_last_turn(line.position);
        let has_output = output.is_some();
        let CallOutput { mut result, mut signals, rejected } = output.unwrap_or_default();
        signals.status(
            payload.get("status").filter(|_| has_output || payload.text("status") != Some("completed")),
        );
        if signals.is_silent() && has_output {
            signals.add(OutcomeStatus::Success);
            action.environment.insert("status_source".to_owned(), "output".into());
        }
        let is_done = signals.outcome() == OutcomeStatus::Success;
        let target = first_text(&arguments, &TARGETS).unwrap_or_default();
        action.summary = summary(tool, &target);
        if DELEGATIONS.contains(&tool) {
            action.kind = ActionKind::Agent;
            let kind = arguments.text("agent_type").filter(|kind| !kind.is_empty()).unwrap_or("default");
            action.side_effects.push(format!("delegated to {} subagent", one_line(kind)));
        }
        if let Some(patch) = patch_of(tool, &arguments) {
            action.summary.push_str(&patch.counts.suffix());
            action.side_effects = patch.side_effects;
            if patch.is_unterminated {
                action.environment.insert("patch_unterminated".to_owned(), true.into());
            }
            // Why a patch failed is what counts.
            if is_done {
                result = crate::shape::cap(patch.diff.into());
            }
        }
        action.end_with(&signals, " (failed)");
        let is_asked = self.index.is_asked(id);
        action.authority = self.context.authority_of_call(&arguments, is_asked, has_output, rejected);
        let ended = answer.as_ref().and_then(|answer| answer.text("timestamp")).unwrap_or_default();
        let duration_ms = milliseconds(&began, ended);
        action.call = Some(ToolInvocation { tool: tool.to_owned(), arguments, result, duration_ms });
        if let Some(answer) = answer {
            self.ledger.add(&answer, &mut action);
        }
        self.emit(action)
    }

    /// The output of a call, and the line that holds it.
    fn output_for(&mut self, id: &str) -> Option<(CallOutput, ExactJson)> {
        let holder = self.again.at(self.index.output_of(id)?)?;
        let (_, payload) = super::parts(holder);
        (payload.text("call_id") == Some(id)).then(|| (output_of(payload), holder.clone()))
    }

    /// An output: of a call that is in another place of the file, or of none.
    fn output(&mut self, payload: &ExactJson, line: &JsonLine<'_>) -> Result<()> {
        let call = payload.text("call_id").unwrap_or_default();
        if self.index.is_output_of(call, line.position) {
            return Ok(());
        }
        let is_second = self.index.is_called(call);
        let summary = if is_second { "second output of a call" } else { "output of an unknown call" };
        self.emit_note(format!("output:{}", line.number), summary, verbatim(payload))
    }

    pub(super) fn search(
        &mut self,
        payload: &ExactJson,
        form: MessageForm,
        line: &JsonLine<'_>,
    ) -> Result<()> {
        let action_of = payload.get("action").cloned().unwrap_or_default();
        let query = first_text(payload, &["query"])
            .or_else(|| first_text(&action_of, &["query", "url", "pattern"]))
            .unwrap_or_default();
        if self.searched.is_second(form, &query) {
            self.ledger.carry(&[&query]);
            return Ok(());
        }
        let id = payload.text("id").or(payload.text("call_id")).filter(|id| !id.is_empty());
        let key = id.map_or_else(|| format!("websearch:{}", line.number), str::to_owned);
        let action = self.begun(key, ActionKind::Tool);
        let mut result = fields! { "query": query.as_str() };
        if form == MessageForm::Item {
            result.insert("status".to_owned(), payload.get("status").cloned().unwrap_or_default());
        }
        let arguments = fields! { "query": query.as_str(), "action": action_of }.into();
        let mut signals = StatusSignals::default();
        signals.status(payload.get("status"));
        if form == MessageForm::Event {
            signals.add(OutcomeStatus::Success);
        }
        let mut action = Action { summary: summary("web_search", &query), ..action };
        action.end_with(&signals, " (failed)");
        let call = ToolInvocation {
            tool: "web_search".to_owned(),
            arguments,
            result: result.into(),
            duration_ms: None,
        };
        self.emit(Action { call: Some(call), ..action })
    }

    fn image(&mut self, payload: &ExactJson, line: &JsonLine<'_>) -> Result<()> {
        let id = payload.text("id").filter(|id| !id.is_empty());
        let key = id.map_or_else(|| format!("image:{}", line.number), str::to_owned);
        let mut action = self.begun(key, ActionKind::Tool);
        let prompt = payload.get("revised_prompt").map(plain).unwrap_or_default();
        let length = payload.text("result").map(str::len);
        self.ledger.drop_part(payload, "result", DropReason::Summarised);
        let status = payload.get("status").cloned().unwrap_or_default();
        let call = ToolInvocation {
            tool: "image_generation".to_owned(),
            arguments: fields! { "revised_prompt": prompt.as_str() }.into(),
            result: fields! { "status": status, "base64_length": length }.into(),
            duration_ms: None,
        };
        action.summary = summary("image_generation", &one_line(&prompt));
        let mut signals = StatusSignals::default();
        signals.status(payload.get("status"));
        if length.is_some() {
            signals.add(OutcomeStatus::Success);
        }
        action.end_with(&signals, " (failed)");
        self.emit(Action { call: Some(call), ..action })
    }
}

/// The arguments of a call, which come as the text of a JSON document.
fn arguments(value: &ExactJson) -> ExactJson {
    match value.as_str() {
        Some(text) => parse_lossy(text.as_bytes()).unwrap_or_else(|_| fields! { "_raw": text }.into()),
        None => value.clone(),
    }
}

/// The texts of a message.
fn content(content: &ExactJson) -> String {
    match content {
        ExactJson::Array(parts) => {
            let texts: Vec<&str> = parts.iter().filter_map(|part| part.text("text")).collect();
            texts.join("\n")
        }
        other => other.as_str().unwrap_or_default().to_owned(),
    }
}

/// Instructions are a text, or an object that holds it.
fn instructions(value: &ExactJson) -> String {
    match value.get("text") {
        Some(text) => joined(text, "\n"),
        None => joined(value, "\n"),
    }
}
