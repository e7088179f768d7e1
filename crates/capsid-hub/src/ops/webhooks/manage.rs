//! What became of calls to a node's webhook, for its owner (`/account/agents/{node_id}/…`) and for the node itself
//! (`/a2a/webhook/…`): looking at them, sending them again, another secret, switching on again.

use crate::auth::account::{caller, may_act_for, require_session, require_user};
use crate::auth::credentials::{Credentials, OperationContext, access_denied, authenticate_node};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::cursor;
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::http::query;
use crate::http::query::{PathId, QueryParams};
use crate::http::validate;
use crate::state::SharedHub;
use crate::webhooks::sign;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;
use capsid_model::time::Time;
use capsid_rules::identity::secrets::{AccessDenial, PresentedSecret};
use capsid_store::accounts::UserRow;
use capsid_store::assets::list::ListPosition;
use capsid_store::audit::{self, AuditChange};
use capsid_store::db::tx::Tx;
use capsid_store::nodes::{self, NodeRow};
use capsid_store::notifications::deliveries;
use capsid_store::notifications::deliveries::{DeliveryFilter, DeliveryRow, ReplayOutcome, STATES};
use capsid_store::notifications::notices;
use capsid_store::notifications::notices::NodeNotice;
use capsid_store::notifications::webhooks;
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The name of the list in its cursors.
const LIST: &str = "deliveries";

/// A node and a delivery in a path.
#[derive(Debug, Clone)]
pub struct DeliveryPath(String, String);

impl<S: Send + Sync> FromRequestParts<S> for DeliveryPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        match Path::<(String, String)>::from_request_parts(parts, state).await {
            Ok(Path((node_id, delivery_id))) => Ok(Self(node_id, delivery_id)),
            Err(_) => Err(no_delivery()),
        }
    }
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

/// Which node.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct NodeParam {
    /// The node.
    node_id: Option<String>,
}

