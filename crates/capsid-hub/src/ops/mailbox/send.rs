//! A proxy hands over what its agents send.

use super::direct_message::{DirectMessageResponse, deliver_in, read_direct_message};
use crate::auth::credentials::{Credentials, OperationContext, authenticate_node};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::json;
use crate::http::json::stored_json;
use crate::http::openapi::ErrorBody;
use crate::http::validate;
use crate::ops::assets::bundle::PublishRequest;
use crate::ops::assets::publish::{CheckedPublication, PublishResponse, publish_in};
use crate::ops::tasks;
use crate::ops::tasks::claim;
use crate::ops::tasks::claim::{ClaimTaskResponse, deadline_or};
use crate::ops::tasks::complete;
use crate::ops::tasks::complete::CompleteTaskResponse;
use crate::ops::workers::register::{SubscribeWorkerResponse, domains_or, subscribe_worker_in};
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::notifications::mailbox;
use capsid_store::notifications::mailbox::{BYTES_A_DAY, MailboxLookup, MailboxMessageKey};
use capsid_store::work::workers::WorkerUpdate;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};
use utoipa::ToSchema;

/// The most messages at a time.
const MAX: usize = 50;
/// How a message may be ranked.
const PRIORITIES: [&str; 4] = ["low", "normal", "high", "urgent"];

/// A batch of messages.
#[derive(Debug, Deserialize)]
pub struct MailboxSendRequest<'a> {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    proxy_protocol_version: Option<String>,
    #[serde(borrow)]
    messages: Option<Vec<&'a RawValue>>,
}

/// One message of a batch.
#[derive(Debug, Deserialize)]
pub(super) struct MailboxItem<'a> {
    pub id: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(borrow)]
    pub payload: Option<&'a RawValue>,
    pub priority: Option<String>,
    pub ref_id: Option<String>,
}

impl MailboxItem<'_> {
    fn outgoing(&self, node_id: &str) -> MailboxMessageKey {
        let kind = self.kind.as_deref().unwrap_or_default();
        MailboxMessageKey::new(node_id, &self.id, kind, self.payload.map_or("", RawValue::get))
    }
}

/// Who sends, where the body does not say.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MailboxSendParams {
    /// The node.
    sender_id: Option<String>,
}

/// The answers to a batch, one for each message.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MailboxResults)]
pub struct MailboxSendResponse {
    /// A message that is sent again gets the same text, so each is kept as it was written.
    #[schema(value_type = Vec<MailboxItemResponse>)]
    results: Vec<Box<RawValue>>,
}

/// The answer to a message of a batch.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = MailboxResult)]
enum MailboxItemResponse {
    /// It was carried out.
    Done(MailboxDone),
    /// It could not be carried out.
    Failed(MailboxFailure),
    /// This hub does not take such messages.
    Rejected(MailboxRejection),
}

/// The status tells the kinds of answers apart, so each kind has its own.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum DoneStatus {
    Accepted,
    /// A bundle that was not let in.
    Rejected,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum FailedStatus {
    Failed,
}

#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
enum RejectedStatus {
    Rejected,
}

/// A message that was carried out.
#[derive(Debug, Serialize, ToSchema)]
struct MailboxDone {
    id: String,
    #[schema(inline)]
    status: DoneStatus,
    #[schema(required)]
    original_type: Option<String>,
    /// What the call of the same kind answers.
    #[schema(value_type = BTreeMap<String, Value>)]
    response: Box<RawValue>,
    /// A bundle that was not let in is final: sending it again changes nothing.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool, required = false)]
    terminal: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<String>)]
    reason: Option<Option<String>>,
}

/// A message that could not be carried out.
#[derive(Debug, Serialize, ToSchema)]
struct MailboxFailure {
    id: String,
    #[schema(inline)]
    status: FailedStatus,
    #[schema(required)]
    original_type: Option<String>,
    /// Whether sending it again changes nothing.
    terminal: bool,
    retryable: bool,
    /// The error code.
    reason: &'static str,
    error: String,
    /// What the call of the same kind answers.
    #[schema(value_type = ErrorBody)]
    response: Value,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = i64, required = false)]
    retry_after_ms: Option<Value>,
}

