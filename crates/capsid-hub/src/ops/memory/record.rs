//! A node keeps what it has learned. Nobody else sees it.

use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::{ApiError, ApiResult};
use crate::http::validate;
use crate::state::Hub;
use capsid_store::memory::{self, NewMemory};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};
use utoipa::ToSchema;

/// The largest event of a memory graph.
pub(crate) const EVENT_BYTES: usize = 64 * 1024;

/// How what is remembered may have ended.
const OUTCOMES: [&str; 7] = ["success", "failed", "failure", "partial", "neutral", "skipped", "unknown"];

/// What is recorded.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = MemoryRecord)]
pub struct RecordMemoryRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    signals: Option<Vec<String>>,
    gene_id: Option<String>,
    status: Option<String>,
    score: Option<f64>,
    summary: Option<String>,
    used_asset_ids: Option<Vec<String>>,
}

impl RecordMemoryRequest {
    fn check(&self) -> ApiResult<()> {
        validate::list(self.signals.as_deref().unwrap_or_default(), "signals", 50, 2000)?;
        validate::list(self.used_asset_ids.as_deref().unwrap_or_default(), "used_asset_ids", 50, 200)?;
        validate::name_or(self.gene_id.as_deref(), "gene_id", 200)?;
        validate::word_or(self.status.as_deref(), "status", &OUTCOMES)?;
        validate::text_or(self.summary.as_deref(), "summary", 4000)?;
        self.score.map_or(Ok(()), |score| validate::number(score, "score", 0.0, 1.0))
    }

    fn memory(self) -> NewMemory {
        let body = json!({
            "signals": self.signals, "gene_id": self.gene_id, "status": self.status, "score": self.score,
            "summary": self.summary, "used_asset_ids": self.used_asset_ids,
        })
        .to_string();
        NewMemory {
            signals: self.signals.unwrap_or_default(),
            gene_id: self.gene_id,
            status: self.status,
            score: self.score,
            summary: self.summary,
            identity: body.clone(),
            body,
        }
    }
}

/// Whether an event was new.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = EventKept)]
pub struct RecordMemoryResponse {
    recorded: bool,
    duplicate: bool,
}

impl RecordMemoryResponse {
    /// What is answered to a memory that was new, or not.
    pub fn new(is_new: bool) -> Self {
        Self { recorded: true, duplicate: !is_new }
    }
}

/// Records a memory. The same one within a minute is a repetition and is recorded once.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn record_memory(
    hub: &Hub,
    credentials: Credentials,
    request: RecordMemoryRequest,
) -> ApiResult<RecordMemoryResponse> {
    let node_id = validate::node(request.sender_id.as_deref(), request.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    request.check()?;
    let sender = Sender::new(node_id, credentials.or_secret(request.node_secret.as_deref()));
    record(hub, sender, request.memory()).await
}

async fn record(hub: &Hub, sender: Sender, memory: NewMemory) -> ApiResult<RecordMemoryResponse> {
    hub.limit_calls(&sender).await?;
    let context = hub.context();
    let is_new = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            sender.lock(tx, &context)?;
            Ok(memory::record(tx, sender.id(), &memory, context.now)?)
        })
        .await?;
    Ok(RecordMemoryResponse::new(is_new))
}

/// An event of a node's memory graph.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = GraphEvent)]
pub struct MemoryGraphEventRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    #[schema(value_type = std::collections::BTreeMap<String, Value>)]
    event: Box<RawValue>,
}

/// Records an event of a node's memory graph, as it is.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn record_event(
    hub: &Hub,
    credentials: Credentials,
    request: MemoryGraphEventRequest,
) -> ApiResult<RecordMemoryResponse> {
    let node_id = validate::node(request.sender_id.as_deref(), request.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    let body = request.event.get();
    let Ok(event) = serde_json::from_str::<Map<String, Value>>(body) else {
        return Err(ApiError::field("event", "an object", "something else"));
    };
    if body.len() > EVENT_BYTES {
        let received = format!("{} bytes", body.len());
        return Err(ApiError::field("event", format!("at most {EVENT_BYTES} bytes"), received));
    }
    let sender = Sender::new(node_id, credentials.or_secret(request.node_secret.as_deref()));
    record(hub, sender, memory_from_event(&event, body)).await
}

/// What can be recalled of a graph's event. Kinds differ, so whatever is not there is left out.
pub(crate) fn memory_from_event(event: &Map<String, Value>, body: &str) -> NewMemory {
    let part = |outer: &str, inner: &str| event.get(outer).and_then(|value| value.get(inner));
    let word = |value: Option<&Value>| {
        value.and_then(Value::as_str).map(|text| capsid_model::text::cut(text, 4000).to_owned())
    };
    let signals = part("signal", "signals").or_else(|| event.get("signals")).and_then(Value::as_array);
    let signals = signals.into_iter().flatten().filter_map(|signal| word(Some(signal))).take(50).collect();
    let outcome = event.get("outcome");
    NewMemory {
        signals,
        gene_id: word(part("gene", "id").or_else(|| event.get("gene_id"))),
        status: word(outcome.and_then(|outcome| outcome.get("status"))),
        score: outcome.and_then(|outcome| outcome.get("score")).and_then(Value::as_f64),
        summary: word(outcome.and_then(|outcome| outcome.get("note").or_else(|| outcome.get("summary")))),
        body: body.to_owned(),
        identity: body.to_owned(),
    }
}
