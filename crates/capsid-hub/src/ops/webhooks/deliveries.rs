//! What became of calls to a node's webhook, for its owner and for the node itself, and sending them again.

use super::manage::{authenticate, check_owner, check_secret_or_owner, no_webhook};
use crate::auth::account::require_user;
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::cursor;
use crate::http::query;
use crate::http::traced_id;
use crate::http::validate;
use crate::state::Hub;
use capsid_model::time::Time;
use capsid_store::assets::list::ListPosition;
use capsid_store::db::tx::Tx;
use capsid_store::nodes::NodeRow;
use capsid_store::notifications::deliveries;
use capsid_store::notifications::deliveries::{DeliveryFilter, DeliveryRow, ReplayOutcome, STATES};
use capsid_store::notifications::notices;
use capsid_store::notifications::notices::NodeNotice;
use capsid_store::notifications::webhooks;
use serde::{Deserialize, Serialize};
use serde_json::Map;
use std::sync::Arc;
use utoipa::ToSchema;

/// The name of the list in its cursors.
const LIST: &str = "deliveries";

/// How a call stands.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "lowercase")]
#[schema(as = DeliveryState)]
pub enum DeliveryStateText {
    Queued,
    Delivering,
    Retrying,
    Delivered,
    Dead,
}

/// A call to a webhook.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Delivery)]
pub struct DeliveryView {
    delivery_id: String,
    r#type: String,
    #[schema(value_type = DeliveryStateText)]
    state: String,
    attempts: i64,
    #[schema(required)]
    next_attempt_at: Option<String>,
    #[schema(required)]
    last_status: Option<i64>,
    #[schema(required)]
    last_error: Option<String>,
    created_at: String,
    updated_at: String,
    #[schema(required)]
    delivered_at: Option<String>,
}

impl From<DeliveryRow> for DeliveryView {
    fn from(delivery: DeliveryRow) -> Self {
        let waits = ["queued", "retrying"].contains(&delivery.state.as_str());
        Self {
            delivery_id: delivery.delivery_id,
            r#type: delivery.kind,
            state: delivery.state,
            attempts: delivery.attempts,
            next_attempt_at: waits.then(|| Time(delivery.next_at).iso()),
            last_status: delivery.last_status,
            last_error: delivery.last_error,
            created_at: Time(delivery.created_at).iso(),
            updated_at: Time(delivery.updated_at).iso(),
            delivered_at: delivery.delivered_at.map(|at| Time(at).iso()),
        }
    }
}

/// A page of calls, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeliveryPage)]
pub struct ListDeliveriesResponse {
    deliveries: Vec<DeliveryView>,
    #[schema(value_type = i64)]
    count: usize,
    has_more: bool,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// Which deliveries, and how many.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListDeliveriesParams {
    /// queued, delivering, retrying, delivered or dead; any where it is missing.
    state: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// The same in the name of a node.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListNodeDeliveriesParams {
    /// The node.
    node_id: Option<String>,
    /// queued, delivering, retrying, delivered or dead; any where it is missing.
    state: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists calls to the webhook of a node for its owner, newest first.
#[tracing::instrument(skip_all, fields(node.id = traced_id(&node_id)))]
pub async fn list_deliveries(
    hub: &Hub,
    credentials: Credentials,
    node_id: String,
    params: ListDeliveriesParams,
) -> ApiResult<ListDeliveriesResponse> {
    let (page, now) = (DeliveryPageRequest::parse(&params)?, hub.now());
    hub.store
        .read(move |tx| {
            let user = require_user(tx, &credentials, now)?;
            check_owner(tx, &user, &node_id)?;
            page.read(tx, &node_id)
        })
        .await
}

/// Lists calls to a node's webhook for the node itself, newest first.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id)))]
pub async fn list_node_deliveries(
    hub: &Hub,
    credentials: Credentials,
    params: ListNodeDeliveriesParams,
) -> ApiResult<ListDeliveriesResponse> {
    let node_id = validate::node(None, params.node_id.as_deref())?;
    let page = DeliveryPageRequest::parse(&ListDeliveriesParams {
        state: params.state,
        limit: params.limit,
        cursor: params.cursor,
    })?;
    let (sender, context) = (Sender::new(node_id, credentials), hub.context());
    let by = sender.clone();
    let read = move |tx: &mut dyn Tx, node: Option<&NodeRow>| {
        let node = check_secret_or_owner(tx, node, &by, &context)?;
        page.read(tx, &node.node_id)
    };
    sender.read(hub, read).await
}

/// A page of deliveries.
#[derive(Debug, Clone)]
struct DeliveryPageRequest {
    state: Option<String>,
    before: i64,
    limit: i64,
}

impl DeliveryPageRequest {
    fn parse(asked: &ListDeliveriesParams) -> ApiResult<Self> {
        let state = asked.state.as_deref().map(str::trim).filter(|state| !state.is_empty());
        validate::word_or(state, "state", &STATES)?;
        Ok(Self {
            state: state.map(str::to_owned),
            before: cursor::read(LIST, asked.cursor.as_deref())?.seq,
            limit: query::limit(asked.limit.as_deref(), 20, 100),
        })
    }