/// Shows the webhook of a node of the account.
#[utoipa::path(get, path = "/account/agents/{node_id}/webhook", tag = "accounts",
    params(("node_id" = String, Path, description = "The node.")),
    responses((status = 200, body = crate::http::openapi::webhooks::Webhook), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn show(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(node_id): PathId,
) -> ApiResult<JsonReply> {
    let now = hub.now();
    let told = hub
        .store
        .read(move |tx| {
            let user = require_user(tx, &credentials, now)?;
            own(tx, &user, &node_id)?;
            load_webhook_view(tx, &node_id, now)
        })
        .await?;
    Ok(JsonReply::json(&told))
}

/// Lists calls to the webhook of a node of the account, newest first.
#[utoipa::path(get, path = "/account/agents/{node_id}/deliveries", tag = "accounts",
    params(("node_id" = String, Path, description = "The node."), ListDeliveriesParams),
    responses((status = 200, body = crate::http::openapi::webhooks::DeliveryPage), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(node_id): PathId,
    QueryParams(asked): QueryParams<ListDeliveriesParams>,
) -> ApiResult<JsonReply> {
    let (page, now) = (DeliveryPageRequest::parse(&asked)?, hub.now());
    let listed = hub
        .store
        .read(move |tx| {
            let user = require_user(tx, &credentials, now)?;
            own(tx, &user, &node_id)?;
            page.read(tx, &node_id)
        })
        .await?;
    Ok(JsonReply::json(&listed))
}

/// Sends a call again that arrived or was given up, with the same id.
#[utoipa::path(post, path = "/account/agents/{node_id}/deliveries/{delivery_id}/replay", tag = "accounts",
    params(("node_id" = String, Path, description = "The node."),
        ("delivery_id" = String, Path, description = "The delivery, such as `evt_12`.")),
    responses((status = 200, body = crate::http::openapi::webhooks::DeliveryQueued), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn replay(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    DeliveryPath(node_id, delivery_id): DeliveryPath,
) -> ApiResult<JsonReply> {
    let now = hub.now();
    let told = hub
        .store
        .write(move |tx| {
            let user = require_user(tx, &credentials, now)?;
            own(tx, &user, &node_id)?;
            send_again(tx, &node_id, &delivery_id, now)
        })
        .await?;
    hub.events.notify();
    Ok(JsonReply::json(&told))
}

/// Gives the webhook of a node another secret. The answer is the only place where it is shown.
///
/// For a day calls are signed with the old secret as well.
#[utoipa::path(post, path = "/account/agents/{node_id}/webhook/rotate", tag = "accounts",
    params(("node_id" = String, Path, description = "The node.")),
    responses((status = 200, body = crate::http::openapi::webhooks::WebhookRotated), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn rotate(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(node_id): PathId,
) -> ApiResult<JsonReply> {
    let (now, secret) = (hub.now(), sign::new_secret(&*hub.random));
    let (id, fresh) = (node_id.clone(), secret.clone());
    let until = hub
        .store
        .write(move |tx| {
            let user = require_session(tx, &credentials, now)?;
            own(tx, &user, &id)?;
            let until = webhooks::rotate(tx, &id, &fresh, now)?.ok_or_else(no_webhook)?;
            audit_change(tx, &user, &id, "rotate_webhook_secret", now)?;
            Ok::<_, ApiError>(until)
        })
        .await?;
    Ok(JsonReply::json(&json!({
        "status": "rotated", "node_id": node_id, "webhook_secret": secret, "old_secret_valid_until": until.iso(),
    })))
}

/// Switches the webhook of a node on again that was switched off because its calls failed.
#[utoipa::path(post, path = "/account/agents/{node_id}/webhook/enable", tag = "accounts",
    params(("node_id" = String, Path, description = "The node.")),
    responses((status = 200, body = crate::http::openapi::webhooks::Webhook), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn enable(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(node_id): PathId,
) -> ApiResult<JsonReply> {
    let now = hub.now();
    let told = hub
        .store
        .write(move |tx| {
            let user = require_user(tx, &credentials, now)?;
            own(tx, &user, &node_id)?;
            if !webhooks::enable(tx, &node_id, now)? {
                return Err(no_webhook());
            }
            audit_change(tx, &user, &node_id, "enable_webhook", now)?;
            load_webhook_view(tx, &node_id, now)
        })
        .await?;
    hub.events.notify();
    Ok(JsonReply::json(&told))
}

/// Shows a node its webhook.
#[utoipa::path(get, path = "/a2a/webhook", tag = "events", params(NodeParam),
    responses((status = 200, body = crate::http::openapi::webhooks::Webhook), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn show_node(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<NodeParam>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(None, asked.node_id.as_deref())?;
    let (by, now) = (credentials.clone(), hub.now());
    let told = hub
        .authenticate_reader(&node_id, &credentials, move |tx, node| {
            let node = known(tx, node, &by, now)?;
            load_webhook_view(tx, &node.node_id, now)
        })
        .await?;
    Ok(JsonReply::json(&told))
}

/// Lists calls to a node's webhook for the node itself, newest first.
#[utoipa::path(get, path = "/a2a/webhook/deliveries", tag = "events", params(ListNodeDeliveriesParams),
    responses((status = 200, body = crate::http::openapi::webhooks::DeliveryPage), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list_node(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<ListNodeDeliveriesParams>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(None, asked.node_id.as_deref())?;
    let page = DeliveryPageRequest::parse(&ListDeliveriesParams {
        state: asked.state,
        limit: asked.limit,
        cursor: asked.cursor,
    })?;
    let (by, now) = (credentials.clone(), hub.now());
    let listed = hub
        .authenticate_reader(&node_id, &credentials, move |tx, node| {
            let node = known(tx, node, &by, now)?;
            page.read(tx, &node.node_id)
        })
        .await?;
    Ok(JsonReply::json(&listed))
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

/// Sends a call to the node's webhook again that arrived or was given up, with the same id.
#[utoipa::path(post, path = "/a2a/webhook/replay", tag = "events", request_body = ReplayDeliveryRequest,
    responses((status = 200, body = crate::http::openapi::webhooks::DeliveryQueued), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn replay_node(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<ReplayDeliveryRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(asked.sender_id.as_deref(), asked.node_id.as_deref())?;
    let Some(delivery_id) = asked.delivery_id else {
        return Err(ApiError::field("delivery_id", "the id of a delivery", "missing"));
    };
    validate::name(&delivery_id, "delivery_id", 200)?;
    let credentials = credentials.or_secret(asked.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let rules = hub.rules();
    let told = hub
        .store
        .write(move |tx| {
            act(tx, &rules, &node_id, &credentials)?;
            send_again(tx, &node_id, &delivery_id, rules.now)
        })
        .await?;
    hub.events.notify();
    Ok(JsonReply::json(&told))
}

/// Sends an event of the type `ping` to the node's webhook, to try it out.
#[utoipa::path(post, path = "/a2a/webhook/test", tag = "events", request_body = ReplayDeliveryRequest,
    responses((status = 200, body = crate::http::openapi::webhooks::DeliveryQueued), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn test(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<ReplayDeliveryRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(asked.sender_id.as_deref(), asked.node_id.as_deref())?;
    let credentials = credentials.or_secret(asked.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let rules = hub.rules();
    let id = hub
        .store
        .write(move |tx| {
            act(tx, &rules, &node_id, &credentials)?;
            let webhook = webhooks::get(tx, &node_id)?.ok_or_else(no_webhook)?;
            if webhook.disabled_at.is_some() {
                return Err(switched_off());
            }
            if deliveries::is_full(tx, &node_id)? {
                return Err(too_many_waiting());
            }
            let notice =
                NodeNotice { kind: "ping", payload: Map::new() }.with("message", "This hub can call you.");
            Ok(format!("evt_{}", notices::notify_node(tx, &node_id, &notice, rules.now)?))
        })
        .await?;
    hub.events.notify();
    Ok(JsonReply::json(&json!({ "status": "queued", "delivery_id": id, "event_id": id })))
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

    fn read(&self, tx: &mut dyn Tx, node_id: &str) -> ApiResult<Value> {
        let filter = DeliveryFilter { node_id: Some(node_id.to_owned()), state: self.state.clone() };
        let mut found = deliveries::list(tx, &filter, self.before, self.limit + 1)?;
        let more = found.len() as i64 > self.limit;
        found.truncate(self.limit as usize);
        let last = found.last().filter(|_| more);
        let next = last.map(|last| cursor::write(LIST, ListPosition { key: 0, seq: last.seq }));
        let rows: Vec<Value> = found.iter().map(row).collect();
        Ok(json!({ "deliveries": rows, "count": rows.len(), "has_more": more, "next_cursor": next }))
    }
}

fn row(delivery: &DeliveryRow) -> Value {
    let waits = ["queued", "retrying"].contains(&delivery.state.as_str());
    json!({
        "delivery_id": delivery.delivery_id, "type": delivery.kind, "state": delivery.state,
        "attempts": delivery.attempts, "next_attempt_at": waits.then(|| Time(delivery.next_at).iso()),
        "last_status": delivery.last_status, "last_error": delivery.last_error,
        "created_at": Time(delivery.created_at).iso(), "updated_at": Time(delivery.updated_at).iso(),
        "delivered_at": delivery.delivered_at.map(|at| Time(at).iso()),
    })
}

/// How it stands with a node's webhook. The secret is not shown.
fn load_webhook_view(tx: &mut dyn Tx, node_id: &str, now: Time) -> ApiResult<Value> {
    let webhook = webhooks::get(tx, node_id)?;
    let mut counts: Map<String, Value> = STATES.iter().map(|state| ((*state).to_owned(), 0.into())).collect();
    for (state, count) in deliveries::counts(tx, Some(node_id))? {
        counts.insert(state, count.into());
    }
    let shown = webhook.as_ref();
    let old_until = shown.and_then(|webhook| webhook.old_until).filter(|until| now.0 < *until);
    Ok(json!({
        "node_id": node_id, "registered": shown.is_some(), "url": shown.map(|webhook| &webhook.url),
        "enabled": shown.is_some_and(|webhook| webhook.disabled_at.is_none()),
        "disabled_at": shown.and_then(|webhook| webhook.disabled_at).map(|at| Time(at).iso()),
        "disabled_reason": shown.and_then(|webhook| webhook.disabled_reason.as_ref()),
        "deaths": shown.map_or(0, |webhook| webhook.deaths),
        "old_secret_valid_until": old_until.map(|at| Time(at).iso()),
        "created_at": shown.map(|webhook| Time(webhook.created_at).iso()), "deliveries": counts,
    }))
}

fn send_again(tx: &mut dyn Tx, node_id: &str, delivery_id: &str, now: Time) -> ApiResult<Value> {
    match deliveries::replay(tx, delivery_id, Some(node_id), now)? {
        ReplayOutcome::Queued => Ok(json!({ "status": "queued", "delivery_id": delivery_id })),
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

/// A node of an account. Whose node another one is, is nobody else's business.
fn own(tx: &mut dyn Tx, user: &UserRow, node_id: &str) -> ApiResult<()> {
    match nodes::get(tx, node_id)? {
        Some(node) if may_act_for(user, &node) => Ok(()),
        _ => Err(ApiError::new(
            HubCode::NodeNotFound,
            format!("The account has no node `{}`.", capsid_model::text::cut(node_id, 128)),
            "See GET /account/agents for the nodes of the account, and claim others with their claim code.",
        )),
    }
}

/// A node in whose name somebody asks who shows its secret, or who owns it. Where the node is called may be a secret
/// itself, so nobody else is told.
fn known<'n>(
    tx: &mut dyn Tx,
    node: Option<&'n NodeRow>,
    credentials: &Credentials,
    now: Time,
) -> ApiResult<&'n NodeRow> {
    let Some(node) = node else {
        return Err(ApiError::new(
            HubCode::NodeNotFound,
            "The hub knows no node with this id.",
            "Say hello first: POST /a2a/hello.",
        ));
    };
    let shows = node.presented(credentials.secret.as_deref()) == PresentedSecret::Right;
    if shows || caller(tx, credentials, now)?.is_some_and(|user| may_act_for(&user, node)) {
        return Ok(node);
    }
    Err(access_denied(AccessDenial::SecretRequired, &node.node_id))
}

fn act(tx: &mut dyn Tx, rules: &OperationContext, node_id: &str, credentials: &Credentials) -> ApiResult<()> {
    let node = authenticate_node(tx, rules, node_id, credentials)?;
    known(tx, Some(&node), credentials, rules.now).map(drop)
}

fn audit_change(tx: &mut dyn Tx, user: &UserRow, node_id: &str, action: &str, now: Time) -> ApiResult<()> {
    let change =
        AuditChange { kind: "node", subject: node_id, action, before: None, after: None, reason: None };
    Ok(audit::add(tx, &user.actor(), change, now)?)
}

fn no_delivery() -> ApiError {
    ApiError::new(
        HubCode::DeliveryNotFound,
        "The node has no delivery with this id.",
        "See its deliveries for those it has; old ones are forgotten.",
    )
}

fn no_webhook() -> ApiError {
    ApiError::new(
        HubCode::NotFound,
        "The node has no webhook.",
        "Say hello with a `webhook_url` to register one: POST /a2a/hello.",
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
