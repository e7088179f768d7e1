//! The knowledge graph: things, how they hang together, and who says so.
//!
//! The hub fills it with the statements of assets, bundles, reports and tasks, in the transactions that change these;
//! accounts and nodes add what they know by `ingest`. See [`capsid_rules::graph`] for what is said.

use crate::id::AssetId;
use crate::tx::Tx;
use capsid_model::problem::Result;
use capsid_rules::meaning::Question;
use serde::Serialize;

/// A thing.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Entity {
    /// Its number, which follows from kind and key.
    pub id: i64,
    /// signal, error, gene, capsule, event, node, environment, task, or what an ingest calls it.
    pub kind: String,
    /// Its normalised name.
    pub key: String,
    /// What it is called; of an asset the beginning of its summary, of a node or task its name.
    pub name: String,
    /// How many statements of the hub name it.
    pub mentions: i64,
    /// How many ingested statements name it.
    pub told: i64,
}

/// How two things hang together, by whose word.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Relation {
    /// From this thing.
    pub source: i64,
    /// In this way.
    pub kind: String,
    /// To this thing.
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
    /// Whether it was ingested.
    pub is_told: bool,
}

/// A step on a way through the graph.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hop {
    /// Where it begins.
    pub from: Entity,
    /// The relation, which may point either way.
    pub relation: Relation,
    /// Where it ends.
    pub to: Entity,
}

/// How far and how wide the graph is walked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bounds {
    /// How many steps away.
    pub depth: usize,
    /// How many relations of one kind and direction are followed from one thing, the newest first.
    pub fan_out: usize,
    /// How many relations at most.
    pub most: usize,
}

/// A relation that a walk met.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Step {
    /// The relation.
    pub relation: Relation,
    /// How many steps away from where the walk began, counted from 1.
    pub depth: usize,
}

/// An asset that the graph leads to.
#[derive(Debug, Clone, PartialEq)]
pub struct Related {
    /// The asset.
    pub asset_id: AssetId,
    /// How strongly; comparable within one question only.
    pub score: f64,
    /// From a thing that the question names to the asset.
    pub path: Vec<Hop>,
}

/// Things that a question names, best first, each with its score and the words that it answers. Of these kinds only,
/// where any are given.
pub fn matching(
    _tx: &mut dyn Tx,
    _question: &Question,
    _kinds: &[String],
    _limit: usize,
) -> Result<Vec<(Entity, f64, Vec<String>)>> {
    Ok(Vec::new())
}

/// What hangs together with some things, the nearest first.
pub fn around(_tx: &mut dyn Tx, _ids: &[i64], _bounds: Bounds) -> Result<Vec<Step>> {
    Ok(Vec::new())
}

/// A shortest way between two things, within bounds.
pub fn path(_tx: &mut dyn Tx, _from: i64, _to: i64, _bounds: Bounds) -> Result<Option<Vec<Hop>>> {
    Ok(None)
}

/// Things by their numbers, in the order of these; those that are not there are left out.
pub fn entities(_tx: &mut dyn Tx, _ids: &[i64]) -> Result<Vec<Entity>> {
    Ok(Vec::new())
}

/// The things with a name, of one kind where it is given.
pub fn named(_tx: &mut dyn Tx, _kind: Option<&str>, _name: &str) -> Result<Vec<Entity>> {
    Ok(Vec::new())
}

/// Assets that the graph leads to from what a question names, best first.
pub fn related(_tx: &mut dyn Tx, _question: &Question, _limit: usize) -> Result<Vec<Related>> {
    Ok(Vec::new())
}
