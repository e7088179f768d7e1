//! The knowledge graph: things, how they are related, and who says so.
//!
//! It is kept in the [index](crate::index). A worker fills it with the statements of assets, bundles, reports and tasks, a
//! moment after these changed ([`sync`]); accounts and nodes add what they know by `ingest`. See
//! [`capsid_rules::graph`] for what is said.

pub mod changes;
mod dump;
mod edges;
mod entity_rows;
mod facts;
mod find;
mod index_sql;
mod ingest;
pub(crate) mod membership;
#[cfg(test)]
mod migration_tests;
mod notes;
mod postgres;
mod property_terms;
mod read;
mod rebuild;
mod refcounts;
mod sqlite;
pub(crate) mod sync;
pub mod usage;
mod verify;
mod walk;

pub use dump::dump;
pub use find::{NameMatch, NameMatches, matching, related};
pub use ingest::forget::{
    ForgetOutcome, ForgetSelection, ForgetSummary, count_statements_by, forget_statements,
};
pub use ingest::list_own::{OwnEntity, OwnGraphCursor, OwnGraphPage, OwnRelation, mine};
pub use ingest::{IngestOutcome, IngestSummary, MAX_TOLD, ingest};
pub use notes::{EntityNote, notes};
pub use read::{GraphCounts, counts, degrees, entities, named};
pub use rebuild::{RebuildProgress, RebuildSummary};
pub use sync::{IndexLag, LogHeads, MAX_STEP, oldest_waiting};
pub(crate) use verify::{GraphCheck, check};
pub use walk::{path, walk};

use crate::assets::id::AssetId;
use crate::db::row::{FromRow, RowReader};
use crate::db::tx::{Dialect, Tx};
use capsid_model::problem::Result;
use capsid_rules::graph::link;
use serde::Serialize;
use std::collections::HashMap;

/// The statements that differ between the databases. Lists are JSON. Each reads a row for each item of its list.
struct GraphSql {
    assets: &'static str,
    /// Assets without their cards, and the nodes and tasks that are there.
    asset_states: &'static str,
    node_ids: &'static str,
    task_ids: &'static str,
    nodes: &'static str,
    titles: &'static str,
    /// What things are called by the first that told of them.
    told_names: &'static str,
    /// Notes by entities and tellers, and relations by their numbers, as the index reads them.
    changed_notes: &'static str,
    changed_relations: &'static str,
    own_notes: &'static str,
    own_relations: &'static str,
    add_notes: &'static str,
    change_notes: &'static str,
    add_told: &'static str,
    change_told: &'static str,
    /// What a teller said of things, and relations of a teller: they go, and those that were there are given.
    forget_notes: &'static str,
    forget_told: &'static str,
    /// What was told of some things: things, how much of each.
    notes: &'static str,
}

fn texts(tx: &dyn Tx) -> &'static GraphSql {
    match tx.dialect() {
        Dialect::Sqlite => &sqlite::TEXTS,
        Dialect::Postgres => &postgres::TEXTS,
    }
}

/// A thing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entity {
    /// Follows from kind and key.
    pub id: i64,
    /// signal, error, gene, capsule, event, node, environment, task, or what an ingest calls it.
    pub kind: String,
    pub key: String,
    /// What it is called; of an asset the beginning of its summary, of a node or task its name.
    pub name: String,
    /// How many statements of the hub name it.
    pub mentions: i64,
    /// How many ingested statements name it.
    pub told: i64,
    /// Where it stands, for an asset or a task.
    pub status: Option<String>,
}

/// How two things hang together, by whose word.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Relation {
    pub source: i64,
    pub kind: String,
    pub target: i64,
    /// `node:…`, `user:…`, or `hub` for what the hub counts.
    pub said_by: String,
    /// When; nothing for what is counted.
    pub said_at: Option<i64>,
    /// The asset that says so.
    pub asset_id: Option<AssetId>,
    /// 0 to 1.
    pub confidence: f64,
    /// How many statements say so.
    pub claims: i64,
    pub is_told: bool,
}

/// Columns of a relation, in this order: source, kind, target, said_by, said_at, asset_id, confidence, claims, is_told.
impl FromRow for Relation {
    fn from_row(row: &RowReader<'_>) -> Result<Self> {
        Ok(Self {
            source: row.read("source")?,
            kind: row.read("kind")?,
            target: row.read("target")?,
            said_by: row.read("said_by")?,
            said_at: Some(row.read("said_at")?).filter(|said_at| *said_at > 0),
            asset_id: row.read("asset_id")?,
            confidence: row.read("confidence")?,
            claims: row.read("claims")?,
            is_told: row.read("is_told")?,
        })
    }
}

/// The kind of a relation in a lane; what was told has a kind of its own.
fn link_name(lane: i64, told: &str) -> &str {
    link::kind_of_lane(lane).unwrap_or(told)
}

impl Relation {
    /// The thing at its other end.
    fn other(&self, thing: i64) -> i64 {
        if self.source == thing { self.target } else { self.source }
    }
}

/// A step on a way through the graph.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PathStep {
    pub from: Entity,
    /// The relation, which may point either way.
    pub relation: Relation,
    pub to: Entity,
}

/// How far and how wide the graph is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct WalkBounds {
    pub depth: usize,
    /// How many relations of one kind and direction are followed from one thing, the newest first. All that was told
    /// counts as one kind.
    pub fan_out: usize,
    /// How many relations at most.
    pub most: usize,
}

/// A relation that a walk met.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WalkStep {
    pub relation: Relation,
    /// How many steps away from where the walk began, counted from 1.
    pub depth: usize,
}

/// What a walk met.
#[derive(Debug, Clone, Default)]
pub struct WalkResult {
    /// The nearest first.
    pub steps: Vec<WalkStep>,
    /// The ends of these, called by their keys.
    pub entities: HashMap<i64, Entity>,
}

/// An asset that the graph leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct RelatedAsset {
    pub asset_id: AssetId,
    /// How strongly; comparable within one question only.
    pub score: f64,
    /// From a thing that the question names to the asset.
    pub path: Vec<PathStep>,
}
