//! `/kg/*`: the knowledge graph.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::JsonBody;
use crate::http::openapi::ErrorBody;
use crate::http::query::QueryParams;
use crate::ops::graph::advice::{self, AdviceRequest, AdviceResponse};
use crate::ops::graph::draw::{self, DrawGraphParams};
use crate::ops::graph::drawing::DrawGraphResponse;
use crate::ops::graph::forget::{self, ForgetGraphResponse};
use crate::ops::graph::ingest::{self, IngestGraphResponse};
use crate::ops::graph::list_own::{self, ListOwnGraphParams, ListOwnGraphResponse};
use crate::ops::graph::path::{self, GraphPathParams};
use crate::ops::graph::query::{self, QueryGraphRequest, QueryGraphResponse};
use crate::ops::graph::request::{ForgetGraphRequest, IngestGraphRequest};
use crate::ops::graph::status::{self, GraphStatusParams, GraphStatusResponse};
use crate::state::SharedHub;
use axum::Json;
use axum::extract::State;
use serde_json::{Map, Value};

/// Asks the knowledge graph: things, how they hang together, and assets, the best first, each with what explains it.
#[utoipa::path(post, path = "/kg/query", tag = "graph", request_body = QueryGraphRequest,
    responses((status = 200, body = QueryGraphResponse), (status = "4XX", body = ErrorBody)))]
pub async fn query(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(question): JsonBody<QueryGraphRequest>,
) -> ApiResult<Json<QueryGraphResponse>> {
    Ok(Json(query::query_graph(&hub, credentials, question).await?))
}

/// Tells the knowledge graph things and how they hang together.
///
/// At most 1,000 of both in one call; all of them are taken, or none. Telling the same again changes nothing. What is told
/// is marked with who told it. An event of a memory graph, `{"kind", "event"}`, is kept for who tells it alone.
#[utoipa::path(post, path = "/kg/ingest", tag = "graph", request_body = IngestGraphRequest,
    responses((status = 200, body = IngestGraphResponse), (status = "4XX", body = ErrorBody)))]
pub async fn ingest(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(body): JsonBody<Map<String, Value>>,
) -> ApiResult<Json<IngestGraphResponse>> {
    Ok(Json(ingest::ingest_graph(&hub, credentials, body).await?))
}

/// Takes back what whoever asks has told the knowledge graph: everything, or the things and relations that are named.
///
/// The body of a telling takes back what it told. What others told, and what the hub itself says, stays. Naming what one
/// did not tell is no error; it is counted. Taking back the same again changes nothing, and costs nothing.
#[utoipa::path(post, path = "/kg/forget", tag = "graph", request_body = ForgetGraphRequest,
    responses((status = 200, body = ForgetGraphResponse), (status = "4XX", body = ErrorBody)))]
pub async fn forget(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(body): JsonBody<Map<String, Value>>,
) -> ApiResult<Json<ForgetGraphResponse>> {
    Ok(Json(forget::forget_graph(&hub, credentials, body).await?))
}

/// Whether the knowledge graph may be asked, what that costs, and how much there is of it.
///
/// Anybody may look; whoever shows an account or a node also sees its balance and use.
#[utoipa::path(get, path = "/kg/status", tag = "graph", params(GraphStatusParams),
    responses((status = 200, body = GraphStatusResponse), (status = "4XX", body = ErrorBody)))]
pub async fn status(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<GraphStatusParams>,
) -> ApiResult<Json<GraphStatusResponse>> {
    Ok(Json(status::show_graph_status(&hub, credentials, params).await?))
}

/// What whoever asks has told the knowledge graph: things and relations, page by page.
#[utoipa::path(get, path = "/kg/my-graph", tag = "graph", params(ListOwnGraphParams),
    responses((status = 200, body = ListOwnGraphResponse), (status = "4XX", body = ErrorBody)))]
pub async fn list_own(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListOwnGraphParams>,
) -> ApiResult<Json<ListOwnGraphResponse>> {
    Ok(Json(list_own::list_own_graph(&hub, credentials, params).await?))
}

/// A part of the graph as a drawing: what answers a question, what some things hang together with, or what was published
/// last.
#[utoipa::path(get, path = "/kg/graph", tag = "graph", params(DrawGraphParams),
    responses((status = 200, body = DrawGraphResponse), (status = "4XX", body = ErrorBody)))]
pub async fn draw(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<DrawGraphParams>,
) -> ApiResult<Json<DrawGraphResponse>> {
    Ok(Json(draw::draw_graph(&hub, credentials, params).await?))
}

/// A shortest way between two things as a drawing.
///
/// `path` is empty where the hub found no way of at most six steps.
#[utoipa::path(get, path = "/kg/path", tag = "graph", params(GraphPathParams),
    responses((status = 200, body = DrawGraphResponse), (status = "4XX", body = ErrorBody)))]
pub async fn find_path(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<GraphPathParams>,
) -> ApiResult<Json<DrawGraphResponse>> {
    Ok(Json(path::find_path(&hub, credentials, params).await?))
}

/// Advises on genes for some signals, by what the asker recorded before. What others found on this hub is told beside
/// it, and decides only between equals.
#[utoipa::path(post, path = "/kg/advice", tag = "graph", request_body = AdviceRequest,
    responses((status = 200, body = AdviceResponse), (status = "4XX", body = ErrorBody)))]
pub async fn advice(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<AdviceRequest>,
) -> ApiResult<Json<AdviceResponse>> {
    Ok(Json(advice::advise_genes(&hub, credentials, request).await?))
}
