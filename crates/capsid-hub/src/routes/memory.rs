//! `/a2a/memory/*`: what a node has learned.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::JsonBody;
use crate::http::openapi::ErrorBody;
use crate::http::query::QueryParams;
use crate::ops::memory::recall::{
    self, MemoryStatusParams, MemoryStatusResponse, RecallMemoryRequest, RecallMemoryResponse,
};
use crate::ops::memory::record::{self, MemoryGraphEventRequest, RecordMemoryRequest, RecordMemoryResponse};
use crate::state::SharedHub;
use axum::Json;
use axum::extract::State;

/// Records a memory. The same one within a minute is a repetition and is recorded once.
#[utoipa::path(post, path = "/a2a/memory/record", tag = "memory", request_body = RecordMemoryRequest,
    responses((status = 200, body = RecordMemoryResponse), (status = "4XX", body = ErrorBody)))]
pub async fn record(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<RecordMemoryRequest>,
) -> ApiResult<Json<RecordMemoryResponse>> {
    Ok(Json(record::record_memory(&hub, credentials, request).await?))
}

/// Records an event of a node's memory graph, as it is.
#[utoipa::path(post, path = "/a2a/memory/event", tag = "memory", request_body = MemoryGraphEventRequest,
    responses((status = 200, body = RecordMemoryResponse), (status = "4XX", body = ErrorBody)))]
pub async fn event(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<MemoryGraphEventRequest>,
) -> ApiResult<Json<RecordMemoryResponse>> {
    Ok(Json(record::record_event(&hub, credentials, request).await?))
}

/// Recalls a node's own memories, best first: by signals, and by the words of a query.
#[utoipa::path(post, path = "/a2a/memory/recall", tag = "memory", request_body = RecallMemoryRequest,
    responses((status = 200, body = RecallMemoryResponse), (status = "4XX", body = ErrorBody)))]
pub async fn recall(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<RecallMemoryRequest>,
) -> ApiResult<Json<RecallMemoryResponse>> {
    Ok(Json(recall::recall_memory(&hub, credentials, request).await?))
}

/// Counts a node's memories.
#[utoipa::path(get, path = "/a2a/memory/status", tag = "memory", params(MemoryStatusParams),
    responses((status = 200, body = MemoryStatusResponse), (status = "4XX", body = ErrorBody)))]
pub async fn status(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<MemoryStatusParams>,
) -> ApiResult<Json<MemoryStatusResponse>> {
    Ok(Json(recall::show_memory_status(&hub, &credentials, params).await?))
}
