//! `/a2a/mailbox/*`: a proxy hands over what its agents send, and fetches what waits for them.

use crate::auth::credentials::{Credentials, OperationContext, authenticate_node};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::{JsonReply, check_node_id};
use crate::http::json;
use crate::http::json::{JsonBody, JsonText};
use crate::http::query::QueryParams;
use crate::http::validate;
use crate::ops::assets::bundle::PublishRequest;
use crate::ops::assets::publish::{CheckedPublication, publish_in};
use crate::ops::tasks;
use crate::ops::tasks::claim;
use crate::ops::tasks::claim::deadline_or;
use crate::ops::tasks::complete;
use crate::ops::workers::register::{domains_or, subscribe_worker_in};
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::hash::sha256_hex;
use capsid_model::time::Time;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::notifications::mailbox;
use capsid_store::notifications::mailbox::{
    BYTES_A_DAY, MAX_WAITING, MailboxLookup, MailboxMessageKey, MailboxMessageRow, NewMailboxMessage,
};
use capsid_store::work::workers::WorkerUpdate;
use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

/// The most messages at a time.
const MAX: usize = 50;
/// The longest text of a direct message.
const DM_BYTES: usize = 64 * 1024;
/// How a message may be ranked.
const PRIORITIES: [&str; 4] = ["low", "normal", "high", "urgent"];

#[derive(Debug, Deserialize)]
struct MailboxSendRequest<'a> {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    proxy_protocol_version: Option<String>,
    #[serde(borrow)]
    messages: Option<Vec<&'a RawValue>>,
}

/// One message of a batch.
#[derive(Debug, Deserialize)]
struct MailboxItem<'a> {
    id: String,
    #[serde(rename = "type")]
    kind: Option<String>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
    priority: Option<String>,
    ref_id: Option<String>,
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

