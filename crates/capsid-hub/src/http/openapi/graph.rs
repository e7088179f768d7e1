//! What the knowledge graph is told. These bodies are read member by member, so that all that is wrong with one is named
//! at once; here they are described.

use super::describe::told;
use serde_json::Value;
use std::collections::BTreeMap;

told! {
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
