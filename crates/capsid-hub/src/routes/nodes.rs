//! Nodes as others see them.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::JsonBody;
use crate::http::openapi::ErrorBody;
use crate::http::query::{PathId, QueryParams};
use crate::ops::nodes::audit::{self, NodeAuditParams, NodeAuditResponse};
use crate::ops::nodes::detail::{self, NodeActivityParams, NodeActivityResponse};
use crate::ops::nodes::identity::{self, NodeAttestationResponse, NodeIdentityResponse};
use crate::ops::nodes::list::{self, ListNodesParams, NodePageResponse};
use crate::ops::nodes::refuse_claim::{self, RefuseClaimRequest, RefuseClaimResponse};
use crate::ops::nodes::reputation::{self, NodeReputationResponse};
use crate::ops::nodes::view::NodeView;
use crate::state::SharedHub;
use axum::Json;
use axum::extract::State;

/// Lists nodes.
#[utoipa::path(get, path = "/a2a/nodes", tag = "nodes", params(ListNodesParams),
    responses((status = 200, body = NodePageResponse)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListNodesParams>,
) -> ApiResult<Json<NodePageResponse>> {
    Ok(Json(list::list_nodes(&hub, &credentials, &params).await?))
}

/// One node: how it stands and what became of what it published.
#[utoipa::path(get, path = "/a2a/nodes/{node_id}", tag = "nodes",
    params(("node_id" = String, Path, description = "The node's id")),
    responses((status = 200, body = NodeView)))]
pub async fn detail(State(hub): State<SharedHub>, PathId(id): PathId) -> ApiResult<Json<NodeView>> {
    Ok(Json(detail::node_detail(&hub, id).await?))
}

/// What a node did lately: what it published and what it reported, newest first.
#[utoipa::path(get, path = "/a2a/nodes/{node_id}/activity", tag = "nodes",
    params(("node_id" = String, Path, description = "The node's id"), NodeActivityParams),
    responses((status = 200, body = NodeActivityResponse)))]
pub async fn activity(
    State(hub): State<SharedHub>,
    PathId(id): PathId,
    QueryParams(params): QueryParams<NodeActivityParams>,
) -> ApiResult<Json<NodeActivityResponse>> {
    Ok(Json(detail::node_activity(&hub, id, &params).await?))
}

/// How a node stands, what that comes from, and how it stood before.
///
/// The points of all parts add up to the score. The history has one point for each day on which the score changed.
#[utoipa::path(get, path = "/a2a/nodes/{node_id}/reputation", tag = "nodes",
    params(("node_id" = String, Path, description = "The node's id")),
    responses((status = 200, body = NodeReputationResponse)))]
pub async fn reputation(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
) -> ApiResult<Json<NodeReputationResponse>> {
    Ok(Json(reputation::node_reputation(&hub, &credentials, id).await?))
}

/// Who a node is, as far as this hub knows.
#[utoipa::path(get, path = "/a2a/identity/{node_id}", tag = "nodes",
    params(("node_id" = String, Path, description = "The node's id")),
    responses((status = 200, body = NodeIdentityResponse), (status = "4XX", body = ErrorBody)))]
pub async fn identity(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
) -> ApiResult<Json<NodeIdentityResponse>> {
    Ok(Json(identity::node_identity(&hub, &credentials, id).await?))
}

/// Who a node is, signed by the hub.
///
/// The signature is over the bytes of `signed_text`.
#[utoipa::path(get, path = "/a2a/identity/{node_id}/attestation", tag = "nodes",
    params(("node_id" = String, Path, description = "The node's id")),
    responses((status = 200, body = NodeAttestationResponse), (status = "4XX", body = ErrorBody)))]
pub async fn attestation(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
) -> ApiResult<Json<NodeAttestationResponse>> {
    Ok(Json(identity::attest_node(&hub, &credentials, id).await?))
}

/// What happened to a node and what it did, newest first.
///
/// For the node by its secret, for its owner, and for admins.
#[utoipa::path(get, path = "/a2a/audit/{node_id}", tag = "nodes",
    params(("node_id" = String, Path, description = "The node's id"), NodeAuditParams),
    responses((status = 200, body = NodeAuditResponse), (status = "4XX", body = ErrorBody)))]
pub async fn audit(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    QueryParams(params): QueryParams<NodeAuditParams>,
) -> ApiResult<Json<NodeAuditResponse>> {
    Ok(Json(audit::node_audit(&hub, credentials, id, params).await?))
}

/// Takes the node from the account that claimed it.
///
/// It needs the node's secret, and works for `identity.claim_grace_hours` after the claim.
#[utoipa::path(post, path = "/a2a/claim/refuse", tag = "nodes", request_body = RefuseClaimRequest,
    responses((status = 200, body = RefuseClaimResponse), (status = "4XX", body = ErrorBody)))]
pub async fn refuse_claim(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<RefuseClaimRequest>,
) -> ApiResult<Json<RefuseClaimResponse>> {
    Ok(Json(refuse_claim::refuse_claim(&hub, credentials, &request).await?))
}
