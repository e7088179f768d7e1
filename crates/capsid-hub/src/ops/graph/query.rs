//! Words in; things, relations and assets out, each with what explains it.

use super::caller::GraphSender;
use super::filters::GraphFilters;
use super::hits::{self, GraphAnswer, GraphHit, GraphQuestion};
use super::price::{AnonymousAccess, admit};
use crate::auth::credentials::Credentials;
use crate::config::HubConfig;
use crate::error::{ApiError, ApiResult};
use crate::http::json::read_stored;
use crate::http::validate;
use crate::ops::assets::semantic_search::SemanticHitView;
use crate::ops::assets::view;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::credits;
use capsid_rules::graph::kind;
use capsid_rules::graph::names::shown_id;
use capsid_rules::meaning::SemanticQuestion;
use capsid_rules::meaning::fuse::RankingSource;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list;
use capsid_store::assets::list::ListedAsset;
use capsid_store::db::tx::Tx;
use capsid_store::graph::usage::GraphUseKind;
use capsid_store::graph::{self, Entity, EntityNote, PathStep, Relation};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Number, Value, json};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use utoipa::ToSchema;

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
#[derive(Debug, Deserialize, ToSchema)]
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

/// What answers a question.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GraphAnswer)]
pub struct QueryGraphResponse {
    /// Things, the best first.
    nodes: Vec<GraphNodeView>,
    /// How they hang together: first what explains why they were found.
    relationships: Vec<GraphRelationshipView>,
    /// Which ways of finding took part.
    ways: Vec<RankingSource>,
    #[schema(value_type = f64)]
    credits_charged: Number,
    query: String,
    /// Assets, the best first.
    assets: Vec<SemanticHitView>,
    /// How many of the newest changes the graph does not hold yet; absent where it holds all.
    #[serde(skip_serializing_if = "Option::is_none")]
    index_lag: Option<i64>,
}

/// A thing that answers.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GraphNode)]
struct GraphNodeView {
    /// Such as `e_00ff00ff00ff00ff`.
    id: String,
    /// signal, error, gene, capsule, event, node, environment, task, or what whoever told of it calls it.
    entity_type: String,
    /// The same as `entity_type`, in a list.
    #[schema(value_type = Vec<String>)]
    labels: [String; 1],
    name: String,
    /// How well it answers: 1 for the best. Comparable within one answer only.
    score: f64,
    /// 0 to 1: the highest of what is said of it.
    #[schema(required)]
    confidence: Option<f64>,
    /// `name`, `key`, what the hub knows, and what was told of it; `said` lists who told what.
    #[schema(value_type = BTreeMap<String, Value>)]
    properties: Map<String, Value>,
    provenance: GraphProvenanceView,
    /// The words of the question that it answers, or that what it was reached from answers.
    words: Vec<String>,
    ways: Vec<RankingSource>,
    /// The relations that lead to it; empty where its own words do.
    path: Vec<GraphStepView>,
}

/// Who says that there is such a thing.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GraphProvenance)]
struct GraphProvenanceView {
    /// `node:…`, `user:…`, or `hub` for what it counts.
    #[schema(required)]
    said_by: Option<String>,
    #[schema(required)]
    said_at: Option<String>,
    #[schema(required)]
    asset_id: Option<String>,
    /// How many statements of the hub name it.
    mentions: i64,
    /// How many ingested statements name it.
    told: i64,
}

/// A step on the way to a thing, as its relation points.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GraphStep)]
struct GraphStepView {
    from: String,
    to: String,
    r#type: String,
    from_name: String,
    to_name: String,
    /// `node:…`, `user:…`, or `hub` for what it counts.
    said_by: String,
    /// Whether it was ingested, and not said by an asset, a report or a task.
    told: bool,
}

/// How two things hang together, by whose word.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GraphRelationship)]
struct GraphRelationshipView {
    #[schema(required)]
    source_name: Option<String>,
    #[schema(required)]
    target_name: Option<String>,
    r#type: String,
    source: String,
    target: String,
    /// 0 to 1.
    confidence: f64,
    /// How many statements say so.
    claims: i64,
    /// `node:…`, `user:…`, or `hub` for what it counts.
    said_by: String,
    #[schema(required)]
    said_at: Option<String>,
    #[schema(required)]
    asset_id: Option<String>,
    /// Whether it was ingested, and not said by an asset, a report or a task.
    told: bool,
}

/// Asks the knowledge graph: things, how they hang together, and assets, the best first, each with what explains it.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn query_graph(
    hub: &SharedHub,
    credentials: Credentials,
    question: QueryGraphRequest,
) -> ApiResult<QueryGraphResponse> {
    let sender = GraphSender::from_request(
        credentials,
        question.sender_id.as_deref(),
        question.node_id.as_deref(),
        question.node_secret.as_deref(),
    )?;
    let mut asked = question.read()?;
    tracing::Span::current().record("node.id", sender.node_id.as_deref());
    let charge = admit(hub, &sender, GraphUseKind::Query, AnonymousAccess::Refused).await?;
    if asked.by_meaning {
        asked.near = hub.embedder.find_near(&asked.words).await;
    }
    let lag = hub.index.wait_for_read().await?;
    let config = Arc::clone(&hub.config);
    let mut answer = hub.store.read::<_, ApiError, _>(move |tx| answer_question(tx, &asked, &config)).await?;
    answer.credits_charged = credits::to_decimal(charge.charge(hub).await?);
    answer.index_lag = Some(lag).filter(|lag| *lag > 0);
    Ok(answer)
}

