//! Advice, and events of a memory graph: what somebody tried on which
//! signals and how it ended, and what that advises them. Nobody is advised by what another one recorded, and
//! nobody sees it.

use crate::auth::account::require_user;
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::context::OperationContext;
use crate::error::{ApiError, ApiResult};
use crate::http::validate;
use crate::ops::graph::{GraphSender, admit_free};
use crate::ops::memory::record::{EVENT_BYTES, RecordMemoryResponse, memory_from_event};
use crate::state::SharedHub;
use capsid_model::signal::{folded, learning_key};
use capsid_rules::assets::traits::card_members;
use capsid_rules::lifecycle::AssetType;
use capsid_rules::memory::KINDS;
use capsid_rules::memory::advice::advise;
use capsid_rules::memory::answer::{SharedExperience, answer};
use capsid_rules::memory::graph::{GraphStats, read_line, text_of};
use capsid_store::accounts::admin;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list;
use capsid_store::db::tx::Tx;
use capsid_store::graph::usage::GraphUseKind;
use capsid_store::search::{self, SignalSearch};
use capsid_store::{accounts, memory};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use utoipa::ToSchema;

/// The most genes that are weighed in one call.
const MAX_GENES: usize = 2000;
/// The most outcomes that are weighed, of one memory.
const MAX_OUTCOMES: i64 = 2000;
/// How much of each memory is looked through for them.
const MAX_BYTES: i64 = 4 * 1024 * 1024;
/// The most nodes of an account whose memories are weighed.
const MAX_NODES: i64 = 16;
/// The most solutions of others that are looked at.
const MAX_SOLUTIONS: usize = 50;
/// What may stand in a body beside an event.
const OF_EVENTS: [&str; 5] = ["kind", "event", "sender_id", "node_id", "node_secret"];
/// What tells the knowledge graph something.
const OF_GRAPH: [&str; 3] = ["entities", "relations", "relationships"];
/// How many members that are not known are named beside the first.
const MAX_NAMED: usize = 20;

/// What advice is wanted for.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = AdviceQuestion)]
pub struct AdviceRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    /// What is seen.
    signals: Vec<String>,
    /// The genes to choose from.
    #[serde(default)]
    genes: Vec<AdviceCandidate>,
    /// Whether chance is to take part, so that no gene is banned.
    #[serde(default, rename = "driftEnabled")]
    drift_enabled: Option<bool>,
}

/// A gene to choose from.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = AdviceCandidate)]
pub struct AdviceCandidate {
    /// Its name.
    id: String,
    /// Its kind of change.
    category: Option<String>,
    #[serde(rename = "type")]
    kind: Option<String>,
}

impl AdviceRequest {
    fn check(&self) -> ApiResult<()> {
        validate::list(&self.signals, "signals", 50, 2000)?;
        if self.genes.len() > MAX_GENES {
            let received = format!("{} entries", self.genes.len());
            return Err(ApiError::field("genes", format!("a list of at most {MAX_GENES} entries"), received));
        }
        self.genes.iter().enumerate().try_for_each(|(n, gene)| {
            validate::name(&gene.id, &format!("genes[{n}].id"), 200)?;
            validate::text_or(gene.category.as_deref(), &format!("genes[{n}].category"), 200)?;
            validate::text_or(gene.kind.as_deref(), &format!("genes[{n}].type"), 200)
        })
    }
}

/// Advice on genes. Its names are those that clients of a memory graph know.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Advice)]
pub struct AdviceResponse {
    /// The key of the signals, by which outcomes are learned.
    #[serde(rename = "currentSignalKey")]
    current_signal_key: String,
    /// The gene that did best for the asker.
    #[serde(rename = "preferredGeneId")]
    #[schema(required)]
    preferred_gene_id: Option<String>,
    /// Genes that keep failing for the asker.
    #[serde(rename = "bannedGeneIds")]
    banned_gene_ids: Vec<String>,
    /// Why, one reason a line.
    explanation: Vec<String>,
    basis: AdviceBasis,
}

/// What the advice stands on.
#[derive(Debug, Serialize, ToSchema)]
struct AdviceBasis {
    /// Outcomes that the asker recorded.
    #[schema(value_type = i64)]
    own: usize,
    /// Solutions of others that were found to work on such signals and follow one of the genes.
    #[schema(value_type = i64)]
    hub: u64,
}