impl MailboxFailure {
    fn new(message: &MailboxItem<'_>, error: &ApiError) -> Self {
        let passing = is_passing(error);
        Self {
            id: message.id.clone(),
            status: FailedStatus::Failed,
            original_type: message.kind.clone(),
            terminal: !passing,
            retryable: passing,
            reason: error.code.as_str(),
            error: format!("{}: {}", error.code.as_str(), error.problem),
            response: error.body(),
            retry_after_ms: error.extra.get("retry_after_ms").cloned(),
        }
    }
}

/// A message that this hub does not take.
#[derive(Debug, Serialize, ToSchema)]
struct MailboxRejection {
    id: String,
    #[schema(inline)]
    status: RejectedStatus,
    #[schema(required)]
    original_type: Option<String>,
    terminal: bool,
    retryable: bool,
    /// not_collected or unsupported_type.
    reason: String,
    error: String,
}

impl MailboxItemResponse {
    fn render(&self) -> ApiResult<Box<RawValue>> {
        to_raw_value(self).map_err(ApiError::not_serializable)
    }
}

/// Takes messages of a node, 50 at most, and answers each of them. A message that is sent again gets the same answer and
/// has its effect once.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn send_messages(
    hub: &SharedHub,
    credentials: Credentials,
    params: MailboxSendParams,
    batch: MailboxSendRequest<'_>,
) -> ApiResult<MailboxSendResponse> {
    let in_body = batch.sender_id.as_deref().or(batch.node_id.as_deref());
    let node_id = validate::node(in_body.or(params.sender_id.as_deref()), batch.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    if params.sender_id.is_some_and(|asked| asked != node_id) {
        return Err(ApiError::field("sender_id", "the same in the query and in the body", "another node's"));
    }
    validate::name_or(batch.proxy_protocol_version.as_deref(), "proxy_protocol_version", 32)?;
    let messages = read_messages(batch.messages.as_deref())?;
    let sending = MailboxBatch {
        hub,
        node_id,
        credentials: credentials.or_secret(batch.node_secret.as_deref()),
        rules: hub.rules(),
    };
    sending.authenticate().await?;
    let mut results = Vec::with_capacity(messages.len());
    for message in &messages {
        results.push(sending.process(message).await?);
    }
    Ok(MailboxSendResponse { results })
}

/// Reads what every message needs to be answered at all: an id. What else is wrong is told in its answer.
fn read_messages<'a>(raw: Option<&[&'a RawValue]>) -> ApiResult<Vec<MailboxItem<'a>>> {
    let raw = raw.ok_or_else(|| ApiError::field("messages", "an array", "missing"))?;
    if raw.len() > MAX {
        return Err(ApiError::new(
            HubCode::PayloadTooLarge,
            format!("The batch has {} messages.", raw.len()),
            format!("Send at most {MAX} messages at a time."),
        ));
    }
    let read = raw.iter().enumerate().map(|(n, raw)| {
        let path = format!("messages[{n}]");
        let message: MailboxItem<'_> = json::read(raw.get(), &path)?;
        validate::name(&message.id, &format!("{path}.id"), 200)?;
        validate::name_or(message.kind.as_deref(), &format!("{path}.type"), 64)?;
        validate::name_or(message.ref_id.as_deref(), &format!("{path}.ref_id"), 200)?;
        match message.priority.as_deref() {
            Some(priority) if !PRIORITIES.contains(&priority) => Err(ApiError::field(
                format!("{path}.priority"),
                format!("one of {}", PRIORITIES.join(", ")),
                "another word",
            )),
            _ => Ok(message),
        }
    });
    read.collect()
}

/// Takes the messages of one node.
struct MailboxBatch<'h> {
    hub: &'h SharedHub,
    node_id: String,
    credentials: Credentials,
    rules: OperationContext,
}

