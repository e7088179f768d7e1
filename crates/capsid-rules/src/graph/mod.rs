//! The knowledge graph as a sum of statements: what each asset, bundle, report and task says, and nothing else.
//!
//! A statement names things and how they hang together. The graph holds every statement once. Because saying and
//! unsaying only add and take away, the same statements make the same graph in whatever order they come.

pub mod ingest;
pub mod layout;
pub mod names;
pub mod statement;
pub mod sum;

use serde::Serialize;
pub use statement::{
    PublishedAssetFacts, ReportedOutcome, Statement, StatementLink, asset_statement, bundle_statement,
    report_statement, solution_statement, task_statement,
};
pub use sum::{CountedEntity, CountedRelation, IngestedRelation, StatementSum};

/// What the hub itself names.
pub mod kind {
    /// A signal by its folded name.
    pub const SIGNAL: &str = "signal";
    /// An error without what differs from run to run.
    pub const ERROR: &str = "error";
    /// A gene, by its id.
    pub const GENE: &str = "gene";
    /// A capsule, by its id.
    pub const CAPSULE: &str = "capsule";
    /// An event, by its id.
    pub const EVENT: &str = "event";
    /// A node, by its id.
    pub const NODE: &str = "node";
    /// Where something ran, such as `linux_x64`.
    pub const ENVIRONMENT: &str = "environment";
    /// A task, by its id.
    pub const TASK: &str = "task";
    /// All of them.
    pub const ALL: [&str; 8] = [SIGNAL, ERROR, GENE, CAPSULE, EVENT, NODE, ENVIRONMENT, TASK];

    /// What an asset of a type is.
    pub fn kind_of_asset(asset_type: crate::lifecycle::AssetType) -> &'static str {
        use crate::lifecycle::AssetType;
        match asset_type {
            AssetType::Gene => GENE,
            AssetType::Capsule => CAPSULE,
            AssetType::EvolutionEvent => EVENT,
        }
    }

    /// Whether things of a kind are assets.
    pub fn is_asset(kind: &str) -> bool {
        matches!(kind, GENE | CAPSULE | EVENT)
    }

    /// Whether things of a kind are known to the hub by an id, and are made by it alone.
    pub fn is_known_by_id(kind: &str) -> bool {
        is_asset(kind) || matches!(kind, NODE | TASK)
    }
}

/// How the hub itself says that things hang together, from the first to the second.
pub mod link {
    /// A signal or an error triggers a gene.
    pub const TRIGGERS: &str = "triggers";
    /// A signal, an error or a task is solved by a capsule.
    pub const SOLVED_BY: &str = "solved_by";
    /// A capsule comes from a gene or from another asset.
    pub const DERIVED_FROM: &str = "derived_from";
    /// An asset was used by a node that said so.
    pub const REUSED_BY: &str = "reused_by";
    /// An asset was published by a node.
    pub const MADE_BY: &str = "made_by";
    /// A capsule is told of by an event.
    pub const RECORDED_IN: &str = "recorded_in";
    /// An asset worked in an environment.
    pub const VALIDATED_ON: &str = "validated_on";
    /// An asset failed in an environment.
    pub const FAILS_ON: &str = "fails_on";
    /// Two signals stand together in assets; counted by the hub, the smaller id first.
    pub const CO_OCCURS: &str = "co_occurs";
    /// A task asks about a signal.
    pub const ASKS_ABOUT: &str = "asks_about";
    /// All of them.
    pub const ALL: [&str; 10] = [
        TRIGGERS,
        SOLVED_BY,
        DERIVED_FROM,
        REUSED_BY,
        MADE_BY,
        RECORDED_IN,
        VALIDATED_ON,
        FAILS_ON,
        CO_OCCURS,
        ASKS_ABOUT,
    ];

    /// The lane of everything that was told, whatever its kind: however much is told, it takes no place in the lanes of
    /// what the hub itself says.
    pub const OTHER_LANE: i64 = 99;

    /// Every lane. A walk follows so many relations of each.
    pub const LANES: [i64; 11] = [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, OTHER_LANE];

    /// The small number by which the hub's own relations of a kind lie together. It is kept, so it never changes.
    pub fn lane(kind: &str) -> i64 {
        ALL.iter().position(|known| *known == kind).map_or(OTHER_LANE, |at| at as i64)
    }

    /// The kind of the hub's own relations in a lane; nothing for the lane of what was ingested.
    pub fn kind_of_lane(lane: i64) -> Option<&'static str> {
        usize::try_from(lane).ok().and_then(|at| ALL.get(at)).copied()
    }
}

/// A thing that a statement names.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct EntityKey {
    pub kind: String,
    /// Its normalised name: things of one kind with one key are one.
    pub key: String,
}

impl EntityKey {
    /// A thing of a kind, by its key.
    pub fn new(kind: &str, key: impl Into<String>) -> Self {
        Self { kind: kind.to_owned(), key: key.into() }
    }

    /// Its number.
    pub fn id(&self) -> i64 {
        names::entity_id(&self.kind, &self.key)
    }

    /// How its name looks; nothing for what the hub knows by an id, which cannot be mistaken.
    pub fn look_alike_key(&self) -> Option<i64> {
        (!kind::is_known_by_id(&self.kind)).then(|| names::look_alike_key(&self.key))
    }
}
