//! What whoever asks has told the graph.

use super::caller::{self, GraphSender, authenticate_caller, check_entitled};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::cursor;
use crate::http::json::stored_json;
use crate::http::query;
use crate::http::traced_id;
use crate::ops::assets::view::rounded;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::graph::names::shown_id;
use capsid_store::db::tx::Tx;
use capsid_store::graph::{self, Entity, OwnEntity, OwnGraphCursor, OwnRelation};
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use std::collections::HashMap;
use utoipa::ToSchema;

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

/// A page of what somebody told.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnGraph)]
pub struct ListOwnGraphResponse {
    /// `user:…` or `node:…`.
    asker: String,
    #[schema(value_type = i64)]
    count: usize,
    entities: Vec<OwnEntityView>,
    relations: Vec<OwnRelationView>,
    has_more: bool,
    #[schema(required)]
    next_cursor: Option<String>,
}

/// What somebody told of a thing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnThing)]
struct OwnEntityView {
    id: String,
    name: String,
    #[schema(required)]
    entity_type: Option<String>,
    #[schema(value_type = BTreeMap<String, Value>)]
    properties: Box<RawValue>,
    confidence: f64,
    said_at: String,
}

impl OwnEntityView {
    fn new(note: OwnEntity, entities: &HashMap<i64, Entity>) -> ApiResult<Self> {
        Ok(Self {
            id: shown_id(note.entity),
            name: note.name,
            entity_type: entities.get(&note.entity).map(|entity| entity.kind.clone()),
            properties: properties_text(note.properties)?,
            confidence: rounded(note.confidence),
            said_at: Time(note.said_at).iso(),
        })
    }
}

/// A relation that somebody told.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = OwnRelation)]
struct OwnRelationView {
    source: String,
    target: String,
    r#type: String,
    #[schema(required)]
    source_name: Option<String>,
    #[schema(required)]
    source_type: Option<String>,
    #[schema(required)]
    target_name: Option<String>,
    #[schema(required)]
    target_type: Option<String>,
    #[schema(value_type = BTreeMap<String, Value>)]
    properties: Box<RawValue>,
    confidence: f64,
    #[schema(required)]
    said_at: Option<String>,
}

impl OwnRelationView {
    fn new(told: OwnRelation, entities: &HashMap<i64, Entity>) -> ApiResult<Self> {
        let relation = told.relation;
        let name = |id: i64| entities.get(&id).map(|entity| entity.name.clone());
        let kind = |id: i64| entities.get(&id).map(|entity| entity.kind.clone());
        Ok(Self {
            source: shown_id(relation.source),
            target: shown_id(relation.target),
            source_name: name(relation.source),
            source_type: kind(relation.source),
            target_name: name(relation.target),
            target_type: kind(relation.target),
            r#type: relation.kind,
            properties: properties_text(told.properties)?,
            confidence: rounded(relation.confidence),
            said_at: relation.said_at.map(|at| Time(at).iso()),
        })
    }
}

/// Lists what whoever asks has told the knowledge graph: things and relations, page by page.
#[tracing::instrument(skip_all, fields(node.id = asked.node_id.as_deref().map(traced_id)))]
pub async fn list_own_graph(
    hub: &SharedHub,
    credentials: Credentials,
    asked: ListOwnGraphParams,
) -> ApiResult<ListOwnGraphResponse> {
    hub.limit_reads(&credentials).await?;
    let sender = GraphSender::from_request(credentials, None, asked.node_id.as_deref(), None)?;
    let limit = query::limit(asked.limit.as_deref(), 50, 100) as usize;
    hub.index.wait_for_read().await?;
    let (context, access) = (hub.context(), hub.config.graph.access);
    hub.store
        .read::<_, ApiError, _>(move |tx| {
            let asker =
                authenticate_caller(tx, &context, &sender, false)?.ok_or_else(|| caller::nobody(&sender))?;
            check_entitled(access, asker.is_admin)?;
            page(tx, &asker.name, asked.cursor.as_deref(), limit)
        })
        .await
}

fn page(tx: &mut dyn Tx, who: &str, cursor: Option<&str>, limit: usize) -> ApiResult<ListOwnGraphResponse> {
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
    let notes = page.notes.into_iter().map(|note| OwnEntityView::new(note, &entities));
    let notes = notes.collect::<ApiResult<Vec<_>>>()?;
    let relations = page.relations.into_iter().map(|told| OwnRelationView::new(told, &entities));
    let relations = relations.collect::<ApiResult<Vec<_>>>()?;
    Ok(ListOwnGraphResponse {
        asker: who.to_owned(),
        count: notes.len() + relations.len(),
        entities: notes,
        relations,
        has_more: next.is_some(),
        next_cursor: next,
    })
}

/// A part of a cursor: a number, or nothing.
fn number(part: &str) -> ApiResult<Option<i64>> {
    if part.is_empty() { Ok(None) } else { part.parse().map(Some).map_err(|_| cursor::invalid()) }
}

fn properties_text(stored: Option<String>) -> ApiResult<Box<RawValue>> {
    stored_json(stored.unwrap_or_else(|| "{}".to_owned()))
}
