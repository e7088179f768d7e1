//! Telling the graph something. All of it is taken, or nothing.

use super::items::{self, IngestCountView, find_author, parse_known, refused, sender};
use super::price::{AnonymousAccess, admit};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::ops::graph::advice;
use crate::ops::memory::record::RecordMemoryResponse;
use crate::state::SharedHub;
use capsid_rules::credits;
use capsid_store::graph::usage::GraphUseKind;
use capsid_store::graph::{self, IngestOutcome};
use serde::Serialize;
use serde_json::{Map, Number, Value};
use utoipa::ToSchema;

/// What may stand in a body.
const OF_BODIES: [&str; 6] =
    ["entities", "relations", "relationships", "sender_id", "node_id", "node_secret"];

/// What was told.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GraphIngested)]
pub struct IngestedView {
    /// What was told of, known or not.
    ingested: IngestCountView,
    /// How many of these are new.
    #[schema(value_type = i64)]
    added: usize,
    /// How many took the place of what the same one had told before.
    #[schema(value_type = i64)]
    changed: usize,
    /// How many had been told before in the same words.
    #[schema(value_type = i64)]
    unchanged: usize,
    #[schema(value_type = f64)]
    credits_charged: Number,
}

/// What it answers.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = GraphTaken)]
pub enum IngestGraphResponse {
    /// To things and relations.
    Told(IngestedView),
    /// To an event.
    Event(RecordMemoryResponse),
}

/// Tells the knowledge graph things and how they hang together, or keeps an event of a memory graph. The body is read
/// member by member, so that everything that is wrong with it is named at once.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn ingest_graph(
    hub: &SharedHub,
    credentials: Credentials,
    body: Map<String, Value>,
) -> ApiResult<IngestGraphResponse> {
    if advice::is_event(&body) {
        return Ok(IngestGraphResponse::Event(advice::record_event(hub, credentials, &body).await?));
    }
    let sender = sender(credentials, &body)?;
    tracing::Span::current().record("node.id", sender.node_id.as_deref());
    parse_known("", &body, &OF_BODIES)?;
    let told = items::read(body)?;
    let ticket = admit(hub, &sender, GraphUseKind::Ingest, AnonymousAccess::Refused).await?;
    hub.index.wait_for_write().await?;
    let (context, charged, most) = (hub.context(), ticket.price, hub.config.graph.most_told);
    let taken = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let asker = find_author(tx, &context, &sender, ticket.price > 0)?;
            match graph::ingest(tx, &asker.name, &told, most, context.now)? {
                IngestOutcome::Done(taken) => ticket.charge_in(tx, &asker, context.now).map(|()| taken),
                IngestOutcome::Refused(refusals) => Err(refused(&refusals)),
            }
        })
        .await?;
    Ok(IngestGraphResponse::Told(IngestedView {
        ingested: IngestCountView { entities: taken.entities, relations: taken.relations },
        added: taken.added,
        changed: taken.changed,
        unchanged: taken.unchanged,
        credits_charged: credits::to_decimal(charged),
    }))
}
