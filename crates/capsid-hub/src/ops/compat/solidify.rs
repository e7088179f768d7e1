//! `POST /a2a/verify-solidify`: a node asks whether it may keep what it has learned. The hub only checks that it is
//! that node; what the node does on its own machine is its owner's affair.

use crate::auth::credentials::{Credentials, authenticate_node};
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::http::validate;
use crate::state::SharedHub;
use axum::extract::State;
use serde::Deserialize;
use serde_json::{Value, json};

/// What is asked.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = Solidify)]
pub struct VerifySolidifyRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    gene_id: Option<String>,
    signals_hash: Option<String>,
    mutation_hash: Option<String>,
    client_signature: Option<String>,
    ts: Option<Value>,
}

/// Says whether a node may keep a change.
#[utoipa::path(post, path = "/a2a/verify-solidify", tag = "nodes", request_body = VerifySolidifyRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn verify_solidify(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<VerifySolidifyRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(asked.sender_id.as_deref(), asked.node_id.as_deref())?;
    validate::text_or(asked.gene_id.as_deref(), "gene_id", 500)?;
    validate::name_or(asked.signals_hash.as_deref(), "signals_hash", 128)?;
    validate::name_or(asked.mutation_hash.as_deref(), "mutation_hash", 128)?;
    validate::name_or(asked.client_signature.as_deref(), "client_signature", 512)?;
    match &asked.ts {
        None | Some(Value::Null | Value::Number(_)) => {}
        Some(Value::String(ts)) => validate::name(ts, "ts", 64)?,
        Some(_) => return Err(ApiError::field("ts", "a time", "something else")),
    }
    let credentials = credentials.or_secret(asked.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let rules = hub.rules();
    let node = hub.store.write(move |tx| authenticate_node(tx, &rules, &node_id, &credentials)).await?;
    Ok(JsonReply::json(&json!({ "ok": true, "node_id": node.node_id })))
}
