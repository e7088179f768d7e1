//! `/a2a/worker/*` and `/a2a/work/*`.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::JsonBody;
use crate::http::query::QueryParams;
use crate::ops::tasks::claim::ClaimTaskRequest;
use crate::ops::tasks::list_own::ListOwnTasksParams;
use crate::ops::workers::available::{ListWorkParams, ListWorkResponse, list_available_work};
use crate::ops::workers::register::{RegisterWorkerRequest, RegisterWorkerResponse, register_worker};
use crate::ops::workers::work::{
    ClaimWorkResponse, CompleteWorkResponse, ListOwnWorkResponse, WorkRequest, accept_work, claim_work,
    complete_work, list_own_work,
};
use crate::state::SharedHub;
use axum::Json;
use axum::extract::State;

/// Lets a node take work, and says what it is good at and how much it does at a time.
#[utoipa::path(post, path = "/a2a/worker/register", tag = "tasks", request_body = RegisterWorkerRequest,
    responses((status = 200, body = RegisterWorkerResponse)))]
pub async fn register(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<RegisterWorkerRequest>,
) -> ApiResult<Json<RegisterWorkerResponse>> {
    register_worker(&hub, credentials, request).await.map(Json)
}

/// Lists the work that a node could take now. Who works on as much as it said it can is shown none.
#[utoipa::path(get, path = "/a2a/work/available", tag = "tasks", params(ListWorkParams),
    responses((status = 200, body = ListWorkResponse)))]
pub async fn available(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListWorkParams>,
) -> ApiResult<Json<ListWorkResponse>> {
    list_available_work(&hub, &credentials, &params).await.map(Json)
}

/// Takes work. A node that works on as much as it said it can is refused.
#[utoipa::path(post, path = "/a2a/work/claim", tag = "tasks", request_body = ClaimTaskRequest,
    responses((status = 200, body = ClaimWorkResponse)))]
pub async fn claim(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<ClaimTaskRequest>,
) -> ApiResult<Json<ClaimWorkResponse>> {
    claim_work(&hub, credentials, &request).await.map(Json)
}

/// Says that a node will do the work it was given. Work that nobody was given yet is taken.
#[utoipa::path(post, path = "/a2a/work/accept", tag = "tasks", request_body = WorkRequest,
    responses((status = 200, body = ClaimWorkResponse)))]
pub async fn accept(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<WorkRequest>,
) -> ApiResult<Json<ClaimWorkResponse>> {
    accept_work(&hub, credentials, &request).await.map(Json)
}

/// Hands in what was asked for, as completing the task does.
#[utoipa::path(post, path = "/a2a/work/complete", tag = "tasks", request_body = WorkRequest,
    responses((status = 200, body = CompleteWorkResponse)))]
pub async fn complete(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<WorkRequest>,
) -> ApiResult<Json<CompleteWorkResponse>> {
    complete_work(&hub, credentials, &request).await.map(Json)
}

/// Lists the work that a node took: what it works on first, then the newest.
#[utoipa::path(get, path = "/a2a/work/my", tag = "tasks", params(ListOwnTasksParams),
    responses((status = 200, body = ListOwnWorkResponse)))]
pub async fn my(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListOwnTasksParams>,
) -> ApiResult<Json<ListOwnWorkResponse>> {
    list_own_work(&hub, &credentials, &params).await.map(Json)
}
