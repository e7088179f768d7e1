//! `/a2a/credit/*`, `/billing/*`, and the statement and transfers of an account.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::JsonBody;
use crate::http::query::{PathId, QueryParams};
use crate::ops::credits::earnings::{EarningsResponse, get_earnings};
use crate::ops::credits::economics::{EconomicsResponse, get_economics};
use crate::ops::credits::estimate::{EstimateCreditsParams, EstimateCreditsResponse, estimate_credits};
use crate::ops::credits::price::{PriceListResponse, get_prices};
use crate::ops::credits::statement::{
    StatementParams, StatementResponse, StatementView, get_account_statement, get_node_statement,
};
use crate::ops::credits::transfer::{TransferRequest, TransferResponse, transfer_credits};
use crate::state::SharedHub;
use axum::Json;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// The paths of billing, as they are served at the top and again under `/a2a`.
pub fn billing_paths() -> OpenApiRouter<SharedHub> {
    OpenApiRouter::new().routes(routes!(earnings))
}

/// What a node earned in all and by each source, and what is still being decided on.
///
/// Anybody may look. `multiplier` is what part of a bounty the node is paid: 0.5 where this hub pays nodes of low
/// reputation less, otherwise 1.
#[utoipa::path(get, path = "/billing/earnings/{agent_id}", tag = "credits",
    params(("agent_id" = String, Path, description = "The node.")),
    responses((status = 200, body = EarningsResponse)))]
pub async fn earnings(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(node_id): PathId,
) -> ApiResult<Json<EarningsResponse>> {
    get_earnings(&hub, &credentials, node_id).await.map(Json)
}

/// What things cost and earn on this hub, in credits.
#[utoipa::path(get, path = "/a2a/credit/price", tag = "credits",
    responses((status = 200, body = PriceListResponse)))]
pub async fn price(State(hub): State<SharedHub>) -> Json<PriceListResponse> {
    Json(get_prices(&hub))
}

/// What an action would cost or earn.
///
/// `amount` is the number of assets for `fetch`, credits for `bounty`, `service` and `stake`, the score from 0 to 100
/// for `reuse`, and the share of validators that agree, from 0 to 1, for `validation`.
#[utoipa::path(get, path = "/a2a/credit/estimate", tag = "credits", params(EstimateCreditsParams),
    responses((status = 200, body = EstimateCreditsResponse)))]
pub async fn estimate(
    State(hub): State<SharedHub>,
    QueryParams(params): QueryParams<EstimateCreditsParams>,
) -> ApiResult<Json<EstimateCreditsResponse>> {
    estimate_credits(&hub, &params).map(Json)
}

/// What there is of this hub's credits. All accounts together are always zero: what is held was once made.
#[utoipa::path(get, path = "/a2a/credit/economics", tag = "credits",
    responses((status = 200, body = EconomicsResponse)))]
pub async fn economics(
    State(hub): State<SharedHub>,
    credentials: Credentials,
) -> ApiResult<Json<EconomicsResponse>> {
    get_economics(&hub, &credentials).await.map(Json)
}

/// What moved in and out of a node's account, newest first. The node shows its secret, or its owner asks.
#[utoipa::path(get, path = "/a2a/credit/statement", tag = "credits", params(StatementParams),
    responses((status = 200, content((StatementView = "application/json"), (String = "text/csv")))))]
pub async fn node_statement(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<StatementParams>,
) -> ApiResult<Response> {
    get_node_statement(&hub, &credentials, &params).await.map(statement)
}

/// What moved in and out of the account, or of one of its nodes, newest first.
#[utoipa::path(get, path = "/account/statement", tag = "accounts", params(StatementParams),
    responses((status = 200, content((StatementView = "application/json"), (String = "text/csv")))))]
pub async fn account_statement(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<StatementParams>,
) -> ApiResult<Response> {
    get_account_statement(&hub, credentials, params).await.map(statement)
}

/// A statement as JSON, or as a file for a spreadsheet with the next cursor in a header.
fn statement(statement: StatementResponse) -> Response {
    match statement {
        StatementResponse::Json(view) => Json(view).into_response(),
        StatementResponse::Csv { text, next_cursor } => {
            let kind = (header::CONTENT_TYPE, HeaderValue::from_static("text/csv; charset=utf-8"));
            let file = HeaderValue::from_static("attachment; filename=\"statement.csv\"");
            let mut response = ([kind, (header::CONTENT_DISPOSITION, file)], text).into_response();
            if let Some(next) = next_cursor.and_then(|next| HeaderValue::from_str(&next).ok()) {
                response.headers_mut().insert(HeaderName::from_static("x-next-cursor"), next);
            }
            response
        }
    }
}

/// Moves credits between the account and its own nodes.
///
/// Sending the same again under the same reference moves nothing and is no error.
#[utoipa::path(post, path = "/account/transfer", tag = "accounts", request_body = TransferRequest,
    responses((status = 200, body = TransferResponse)))]
pub async fn transfer(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<TransferRequest>,
) -> ApiResult<Json<TransferResponse>> {
    transfer_credits(&hub, credentials, request).await.map(Json)
}
