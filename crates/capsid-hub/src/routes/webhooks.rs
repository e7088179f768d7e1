//! `/account/agents/{node_id}/webhook`, `/a2a/webhook` and below: webhooks, for the owner of a node and for the node.

use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::json::JsonBody;
use crate::http::openapi::ErrorBody;
use crate::http::query::{PathId, QueryParams};
use crate::ops::webhooks::deliveries::{
    self, ListDeliveriesParams, ListDeliveriesResponse, ListNodeDeliveriesParams, ReplayDeliveryRequest,
    ReplayDeliveryResponse,
};
use crate::ops::webhooks::manage::{self, RotateWebhookSecretResponse, ShowWebhookParams};
use crate::ops::webhooks::view::WebhookView;
use crate::state::SharedHub;
use axum::Json;
use axum::extract::{FromRequestParts, Path, State};
use axum::http::request::Parts;

/// A node and a delivery in a path.
#[derive(Debug, Clone)]
pub struct DeliveryPath(String, String);

impl<S: Send + Sync> FromRequestParts<S> for DeliveryPath {
    type Rejection = ApiError;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> ApiResult<Self> {
        match Path::<(String, String)>::from_request_parts(parts, state).await {
            Ok(Path((node_id, delivery_id))) => Ok(Self(node_id, delivery_id)),
            Err(_) => Err(deliveries::no_delivery()),
        }
    }
}

/// Shows the webhook of a node of the account.
#[utoipa::path(get, path = "/account/agents/{node_id}/webhook", tag = "accounts",
    params(("node_id" = String, Path, description = "The node.")),
    responses((status = 200, body = WebhookView), (status = "4XX", body = ErrorBody)))]
pub async fn show(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(node_id): PathId,
) -> ApiResult<Json<WebhookView>> {
    Ok(Json(manage::show_webhook(&hub, credentials, node_id).await?))
}

/// Lists calls to the webhook of a node of the account, newest first.
#[utoipa::path(get, path = "/account/agents/{node_id}/deliveries", tag = "accounts",
    params(("node_id" = String, Path, description = "The node."), ListDeliveriesParams),
    responses((status = 200, body = ListDeliveriesResponse), (status = "4XX", body = ErrorBody)))]
pub async fn list_deliveries(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(node_id): PathId,
    QueryParams(params): QueryParams<ListDeliveriesParams>,
) -> ApiResult<Json<ListDeliveriesResponse>> {
    Ok(Json(deliveries::list_deliveries(&hub, credentials, node_id, params).await?))
}

/// Sends a call again that arrived or was given up, with the same id.
#[utoipa::path(post, path = "/account/agents/{node_id}/deliveries/{delivery_id}/replay", tag = "accounts",
    params(("node_id" = String, Path, description = "The node."),
        ("delivery_id" = String, Path, description = "The delivery, such as `evt_12`.")),
    responses((status = 200, body = ReplayDeliveryResponse), (status = "4XX", body = ErrorBody)))]
pub async fn replay_delivery(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    DeliveryPath(node_id, delivery_id): DeliveryPath,
) -> ApiResult<Json<ReplayDeliveryResponse>> {
    Ok(Json(deliveries::replay_delivery(&hub, credentials, node_id, delivery_id).await?))
}

/// Gives the webhook of a node another secret. The answer is the only place where it is shown.
///
/// For a day calls are signed with the old secret as well.
#[utoipa::path(post, path = "/account/agents/{node_id}/webhook/rotate", tag = "accounts",
    params(("node_id" = String, Path, description = "The node.")),
    responses((status = 200, body = RotateWebhookSecretResponse), (status = "4XX", body = ErrorBody)))]
pub async fn rotate_secret(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(node_id): PathId,
) -> ApiResult<Json<RotateWebhookSecretResponse>> {
    Ok(Json(manage::rotate_webhook_secret(&hub, credentials, node_id).await?))
}

/// Switches the webhook of a node on again that was switched off because its calls failed.
#[utoipa::path(post, path = "/account/agents/{node_id}/webhook/enable", tag = "accounts",
    params(("node_id" = String, Path, description = "The node.")),
    responses((status = 200, body = WebhookView), (status = "4XX", body = ErrorBody)))]
pub async fn enable(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(node_id): PathId,
) -> ApiResult<Json<WebhookView>> {
    Ok(Json(manage::enable_webhook(&hub, credentials, node_id).await?))
}

/// Shows a node its webhook.
#[utoipa::path(get, path = "/a2a/webhook", tag = "events", params(ShowWebhookParams),
    responses((status = 200, body = WebhookView), (status = "4XX", body = ErrorBody)))]
pub async fn show_node(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ShowWebhookParams>,
) -> ApiResult<Json<WebhookView>> {
    Ok(Json(manage::show_node_webhook(&hub, credentials, params).await?))
}

/// Lists calls to a node's webhook for the node itself, newest first.
#[utoipa::path(get, path = "/a2a/webhook/deliveries", tag = "events", params(ListNodeDeliveriesParams),
    responses((status = 200, body = ListDeliveriesResponse), (status = "4XX", body = ErrorBody)))]
pub async fn list_node_deliveries(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListNodeDeliveriesParams>,
) -> ApiResult<Json<ListDeliveriesResponse>> {
    Ok(Json(deliveries::list_node_deliveries(&hub, credentials, params).await?))
}

/// Sends a call to the node's webhook again that arrived or was given up, with the same id.
#[utoipa::path(post, path = "/a2a/webhook/replay", tag = "events", request_body = ReplayDeliveryRequest,
    responses((status = 200, body = ReplayDeliveryResponse), (status = "4XX", body = ErrorBody)))]
pub async fn replay_node_delivery(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<ReplayDeliveryRequest>,
) -> ApiResult<Json<ReplayDeliveryResponse>> {
    Ok(Json(deliveries::replay_node_delivery(&hub, credentials, request).await?))
}

/// Sends an event of the type `ping` to the node's webhook, to try it out.
#[utoipa::path(post, path = "/a2a/webhook/test", tag = "events", request_body = ReplayDeliveryRequest,
    responses((status = 200, body = ReplayDeliveryResponse), (status = "4XX", body = ErrorBody)))]
pub async fn send_test_event(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<ReplayDeliveryRequest>,
) -> ApiResult<Json<ReplayDeliveryResponse>> {
    Ok(Json(deliveries::send_test_event(&hub, credentials, request).await?))
}
