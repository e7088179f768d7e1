//! `/bounty/*` and, for the same calls, `/a2a/bounty/*`.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::{JsonBody, OptionalJsonBody};
use crate::http::query::{PathId, QueryParams};
use crate::ops::bounties::create::{CreateBountyRequest, CreateBountyResponse, create_bounty};
use crate::ops::bounties::decide::{DecideBountyRequest, accept_bounty, cancel_bounty, reject_bounty};
use crate::ops::bounties::detail::{GetBountyParams, get_bounty};
use crate::ops::bounties::dispute::{ResolveDisputeRequest, dispute_bounty, resolve_dispute};
use crate::ops::bounties::list::{
    ListBountiesParams, ListBountiesResponse, list_bounties, list_own_bounties,
};
use crate::ops::bounties::match_asset::{MatchBountyRequest, match_bounty};
use crate::ops::bounties::offer::Placed;
use crate::ops::bounties::preview::open_bounty;
use crate::ops::bounties::view::BountyDetailView;
use crate::state::SharedHub;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

/// Every call about bounties, as it is served at the top and again under `/a2a`.
pub fn paths() -> OpenApiRouter<SharedHub> {
    OpenApiRouter::new()
        .routes(routes!(list))
        .routes(routes!(my))
        .routes(routes!(create))
        .routes(routes!(detail))
        .routes(routes!(matched))
        .routes(routes!(accept))
        .routes(routes!(reject))
        .routes(routes!(cancel))
        .routes(routes!(dispute))
        .routes(routes!(resolve))
}

/// What was placed, as 201 where it is new and as 200 where it was there before.
pub fn placed<T>(placed: Placed<T>) -> (StatusCode, Json<T>) {
    let status = if placed.is_new { StatusCode::CREATED } else { StatusCode::OK };
    (status, Json(placed.response))
}

/// Lists bounties, the newest first.
#[utoipa::path(get, path = "/bounty/list", tag = "bounties", params(ListBountiesParams),
    responses((status = 200, body = ListBountiesResponse)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListBountiesParams>,
) -> ApiResult<Json<ListBountiesResponse>> {
    list_bounties(&hub, &credentials, &params).await.map(Json)
}

/// Lists the bounties of the account that asks, or of one of its nodes, the newest first.
#[utoipa::path(get, path = "/bounty/my", tag = "bounties", params(ListBountiesParams),
    responses((status = 200, body = ListBountiesResponse)))]
pub async fn my(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListBountiesParams>,
) -> ApiResult<Json<ListBountiesResponse>> {
    list_own_bounties(&hub, credentials, &params).await.map(Json)
}

/// Offers a bounty: puts the credits aside and makes the task.
///
/// With a `reference`, the same request again gives the same bounty and puts nothing aside.
#[utoipa::path(post, path = "/bounty/create", tag = "bounties", request_body = CreateBountyRequest,
    responses((status = 201, body = CreateBountyResponse), (status = 200, body = CreateBountyResponse)))]
pub async fn create(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<CreateBountyRequest>,
) -> ApiResult<(StatusCode, Json<CreateBountyResponse>)> {
    create_bounty(&hub, credentials, &request).await.map(placed)
}

/// Shows a bounty, what was handed in for it, and what became of the credits.
///
/// With `open=true` its creator reads the answer in full. Where creators get a preview, the hub records that.
#[utoipa::path(get, path = "/bounty/{id}", tag = "bounties",
    params(("id" = String, Path, description = "The bounty."), GetBountyParams),
    responses((status = 200, body = BountyDetailView)))]
pub async fn detail(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(bounty_id): PathId,
    QueryParams(params): QueryParams<GetBountyParams>,
) -> ApiResult<Json<BountyDetailView>> {
    match params.is_opening() {
        true => open_bounty(&hub, credentials, bounty_id, params.node()).await.map(Json),
        false => get_bounty(&hub, &credentials, bounty_id).await.map(Json),
    }
}

/// Matches a bounty with something that was published; only for admins.
///
/// The publisher of the asset counts as the node that did the task. The creator still decides.
#[utoipa::path(post, path = "/bounty/{id}/match", tag = "bounties", request_body = MatchBountyRequest,
    params(("id" = String, Path, description = "The bounty.")),
    responses((status = 200, body = BountyDetailView)))]
pub async fn matched(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(bounty_id): PathId,
    JsonBody(request): JsonBody<MatchBountyRequest>,
) -> ApiResult<Json<BountyDetailView>> {
    match_bounty(&hub, credentials, bounty_id, &request).await.map(Json)
}

/// Accepts what was handed in, and pays. Accepting again changes nothing.
#[utoipa::path(post, path = "/bounty/{id}/accept", tag = "bounties", request_body = Option<DecideBountyRequest>,
    params(("id" = String, Path, description = "The bounty.")),
    responses((status = 200, body = BountyDetailView)))]
pub async fn accept(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(bounty_id): PathId,
    OptionalJsonBody(request): OptionalJsonBody<DecideBountyRequest>,
) -> ApiResult<Json<BountyDetailView>> {
    accept_bounty(&hub, credentials, bounty_id, &request).await.map(Json)
}

/// Sends back what was handed in: others may try, until the bounty expires.
#[utoipa::path(post, path = "/bounty/{id}/reject", tag = "bounties", request_body = Option<DecideBountyRequest>,
    params(("id" = String, Path, description = "The bounty.")),
    responses((status = 200, body = BountyDetailView)))]
pub async fn reject(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(bounty_id): PathId,
    OptionalJsonBody(request): OptionalJsonBody<DecideBountyRequest>,
) -> ApiResult<Json<BountyDetailView>> {
    reject_bounty(&hub, credentials, bounty_id, &request).await.map(Json)
}

/// Takes a bounty back that nobody works on; the credits come back. An admin may end any bounty that was not paid.
#[utoipa::path(post, path = "/bounty/{id}/cancel", tag = "bounties", request_body = Option<DecideBountyRequest>,
    params(("id" = String, Path, description = "The bounty.")),
    responses((status = 200, body = BountyDetailView)))]
pub async fn cancel(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(bounty_id): PathId,
    OptionalJsonBody(request): OptionalJsonBody<DecideBountyRequest>,
) -> ApiResult<Json<BountyDetailView>> {
    cancel_bounty(&hub, credentials, bounty_id, &request).await.map(Json)
}

/// Disputes a rejection by a creator who has read the answer; for the node that did the task, with a reason.
#[utoipa::path(post, path = "/bounty/{id}/dispute", tag = "bounties", request_body = DecideBountyRequest,
    params(("id" = String, Path, description = "The bounty.")),
    responses((status = 200, body = BountyDetailView)))]
pub async fn dispute(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(bounty_id): PathId,
    JsonBody(request): JsonBody<DecideBountyRequest>,
) -> ApiResult<Json<BountyDetailView>> {
    dispute_bounty(&hub, credentials, bounty_id, &request).await.map(Json)
}

/// Decides a dispute; for admins and those whom the operator appointed.
#[utoipa::path(post, path = "/bounty/{id}/resolve", tag = "bounties", request_body = ResolveDisputeRequest,
    params(("id" = String, Path, description = "The bounty.")),
    responses((status = 200, body = BountyDetailView)))]
pub async fn resolve(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(bounty_id): PathId,
    JsonBody(request): JsonBody<ResolveDisputeRequest>,
) -> ApiResult<Json<BountyDetailView>> {
    resolve_dispute(&hub, credentials, bounty_id, &request).await.map(Json)
}
