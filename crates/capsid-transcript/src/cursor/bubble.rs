//! One bubble becomes one action.

use super::conversation::Composer;
use super::database::CursorDatabase;
use super::edit;
use super::request::UserRequest;
use super::subagent::Subagents;
use super::tool_call::ToolCall;
use crate::ledger::EntryLedger;
use crate::shape::{CHAT_MAX, cap, cap_text, first_text, iso_time, one_line, summary, without_images};
use crate::{Action, ActionKind, ReadReport, ToolInvocation, TranscriptSource, TriggerKind};
use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::fields;
use std::rc::Rc;

const TARGETS: [&str; 11] = [
    "command",
    "file",
    "file_path",
    "path",
    "relativeWorkspacePath",
    "query",
    "pattern",
    "url",
    "target_file",
    "description",
    "prompt",
];
/// Makes actions of the bubbles of one conversation, which come in their order.
pub(super) struct Bubbles<'a> {
    state: &'a CursorDatabase,
    composer: &'a Composer,
    environment: ExactFields,
    model: String,
    prompt: String,
    generating: bool,
    subagents: Option<Subagents>,
    ledger: EntryLedger,
    /// The record of a request that nothing followed yet.
    unanswered: Option<Action>,
    /// The request as the editor stored it, for the action that follows.
    request_raw: Option<String>,
}

impl<'a> Bubbles<'a> {
    pub(super) fn new(source: &TranscriptSource, state: &'a CursorDatabase, composer: &'a Composer) -> Self {
        let mut environment = source.hook_fields.clone();
        let mut add = |name: &str, value: ExactJson| {
            if value.is_truthy() {
                environment.insert(name.to_owned(), value);
            }
        };
        add("title", composer.member("name"));
        add("conversation_created_at_ms", composer.created_at());
        add("context_tokens_used", composer.member("contextTokensUsed"));
        if !environment.contains_key("model") && !composer.model().is_empty() {
            environment.insert("model".to_owned(), composer.model().into());
        }
        if let Some(branch) = composer.branch() {
            environment.entry("git_branch".to_owned()).or_insert(branch);
        }
        if let Some(cwd) = super::only_root(&environment) {
            environment.entry("cwd".to_owned()).or_insert(cwd);
        }
        let model = environment.get("model").and_then(ExactJson::as_str).unwrap_or_default().to_owned();
        let generating = composer.is_generating();
        Self {
            state,
            composer,
            environment,
            model,
            prompt: String::new(),
            generating,
            subagents: None,
            ledger: EntryLedger::default(),
            unanswered: None,
            request_raw: None,
        }
    }

    /// The actions of a bubble. The user's bubbles give none: they are the request of the following actions.
    pub(super) fn actions(
        &mut self,
        id: &str,
        bubble: ExactJson,
        is_last: bool,
        report: &mut ReadReport,
    ) -> Vec<Action> {
        let bubble = Rc::new(bubble);
        self.ledger.begin(Rc::clone(&bubble));
        let mut actions = Vec::new();
        match bubble.get("type").and_then(ExactJson::as_i64) {
            Some(1) => actions.extend(self.by_user(id, &bubble)),
            Some(2) => actions.extend(self.assistant(id, &bubble, is_last)),
            _ => {
                let kind = bubble.get("type").map_or("none".to_owned(), crate::shape::plain);
                *report.unknown.entry(format!("bubble type {}", one_line(&kind))).or_default() += 1;
                self.ledger.count_noted("unknown bubble type");
                let summary = format!("unknown bubble type {}", one_line(&kind));
                actions.push(self.noted(id, "", summary, (*bubble).clone()));
            }
        }
        self.ledger.end();
        actions
    }

    /// The record of a bubble that is too large to be read.
    pub(super) fn too_large(&mut self, id: &str, bytes: i64) -> Action {
        self.ledger.count_noted("bubble too large to read");
        let summary = format!("bubble of {bytes} bytes not read");
        self.noted(id, "", summary, fields! { "bytes": bytes }.into())
    }

    /// The record of a bubble that the conversation lists and the database does not have. It may still come.
    pub(super) fn absent(&mut self, id: &str, header: ExactJson, is_last: bool) -> Action {
        self.ledger.count_noted("header without a bubble");
        let summary = "message that the database does not have".to_owned();
        Action { open: is_last && self.generating, ..self.noted(id, ":absent", summary, header) }
    }

    /// The record of a bubble that is no JSON document.
    pub(super) fn unreadable(&mut self, id: &str, bytes: &[u8]) -> Action {
        self.ledger.count_noted("bubble that cannot be read");
        let base = self.base(id);
        let record = crate::ledger::unreadable(format!("{id}:broken"), bytes, base.environment, false);
        Action { prompt: base.prompt, model: base.model, ..record }
    }

