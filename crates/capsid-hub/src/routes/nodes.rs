//! Nodes as others see them.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::query::{PathId, QueryParams};
use crate::ops::nodes::detail::{self, NodeActivityParams, NodeActivityResponse};
use crate::ops::nodes::list::{self, ListNodesParams, NodePageResponse};
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
