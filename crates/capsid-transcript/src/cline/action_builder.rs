//! What the messages of a task said so far, and the actions that are made with it.

use super::api::ApiHistory;
use crate::ledger::EntryLedger;
use crate::shape::{iso_time, joined, start_of};
use crate::{Action, ActionKind, TriggerKind};
use capsid_model::exact::{ExactFields, ExactJson, parse_lossy};
use capsid_model::fields;

/// Members of a message that go into the environment of the next action.
const CARRIED: [(&str, &str); 4] = [
    ("lastCheckpointHash", "last_checkpoint_hash"),
    ("isCheckpointCheckedOut", "is_checkpoint_checked_out"),
    ("conversationHistoryIndex", "conversation_history_index"),
    ("conversationHistoryDeletedRange", "conversation_history_deleted_range"),
];
const USAGE: [(&str, &str); 5] = [
    ("tokensIn", "input_tokens"),
    ("tokensOut", "output_tokens"),
    ("cacheWrites", "cache_writes"),
    ("cacheReads", "cache_reads"),
    ("cost", "cost"),
];
const FAILED_MESSAGE_MAX: usize = 500;

/// What has been seen so far and belongs to the next action.
pub(super) struct ClineActionBuilder {
    base: ExactFields,
    model: String,
    pub(super) api: ApiHistory,
    pub(super) prompt: String,
    carried: ExactFields,
    usage: ExactFields,
    thinking: Vec<String>,
    /// The last reasoning that an action got, because the model's side repeats it.
    last_reasoning: String,
    pub(super) ledger: EntryLedger,
}

/// One message, with its `say` or `ask` type.
pub(super) struct ClineMessage<'a> {
    pub(super) key: &'a str,
    pub(super) json: &'a ExactJson,
    pub(super) kind: &'a str,
    pub(super) is_ask: bool,
    pub(super) text: &'a str,
    pub(super) parts: &'a [ExactJson],
    /// Whether nothing that happened after it is known, and the task goes on.
    pub(super) is_last: bool,
}

impl ClineMessage<'_> {
    /// The text as an object, where it is one.
    pub(super) fn object(&self) -> Option<ExactJson> {
        let is_object = self.text.trim_start().starts_with('{');
        is_object
            .then(|| parse_lossy(self.text.as_bytes()).ok())
            .flatten()
            .filter(|json| json.as_object().is_some())
    }

    /// How many images came with it.
    pub(super) fn images(&self) -> usize {
        self.json.get("images").and_then(ExactJson::as_array).map_or(0, <[ExactJson]>::len)
    }

    /// Whether its text is still being written.
    pub(super) fn is_partial(&self) -> bool {
        self.is_last && self.json.get("partial").and_then(ExactJson::as_bool) == Some(true)
    }
}

impl ClineActionBuilder {
    pub(super) fn new(base: ExactFields, model: String, api: ApiHistory) -> Self {
        Self {
            base,
            model,
            api,
            prompt: String::new(),
            carried: ExactFields::new(),
            usage: ExactFields::new(),
            thinking: Vec::new(),
            last_reasoning: String::new(),
            ledger: EntryLedger::default(),
        }
    }

    /// A message without an action: what it carries is in the next one.
    pub(super) fn carry(&mut self) {
        let carried = ExactJson::from(self.carried.clone());
        let thinking: ExactJson = self.thinking.clone().into();
        self.ledger.carry_known(&[&carried, &thinking]);
    }

    /// What is left when no action follows.
    pub(super) fn rest(&mut self, messages: usize, open: bool) -> Option<Action> {
        if self.usage.is_empty() && self.thinking.is_empty() {
            return None;
        }
        let mut action = Action {
            key: format!("trailing:{messages}"),
            kind: ActionKind::System,
            summary: "trailing usage/reasoning".to_owned(),
            trigger: TriggerKind::System,
            open,
            ..self.plain()
        };
        self.spend(&mut action);
        self.ledger.show(&mut action);
        Some(action)
    }

    /// An action of the user or about the task: it takes what is carried, and leaves usage and reasoning to the agent.
    pub(super) fn base(&mut self, message: &ClineMessage<'_>) -> Action {
        let mut action = Action { key: message.key.to_owned(), open: message.is_partial(), ..self.plain() };
        action.environment.append(&mut self.carried);
        if let Some(time) = message.json.get("ts").and_then(iso_time) {
            action.environment.insert("timestamp".to_owned(), time);
        }
        if message.images() > 0 {
            action.environment.insert("images".to_owned(), message.images().into());
        }
        action
    }

    /// An action of the agent.
    pub(super) fn act(&mut self, message: &ClineMessage<'_>) -> Action {
        let mut action = self.base(message);
        self.spend(&mut action);
        action
    }

