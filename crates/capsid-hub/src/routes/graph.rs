//! `/kg/*`: the knowledge graph. The hub keeps none yet, and says so.

use super::graph_advice;
use crate::access::Credentials;
use crate::accounts::require_user;
use crate::envelope::Reply;
use crate::error::{ApiError, HubCode, Result};
use crate::json::JsonBody;
use crate::state::{Hub, Shared};
use axum::extract::State;
use serde_json::{Map, Value, json};

/// What is asked or told; nothing of it is read yet.
type Body = JsonBody<Map<String, Value>>;

async fn refuse(hub: &Hub, credentials: Credentials) -> Result<Reply> {
    let now = hub.now();
    hub.store.read(move |tx| require_user(tx, &credentials, now)).await?;
    Err(ApiError::new(
        HubCode::StateConflict,
        "This hub does not keep a knowledge graph yet.",
        "Search assets with GET /a2a/assets/semantic-search instead.",
    ))
}

/// Asks the knowledge graph; this hub keeps none yet.
#[utoipa::path(post, path = "/kg/query", tag = "graph", request_body = crate::openapi::Object,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn query(State(hub): State<Shared>, credentials: Credentials, _: Body) -> Result<Reply> {
    refuse(&hub, credentials).await
}

/// Tells the knowledge graph something; this hub keeps none yet.
#[utoipa::path(post, path = "/kg/ingest", tag = "graph", request_body = crate::openapi::Object,
    responses((status = "4XX", body = crate::openapi::Problem)))]
pub async fn ingest(State(hub): State<Shared>, credentials: Credentials, told: Body) -> Result<Reply> {
    if graph_advice::is_event(&told.0) {
        return graph_advice::keep(&hub, credentials, &told.0).await;
    }
    refuse(&hub, credentials).await
}

/// Says whether there is a knowledge graph to ask: there is none.
#[utoipa::path(get, path = "/kg/status", tag = "graph", responses((status = 200, body = crate::openapi::Object)))]
pub async fn status() -> Reply {
    Reply::json(&json!({
        "entitled": false, "available": false, "entities": 0, "relationships": 0,
        "reason": "This hub does not keep a knowledge graph yet.",
    }))
}