/// Advises on genes for some signals, by what the asker recorded before. What others found on this hub is told beside
/// it, and decides only between equals.
#[tracing::instrument(skip_all, fields(node.id))]
pub async fn advise_genes(
    hub: &SharedHub,
    credentials: Credentials,
    asked: AdviceRequest,
) -> ApiResult<AdviceResponse> {
    asked.check()?;
    let (sender_id, node_id) = (asked.sender_id.as_deref(), asked.node_id.as_deref());
    let sender = GraphSender::from_request(credentials, sender_id, node_id, asked.node_secret.as_deref())?;
    tracing::Span::current().record("node.id", sender.node_id.as_deref());
    admit_free(hub, &sender, GraphUseKind::Query).await?;
    hub.index.wait_for_search().await?;
    let context = hub.context();
    let genes: Vec<String> = asked.genes.into_iter().map(|gene| gene.id).collect();
    let drift = asked.drift_enabled.unwrap_or_default();
    hub.store
        .read::<_, ApiError, _>(move |tx| {
            let asker = MemoryOwner::reading(tx, &context, &sender)?;
            advised(tx, &context, &asker, &asked.signals, &genes, drift)
        })
        .await
}

fn advised(
    tx: &mut dyn Tx,
    context: &OperationContext,
    asker: &MemoryOwner,
    signals: &[String],
    genes: &[String],
    by_chance: bool,
) -> ApiResult<AdviceResponse> {
    let (graph, outcomes) = asker.recorded(tx)?;
    let advice = advise(&graph, signals, genes.iter().map(String::as_str), context.now);
    let others = others(tx, asker, signals, genes)?;
    let answer = answer(&advice, genes, &others, by_chance);
    Ok(AdviceResponse {
        current_signal_key: learning_key(signals),
        preferred_gene_id: answer.preferred,
        banned_gene_ids: answer.banned,
        explanation: answer.explanation,
        basis: AdviceBasis { own: outcomes, hub: others.values().map(|found| found.capsules).sum() },
    })
}

/// Who asks or tells: where their memories are kept.
struct MemoryOwner {
    /// The names that their memories have.
    memories: Vec<String>,
    nodes: BTreeSet<String>,
}

impl MemoryOwner {
    /// A node that shows its secret, or an account, which speaks for its nodes too.
    fn reading(tx: &mut dyn Tx, context: &OperationContext, sender: &GraphSender) -> ApiResult<Self> {
        let credentials = &sender.credentials;
        if let Some(id) = &sender.node_id {
            let node = Sender::new(id, credentials.clone());
            node.find(tx, context)?.ok_or_else(|| node.unknown())?;
            return Ok(Self { memories: vec![id.clone()], nodes: BTreeSet::from([id.clone()]) });
        }
        let user = require_user(tx, credentials, context.now)?;
        let owned = admin::nodes_of(tx, &user.user_id, MAX_NODES)?;
        let nodes: BTreeSet<String> = owned.into_iter().map(|node| node.node_id).collect();
        let memories = std::iter::once(memory_of(&user.user_id)).chain(nodes.iter().cloned()).collect();
        Ok(Self { memories, nodes })
    }

    /// What became of what they tried, and how many outcomes that is. The same event may have come in two
    /// ways.
    fn recorded(&self, tx: &mut dyn Tx) -> ApiResult<(GraphStats, usize)> {
        let mut graph = GraphStats::default();
        let (mut seen, mut outcomes) = (HashSet::new(), 0);
        for name in &self.memories {
            for body in memory::outcomes(tx, name, MAX_OUTCOMES, MAX_BYTES)? {
                let Some(record) = read_line(&body).filter(|record| text_of(record, "kind") == "outcome")
                else {
                    continue;
                };
                let id = text_of(&record, "id");
                if id.is_empty() || seen.insert(id.to_owned()) {
                    graph.add(&record);
                    outcomes += 1;
                }
            }
        }
        Ok((graph, outcomes))
    }
}

/// The name that the memories of an account have. No node can have it: there is no `/` in a node's name.
fn memory_of(user_id: &str) -> String {
    format!("user/{user_id}")
}

/// Which of the genes others had success with: promoted solutions on these signals, by the gene that they
/// name.
fn others(
    tx: &mut dyn Tx,
    asker: &MemoryOwner,
    signals: &[String],
    genes: &[String],
) -> ApiResult<BTreeMap<String, SharedExperience>> {
    let mut found: BTreeMap<String, SharedExperience> = BTreeMap::new();
    if genes.is_empty() {
        return Ok(found);
    }
    let query = SignalSearch {
        asset_type: Some(AssetType::Capsule),
        ..SignalSearch::signals(folded(signals), MAX_SOLUTIONS)
    };
    let hits = search::find(tx, &query)?;
    let solutions: Vec<(String, String)> = hits
        .into_iter()
        .map(|hit| hit.listed.asset)
        .filter(|asset| !asker.nodes.contains(&asset.node_id))
        .filter_map(|asset| Some((asset.node_id, gene_in(&asset.card)?)))
        .collect();
    let names = names_of(tx, &solutions)?;
    let wanted: HashSet<&str> = genes.iter().map(String::as_str).collect();
    let mut publishers: HashSet<(String, String)> = HashSet::new();
    for (node, gene) in solutions {
        let name = names.get(&gene).unwrap_or(&gene);
        if wanted.contains(name.as_str()) {
            let entry = found.entry(name.clone()).or_default();
            entry.capsules += 1;
            entry.publishers += u64::from(publishers.insert((name.clone(), node)));
        }
    }
    Ok(found)
}

