//! A proxy hands over what its agents send.

use super::batch::MailboxBatch;
use super::direct_message::{deliver_in, read_direct_message};
use super::item::{MailboxItem, read_items};
use super::item_response::{MailboxFailure, MailboxItemResponse};
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::json;
use crate::http::validate;
use crate::ops::assets::bundle::PublishRequest;
use crate::ops::assets::publish::{CheckedPublication, publish_and_respond};
use crate::ops::tasks::{self, claim, complete, deadline_or};
use crate::ops::workers::register::{domains_or, subscribe_worker_in};
use crate::state::SharedHub;
use capsid_store::work::workers::WorkerUpdate;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use utoipa::ToSchema;

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
    let messages = read_items(batch.messages.as_deref())?;
    let sending = MailboxBatch {
        hub,
        sender: Sender::new(node_id, credentials.or_secret(batch.node_secret.as_deref())),
        context: hub.context(),
    };
    sending.authenticate().await?;
    let mut results = Vec::with_capacity(messages.len());
    for message in &messages {
        results.push(sending.process(message).await?);
    }
    Ok(MailboxSendResponse { results })
}

impl MailboxBatch<'_> {
    /// Refuses the whole batch of somebody who may not speak for the node.
    async fn authenticate(&self) -> ApiResult<()> {
        self.hub.limit_calls(&self.sender).await?;
        let (context, sender) = (self.context.clone(), self.sender.clone());
        self.hub.store.write(move |tx| sender.lock(tx, &context.begin())).await?;
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
        let dm = match read_direct_message(message, self.sender.id()) {
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
                CheckedPublication::check(hub, &payload, self.sender.credentials().secret.as_deref())
            }),
            None => Err(ApiError::field("payload", "an object", "missing")),
        };
        let publication = match publication {
            Ok(publication) => publication,
            Err(error) => return self.refuse(message, &error).await,
        };
        let (limit, now) = (hub.config.limits.publish, self.context.now);
        let allowed = hub
            .limiter
            .check(&hub.store, HubCode::RateLimited, "publish", self.sender.id(), limit, now)
            .await;
        if let Err(error) = allowed {
            return MailboxItemResponse::Failed(MailboxFailure::new(message, &error)).render();
        }
        let outcome = self
            .run_idempotent_as_node(message, move |tx, context, node| {
                publish_and_respond(tx, context, node, &publication)
            })
            .await;
        hub.index.changed();
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
        let submission_id = self.hub.new_id("sub");
        let outcome = self.run_idempotent_as_node(message, move |tx, context, node| {
            claim::claim_task_in(tx, context, node, &claim, &submission_id)
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
        let outcome = self
            .run_idempotent_as_node(message, move |tx, context, node| {
                complete::complete_task_in(tx, context, node, &task_id, asset)
            })
            .await;
        self.hub.events.notify();
        self.to_item_response(message, outcome).await
    }

    fn read_task(&self, message: &MailboxItem<'_>) -> ApiResult<(String, TaskMailPayload)> {
        let asked: TaskMailPayload = message.payload_or_default()?;
        let (task_id, _) =
            tasks::ids(asked.task_id.as_deref(), Some(self.sender.id()), asked.node_id.as_deref())?;
        Ok((task_id, asked))
    }

    /// Leaves new tasks in the node's mailbox from now on, or no longer.
    async fn subscribe(&self, message: &MailboxItem<'_>, on: bool) -> ApiResult<Box<RawValue>> {
        let told = message.payload_or_default().and_then(|asked: TaskSubscriptionPayload| {
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
            .run_idempotent_as_node(message, move |tx, context, node| {
                subscribe_worker_in(tx, node, &told, context.now)
            })
            .await;
        self.to_item_response(message, outcome).await
    }
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
