//! `POST /kg/query`: words in; things, relations and assets out, each with what explains it.

use super::caller::GraphSender;
use super::filters::GraphFilters;
use super::hits::{self, GraphAnswer, GraphHit, GraphQuestion};
use super::price::{AnonymousAccess, admit};
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::json::JsonBody;
use crate::http::validate;
use crate::ops::assets::semantic_search::SemanticHitView;
use crate::ops::assets::view;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::graph::kind;
use capsid_rules::graph::names::shown_id;
use capsid_rules::meaning::fuse::RankingSource;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list;
use capsid_store::assets::list::ListedAsset;
use capsid_store::db::tx::Tx;
use capsid_store::graph::usage::GraphUseKind;
use capsid_store::graph::{self, Entity, EntityNote, PathStep, Relation};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// The longest question.
pub const MAX_QUERY_LEN: usize = 4000;
/// How many things, where nobody says how many, and at most.
const DEFAULT: i64 = 10;
const MAX: i64 = 50;
/// How far the graph is walked, where nobody says how far.
const DEFAULT_DEPTH: i64 = 2;
/// How many relations are told.
const MAX_RELATIONS: usize = 200;

/// A question.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = GraphQuestion)]
pub struct QueryGraphRequest {
    /// What is asked, in words.
    #[schema(example = "requests time out under load", max_length = 4000)]
    query: Option<String>,
    /// `semantic`, which is the usual, or `keyword`: words as they are, and no walk through the graph.
    #[serde(rename = "type")]
    #[schema(rename = "type")]
    kind: Option<String>,
    /// What of the graph is asked for: `types` (or `entity_types`), `relation_types`, `category`, `since`, `until`,
    /// `environment`.
    #[schema(value_type = Option<std::collections::BTreeMap<String, Value>>)]
    filters: Option<Map<String, Value>>,
    /// How many things and assets: usually 10, at most 50.
    limit: Option<i64>,
    /// How many steps the graph is walked: 1 to 3, usually 2.
    depth: Option<i64>,
    /// The node that asks, where no account does.
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
}

impl QueryGraphRequest {
    fn read(&self) -> ApiResult<GraphQuestion> {
        let words = self.query.as_deref().map(str::trim).filter(|words| !words.is_empty());
        let words = words.ok_or_else(|| {
            let received = if self.query.is_some() { "empty" } else { "missing" };
            ApiError::field("query", "a question in words", received)
        })?;
        validate::text(words, "query", MAX_QUERY_LEN)?;
        validate::word_or(self.kind.as_deref(), "type", &["semantic", "keyword"])?;
        let [limit, depth] = [("limit", self.limit, DEFAULT, MAX), ("depth", self.depth, DEFAULT_DEPTH, 3)]
            .map(|(path, given, usual, most)| check_integer(path, given, usual, most));
        Ok(GraphQuestion {
            words: words.to_owned(),
            filters: self.filters.as_ref().map_or(Ok(GraphFilters::default()), GraphFilters::read)?,
            by_meaning: self.kind.as_deref() != Some("keyword"),
            depth: depth?,
            limit: limit?,
            near: Vec::new(),
        })
    }
}

/// A whole number from 1 on; what is more than the most is the most.
fn check_integer(path: &str, given: Option<i64>, usual: i64, most: i64) -> ApiResult<usize> {
    match given.unwrap_or(usual) {
        number @ 1.. => Ok(number.min(most) as usize),
        other => Err(ApiError::field(path, format!("a whole number from 1 to {most}"), other.to_string())),
    }
}