impl MailboxBatch<'_> {
    /// Refuses the whole batch of somebody who may not speak for the node.
    async fn authenticate(&self) -> ApiResult<()> {
        self.hub.limit_calls(&self.credentials, &self.node_id).await?;
        let (rules, node_id, credentials) =
            (self.rules.clone(), self.node_id.clone(), self.credentials.clone());
        self.hub.store.write(move |tx| authenticate_node(tx, &rules, &node_id, &credentials)).await?;
        Ok(())
    }

    async fn process(&self, message: &MailboxItem<'_>) -> ApiResult<Box<RawValue>> {
        let kind = message.kind.clone().unwrap_or_default();
        match kind.as_str() {
            "dm" => self.deliver(message).await,
            "asset_submit" => self.submit_asset(message).await,
            "task_claim" => self.claim_task(message).await,
            "task_complete" => self.complete_task(message).await,
            "task_subscribe" => self.subscribe(message, true).await,
            "task_unsubscribe" => self.subscribe(message, false).await,
            "proxy_trace" => self.reject(message, "not_collected", "This hub does not collect traces.").await,
            _ => {
                self.reject(message, "unsupported_type", "This hub does not know this type of message.").await
            }
        }
    }

    /// Leaves a direct message with the node that it is for.
    async fn deliver(&self, message: &MailboxItem<'_>) -> ApiResult<Box<RawValue>> {
        let dm = match read_direct_message(message, &self.node_id) {
            Ok(dm) => dm,
            Err(error) => return self.refuse(message, &error).await,
        };
        let outcome = self.run_idempotent(message, move |tx, now| deliver_in(tx, &dm, now)).await;
        self.to_item_response(message, outcome).await
    }

    /// Publishes a bundle that came as a message, as `POST /a2a/publish` would.
    async fn submit_asset(&self, message: &MailboxItem<'_>) -> ApiResult<Box<RawValue>> {
        let hub = self.hub;
        let publication = match message.payload {
            Some(raw) => json::read::<PublishRequest<'_>>(raw.get(), "payload").and_then(|payload| {
                CheckedPublication::check(hub, &payload, self.credentials.secret.as_deref())
            }),
            None => Err(ApiError::field("payload", "an object", "missing")),
        };
        let publication = match publication {
            Ok(publication) => publication,
            Err(error) => return self.refuse(message, &error).await,
        };
        let (limit, now) = (hub.config.limits.publish, self.rules.now);
        let allowed =
            hub.limiter.check(&hub.store, HubCode::RateLimited, "publish", &self.node_id, limit, now).await;
        if let Err(error) = allowed {
            return MailboxItemResponse::Failed(MailboxFailure::new(message, &error)).render();
        }
        let (rules, node_id, by) = (self.rules.clone(), self.node_id.clone(), self.credentials.clone());
        let outcome = self
            .run_idempotent(message, move |tx, _| {
                let node = authenticate_node(tx, &rules, &node_id, &by)?;
                publish_in(tx, &rules, &node, &publication)
            })
            .await;
        hub.indexer.published(hub);
        self.to_item_response(message, outcome).await
    }

    /// Takes a task, as `POST /task/claim` would.
    async fn claim_task(&self, message: &MailboxItem<'_>) -> ApiResult<Box<RawValue>> {
        let claim = match self.read_task(message).and_then(|(task_id, asked)| {
            let deadline = deadline_or(asked.commitment_deadline.as_ref(), "payload.commitment_deadline")?;
            Ok(claim::ClaimTask { task_id, deadline })
        }) {
            Ok(read) => read,
            Err(error) => return self.refuse(message, &error).await,
        };
        let (work, submission_id) = (self.hub.config.work.clone(), self.hub.new_id("sub"));
        let outcome = self.run_idempotent_as_node(message, move |tx, node, now| {
            claim::claim_task_in(tx, node, &claim, &submission_id, &work, now)
        });
        let outcome = outcome.await;
        self.hub.events.notify();
        self.to_item_response(message, outcome).await
    }

    /// Hands in what solves a task, as `POST /task/complete` would.
    async fn complete_task(&self, message: &MailboxItem<'_>) -> ApiResult<Box<RawValue>> {
        let (task_id, asked) = match self.read_task(message) {
            Ok(read) => read,
            Err(error) => return self.refuse(message, &error).await,
        };
        let asset = complete::parse_asset(asked.asset_id.as_deref(), asked.result_asset_id.as_deref());
        let pay = complete::PayoutTerms::from_hub(self.hub);
        let outcome = self
            .run_idempotent_as_node(message, move |tx, node, now| {
                complete::complete_task_in(tx, node, &task_id, asset, &pay, now)
            })
            .await;
        self.hub.events.notify();
        self.to_item_response(message, outcome).await
    }

    fn read_task(&self, message: &MailboxItem<'_>) -> ApiResult<(String, TaskMailPayload)> {
        let asked: TaskMailPayload = read_payload(message)?;
        let (task_id, _) =
            tasks::ids(asked.task_id.as_deref(), Some(&self.node_id), asked.node_id.as_deref())?;
        Ok((task_id, asked))
    }

    /// Leaves new tasks in the node's mailbox from now on, or no longer.
    async fn subscribe(&self, message: &MailboxItem<'_>, on: bool) -> ApiResult<Box<RawValue>> {
        let told = read_payload(message).and_then(|asked: TaskSubscriptionPayload| {
            Ok(WorkerUpdate {
                subscribed: Some(on && asked.enabled.unwrap_or(true)),
                domains: domains_or(asked.domains, "payload.domains")?,
                ..WorkerUpdate::default()
            })
        });
        let told = match told {
            Ok(told) => told,
            Err(error) => return self.refuse(message, &error).await,
        };
        let outcome = self
            .run_idempotent_as_node(message, move |tx, node, now| subscribe_worker_in(tx, node, &told, now))
            .await;
        self.to_item_response(message, outcome).await
    }

    /// Does something in the name of the node unless that was done before.
    async fn run_idempotent_as_node<T, F>(
        &self,
        message: &MailboxItem<'_>,
        mut op: F,
    ) -> ApiResult<Box<RawValue>>
    where
        T: ItemResponse,
        F: FnMut(&mut dyn Tx, &NodeRow, Time) -> ApiResult<T> + Send + 'static,
    {
        let (rules, node_id, by) = (self.rules.clone(), self.node_id.clone(), self.credentials.clone());
        self.run_idempotent(message, move |tx, now| {
            let node = authenticate_node(tx, &rules, &node_id, &by)?;
            op(tx, &node, now)
        })
        .await
    }

    /// Does something for a message unless that was done before, and keeps the answer together with it.
    async fn run_idempotent<T, F>(&self, message: &MailboxItem<'_>, mut op: F) -> ApiResult<Box<RawValue>>
    where
        T: ItemResponse,
        F: FnMut(&mut dyn Tx, Time) -> ApiResult<T> + Send + 'static,
    {
        let (outgoing, now) = (message.outgoing(&self.node_id), self.rules.now);
        let kind = message.kind.clone();
        self.hub
            .store
            .write::<_, ApiError, _>(move |tx| {
                if let Some(answer) = find_answer(tx, &outgoing, now)? {
                    return Ok(answer);
                }
                let response = op(tx, now)?;
                let refusal = response.refusal();
                let done = MailboxItemResponse::Done(MailboxDone {
                    id: outgoing.message_id.clone(),
                    status: if refusal.is_some() { DoneStatus::Rejected } else { DoneStatus::Accepted },
                    original_type: kind.clone(),
                    response: to_raw_value(&response).map_err(ApiError::not_serializable)?,
                    terminal: refusal.as_ref().map(|_| true),
                    reason: refusal,
                });
                let answer = done.render()?;
                mailbox::save_answer(tx, &outgoing, answer.get(), now)?;
                Ok(answer)
            })
            .await
    }

    /// The answer to a message, whether it went well or not.
    async fn to_item_response(
        &self,
        message: &MailboxItem<'_>,
        outcome: ApiResult<Box<RawValue>>,
    ) -> ApiResult<Box<RawValue>> {
        match outcome {
            Ok(answer) => Ok(answer),
            Err(error) if is_passing(&error) => {
                MailboxItemResponse::Failed(MailboxFailure::new(message, &error)).render()
            }
            Err(error) => self.refuse(message, &error).await,
        }
    }

    async fn refuse(&self, message: &MailboxItem<'_>, error: &ApiError) -> ApiResult<Box<RawValue>> {
        self.store_answer(message, MailboxItemResponse::Failed(MailboxFailure::new(message, error))).await
    }

    async fn reject(&self, message: &MailboxItem<'_>, reason: &str, text: &str) -> ApiResult<Box<RawValue>> {
        let rejection = MailboxRejection {
            id: message.id.clone(),
            status: RejectedStatus::Rejected,
            original_type: message.kind.clone(),
            terminal: true,
            retryable: false,
            reason: reason.to_owned(),
            error: format!("{reason}: {text}"),
        };
        self.store_answer(message, MailboxItemResponse::Rejected(rejection)).await
    }

    /// Keeps a final answer, unless another one was given before.
    async fn store_answer(
        &self,
        message: &MailboxItem<'_>,
        answer: MailboxItemResponse,
    ) -> ApiResult<Box<RawValue>> {
        let (outgoing, now, answer) = (message.outgoing(&self.node_id), self.rules.now, answer.render()?);
        let kept = self
            .hub
            .store
            .write::<_, ApiError, _>(move |tx| {
                if let Some(known) = find_answer(tx, &outgoing, now)? {
                    return Ok(known);
                }
                mailbox::save_answer(tx, &outgoing, answer.get(), now)?;
                Ok(answer.clone())
            })
            .await;
        match kept {
            // The id belongs to another message, or there is no room: nothing can be kept.
            Err(error) if [HubCode::DuplicateMessageId, HubCode::RateLimited].contains(&error.code) => {
                MailboxItemResponse::Failed(MailboxFailure::new(message, &error)).render()
            }
            kept => kept,
        }
    }
}

