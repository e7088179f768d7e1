//! The knowledge graph: answers, drawings, and what there is of it.

use super::describe::{told, words};
use crate::ops::assets::semantic_search::SemanticHitView;
use serde_json::Value;
use std::collections::BTreeMap;

words! {
    /// How something was found: by its own words, through the graph, or by an embedding that lies near.
    FoundBy { Text = "text", Graph = "graph", Embedding = "embedding" }

    /// Who may ask the graph.
    GraphAccess { Everyone = "everyone", Admins = "admins", Nobody = "nobody" }
}

told! {
    /// What answers a question.
    GraphAnswer {
        /// Things, the best first.
        nodes: Vec<GraphNode>,
        /// How they hang together: first what explains why they were found.
        relationships: Vec<GraphRelationship>,
        /// Assets, the best first.
        assets: Vec<SemanticHitView>,
        /// Which ways of finding took part.
        ways: Vec<FoundBy>,
        credits_charged: f64,
        query: String,
    }

    /// A thing that answers.
    GraphNode {
        /// Such as `e_00ff00ff00ff00ff`.
        id: String,
        /// signal, error, gene, capsule, event, node, environment, task, or what whoever told of it calls it.
        entity_type: String,
        /// The same as `entity_type`, in a list.
        labels: Vec<String>,
        name: String,
        /// How well it answers: 1 for the best. Comparable within one answer only.
        score: f64,
        /// 0 to 1: the highest of what is said of it.
        confidence: Option<f64>,
        /// `name`, `key`, what the hub knows, and what was told of it; `said` lists who told what.
        properties: BTreeMap<String, Value>,
        provenance: GraphProvenance,
        /// The words of the question that it answers, or that what it was reached from answers.
        words: Vec<String>,
        ways: Vec<FoundBy>,
        /// The relations that lead to it; empty where its own words do.
        path: Vec<GraphStep>,
    }

    /// Who says that there is such a thing.
    GraphProvenance {
        /// `node:…`, `user:…`, or `hub` for what it counts.
        said_by: Option<String>,
        said_at: Option<String>,
        asset_id: Option<String>,
        /// How many statements of the hub name it.
        mentions: i64,
        /// How many ingested statements name it.
        told: i64,
    }

    /// A step on the way to a thing, as its relation points.
    GraphStep {
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
    GraphRelationship {
        source_name: Option<String>,
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
        said_at: Option<String>,
        asset_id: Option<String>,
        /// Whether it was ingested, and not said by an asset, a report or a task.
        told: bool,
    }

    /// What the graph is told.
    Telling {
        ;
        /// Things, each with a `name` and an `entity_type`.
        entities: Vec<ToldThing>,
        /// How things of this call, or of the graph, hang together. Also as `relationships`.
        relations: Vec<ToldRelation>,
        /// The node that tells, where no account does.
        sender_id: String,
        /// The same as `sender_id`.
        node_id: String,
        /// Its secret, for clients that cannot set headers.
        node_secret: String,
    }

    /// A thing that is told of.
    ToldThing {
        /// Up to 160 characters.
        name: String,
        /// A word of a-z, digits and `_`, such as `library`.
        entity_type: String;
        /// Plain texts, numbers and short lists; up to 4 KiB.
        properties: BTreeMap<String, Value>,
        /// 0 to 1, usually 0.8.
        confidence: f64,
    }

    /// A relation that is told of.
    ToldRelation {
        /// The name of a thing of this call or of the graph; of an asset, a node or a task its id.
        source_name: String,
        /// A word such as `depends_on`.
        r#type: String,
        target_name: String;
        /// Which thing, where several have the name.
        source_type: String,
        target_type: String,
        properties: BTreeMap<String, Value>,
        /// 0 to 1, usually 0.8.
        confidence: f64,
    }

    /// An event of a memory graph, kept for who tells it alone.
    ToldEvent {
        /// signal, hypothesis, attempt, outcome or external_candidate.
        kind: String,
        event: BTreeMap<String, Value>;
        /// The node that tells, where no account does.
        sender_id: String,
        node_id: String,
        node_secret: String,
    }

    /// Whether an event was new.
    EventKept {
        recorded: bool,
        duplicate: bool,
    }

    /// What was told.
    GraphIngested {
        /// What was told of, known or not.
        ingested: IngestCount,
        /// How many of these are new.
        added: i64,
        /// How many took the place of what the same one had told before.
        changed: i64,
        /// How many had been told before in the same words.
        unchanged: i64,
        credits_charged: f64,
    }

    /// What is to be taken back: everything, or what is named.
    GraphForgetting {
        ;
        /// All that the sender told; nothing is named beside it.
        everything: bool,
        /// Things as they were told, each with a `name` and an `entity_type`. What was told of them is taken back.
        entities: Vec<ToldThing>,
        /// Relations as they were told. Also as `relationships`.
        relations: Vec<ToldRelation>,
        /// The node that told, where no account did.
        sender_id: String,
        /// The same as `sender_id`.
        node_id: String,
        /// Its secret, for clients that cannot set headers.
        node_secret: String,
    }

    /// What was taken back.
    GraphForgotten {
        forgotten: IngestCount,
        /// How much was named that the sender had not told.
        not_told: i64,
    }

    /// How much of it.
    IngestCount {
        entities: i64,
        relations: i64,
    }

    /// Whether the graph may be asked, and how much there is of it.
    GraphStatus {
        /// Whether whoever asks may ask it.
        entitled: bool,
        /// Whether anybody may.
        available: bool,
        plan: String,
        access: GraphAccess,
        /// In credits.
        pricing: GraphPricing,
        entities: i64,
        relationships: i64,
        /// Things by their kind.
        by_kind: BTreeMap<String, i64>,
        /// Relations by their kind.
        by_relation: BTreeMap<String, i64>,
        embeddings: EmbeddingState,
        limits: GraphLimits;
        /// `user:…` or `node:…`.
        asker: String,
        balance: f64,
        usage_30d: GraphUsage,
    }

    /// How it stands with embeddings.
    EmbeddingState {
        /// Whether the operator named an endpoint that makes them.
        configured: bool,
        model: Option<String>,
        /// How many numbers each has.
        dims: Option<i64>,
        embedded: i64,
        /// How many assets lack one, counted up to a bound.
        lacking: i64,
        ok: bool,
    }

    /// What a question, and a call that tells something, cost.
    GraphPricing {
        query: f64,
        ingest: f64,
    }

    /// What was used in the last thirty days.
    GraphUsage {
        query_count: i64,
        ingest_count: i64,
        total_credits: f64,
    }

    /// How much is taken.
    GraphLimits {
        query: GraphRate,
        ingest: GraphRate,
        /// The most items of one call.
        items: i64,
        /// The largest body of one call.
        bytes: i64,
    }

    /// So many calls in such a time.
    GraphRate {
        limit: i64,
        window_ms: i64,
    }

    /// A page of what somebody told.
    OwnGraph {
        /// `user:…` or `node:…`.
        asker: String,
        count: i64,
        entities: Vec<OwnThing>,
        relations: Vec<OwnRelation>,
        has_more: bool,
        next_cursor: Option<String>,
    }

    /// What somebody told of a thing.
    OwnThing {
        id: String,
        name: String,
        entity_type: Option<String>,
        properties: BTreeMap<String, Value>,
        confidence: f64,
        said_at: String,
    }

    /// A relation that somebody told.
    OwnRelation {
        source: String,
        target: String,
        r#type: String,
        source_name: Option<String>,
        source_type: Option<String>,
        target_name: Option<String>,
        target_type: Option<String>,
        properties: BTreeMap<String, Value>,
        confidence: f64,
        said_at: Option<String>,
    }

    /// A part of the graph, ready to be drawn.
    GraphDrawing {
        nodes: Vec<DrawnThing>,
        edges: Vec<DrawnLine>,
        /// What answers the question, the best first.
        hits: Vec<GraphHit>,
        /// The ids on the way from one thing to another, for `/kg/path`; empty where there is none.
        path: Vec<String>,
        /// There is more than is drawn.
        truncated: bool,
        credits_charged: f64,
    }

    /// A thing of a drawing.
    DrawnThing {
        id: String,
        kind: String,
        name: String,
        key: String,
        /// 0 to 1, from left to right.
        x: f64,
        /// 0 to 1, from top to bottom.
        y: f64,
        score: Option<f64>,
        is_hit: bool,
        mentions: i64,
        told: i64,
        asset_id: Option<String>,
        /// Where an asset stands.
        status: Option<String>,
        /// How many more relations it has, counted up to a bound.
        hidden_relations: i64,
    }

    /// A line of a drawing.
    DrawnLine {
        from: String,
        to: String,
        kind: String,
        confidence: f64,
        claims: i64,
        said_by: String,
        said_at: Option<String>,
        asset_id: Option<String>,
        is_told: bool,
    }

    /// What answers a question.
    GraphHit {
        id: String,
        score: f64,
        words: Vec<String>,
        ways: Vec<FoundBy>,
        path: Vec<DrawnStep>,
    }

    /// A step on the way to what answers, as its relation points.
    DrawnStep {
        from: String,
        to: String,
        kind: String,
    }
}

/// What `POST /kg/ingest` takes.
#[derive(Debug, serde::Serialize, utoipa::ToSchema)]
#[serde(untagged)]
#[schema(as = GraphTelling)]
pub enum IngestGraphRequest {
    /// Things and relations.
    Told(Telling),
    /// An event.
    Event(ToldEvent),
}

/// What it answers.
#[derive(Debug, serde::Serialize, utoipa::ToSchema)]
#[serde(untagged)]
#[schema(as = GraphTaken)]
pub enum IngestGraphResponse {
    /// To things and relations.
    Told(GraphIngested),
    /// To an event.
    Event(EventKept),
}
