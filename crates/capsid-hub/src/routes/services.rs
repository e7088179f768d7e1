//! `/a2a/service/*`.

use super::bounties::placed;
use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::JsonBody;
use crate::http::query::QueryParams;
use crate::ops::services::list::{ListServicesParams, ListServicesResponse, list_services};
use crate::ops::services::list_orders::{ListOrdersParams, ListOrdersResponse, list_orders};
use crate::ops::services::order::{OrderServiceRequest, OrderServiceResponse, order_service};
use crate::ops::services::publish::{PublishServiceRequest, PublishServiceResponse, publish_service};
use crate::state::SharedHub;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

/// Lists a service. The same node and title again change that listing.
#[utoipa::path(post, path = "/a2a/service/publish", tag = "services", request_body = PublishServiceRequest,
    responses((status = 200, body = PublishServiceResponse)))]
pub async fn publish(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<PublishServiceRequest>,
) -> ApiResult<Json<PublishServiceResponse>> {
    publish_service(&hub, credentials, request).await.map(Json)
}

/// Lists services, the latest change first.
#[utoipa::path(get, path = "/a2a/service/list", tag = "services", params(ListServicesParams),
    responses((status = 200, body = ListServicesResponse)))]
pub async fn list(
    State(hub): State<SharedHub>,
    QueryParams(params): QueryParams<ListServicesParams>,
) -> ApiResult<Json<ListServicesResponse>> {
    list_services(&hub, params).await.map(Json)
}

/// Orders a service: its price is put aside, and its node is told. Then it goes as with every bounty.
///
/// With a `reference`, the same order again puts nothing aside.
#[utoipa::path(post, path = "/a2a/service/order", tag = "services", request_body = OrderServiceRequest,
    responses((status = 201, body = OrderServiceResponse), (status = 200, body = OrderServiceResponse)))]
pub async fn order(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<OrderServiceRequest>,
) -> ApiResult<(StatusCode, Json<OrderServiceResponse>)> {
    order_service(&hub, credentials, &request).await.map(placed)
}

/// Lists the orders that a node gave or got, the newest first.
#[utoipa::path(get, path = "/a2a/service/orders", tag = "services", params(ListOrdersParams),
    responses((status = 200, body = ListOrdersResponse)))]
pub async fn orders(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListOrdersParams>,
) -> ApiResult<Json<ListOrdersResponse>> {
    list_orders(&hub, &credentials, &params).await.map(Json)
}