/// Properties that are the hub's to tell; what others tell under these names stays with who told it.
const KEPT_BACK: [&str; 3] = ["said", "asset_id", "status"];

fn answer_question(
    tx: &mut dyn Tx,
    asked: &GraphQuestion,
    config: &HubConfig,
) -> ApiResult<QueryGraphResponse> {
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
    let nodes = nodes.collect::<ApiResult<_>>()?;
    let signals = capsid_rules::meaning::terms::query_words(&asked.words);
    let question = SemanticQuestion::parse(&asked.words, &[]);
    let mut ways = vec![RankingSource::Text];
    if asked.by_meaning {
        ways.push(RankingSource::Graph);
        ways.extend((!asked.near.is_empty()).then_some(RankingSource::Embedding));
    }
    Ok(QueryGraphResponse {
        nodes,
        relationships: relations.iter().map(|relation| relationship(relation, &entities)).collect(),
        ways,
        credits_charged: credits::to_decimal(0),
        query: asked.words.clone(),
        index_lag: None,
        assets: answer
            .assets
            .into_iter()
            .map(|found| SemanticHitView::new(found, &signals, question.word_count(), config))
            .collect(),
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
) -> ApiResult<GraphNodeView> {
    let entity = &hit.entity;
    let own =
        || relations.iter().filter(|relation| relation.source == entity.id || relation.target == entity.id);
    let sure = own().map(|relation| relation.confidence).chain(notes.iter().map(|note| note.confidence));
    let confidence = sure.reduce(f64::max).map(view::rounded);
    Ok(GraphNodeView {
        id: shown_id(entity.id),
        entity_type: entity.kind.clone(),
        labels: [entity.kind.clone()],
        name: entity.name.clone(),
        score: view::rounded(hit.score),
        confidence,
        properties: properties(entity, notes, listed)?,
        provenance: provenance(entity, notes, listed, own().max_by_key(|relation| relation.said_at)),
        words: hit.words.clone(),
        ways: hit.ways.clone(),
        path: hit.path.iter().map(step).collect(),
    })
}

/// What is known of a thing: what the hub knows, then what was told of it, the surest first, and by whom.
fn properties(
    entity: &Entity,
    notes: &[&EntityNote],
    listed: Option<&ListedAsset>,
) -> ApiResult<Map<String, Value>> {
    let mut properties = Map::new();
    properties.insert("name".to_owned(), entity.name.clone().into());
    properties.insert("key".to_owned(), entity.key.clone().into());
    if let Some(listed) = listed {
        properties.insert("asset_id".to_owned(), listed.asset.asset_id.to_string().into());
        properties.insert("status".to_owned(), listed.asset.status.as_str().into());
    }
    if notes.is_empty() {
        return Ok(properties);
    }
    let mut said = Vec::new();
    // The surest comes first, and of equals what was said first, so that nobody can push it aside later.
    for note in notes {
        let told: Map<String, Value> = read_stored(&note.properties)?;
        said.push(json!({
            "said_by": note.said_by, "said_at": Time(note.said_at).iso(), "confidence": view::rounded(note.confidence),
            "properties": told,
        }));
        for (name, value) in told.into_iter().filter(|(name, _)| !KEPT_BACK.contains(&name.as_str())) {
            properties.entry(name).or_insert(value);
        }
    }
    properties.insert("said".to_owned(), said.into());
    Ok(properties)
}

/// Who says that there is such a thing: the publisher of an asset; otherwise whoever last said how it hangs together with
/// what was found, or else who told of it.
fn provenance(
    entity: &Entity,
    notes: &[&EntityNote],
    listed: Option<&ListedAsset>,
    last: Option<&Relation>,
) -> GraphProvenanceView {
    let (by, at, asset) = match (listed, last, notes.first()) {
        (Some(ListedAsset { asset, .. }), ..) => {
            (Some(format!("node:{}", asset.node_id)), Some(asset.created_at), Some(asset.asset_id))
        }
        (None, Some(relation), _) => (Some(relation.said_by.clone()), relation.said_at, relation.asset_id),
        (None, None, Some(note)) => (Some(note.said_by.clone()), Some(note.said_at), None),
        (None, None, None) => (None, None, None),
    };
    GraphProvenanceView {
        said_by: by,
        said_at: at.map(|at| Time(at).iso()),
        asset_id: asset.map(|id| id.to_string()),
        mentions: entity.mentions,
        told: entity.told,
    }
}

/// A step, as its relation points, and by whose word.
fn step(hop: &PathStep) -> GraphStepView {
    let (source, target) =
        if hop.relation.source == hop.from.id { (&hop.from, &hop.to) } else { (&hop.to, &hop.from) };
    GraphStepView {
        from: shown_id(source.id),
        to: shown_id(target.id),
        r#type: hop.relation.kind.clone(),
        from_name: source.name.clone(),
        to_name: target.name.clone(),
        said_by: hop.relation.said_by.clone(),
        told: hop.relation.is_told,
    }
}

fn relationship(relation: &Relation, entities: &HashMap<i64, Entity>) -> GraphRelationshipView {
    let name = |id: i64| entities.get(&id).map(|entity| entity.name.clone());
    GraphRelationshipView {
        source_name: name(relation.source),
        target_name: name(relation.target),
        r#type: relation.kind.clone(),
        source: shown_id(relation.source),
        target: shown_id(relation.target),
        confidence: view::rounded(relation.confidence),
        claims: relation.claims,
        said_by: relation.said_by.clone(),
        said_at: relation.said_at.map(|at| Time(at).iso()),
        asset_id: relation.asset_id.map(|id| id.to_string()),
        told: relation.is_told,
    }
}
