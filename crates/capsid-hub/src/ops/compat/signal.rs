//! `POST /a2a/signal/analyze`: a client asks which signals a text holds. The hub runs no model, so it finds none; the
//! client's own rules have read the text already.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::http::validate;
use crate::state::SharedHub;
use axum::extract::State;
use serde::Deserialize;
use serde_json::json;

/// What is asked.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = Analyze)]
pub struct AnalyzeSignalsRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    corpus_summary: Option<String>,
    signal_types: Option<Vec<String>>,
}

/// Answers with the signals that the hub finds in a text: none.
#[utoipa::path(post, path = "/a2a/signal/analyze", tag = "nodes", request_body = AnalyzeSignalsRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn analyze(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<AnalyzeSignalsRequest>,
) -> ApiResult<JsonReply> {
    validate::text_or(asked.corpus_summary.as_deref(), "corpus_summary", 20_000)?;
    validate::list(asked.signal_types.as_deref().unwrap_or_default(), "signal_types", 200, 200)?;
    if asked.sender_id.is_some() || asked.node_id.is_some() {
        let node_id = validate::node(asked.sender_id.as_deref(), asked.node_id.as_deref())?;
        hub.authenticate_reader(&node_id, &credentials, |_, _| Ok(())).await?;
    }
    Ok(JsonReply::json(&json!({ "signals": [] })))
}