    /// What is left when the conversation is over.
    pub(super) fn rest(&mut self) -> Vec<Action> {
        let mut rest: Vec<Action> = self.unanswered.take().into_iter().collect();
        if let Some(left) = self.ledger.rest() {
            let base = self.base("");
            rest.push(crate::ledger::leftover("leftover:end".to_owned(), left, base));
        }
        rest.into_iter().map(|action| Action { open: true, ..action }).collect()
    }

    /// Writes the counts into the report.
    pub(super) fn count_into(self, report: &mut ReadReport) {
        self.ledger.count_into(report);
    }

    /// A request, or a message that holds only images, files or other selections.
    fn by_user(&mut self, id: &str, bubble: &ExactJson) -> Option<Action> {
        let text = bubble.text("text").unwrap_or_default();
        if text.trim().is_empty() {
            let holds = ["images", "context", "selections", "attachedFileCodeChunksUris"]
                .iter()
                .filter_map(|name| bubble.get(name))
                .any(has_text);
            if !holds {
                return None;
            }
            self.ledger.count_noted("user message without text");
            let summary = "user message without text".to_owned();
            return Some(self.noted(id, "", summary, bubble.clone()));
        }
        let request = UserRequest::parse(text);
        self.ledger.carry(&[text, &request.prompt]);
        self.request_raw = request.raw;
        self.prompt = request.prompt;
        let mut record = self.base(id);
        describe(bubble, &mut record);
        record.key += ":prompt";
        record.kind = ActionKind::System;
        record.summary = format!("prompt without an answer: {}", one_line(&self.prompt));
        record.result = text.into();
        self.unanswered.replace(record)
    }

    fn noted(&mut self, id: &str, suffix: &str, summary: String, result: ExactJson) -> Action {
        let mut action = Action {
            kind: ActionKind::System,
            trigger: TriggerKind::System,
            summary,
            result: cap(without_images(result)),
            ..self.base(id)
        };
        action.key += suffix;
        self.ledger.show(&mut action);
        action
    }

    fn base(&self, id: &str) -> Action {
        let mut environment = self.environment.clone();
        environment.insert("bubble_id".to_owned(), id.into());
        Action {
            key: id.to_owned(),
            prompt: self.prompt.clone(),
            environment,
            model: self.model.clone(),
            ..Action::default()
        }
    }

    fn assistant(&mut self, id: &str, bubble: &ExactJson, is_last: bool) -> Option<Action> {
        let mut action = self.assistant_action(id, bubble, is_last)?;
        self.unanswered = None;
        if let Some(raw) = self.request_raw.take() {
            action.environment.insert("request_raw".to_owned(), raw.into());
        }
        self.ledger.show(&mut action);
        Some(action)
    }

    fn assistant_action(&mut self, id: &str, bubble: &ExactJson, is_last: bool) -> Option<Action> {
        let text = bubble.text("text").unwrap_or_default();
        let reasoning = thinking(bubble);
        let data = bubble.get("toolFormerData");
        let call = data.and_then(ToolCall::parse);
        let error = bubble.get("errorDetails").filter(|error| error.is_truthy());
        let mut action = Action { analysis: text.to_owned(), reasoning, ..self.base(id) };
        describe(bubble, &mut action);
        if call.is_none() && text.is_empty() && action.reasoning.is_empty() && error.is_none() {
            let has_call = data.is_some_and(has_text);
            if !has_call
                && !["codeBlocks", "suggestedCodeBlocks"]
                    .iter()
                    .any(|name| bubble.get(name).is_some_and(has_text))
            {
                return None;
            }
            action.kind = ActionKind::System;
            action.summary = if has_call { "call without a name" } else { "message without text" }.to_owned();
            action.result = cap(without_images(bubble.clone()));
            return Some(action);
        }
        if let Some(call) = call {
            self.call(call, &mut action);
            return Some(action);
        }
        action.open = is_last && self.generating;
        if !text.is_empty() {
            action.summary = cap_text(text, CHAT_MAX);
            action.result = text.into();
        } else if let Some(error) = error {
            action.kind = ActionKind::System;
            action.status = crate::OutcomeStatus::Failure;
            action.summary = "request failed".to_owned();
            action.result = cap(error.clone());
        } else {
            action.summary = "assistant reasoning".to_owned();
        }
        Some(action)
    }

