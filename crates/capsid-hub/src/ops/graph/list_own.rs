//! `GET /kg/my-graph`: what whoever asks has told the graph.

use super::caller::{self, GraphSender, authenticate_caller, check_entitled};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::cursor;
use crate::http::envelope::JsonReply;
use crate::http::query;
use crate::http::query::QueryParams;
use crate::ops::assets::view::rounded;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::graph::names::shown_id;
use capsid_store::db::tx::Tx;
use capsid_store::graph::{self, Entity, OwnEntity, OwnGraphCursor, OwnRelation};
use serde::Deserialize;
use serde_json::{Value, json};
use std::collections::HashMap;

/// Which page.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListOwnGraphParams {
    /// How many things, and how many relations: 1 to 100, usually 50.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// The node that asks, where no account does.
    node_id: Option<String>,
}

/// What whoever asks has told the knowledge graph: things and relations, page by page.
#[utoipa::path(get, path = "/kg/my-graph", tag = "graph", params(ListOwnGraphParams),
    responses((status = 200, body = crate::http::openapi::graph::OwnGraph), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn my_graph(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<ListOwnGraphParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let sender = GraphSender::from_request(credentials, None, asked.node_id.as_deref(), None)?;
    let limit = query::limit(asked.limit.as_deref(), 50, 100) as usize;
    let (rules, access) = (hub.rules(), hub.config.graph.access);
    let told = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let asker =
                authenticate_caller(tx, &rules, &sender, false)?.ok_or_else(|| caller::nobody(&sender))?;
            check_entitled(access, asker.is_admin)?;
            page(tx, &asker.name, asked.cursor.as_deref(), limit)
        })
        .await?;
    Ok(JsonReply::json(&told))
}

fn page(tx: &mut dyn Tx, who: &str, cursor: Option<&str>, limit: usize) -> ApiResult<Value> {
    let list = format!("my-graph.{who}");
    let after = match cursor::read_parts(&list, cursor)? {
        None => OwnGraphCursor::default(),
        Some([entity, relation]) => OwnGraphCursor { entity: number(&entity)?, relation: number(&relation)? },
    };
    let page = graph::mine(tx, who, after, limit)?;
    let next = page.next.map(|mark| {
        let [entity, relation] =
            [mark.entity, mark.relation].map(|id| id.map_or_else(String::new, |id| id.to_string()));
        cursor::write_parts(&[&list, &entity, &relation])
    });
    let entities: HashMap<i64, Entity> =
        page.entities.into_iter().map(|entity| (entity.id, entity)).collect();
    let told: Vec<Value> = page.notes.iter().map(|note| thing(note, &entities)).collect();
    let joined: Vec<Value> = page.relations.iter().map(|told| relation(told, &entities)).collect();
    Ok(json!({
        "asker": who, "count": told.len() + joined.len(), "entities": told, "relations": joined,
        "has_more": next.is_some(), "next_cursor": next,
    }))
}

/// A part of a cursor: a number, or nothing.
fn number(part: &str) -> ApiResult<Option<i64>> {
    if part.is_empty() { Ok(None) } else { part.parse().map(Some).map_err(|_| cursor::invalid()) }
}

fn object(text: Option<&String>) -> Value {
    text.and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| json!({}))
}

fn thing(note: &OwnEntity, entities: &HashMap<i64, Entity>) -> Value {
    json!({
        "id": shown_id(note.entity), "name": note.name,
        "entity_type": entities.get(&note.entity).map(|entity| &entity.kind),
        "properties": object(note.properties.as_ref()), "confidence": rounded(note.confidence),
        "said_at": Time(note.said_at).iso(),
    })
}

fn relation(told: &OwnRelation, entities: &HashMap<i64, Entity>) -> Value {
    let relation = &told.relation;
    let end = |id: i64| entities.get(&id);
    json!({
        "source": shown_id(relation.source), "target": shown_id(relation.target), "type": relation.kind,
        "source_name": end(relation.source).map(|entity| &entity.name),
        "source_type": end(relation.source).map(|entity| &entity.kind),
        "target_name": end(relation.target).map(|entity| &entity.name),
        "target_type": end(relation.target).map(|entity| &entity.kind),
        "properties": object(told.properties.as_ref()), "confidence": rounded(relation.confidence),
        "said_at": relation.said_at.map(|at| Time(at).iso()),
    })
}
