//! One bubble becomes one action.

use super::conversation::Composer;
use super::database::CursorDatabase;
use super::edit;
use super::subagent::Subagents;
use super::tool_call::ToolCall;
use crate::shape::{CHAT_MAX, cap, cap_text, first_text, one_line, summary, without_images};
use crate::{Action, ActionKind, ReadReport, ToolInvocation, TranscriptSource};
use capsid_model::exact::{ExactFields, ExactJson};
use capsid_model::fields;

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
        let model = environment.get("model").and_then(ExactJson::as_str).unwrap_or_default().to_owned();
        let generating = composer.is_generating();
        Self { state, composer, environment, model, prompt: String::new(), generating, subagents: None }
    }

    /// The action of a bubble. The user's bubbles give none: they are the request of the following actions.
    pub(super) fn action(
        &mut self,
        id: &str,
        bubble: ExactJson,
        is_last: bool,
        report: &mut ReadReport,
    ) -> Option<Action> {
        let text = bubble.text("text").unwrap_or_default();
        match bubble.get("type").and_then(ExactJson::as_i64) {
            Some(1) => {
                if !text.is_empty() {
                    self.prompt = user_query(text);
                }
                None
            }
            Some(2) => self.assistant(id, &bubble, is_last),
            _ => {
                let kind = bubble.get("type").map_or("none".to_owned(), crate::shape::plain);
                *report.unknown.entry(format!("bubble type {}", one_line(&kind))).or_default() += 1;
                Some(Action {
                    kind: ActionKind::System,
                    summary: format!("unknown bubble type {}", one_line(&kind)),
                    result: cap(without_images(bubble)),
                    ..self.base(id)
                })
            }
        }
    }

    /// The summary of a bubble that is too large to be read.
    pub(super) fn too_large(&self, id: &str, bytes: i64) -> Action {
        Action {
            kind: ActionKind::System,
            summary: format!("bubble of {bytes} bytes not read"),
            result: fields! { "bytes": bytes }.into(),
            ..self.base(id)
        }
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
        let text = bubble.text("text").unwrap_or_default();
        let reasoning = thinking(bubble);
        let call = bubble.get("toolFormerData").and_then(ToolCall::parse);
        let error = bubble.get("errorDetails").filter(|error| error.is_truthy());
        if call.is_none() && text.is_empty() && reasoning.is_empty() && error.is_none() {
            return None;
        }
        let mut action = Action { analysis: text.to_owned(), reasoning, ..self.base(id) };
        describe(bubble, &mut action);
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
                action.summary += &card.suffix();
                action.side_effects.push(card.side_effect());
            }
        }
        if call.has_no_status {
            action.environment.insert("status_source".to_owned(), "output".into());
        }
        action.end_with(&call.signals, " (error)");
        let result = cap(without_images(result));
        action.call =
            Some(ToolInvocation { tool: call.name, arguments: call.arguments, result, duration_ms: None });
    }
}

/// The hidden reasoning: a text, an object with the text, or a list of such objects.
fn thinking(bubble: &ExactJson) -> String {
    let text = |value: &ExactJson| match value {
        ExactJson::String(text) => text.clone(),
        value => ["text", "thinking"].iter().find_map(|name| value.text(name)).unwrap_or_default().to_owned(),
    };
    let one = bubble.get("thinking").map(text).unwrap_or_default();
    if !one.is_empty() {
        return one;
    }
    let blocks = bubble.get("allThinkingBlocks").and_then(ExactJson::as_array).unwrap_or_default();
    let texts: Vec<String> = blocks.iter().map(text).filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

/// Provenance and usage from a bubble.
fn describe(bubble: &ExactJson, action: &mut Action) {
    let environment = &mut action.environment;
    let mut both = ExactFields::new();
    if let Some(created) = bubble.get("createdAt").filter(|created| created.is_truthy()) {
        environment.insert("created_at".to_owned(), created.clone());
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

/// The user's own words, without the mark that the editor puts around them.
pub(super) fn user_query(text: &str) -> String {
    let inner = text.split_once("<user_query>").and_then(|(_, rest)| {
        let end = rest.rfind("</user_query>")?;
        Some(&rest[..end])
    });
    inner.map_or(text, str::trim).to_owned()
}