    fn call(&mut self, call: ToolCall, action: &mut Action) {
        action.kind = ActionKind::Tool;
        action.open = call.under_way;
        action.authority = call.authority;
        let target = first_text(&call.arguments, &TARGETS).unwrap_or_default();
        action.summary = summary(&call.name, &target);
        let mut result = call.result;
        let is_done = call.signals.outcome() == crate::OutcomeStatus::Success;
        if edit::is_file_tool(&call.name) {
            action.side_effects.extend(edit::side_effect(&call.name, &call.arguments));
            if is_done && let Some((diff, counts)) = edit::diff(&call.arguments, &result) {
                action.summary += &counts.suffix();
                result = diff.into();
            }
        }
        if call.name.to_ascii_lowercase().starts_with("task") {
            let (state, composer) = (self.state, self.composer);
            let subagents = self.subagents.get_or_insert_with(|| Subagents::load(state, composer));
            if let Some(card) = subagents.scorecard(state, &call.id) {
                action.kind = ActionKind::Agent;
                action.summary += &card.suffix();
                action.side_effects.push(card.side_effect());
            }
        }
        if call.has_no_status {
            action.environment.insert("status_source".to_owned(), "output".into());
        }
        if let Some(raw) = call.raw_arguments {
            action.environment.insert("raw_arguments".to_owned(), raw);
        }
        if let Some(editor) = call.editor_arguments {
            action.environment.insert("editor_arguments".to_owned(), editor);
        }
        if !call.id.is_empty() {
            action.environment.insert("call_id".to_owned(), call.id.into());
        }
        action.end_with(&call.signals, " (error)");
        let result = cap(without_images(result));
        let duration_ms = call.duration_ms;
        action.call =
            Some(ToolInvocation { tool: call.name, arguments: call.arguments, result, duration_ms });
    }
}

/// The hidden reasoning: a text, an object with the text, or a list of such objects.
fn thinking(bubble: &ExactJson) -> String {
    let text = |value: &ExactJson| match value {
        ExactJson::String(text) => text.clone(),
        value => ["text", "thinking"].iter().find_map(|name| value.text(name)).unwrap_or_default().to_owned(),
    };
    let mut texts: Vec<String> = bubble.get("thinking").map(text).into_iter().collect();
    let blocks = bubble.get("allThinkingBlocks").and_then(ExactJson::as_array).unwrap_or_default();
    for block in blocks.iter().map(text) {
        // The blocks repeat the first text, or parts of it.
        if !texts.iter().any(|earlier| earlier.contains(&block)) {
            texts.push(block);
        }
    }
    texts.retain(|text| !text.is_empty());
    texts.join("\n\n")
}

/// Whether a value holds any text.
fn has_text(value: &ExactJson) -> bool {
    match value {
        ExactJson::String(text) => !text.trim().is_empty(),
        ExactJson::Array(items) => items.iter().any(has_text),
        ExactJson::Object(fields) => fields.values().any(has_text),
        _ => false,
    }
}

/// Provenance and usage from a bubble.
fn describe(bubble: &ExactJson, action: &mut Action) {
    let environment = &mut action.environment;
    let mut both = ExactFields::new();
    if let Some(created) = bubble.get("createdAt").filter(|created| created.is_truthy()) {
        environment.insert("created_at".to_owned(), created.clone());
        environment.extend(iso_time(created).map(|time| ("timestamp".to_owned(), time)));
    }
    if let Some(folder) = bubble.text("workspaceProjectDir").filter(|folder| !folder.is_empty()) {
        environment.insert("cwd".to_owned(), folder.into());
    }
    if let Some(branch) = bubble.text("gitBranch").filter(|branch| !branch.is_empty()) {
        environment.insert("git_branch".to_owned(), branch.into());
    }
    if let Some(name) = bubble.at(&["modelInfo", "modelName"]).filter(|name| name.is_truthy()) {
        environment.insert("model_name".to_owned(), name.clone());
        if action.model.is_empty() {
            action.model = crate::shape::plain(name);
        }
    }
    if let Some(window) = bubble.get("contextWindowStatusAtCreation") {
        let names = [
            ("tokensUsed", "tokens_used"),
            ("tokenLimit", "token_limit"),
            ("percentageRemaining", "percentage_remaining"),
        ];
        let window = renamed(window, &names);
        if !window.is_empty() {
            both.insert("context_window".to_owned(), window.into());
        }
    }
    both.extend(renamed(
        bubble,
        &[("thinkingDurationMs", "thinking_duration_ms"), ("turnDurationMs", "turn_duration_ms")],
    ));
    environment.extend(both.clone());
    if let Some(tokens) = bubble.get("tokenCount") {
        action
            .usage
            .extend(renamed(tokens, &[("inputTokens", "input_tokens"), ("outputTokens", "output_tokens")]));
    }
    action.usage.extend(both);
}

/// The members that are there, under other names.
fn renamed(value: &ExactJson, names: &[(&str, &str)]) -> ExactFields {
    let member = |(from, to): &(&str, &str)| {
        let value = value.get(from).filter(|value| !value.is_null())?;
        Some(((*to).to_owned(), value.clone()))
    };
    names.iter().filter_map(member).collect()
}
