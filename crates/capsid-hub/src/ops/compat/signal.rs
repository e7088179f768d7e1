//! `POST /a2a/signal/analyze`: a client asks which signals a text holds. The hub runs no model, so it finds none; the
//! client's own rules have read the text already.

use crate::auth::access::Credentials;
use crate::error::Result;
use crate::http::checks;
use crate::http::envelope::Reply;
use crate::http::json::JsonBody;
use crate::state::Shared;
use axum::extract::State;
use serde::Deserialize;
use serde_json::json;

/// What is asked.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
pub struct Analyze {
    sender_id: Option<String>,
    node_id: Option<String>,
    corpus_summary: Option<String>,
    signal_types: Option<Vec<String>>,
}

/// Answers with the signals that the hub finds in a text: none.
#[utoipa::path(post, path = "/a2a/signal/analyze", tag = "nodes", request_body = Analyze,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn analyze(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<Analyze>,
) -> Result<Reply> {
    checks::text_or(asked.corpus_summary.as_deref(), "corpus_summary", 20_000)?;
    checks::list(asked.signal_types.as_deref().unwrap_or_default(), "signal_types", 200, 200)?;
    if asked.sender_id.is_some() || asked.node_id.is_some() {
        let node_id = checks::node(asked.sender_id.as_deref(), asked.node_id.as_deref())?;
        hub.read_as(&node_id, &credentials, |_, _| Ok(())).await?;
    }
    Ok(Reply::json(&json!({ "signals": [] })))
}
