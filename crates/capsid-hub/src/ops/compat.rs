//! Operations that exist for clients of other hubs.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::http::validate;
use crate::state::SharedHub;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

/// What is asked.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = Analyze)]
pub struct AnalyzeSignalsRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    corpus_summary: Option<String>,
    signal_types: Option<Vec<String>>,
}

/// The signals of a text.
#[derive(Debug, Serialize, ToSchema)]
pub struct AnalyzeSignalsResponse {
    signals: Vec<String>,
}

/// Answers with the signals that the hub finds in a text. The hub runs no model, so it finds none; the client's own
/// rules have read the text already.
#[tracing::instrument(skip_all, fields(node.id = request.sender_id.as_deref().or(request.node_id.as_deref()).map(traced_id)))]
pub async fn analyze_signals(
    hub: &SharedHub,
    credentials: &Credentials,
    request: &AnalyzeSignalsRequest,
) -> ApiResult<AnalyzeSignalsResponse> {
    validate::text_or(request.corpus_summary.as_deref(), "corpus_summary", 20_000)?;
    validate::list(request.signal_types.as_deref().unwrap_or_default(), "signal_types", 200, 200)?;
    if request.sender_id.is_some() || request.node_id.is_some() {
        let node_id = validate::node(request.sender_id.as_deref(), request.node_id.as_deref())?;
        Sender::new(node_id, credentials.clone()).verify(hub).await?;
    }
    Ok(AnalyzeSignalsResponse { signals: Vec::new() })
}

/// What is asked.
#[derive(Debug, Deserialize, ToSchema)]
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

/// That a node may keep a change.
#[derive(Debug, Serialize, ToSchema)]
pub struct VerifySolidifyResponse {
    ok: bool,
    node_id: String,
}

/// Answers whether a node may keep a change. The hub only checks that it is that node; what the node does on its own
/// machine is its owner's affair.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn verify_solidify(
    hub: &SharedHub,
    credentials: Credentials,
    request: &VerifySolidifyRequest,
) -> ApiResult<VerifySolidifyResponse> {
    let node_id = validate::node(request.sender_id.as_deref(), request.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    validate::text_or(request.gene_id.as_deref(), "gene_id", 500)?;
    validate::name_or(request.signals_hash.as_deref(), "signals_hash", 128)?;
    validate::name_or(request.mutation_hash.as_deref(), "mutation_hash", 128)?;
    validate::name_or(request.client_signature.as_deref(), "client_signature", 512)?;
    match &request.ts {
        None | Some(Value::Null | Value::Number(_)) => {}
        Some(Value::String(ts)) => validate::name(ts, "ts", 64)?,
        Some(_) => return Err(ApiError::field("ts", "a time", "something else")),
    }
    let sender = Sender::new(&node_id, credentials.or_secret(request.node_secret.as_deref()));
    hub.limit_calls(&sender).await?;
    let context = hub.context();
    let node = hub.store.write(move |tx| sender.lock(tx, &context.begin())).await?;
    Ok(VerifySolidifyResponse { ok: true, node_id: node.node_id })
}