    /// The reasoning of the model's side, after that of the page and without what it repeats.
    pub(super) fn add_reasoning(&mut self, action: &mut Action, reasoning: &str) {
        let is_known = |known: &str| known.contains(reasoning);
        if reasoning.is_empty() || is_known(&action.reasoning) || is_known(&self.last_reasoning) {
            return;
        }
        if !action.reasoning.is_empty() {
            action.reasoning.push_str("\n\n");
        }
        action.reasoning.push_str(reasoning);
        self.last_reasoning.clone_from(&action.reasoning);
    }

    /// Whether reasoning waits for an action.
    pub(super) fn has_thought(&self) -> bool {
        !self.thinking.is_empty()
    }

    pub(super) fn plain(&self) -> Action {
        Action {
            prompt: self.prompt.clone(),
            environment: self.base.clone(),
            model: self.model.clone(),
            ..Action::default()
        }
    }

    fn spend(&mut self, action: &mut Action) {
        action.usage = std::mem::take(&mut self.usage);
        action.reasoning = std::mem::take(&mut self.thinking).join("\n\n");
        if !action.reasoning.is_empty() {
            self.last_reasoning.clone_from(&action.reasoning);
        }
    }

    pub(super) fn think(&mut self, text: &str) {
        if !text.is_empty() && self.thinking.last().is_none_or(|last| last != text) {
            self.thinking.push(text.to_owned());
        }
    }

    pub(super) fn add_pending(&mut self, json: &ExactJson) {
        for (from, to) in CARRIED {
            if let Some(value) = json.get(from).filter(|value| !value.is_null()) {
                self.carried.insert(to.to_owned(), value.clone());
            }
        }
        if let Some(text) = json.text("reasoning") {
            self.think(text);
        }
    }

    /// A request to the model: what it cost belongs to the next action. Requests that no action follows add up. False
    /// if its text is no JSON object.
    pub(super) fn request(&mut self, message: &ClineMessage<'_>) -> bool {
        let Some(request) = message.object() else { return message.text.is_empty() };
        // What was sent to the model is in the history of the model's side.
        if self.api.is_there() {
            let mut entry = message.json.clone();
            if let ExactJson::Object(fields) = &mut entry {
                fields.insert("text".to_owned(), request.clone());
            }
            self.ledger.replace(entry);
            self.ledger.drop_inner("text", "request", crate::DropReason::Repeated);
        }
        let member = |name: &str| request.get(name).filter(|value| value.is_truthy());
        let is_counted =
            USAGE.iter().any(|(from, _)| request.get(from).is_some_and(|value| !value.is_null()));
        if is_counted {
            let earlier = std::mem::take(&mut self.usage);
            let add = |(from, to): &(&str, &str)| {
                let value = request.get(from).cloned().unwrap_or_default();
                ((*to).to_owned(), sum(earlier.get(*to), value))
            };
            self.usage = USAGE.iter().map(add).collect();
            for name in ["cancel_reason", "streaming_failed"] {
                self.usage.extend(earlier.get(name).map(|value| (name.to_owned(), value.clone())));
            }
        }
        if let Some(reason) = member("cancelReason") {
            self.carried.insert("cancel_reason".to_owned(), reason.clone());
            self.usage.insert("cancel_reason".to_owned(), reason.clone());
        }
        if let Some(failed) = member("streamingFailedMessage") {
            let line = joined(failed, " ").replace('\n', " ");
            let line = start_of(line.trim(), FAILED_MESSAGE_MAX);
            self.carried.insert("streaming_failed_message".to_owned(), line.into());
            self.usage.insert("streaming_failed".to_owned(), true.into());
        }
        if let Some(status) = member("retryStatus") {
            self.carried.insert("retry_status".to_owned(), status.clone());
        }
        true
    }
}

/// Adds the costs of two requests; a value that only one of them has counts alone.
fn sum(earlier: Option<&ExactJson>, later: ExactJson) -> ExactJson {
    match (earlier, &later) {
        (None | Some(ExactJson::Null), _) => later,
        (Some(earlier), ExactJson::Null) => earlier.clone(),
        (Some(earlier), _) => match (earlier.as_i64(), later.as_i64()) {
            (Some(a), Some(b)) => a.saturating_add(b).into(),
            _ => match (earlier.as_f64(), later.as_f64()) {
                (Some(a), Some(b)) => (a + b).into(),
                _ => later,
            },
        },
    }
}

/// An object's members that are named, in the order of the names.
pub(super) fn only(object: &ExactJson, names: &[&str]) -> ExactFields {
    let member = |name: &&str| Some(((*name).to_owned(), object.get(name)?.clone()));
    names.iter().filter_map(member).collect()
}

/// `{"text": ...}`
pub(super) fn text_only(text: &str) -> ExactFields {
    fields! { "text": text }
}