/// Asks the knowledge graph: things, how they hang together, and assets, the best first, each with what explains it.
#[utoipa::path(post, path = "/kg/query", tag = "graph", request_body = QueryGraphRequest,
    responses((status = 200, body = crate::http::openapi::graph::GraphAnswer), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn query(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(question): JsonBody<QueryGraphRequest>,
) -> ApiResult<JsonReply> {
    let sender = GraphSender::from_request(
        credentials,
        question.sender_id.as_deref(),
        question.node_id.as_deref(),
        question.node_secret.as_deref(),
    )?;
    let mut asked = question.read()?;
    let ticket = admit(&hub, &sender, GraphUseKind::Query, AnonymousAccess::Refused).await?;
    if asked.by_meaning {
        asked.near = hub.embedder.find_near(&hub, &asked.words).await;
    }
    let words = asked.words.clone();
    let told = hub.store.read::<_, ApiError, _>(move |tx| answer_question(tx, &asked)).await?;
    let charged = ticket.charge(&hub).await?;
    Ok(JsonReply::ok(told.text(&words, charged)))
}

/// Properties that are the hub's to tell; what others tell under these names stays with who told it.
const KEPT_BACK: [&str; 3] = ["said", "asset_id", "status"];

/// What is answered, but for what it costs.
struct GraphQueryOutcome {
    nodes: Vec<Value>,
    relationships: Vec<Value>,
    assets: Vec<SemanticHitView>,
    ways: Vec<&'static str>,
}

impl GraphQueryOutcome {
    /// The whole answer. Rows of assets are kept as text, and stay it.
    fn text(&self, words: &str, charged: i64) -> String {
        let rest = json!({
            "nodes": self.nodes, "relationships": self.relationships, "ways": self.ways,
            "credits_charged": credits::to_decimal(charged), "query": words,
        })
        .to_string();
        let assets = serde_json::to_string(&self.assets).unwrap_or_default();
        format!("{},\"assets\":{assets}}}", rest.strip_suffix('}').unwrap_or_default())
    }
}

fn answer_question(tx: &mut dyn Tx, asked: &GraphQuestion) -> ApiResult<GraphQueryOutcome> {
    let answer = hits::find(tx, asked)?;
    let relations = relations(&answer);
    let entities = ends(tx, &answer, &relations)?;
    let ids: Vec<i64> = answer.hits.iter().map(|hit| hit.entity.id).collect();
    let notes = graph::notes(tx, &ids)?;
    let listed = listed(tx, &answer)?;
    let nodes = answer.hits.iter().map(|hit| {
        let own: Vec<&EntityNote> = notes.iter().filter(|note| note.entity == hit.entity.id).collect();
        node(hit, &own, listed.get(&hit.entity.id), &relations)
    });
    let nodes = nodes.collect();
    let signals = capsid_rules::meaning::terms::query_words(&asked.words);
    let mut ways = vec![RankingSource::Text];
    if asked.by_meaning {
        ways.push(RankingSource::Graph);
        ways.extend((!asked.near.is_empty()).then_some(RankingSource::Embedding));
    }
    Ok(GraphQueryOutcome {
        nodes,
        relationships: relations.iter().map(|relation| relationship(relation, &entities)).collect(),
        assets: answer.assets.into_iter().map(|found| SemanticHitView::new(found, &signals)).collect(),
        ways: ways.into_iter().map(RankingSource::as_str).collect(),
    })
}

/// The relations that explain, then those between what was found.
fn relations(answer: &GraphAnswer) -> Vec<Relation> {
    let on_paths = answer.hits.iter().flat_map(|hit| &hit.path).map(|hop| &hop.relation);
    let found: HashSet<i64> = answer.hits.iter().map(|hit| hit.entity.id).collect();
    let between = answer
        .relations
        .iter()
        .filter(|relation| found.contains(&relation.source) && found.contains(&relation.target));
    let mut told: Vec<Relation> = Vec::new();
    for relation in on_paths.chain(between) {
        if told.len() < MAX_RELATIONS && !told.contains(relation) {
            told.push(relation.clone());
        }
    }
    told
}

/// What the ends of relations are called.
fn ends(tx: &mut dyn Tx, answer: &GraphAnswer, relations: &[Relation]) -> ApiResult<HashMap<i64, Entity>> {
    let hops = answer.hits.iter().flat_map(|hit| &hit.path);
    let mut known: HashMap<i64, Entity> =
        hops.flat_map(|hop| [&hop.from, &hop.to]).map(|entity| (entity.id, entity.clone())).collect();
    known.extend(answer.hits.iter().map(|hit| (hit.entity.id, hit.entity.clone())));
    let mut missing: Vec<i64> =
        relations.iter().flat_map(|relation| [relation.source, relation.target]).collect();
    missing.retain(|id| !known.contains_key(id));
    known.extend(graph::entities(tx, &missing)?.into_iter().map(|entity| (entity.id, entity)));
    Ok(known)
}

/// The assets among what was found, by their numbers as things.
fn listed(tx: &mut dyn Tx, answer: &GraphAnswer) -> ApiResult<HashMap<i64, ListedAsset>> {
    let assets = answer.hits.iter().map(|hit| &hit.entity).filter(|entity| kind::is_asset(&entity.kind));
    let ids: HashMap<AssetId, i64> =
        assets.filter_map(|entity| Some((AssetId::parse(&entity.key)?, entity.id))).collect();
    let found = list::by_id(tx, &ids.keys().copied().collect::<Vec<_>>())?;
    let known = found.into_iter().filter_map(|listed| Some((*ids.get(&listed.asset.asset_id)?, listed)));
    Ok(known.collect())
}

fn node(
    hit: &GraphHit,
    notes: &[&EntityNote],
    listed: Option<&ListedAsset>,
    relations: &[Relation],
) -> Value {
    let entity = &hit.entity;
    let own =
        || relations.iter().filter(|relation| relation.source == entity.id || relation.target == entity.id);
    let sure = own().map(|relation| relation.confidence).chain(notes.iter().map(|note| note.confidence));
    let confidence = sure.reduce(f64::max).map(view::rounded);
    json!({
        "id": shown_id(entity.id), "entity_type": entity.kind, "labels": [entity.kind], "name": entity.name,
        "score": view::rounded(hit.score), "confidence": confidence,
        "properties": properties(entity, notes, listed),
        "provenance": provenance(entity, notes, listed, own().max_by_key(|relation| relation.said_at)),
        "words": hit.words, "ways": hit.ways, "path": hit.path.iter().map(step).collect::<Vec<_>>(),
    })
}

/// What is known of a thing: what the hub knows, then what was told of it, the surest first, and by whom.
fn properties(entity: &Entity, notes: &[&EntityNote], listed: Option<&ListedAsset>) -> Value {
    let mut properties = Map::new();
    properties.insert("name".to_owned(), entity.name.clone().into());
    properties.insert("key".to_owned(), entity.key.clone().into());
    if let Some(listed) = listed {
        properties.insert("asset_id".to_owned(), listed.asset.asset_id.to_string().into());
        properties.insert("status".to_owned(), listed.asset.status.as_str().into());
    }
    if notes.is_empty() {
        return properties.into();
    }
    let mut said = Vec::new();
    // The surest comes first, and of equals what was said first, so that nobody can push it aside later.
    for note in notes {
        let told: Map<String, Value> = serde_json::from_str(&note.properties).unwrap_or_default();
        said.push(json!({
            "said_by": note.said_by, "said_at": Time(note.said_at).iso(), "confidence": view::rounded(note.confidence),
            "properties": told,
        }));
        for (name, value) in told.into_iter().filter(|(name, _)| !KEPT_BACK.contains(&name.as_str())) {
            properties.entry(name).or_insert(value);
        }
    }
    properties.insert("said".to_owned(), said.into());
    properties.into()
}

/// Who says that there is such a thing: the publisher of an asset; otherwise whoever last said how it hangs together with
/// what was found, or else who told of it.
fn provenance(
    entity: &Entity,
    notes: &[&EntityNote],
    listed: Option<&ListedAsset>,
    last: Option<&Relation>,
) -> Value {
    let (by, at, asset) = match (listed, last, notes.first()) {
        (Some(ListedAsset { asset, .. }), ..) => {
            (Some(format!("node:{}", asset.node_id)), Some(asset.created_at), Some(asset.asset_id))
        }
        (None, Some(relation), _) => (Some(relation.said_by.clone()), relation.said_at, relation.asset_id),
        (None, None, Some(note)) => (Some(note.said_by.clone()), Some(note.said_at), None),
        (None, None, None) => (None, None, None),
    };
    json!({
        "said_by": by, "said_at": at.map(|at| Time(at).iso()), "asset_id": asset, "mentions": entity.mentions,
        "told": entity.told,
    })
}

/// A step, as its relation points, and by whose word.
fn step(hop: &PathStep) -> Value {
    let (source, target) =
        if hop.relation.source == hop.from.id { (&hop.from, &hop.to) } else { (&hop.to, &hop.from) };
    json!({
        "from": shown_id(source.id), "to": shown_id(target.id), "type": hop.relation.kind,
        "from_name": source.name, "to_name": target.name, "said_by": hop.relation.said_by,
        "told": hop.relation.is_told,
    })
}

fn relationship(relation: &Relation, entities: &HashMap<i64, Entity>) -> Value {
    let name = |id: i64| entities.get(&id).map(|entity| &entity.name);
    json!({
        "source_name": name(relation.source), "target_name": name(relation.target), "type": relation.kind,
        "source": shown_id(relation.source), "target": shown_id(relation.target),
        "confidence": view::rounded(relation.confidence), "claims": relation.claims, "said_by": relation.said_by,
        "said_at": relation.said_at.map(|at| Time(at).iso()), "asset_id": relation.asset_id, "told": relation.is_told,
    })
}
