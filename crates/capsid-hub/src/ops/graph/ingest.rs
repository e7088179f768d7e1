//! `POST /kg/ingest`: telling the graph something. All of it is taken, or nothing.

use super::items::{self, known, refused, sender, teller};
use super::price::{Strangers, admit};
use crate::auth::access::Credentials;
use crate::error::{ApiError, Result};
use crate::http::envelope::Reply;
use crate::http::json::JsonBody;
use crate::ops::graph::graph_advice;
use crate::state::Shared;
use axum::extract::State;
use capsid_rules::credits;
use capsid_store::graph::graph_use::What;
use capsid_store::graph::{self, Ingest, Ingested};
use serde_json::{Map, Value, json};

/// What may stand in a body.
const OF_BODIES: [&str; 6] =
    ["entities", "relations", "relationships", "sender_id", "node_id", "node_secret"];

/// Tells the knowledge graph things and how they hang together.
///
/// At most 1,000 of both in one call; all of them are taken, or none. Telling the same again changes nothing. What is told
/// is marked with who told it. An event of a memory graph, `{"kind", "event"}`, is kept for who tells it alone.
#[utoipa::path(post, path = "/kg/ingest", tag = "graph", request_body = crate::http::openapi::graph::GraphTelling,
    responses((status = 200, body = crate::http::openapi::graph::GraphTaken), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn ingest(
    State(hub): State<Shared>,
    credentials: Credentials,
    JsonBody(body): JsonBody<Map<String, Value>>,
) -> Result<Reply> {
    if graph_advice::is_event(&body) {
        return graph_advice::keep(&hub, credentials, &body).await;
    }
    let sender = sender(credentials, &body)?;
    known("", &body, &OF_BODIES)?;
    let told = items::read(body)?;
    let ticket = admit(&hub, &sender, What::Ingest, Strangers::Refused).await?;
    let (rules, charged, most) = (hub.rules(), ticket.price, hub.config.graph.most_told);
    let taken = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let asker = teller(tx, &rules, &sender, ticket.price > 0)?;
            match graph::ingest(tx, &asker.name, &told, most, rules.now)? {
                Ingest::Done(taken) => ticket.pay_in(tx, &asker, rules.now).map(|()| taken),
                Ingest::Refused(refusals) => Err(refused(&refusals)),
            }
        })
        .await?;
    Ok(Reply::json(&answer(taken, charged)))
}

fn answer(taken: Ingested, charged: i64) -> Value {
    json!({
        "ingested": { "entities": taken.entities, "relations": taken.relations },
        "added": taken.added, "changed": taken.changed, "unchanged": taken.unchanged,
        "credits_charged": credits::shown(charged),
    })
}