    fn read(&self, tx: &mut dyn Tx, node_id: &str) -> ApiResult<ListDeliveriesResponse> {
        let filter = DeliveryFilter { node_id: Some(node_id.to_owned()), state: self.state.clone() };
        let mut found = deliveries::list(tx, &filter, self.before, self.limit + 1)?;
        let more = found.len() as i64 > self.limit;
        found.truncate(self.limit as usize);
        let last = found.last().filter(|_| more);
        let next = last.map(|last| cursor::write(LIST, ListPosition { key: 0, seq: last.seq }));
        Ok(ListDeliveriesResponse {
            count: found.len(),
            deliveries: found.into_iter().map(DeliveryView::from).collect(),
            has_more: more,
            next_cursor: next,
        })
    }
}

/// Which delivery of which node.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = WebhookRequest)]
pub struct ReplayDeliveryRequest {
    sender_id: Option<String>,
    #[schema(example = "node_e5f6a7b8c9d0e1f2")]
    node_id: Option<String>,
    node_secret: Option<String>,
    #[schema(example = "evt_12", max_length = 200)]
    delivery_id: Option<String>,
}

/// A call that is sent again.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = DeliveryQueued)]
pub struct ReplayDeliveryResponse {
    status: &'static str,
    delivery_id: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    event_id: Option<String>,
}

/// Sends a call again to the webhook of a node, for its owner.
#[tracing::instrument(skip_all, fields(node.id = traced_id(&node_id), delivery.id = traced_id(&delivery_id)))]
pub async fn replay_delivery(
    hub: &Hub,
    credentials: Credentials,
    node_id: String,
    delivery_id: String,
) -> ApiResult<ReplayDeliveryResponse> {
    let clock = Arc::clone(&hub.clock);
    let queued = hub
        .store
        .write(move |tx| {
            let now = clock.now();
            let user = require_user(tx, &credentials, now)?;
            check_owner(tx, &user, &node_id)?;
            replay_in(tx, &node_id, &delivery_id, now)
        })
        .await?;
    hub.events.notify();
    Ok(queued)
}

/// The same for the node itself.
#[tracing::instrument(skip_all, fields(node.id, delivery.id = request.delivery_id.as_deref().map(traced_id)))]
pub async fn replay_node_delivery(
    hub: &Hub,
    credentials: Credentials,
    request: ReplayDeliveryRequest,
) -> ApiResult<ReplayDeliveryResponse> {
    let node_id = validate::node(request.sender_id.as_deref(), request.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    let Some(delivery_id) = request.delivery_id else {
        return Err(ApiError::field("delivery_id", "the id of a delivery", "missing"));
    };
    validate::name(&delivery_id, "delivery_id", 200)?;
    let sender = Sender::new(&node_id, credentials.or_secret(request.node_secret.as_deref()));
    hub.limit_calls(&sender).await?;
    let context = hub.context();
    let queued = hub
        .store
        .write(move |tx| {
            let context = context.begin();
            authenticate(tx, &context, &sender)?;
            replay_in(tx, &node_id, &delivery_id, context.now)
        })
        .await?;
    hub.events.notify();
    Ok(queued)
}

fn replay_in(
    tx: &mut dyn Tx,
    node_id: &str,
    delivery_id: &str,
    now: Time,
) -> ApiResult<ReplayDeliveryResponse> {
    match deliveries::replay(tx, delivery_id, Some(node_id), now)? {
        ReplayOutcome::Queued => Ok(ReplayDeliveryResponse {
            status: "queued",
            delivery_id: delivery_id.to_owned(),
            event_id: None,
        }),
        ReplayOutcome::Missing => Err(no_delivery()),
        ReplayOutcome::NoWebhook => Err(switched_off()),
        ReplayOutcome::UnderWay(state) => Err(ApiError::new(
            HubCode::StateConflict,
            format!("The delivery is {state}: it is being tried already."),
            "Wait until it was delivered or given up.",
        )
        .with("state", state)),
    }
}

/// Sends an event of the type `ping` to a node's webhook, to try it out.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn send_test_event(
    hub: &Hub,
    credentials: Credentials,
    request: ReplayDeliveryRequest,
) -> ApiResult<ReplayDeliveryResponse> {
    let node_id = validate::node(request.sender_id.as_deref(), request.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    let sender = Sender::new(&node_id, credentials.or_secret(request.node_secret.as_deref()));
    hub.limit_calls(&sender).await?;
    let context = hub.context();
    let id = hub
        .store
        .write(move |tx| {
            let context = context.begin();
            authenticate(tx, &context, &sender)?;
            let webhook = webhooks::get(tx, &node_id)?.ok_or_else(no_webhook)?;
            if webhook.disabled_at.is_some() {
                return Err(switched_off());
            }
            if deliveries::is_full(tx, &node_id)? {
                return Err(too_many_waiting());
            }
            let notice =
                NodeNotice { kind: "ping", payload: Map::new() }.with("message", "This hub can call you.");
            Ok(format!("evt_{}", notices::notify_node(tx, &node_id, &notice, context.now)?))
        })
        .await?;
    hub.events.notify();
    Ok(ReplayDeliveryResponse { status: "queued", delivery_id: id.clone(), event_id: Some(id) })
}

/// The refusal of a delivery that is not there.
pub fn no_delivery() -> ApiError {
    ApiError::new(
        HubCode::DeliveryNotFound,
        "The node has no delivery with this id.",
        "See its deliveries for those it has; old ones are forgotten.",
    )
}

fn too_many_waiting() -> ApiError {
    ApiError::new(
        HubCode::StateConflict,
        "So many calls wait for this webhook that no more is queued.",
        "Let the receiver answer with 2xx, or register another address; what waits is called there.",
    )
}

fn switched_off() -> ApiError {
    ApiError::new(
        HubCode::StateConflict,
        "The node has no webhook, or it was switched off because its calls failed.",
        "Let its owner switch it on again with POST /account/agents/<node_id>/webhook/enable, or register another address.",
    )
}