/// The gene that a solution says it follows: its id, or a name.
fn gene_in(card: &str) -> Option<String> {
    card_members(card).get("gene").and_then(Value::as_str).map(str::to_owned)
}

/// The names of genes that are known by their ids.
fn names_of(tx: &mut dyn Tx, solutions: &[(String, String)]) -> ApiResult<HashMap<String, String>> {
    let ids: BTreeSet<&str> = solutions.iter().map(|(_, gene)| gene.as_str()).collect();
    let ids: Vec<AssetId> = ids.into_iter().filter_map(AssetId::parse).collect();
    let genes = list::by_id(tx, &ids)?;
    let named = genes.into_iter().map(|gene| gene.asset);
    Ok(named.filter_map(|gene| Some((gene.asset_id.to_string(), gene.traits.local_id?))).collect())
}

/// Whether what is told is an event of a memory graph, and no part of the knowledge graph.
pub fn is_event(told: &Map<String, Value>) -> bool {
    told.contains_key("event")
}

/// Refuses what would not be kept: whatever stands beside an event was meant to say something. What the event
/// itself says is up to whoever keeps a memory.
fn check_members(told: &Map<String, Value>) -> ApiResult<()> {
    let is_known = |name: &&str| OF_EVENTS.contains(name);
    let unknown: Vec<&str> = told.keys().map(String::as_str).filter(|name| !is_known(name)).collect();
    let Some(first) = unknown.first() else { return Ok(()) };
    let of_graph: Vec<String> =
        unknown.iter().filter(|name| OF_GRAPH.contains(name)).map(|name| format!("`{name}`")).collect();
    let mut error = validate::unknown_member(first, &OF_EVENTS);
    if !of_graph.is_empty() {
        error.problem = format!("An event is told alone, and {} stands beside it.", of_graph.join(" and "));
        error.fix =
            "Make two calls: one with `kind` and `event`, one with `entities` and `relations`.".to_owned();
    }
    let others = unknown.iter().skip(1).take(MAX_NAMED);
    error.details.extend(others.flat_map(|name| validate::unknown_member(name, &OF_EVENTS).details));
    Err(error)
}

/// Keeps an event of a memory graph, for whoever tells it and nobody else. However often it comes, it is kept
/// once.
pub async fn record_event(
    hub: &SharedHub,
    credentials: Credentials,
    told: &Map<String, Value>,
) -> ApiResult<RecordMemoryResponse> {
    let text = |name: &str| match told.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text.as_str())),
        Some(_) => Err(ApiError::field(name, "a text", "something else")),
    };
    check_members(told)?;
    let sender =
        GraphSender::from_request(credentials, text("sender_id")?, text("node_id")?, text("node_secret")?)?;
    let event = event_in(told, text("kind")?)?;
    let body = Value::Object(event.clone()).to_string();
    if body.len() > EVENT_BYTES {
        let received = format!("{} bytes", body.len());
        return Err(ApiError::field("event", format!("at most {EVENT_BYTES} bytes"), received));
    }
    admit_free(hub, &sender, GraphUseKind::Ingest).await?;
    let (context, memory) = (hub.context(), memory_from_event(&event, &body));
    let is_new = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            let name = match &sender.node_id {
                Some(id) => Sender::new(id, sender.credentials.clone()).lock(tx, &context)?.node_id,
                None => {
                    let user = require_user(tx, &sender.credentials, context.now)?;
                    accounts::lock(tx, &user.user_id)?;
                    memory_of(&user.user_id)
                }
            };
            Ok(memory::record_once(tx, &name, &memory, context.now)?)
        })
        .await?;
    Ok(RecordMemoryResponse::new(is_new))
}

/// The event, which says itself what it is, or is told to be it.
fn event_in(told: &Map<String, Value>, kind: Option<&str>) -> ApiResult<Map<String, Value>> {
    let Some(Value::Object(event)) = told.get("event") else {
        return Err(ApiError::field("event", "an object", "something else"));
    };
    let mut event = event.clone();
    let own = match event.get("kind") {
        None => None,
        Some(Value::String(own)) => Some(own.clone()),
        Some(_) => return Err(ApiError::field("event.kind", "a word", "something else")),
    };
    match (kind, own) {
        (Some(kind), Some(own)) if kind != own => {
            Err(ApiError::field("event.kind", "the same as `kind`", "another word"))
        }
        (None, None) => Err(ApiError::field("kind", format!("one of {}", KINDS.join(", ")), "missing")),
        (Some(word), own) => {
            validate::word_or(Some(word), "kind", &KINDS)?;
            if own.is_none() {
                event.insert("kind".to_owned(), word.into());
            }
            Ok(event)
        }
        (None, Some(own)) => validate::word_or(Some(&own), "event.kind", &KINDS).map(|()| event),
    }
}
