//! What the knowledge graph is told. The bodies are read member by member, so that all that is wrong with one is named
//! at once; here they are described.

use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;
use utoipa::ToSchema;

/// What the graph is told.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Telling)]
pub struct IngestItemsRequest {
    /// Things, each with a `name` and an `entity_type`.
    #[schema(required = false)]
    entities: Vec<EntityItem>,
    /// How things of this call, or of the graph, hang together. Also as `relationships`.
    #[schema(required = false)]
    relations: Vec<RelationItem>,
    /// The node that tells, where no account does.
    #[schema(required = false)]
    sender_id: String,
    /// The same as `sender_id`.
    #[schema(required = false)]
    node_id: String,
    /// Its secret, for clients that cannot set headers.
    #[schema(required = false)]
    node_secret: String,
}

/// A thing that is told of.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ToldThing)]
pub struct EntityItem {
    /// Up to 160 characters.
    name: String,
    /// A word of a-z, digits and `_`, such as `library`.
    entity_type: String,
    /// Plain texts, numbers and short lists; up to 4 KiB.
    #[schema(required = false)]
    properties: BTreeMap<String, Value>,
    /// 0 to 1, usually 0.8.
    #[schema(required = false)]
    confidence: f64,
}

/// A relation that is told of.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ToldRelation)]
pub struct RelationItem {
    /// The name of a thing of this call or of the graph; of an asset, a node or a task its id.
    source_name: String,
    /// A word such as `depends_on`.
    r#type: String,
    target_name: String,
    /// Which thing, where several have the name.
    #[schema(required = false)]
    source_type: String,
    #[schema(required = false)]
    target_type: String,
    #[schema(required = false)]
    properties: BTreeMap<String, Value>,
    /// 0 to 1, usually 0.8.
    #[schema(required = false)]
    confidence: f64,
}

/// An event of a memory graph, kept for who tells it alone.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ToldEvent)]
pub struct IngestEventRequest {
    /// signal, hypothesis, attempt, outcome or external_candidate.
    kind: String,
    event: BTreeMap<String, Value>,
    /// The node that tells, where no account does.
    #[schema(required = false)]
    sender_id: String,
    #[schema(required = false)]
    node_id: String,
    #[schema(required = false)]
    node_secret: String,
}

/// What is to be taken back: everything, or what is named.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = GraphForgetting)]
pub struct ForgetGraphRequest {
    /// All that the sender told; nothing is named beside it.
    #[schema(required = false)]
    everything: bool,
    /// Things as they were told, each with a `name` and an `entity_type`. What was told of them is taken back.
    #[schema(required = false)]
    entities: Vec<EntityItem>,
    /// Relations as they were told. Also as `relationships`.
    #[schema(required = false)]
    relations: Vec<RelationItem>,
    /// The node that told, where no account did.
    #[schema(required = false)]
    sender_id: String,
    /// The same as `sender_id`.
    #[schema(required = false)]
    node_id: String,
    /// Its secret, for clients that cannot set headers.
    #[schema(required = false)]
    node_secret: String,
}

/// What `POST /kg/ingest` takes.
#[derive(Debug, Serialize, ToSchema)]
#[serde(untagged)]
#[schema(as = GraphTelling)]
pub enum IngestGraphRequest {
    /// Things and relations.
    Told(IngestItemsRequest),
    /// An event.
    Event(IngestEventRequest),
}