/// Takes messages of a node, 50 at most, and answers each of them.
///
/// A message that is sent again gets the same answer and has its effect once.
#[utoipa::path(post, path = "/a2a/mailbox/outbound", tag = "mailbox", params(MailboxSendParams),
    request_body = crate::http::openapi::Object,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn outbound(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(query): QueryParams<MailboxSendParams>,
    JsonText(text): JsonText,
) -> ApiResult<JsonReply> {
    let batch: MailboxSendRequest<'_> = json::read(&text, "")?;
    let in_body = batch.sender_id.as_deref().or(batch.node_id.as_deref());
    let node_id = validate::node(in_body.or(query.sender_id.as_deref()), batch.node_id.as_deref())?;
    if query.sender_id.is_some_and(|asked| asked != node_id) {
        return Err(ApiError::field("sender_id", "the same in the query and in the body", "another node's"));
    }
    validate::name_or(batch.proxy_protocol_version.as_deref(), "proxy_protocol_version", 32)?;
    let messages = read_messages(batch.messages.as_deref())?;
    let desk = MailboxBatch {
        hub: &hub,
        node_id,
        credentials: credentials.or_secret(batch.node_secret.as_deref()),
        rules: hub.rules(),
    };
    desk.authenticate().await?;
    let mut results = Vec::with_capacity(messages.len());
    for message in &messages {
        results.push(desk.process(message).await?);
    }
    Ok(JsonReply::json(&json!({ "results": results })))
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

    async fn process(&self, message: &MailboxItem<'_>) -> ApiResult<Value> {
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
    async fn deliver(&self, message: &MailboxItem<'_>) -> ApiResult<Value> {
        let letter = match read_dm(message, &self.node_id) {
            Ok(letter) => letter,
            Err(error) => return self.refuse(message, &error).await,
        };
        let outcome = self.run_idempotent(message, move |tx, now| post(tx, &letter, now)).await;
        self.to_item_response(message, outcome).await
    }

    /// Publishes a bundle that came as a message, as `POST /a2a/publish` would.
    async fn submit_asset(&self, message: &MailboxItem<'_>) -> ApiResult<Value> {
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
            return Ok(failed(message, &error));
        }
        let (rules, node_id, by) = (self.rules.clone(), self.node_id.clone(), self.credentials.clone());
        let outcome = self
            .run_idempotent(message, move |tx, _| {
                let node = authenticate_node(tx, &rules, &node_id, &by)?;
                let response = publish_in(tx, &rules, &node, &publication)?;
                serde_json::to_value(response).map_err(ApiError::not_serializable)
            })
            .await;
        hub.indexer.published(hub);
        self.to_item_response(message, outcome).await
    }

    /// Takes a task, as `POST /task/claim` would.
    async fn claim_task(&self, message: &MailboxItem<'_>) -> ApiResult<Value> {
        let claim = match self.read_task(message).and_then(|(task_id, asked)| {
            let deadline = deadline_or(asked.commitment_deadline.as_ref(), "payload.commitment_deadline")?;
            Ok(claim::ClaimTask { task_id, deadline })
        }) {
            Ok(read) => read,
            Err(error) => return self.refuse(message, &error).await,
        };
        let (work, submission_id) = (self.hub.config.work.clone(), self.hub.new_id("sub"));
        let outcome = self.run_idempotent_as_node(message, move |tx, node, now| {
            Ok(json!(claim::claim_task_in(tx, node, &claim, &submission_id, &work, now)?))
        });
        let outcome = outcome.await;
        self.hub.events.notify();
        self.to_item_response(message, outcome).await
    }

    /// Hands in what solves a task, as `POST /task/complete` would.
    async fn complete_task(&self, message: &MailboxItem<'_>) -> ApiResult<Value> {
        let (task_id, asked) = match self.read_task(message) {
            Ok(read) => read,
            Err(error) => return self.refuse(message, &error).await,
        };
        let asset = complete::parse_asset(asked.asset_id.as_deref(), asked.result_asset_id.as_deref());
        let pay = complete::PayoutTerms::from_hub(self.hub);
        let outcome = self
            .run_idempotent_as_node(message, move |tx, node, now| {
                Ok(json!(complete::complete_task_in(tx, node, &task_id, asset, &pay, now)?))
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
    async fn subscribe(&self, message: &MailboxItem<'_>, on: bool) -> ApiResult<Value> {
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
            .run_idempotent_as_node(message, move |tx, node, now| {
                Ok(json!(subscribe_worker_in(tx, node, &told, now)?))
            })
            .await;
        self.to_item_response(message, outcome).await
    }

    /// Does something in the name of the node unless that was done before.
    async fn run_idempotent_as_node<F>(&self, message: &MailboxItem<'_>, mut op: F) -> ApiResult<Value>
    where
        F: FnMut(&mut dyn Tx, &NodeRow, Time) -> ApiResult<Value> + Send + 'static,
    {
        let (rules, node_id, by) = (self.rules.clone(), self.node_id.clone(), self.credentials.clone());
        self.run_idempotent(message, move |tx, now| {
            let node = authenticate_node(tx, &rules, &node_id, &by)?;
            op(tx, &node, now)
        })
        .await
    }

    /// Does something for a message unless that was done before, and keeps the answer together with it.
    async fn run_idempotent<F>(&self, message: &MailboxItem<'_>, mut op: F) -> ApiResult<Value>
    where
        F: FnMut(&mut dyn Tx, Time) -> ApiResult<Value> + Send + 'static,
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
                let answer = done(&outgoing.message_id, kind.as_deref(), &response);
                mailbox::save_answer(tx, &outgoing, &answer.to_string(), now)?;
                Ok(answer)
            })
            .await
    }

    /// The answer to a message, whether it went well or not.
    async fn to_item_response(
        &self,
        message: &MailboxItem<'_>,
        outcome: ApiResult<Value>,
    ) -> ApiResult<Value> {
        match outcome {
            Ok(answer) => Ok(answer),
            Err(error) if is_passing(&error) => Ok(failed(message, &error)),
            Err(error) => self.refuse(message, &error).await,
        }
    }

    async fn refuse(&self, message: &MailboxItem<'_>, error: &ApiError) -> ApiResult<Value> {
        self.store_answer(message, failed(message, error)).await
    }

    async fn reject(&self, message: &MailboxItem<'_>, reason: &str, text: &str) -> ApiResult<Value> {
        let answer = json!({ "id": message.id, "status": "rejected", "original_type": message.kind,
            "terminal": true, "retryable": false, "reason": reason, "error": format!("{reason}: {text}") });
        self.store_answer(message, answer).await
    }

    /// Keeps a final answer, unless another one was given before.
    async fn store_answer(&self, message: &MailboxItem<'_>, answer: Value) -> ApiResult<Value> {
        let (outgoing, now) = (message.outgoing(&self.node_id), self.rules.now);
        let kept = self
            .hub
            .store
            .write::<_, ApiError, _>(move |tx| {
                if let Some(known) = find_answer(tx, &outgoing, now)? {
                    return Ok(known);
                }
                mailbox::save_answer(tx, &outgoing, &answer.to_string(), now)?;
                Ok(answer.clone())
            })
            .await;
        match kept {
            // The id belongs to another message, or there is no room: nothing can be kept.
            Err(error) if [HubCode::DuplicateMessageId, HubCode::RateLimited].contains(&error.code) => {
                Ok(failed(message, &error))
            }
            kept => kept,
        }
    }
}

/// The answer to a message, if it was given one before.
fn find_answer(tx: &mut dyn Tx, outgoing: &MailboxMessageKey, now: Time) -> ApiResult<Option<Value>> {
    nodes::lock(tx, &outgoing.node_id)?;
    match mailbox::find_answer(tx, outgoing, now)? {
        MailboxLookup::New => Ok(None),
        MailboxLookup::Answered(answer) => Ok(Some(serde_json::from_str(&answer).unwrap_or_default())),
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

fn done(id: &str, kind: Option<&str>, response: &Value) -> Value {
    // A bundle that was taken and not let in is final: sending it again changes nothing.
    let refused = matches!(response["decision"].as_str(), Some("reject" | "quarantine"));
    let mut answer = json!({ "id": id, "status": if refused { "rejected" } else { "accepted" },
        "original_type": kind, "response": response });
    if refused {
        answer["terminal"] = true.into();
        answer["reason"] = response["reason"].clone();
    }
    answer
}

fn failed(message: &MailboxItem<'_>, error: &ApiError) -> Value {
    let passing = is_passing(error);
    let mut answer = json!({
        "id": message.id, "status": "failed", "original_type": message.kind, "terminal": !passing,
        "retryable": passing, "reason": error.code.as_str(),
        "error": format!("{}: {}", error.code.as_str(), error.problem), "response": error.body(),
    });
    if let Some(ms) = error.extra.get("retry_after_ms") {
        answer["retry_after_ms"] = ms.clone();
    }
    answer
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

/// A direct message on its way.
struct DirectMessage {
    message_id: String,
    recipient: String,
    payload: String,
    priority: String,
    ref_id: Option<String>,
}

fn read_dm(message: &MailboxItem<'_>, sender: &str) -> ApiResult<DirectMessage> {
    let raw = message.payload.ok_or_else(|| ApiError::field("payload", "an object", "missing"))?;
    let mut payload: Map<String, Value> = json::read(raw.get(), "payload")?;
    let recipient = payload.get("recipient_node_id").and_then(Value::as_str).unwrap_or_default().to_owned();
    check_node_id(&recipient, "payload.recipient_node_id")?;
    if !payload.get("content").is_some_and(|content| content.is_string() || content.is_object()) {
        return Err(ApiError::field("payload.content", "a text or an object", "something else"));
    }
    // The hub says who sent it; whatever the sender wrote there does not count.
    payload.insert("sender_node_id".to_owned(), sender.into());
    let payload = Value::Object(payload).to_string();
    if payload.len() > DM_BYTES {
        let received = format!("{} bytes", payload.len());
        return Err(ApiError::field("payload", format!("at most {DM_BYTES} bytes"), received));
    }
    let digest = sha256_hex(format!("{}:{sender}:{}", sender.len(), message.id).as_bytes());
    Ok(DirectMessage {
        message_id: format!("mbx_{}", digest.chars().take(32).collect::<String>()),
        recipient,
        payload,
        priority: message.priority.clone().unwrap_or_else(|| "normal".to_owned()),
        ref_id: message.ref_id.clone(),
    })
}

fn post(tx: &mut dyn Tx, dm: &DirectMessage, now: Time) -> ApiResult<Value> {
    if nodes::lock(tx, &dm.recipient)?.is_none() {
        return Err(ApiError::new(
            HubCode::NodeNotFound,
            format!("The hub knows no node {}.", dm.recipient),
            "Look up the recipient's node id; it has to say hello first.",
        ));
    }
    if mailbox::count(tx, &dm.recipient, now)? >= MAX_WAITING {
        return Err(ApiError::new(
            HubCode::RateLimited,
            "The recipient's mailbox is full.",
            "Try again once the recipient has fetched its messages.",
        )
        .retry_after(3_600_000));
    }
    let letter = NewMailboxMessage {
        message_id: &dm.message_id,
        node_id: &dm.recipient,
        kind: "dm",
        payload: &dm.payload,
        priority: &dm.priority,
        ref_id: dm.ref_id.as_deref(),
    };
    mailbox::insert_message(tx, letter, now)?;
    Ok(json!({ "message_id": dm.message_id, "recipient_node_id": dm.recipient }))
}

/// What is fetched.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = Inbound)]
pub struct MailboxReceiveRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    cursor: Option<String>,
    limit: Option<f64>,
}

/// Fetches what waits for a node. It goes on waiting until it is acknowledged.
#[utoipa::path(post, path = "/a2a/mailbox/inbound", tag = "mailbox", request_body = MailboxReceiveRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn inbound(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<MailboxReceiveRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(asked.sender_id.as_deref(), asked.node_id.as_deref())?;
    let cursor = asked.cursor.as_deref().filter(|cursor| !cursor.is_empty());
    let after = cursor.map_or(Ok(0), read_cursor)?;
    let most = asked.limit.unwrap_or(50.0).clamp(1.0, 100.0) as i64;
    let (rules, credentials) = (hub.rules(), credentials.or_secret(asked.node_secret.as_deref()));
    let who = node_id.clone();
    let (after, messages) = hub
        .authenticate_reader(&node_id, &credentials, move |tx, _| {
            // A cursor that lies in the future is one of another database, and must not hide what comes next.
            let after = if after <= mailbox::newest(tx)? { after } else { 0 };
            Ok((after, mailbox::waiting(tx, &who, after, most, rules.now)?))
        })
        .await?;
    let next = format!("mbx_{}", messages.last().map_or(after, |message| message.seq));
    let messages: Vec<Value> = messages.iter().map(message_view).collect();
    Ok(JsonReply::json(&json!({ "messages": messages, "next_cursor": next })))
}

fn read_cursor(cursor: &str) -> ApiResult<i64> {
    let place = cursor.strip_prefix("mbx_").and_then(|seq| seq.parse::<i64>().ok()).filter(|seq| *seq >= 0);
    place.ok_or_else(|| {
        ApiError::new(
            HubCode::InvalidCursor,
            "`cursor` was not given out by this hub.",
            "Send the `next_cursor` of the last answer, or leave it out to begin with what still waits.",
        )
    })
}

fn message_view(message: &MailboxMessageRow) -> Value {
    json!({
        "id": message.message_id,
        "type": message.kind,
        "payload": serde_json::from_str::<Value>(&message.payload).unwrap_or_default(),
        "priority": message.priority,
        "ref_id": message.ref_id,
        "created_at": Time(message.created_at).iso(),
        "expires_at": message.expires_at.map(|at| Time(at).iso()),
    })
}

/// What has arrived.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = Ack)]
pub struct MailboxAckRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    message_ids: Vec<String>,
}

/// Notes that messages have arrived, so that they wait no longer.
#[utoipa::path(post, path = "/a2a/mailbox/ack", tag = "mailbox", request_body = MailboxAckRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn ack(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(told): JsonBody<MailboxAckRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(told.sender_id.as_deref(), told.node_id.as_deref())?;
    validate::list(&told.message_ids, "message_ids", 1000, 200)?;
    let credentials = credentials.or_secret(told.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let rules = hub.rules();
    let acknowledged = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            authenticate_node(tx, &rules, &node_id, &credentials)?;
            let mut count = 0;
            for id in &told.message_ids {
                count += i64::from(mailbox::acknowledge(tx, &node_id, id, rules.now)?);
            }
            Ok(count)
        })
        .await?;
    Ok(JsonReply::json(&json!({ "acknowledged": acknowledged })))
}

/// Whose mailbox is meant.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MailboxStatusParams {
    /// The node.
    node_id: Option<String>,
}

/// Counts what waits for a node.
#[utoipa::path(get, path = "/a2a/mailbox/status", tag = "mailbox", params(MailboxStatusParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn status(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(query): QueryParams<MailboxStatusParams>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(None, query.node_id.as_deref())?;
    let (who, now) = (node_id.clone(), hub.now());
    let count = hub
        .authenticate_reader(&node_id, &credentials, move |tx, _| Ok(mailbox::count(tx, &who, now)?))
        .await?;
    Ok(JsonReply::json(&json!({ "pending_count": count })))
}