/// What an operation answers to a message.
trait ItemResponse: Serialize + Send + 'static {
    /// Why the hub took it and did not let it in; nothing where it did.
    fn refusal(&self) -> Option<Option<String>> {
        None
    }
}

impl ItemResponse for DirectMessageResponse {}

impl ItemResponse for PublishResponse {
    fn refusal(&self) -> Option<Option<String>> {
        self.is_refused().then(|| self.reason.clone())
    }
}

impl ItemResponse for ClaimTaskResponse {}
impl ItemResponse for CompleteTaskResponse {}
impl ItemResponse for SubscribeWorkerResponse {}

/// The answer to a message, if it was given one before.
fn find_answer(tx: &mut dyn Tx, outgoing: &MailboxMessageKey, now: Time) -> ApiResult<Option<Box<RawValue>>> {
    nodes::lock(tx, &outgoing.node_id)?;
    match mailbox::find_answer(tx, outgoing, now)? {
        MailboxLookup::New => Ok(None),
        MailboxLookup::Answered(answer) => Ok(Some(stored_json(answer))),
        MailboxLookup::Other => Err(ApiError::new(
            HubCode::DuplicateMessageId,
            "This message id was used before with another type or payload.",
            "Give each message an id of its own.",
        )),
        MailboxLookup::TooMuch(ms) => Err(ApiError::new(
            HubCode::RateLimited,
            format!("This node has sent more than {BYTES_A_DAY} bytes of messages today."),
            "Send the rest tomorrow, or less of it.",
        )
        .retry_after(ms)),
    }
}

/// Whether it is worth trying again.
fn is_passing(error: &ApiError) -> bool {
    error.code.status() >= 500 || error.extra.contains_key("retry_after_ms")
}

/// A task that a message is about.
#[derive(Debug, Default, Deserialize)]
struct TaskMailPayload {
    task_id: Option<String>,
    node_id: Option<String>,
    asset_id: Option<String>,
    result_asset_id: Option<String>,
    commitment_deadline: Option<Value>,
}

/// What a node wants to hear of new tasks.
#[derive(Debug, Default, Deserialize)]
struct TaskSubscriptionPayload {
    enabled: Option<bool>,
    domains: Option<Vec<String>>,
}

fn read_payload<'a, T: Deserialize<'a> + Default>(message: &MailboxItem<'a>) -> ApiResult<T> {
    message.payload.map_or_else(|| Ok(T::default()), |raw| json::read(raw.get(), "payload"))
}
