//! `POST /kg/ingest`: telling the graph something. All of it is taken, or nothing.

use super::items::{self, find_author, parse_known, refused, sender};
use super::price::{AnonymousAccess, admit};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::ops::graph::advice;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_rules::credits;
use capsid_store::graph::usage::GraphUseKind;
use capsid_store::graph::{self, IngestOutcome, IngestSummary};
use serde_json::{Map, Value, json};

/// What may stand in a body.
const OF_BODIES: [&str; 6] =
    ["entities", "relations", "relationships", "sender_id", "node_id", "node_secret"];

/// Tells the knowledge graph things and how they hang together.
///
/// At most 1,000 of both in one call; all of them are taken, or none. Telling the same again changes nothing. What is told
/// is marked with who told it. An event of a memory graph, `{"kind", "event"}`, is kept for who tells it alone.
#[utoipa::path(post, path = "/kg/ingest", tag = "graph", request_body = crate::http::openapi::graph::IngestGraphRequest,
    responses((status = 200, body = crate::http::openapi::graph::IngestGraphResponse), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn ingest(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(body): JsonBody<Map<String, Value>>,
) -> ApiResult<JsonReply> {
    if advice::is_event(&body) {
        return advice::record_event(&hub, credentials, &body).await;
    }
    let sender = sender(credentials, &body)?;
    parse_known("", &body, &OF_BODIES)?;
    let told = items::read(body)?;
    let ticket = admit(&hub, &sender, GraphUseKind::Ingest, AnonymousAccess::Refused).await?;
    let (rules, charged, most) = (hub.rules(), ticket.price, hub.config.graph.most_told);
    let taken = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let asker = find_author(tx, &rules, &sender, ticket.price > 0)?;
            match graph::ingest(tx, &asker.name, &told, most, rules.now)? {
                IngestOutcome::Done(taken) => ticket.charge_in(tx, &asker, rules.now).map(|()| taken),
                IngestOutcome::Refused(refusals) => Err(refused(&refusals)),
            }
        })
        .await?;
    Ok(JsonReply::json(&ingest_response(taken, charged)))
}

fn ingest_response(taken: IngestSummary, charged: i64) -> Value {
    json!({
        "ingested": { "entities": taken.entities, "relations": taken.relations },
        "added": taken.added, "changed": taken.changed, "unchanged": taken.unchanged,
        "credits_charged": credits::to_decimal(charged),
    })
}
