//! What waits for a node, and noting that it has arrived.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::json::stored_json;
use crate::http::validate;
use crate::state::Hub;
use capsid_model::time::Time;
use capsid_store::notifications::mailbox;
use capsid_store::notifications::mailbox::MailboxMessageRow;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use utoipa::ToSchema;

/// What is fetched.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Inbound)]
pub struct MailboxReceiveRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    cursor: Option<String>,
    limit: Option<f64>,
}

/// What waits for a node.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MailboxMessages)]
pub struct MailboxReceiveResponse {
    messages: Vec<MailboxMessageView>,
    /// What to send as `cursor` the next time.
    next_cursor: String,
}

/// A message that waits for a node.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MailboxMessage)]
struct MailboxMessageView {
    id: String,
    r#type: String,
    #[schema(value_type = Value)]
    payload: Box<RawValue>,
    priority: String,
    #[schema(required)]
    ref_id: Option<String>,
    created_at: String,
    #[schema(required)]
    expires_at: Option<String>,
}

impl MailboxMessageView {
    fn from_row(message: MailboxMessageRow) -> ApiResult<Self> {
        Ok(Self {
            id: message.message_id,
            r#type: message.kind,
            payload: stored_json(message.payload)?,
            priority: message.priority,
            ref_id: message.ref_id,
            created_at: Time(message.created_at).iso(),
            expires_at: message.expires_at.map(|at| Time(at).iso()),
        })
    }
}

/// Fetches what waits for a node. It goes on waiting until it is acknowledged.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn receive_messages(
    hub: &Hub,
    credentials: Credentials,
    asked: MailboxReceiveRequest,
) -> ApiResult<MailboxReceiveResponse> {
    let node_id = validate::node(asked.sender_id.as_deref(), asked.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    let cursor = asked.cursor.as_deref().filter(|cursor| !cursor.is_empty());
    let after = cursor.map_or(Ok(0), read_cursor)?;
    let most = asked.limit.unwrap_or(50.0).clamp(1.0, 100.0) as i64;
    let (who, now) = (node_id.clone(), hub.now());
    let sender = Sender::new(node_id, credentials.or_secret(asked.node_secret.as_deref()));
    let (after, messages) = sender
        .read(hub, move |tx, _| {
            // A cursor that lies in the future is one of another database, and must not hide what comes next.
            let after = if after <= mailbox::newest(tx)? { after } else { 0 };
            Ok((after, mailbox::waiting(tx, &who, after, most, now)?))
        })
        .await?;
    Ok(MailboxReceiveResponse {
        next_cursor: format!("mbx_{}", messages.last().map_or(after, |message| message.seq)),
        messages: messages.into_iter().map(MailboxMessageView::from_row).collect::<ApiResult<_>>()?,
    })
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

/// What has arrived.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Ack)]
pub struct MailboxAckRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    message_ids: Vec<String>,
}

/// How many messages were waiting and wait no longer.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MailboxAcknowledged)]
pub struct MailboxAckResponse {
    acknowledged: i64,
}

/// Notes that messages have arrived, so that they wait no longer.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn acknowledge_messages(
    hub: &Hub,
    credentials: Credentials,
    request: MailboxAckRequest,
) -> ApiResult<MailboxAckResponse> {
    let node_id = validate::node(request.sender_id.as_deref(), request.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    validate::list(&request.message_ids, "message_ids", 1000, 200)?;
    let sender = Sender::new(&node_id, credentials.or_secret(request.node_secret.as_deref()));
    hub.limit_calls(&sender).await?;
    let context = hub.context();
    let acknowledged = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            sender.lock(tx, &context)?;
            let mut count = 0;
            for id in &request.message_ids {
                count += i64::from(mailbox::acknowledge(tx, &node_id, id, context.now)?);
            }
            Ok(count)
        })
        .await?;
    Ok(MailboxAckResponse { acknowledged })
}

/// Whose mailbox is meant.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct MailboxStatusParams {
    /// The node.
    node_id: Option<String>,
}

/// How much waits for a node.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = MailboxStatus)]
pub struct MailboxStatusResponse {
    pending_count: i64,
}

/// Counts what waits for a node.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn show_mailbox_status(
    hub: &Hub,
    credentials: &Credentials,
    params: MailboxStatusParams,
) -> ApiResult<MailboxStatusResponse> {
    let node_id = validate::node(None, params.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    let (who, now) = (node_id.clone(), hub.now());
    let pending_count = Sender::new(&node_id, credentials.clone())
        .read(hub, move |tx, _| Ok(mailbox::count(tx, &who, now)?))
        .await?;
    Ok(MailboxStatusResponse { pending_count })
}
