//! What a search by meaning has looked at: each asset once, and never more than so many.

use super::SemanticQuery;
use super::scope::{BY_ID_POSTGRES, BY_ID_SQLITE, BY_SEQ_POSTGRES, BY_SEQ_SQLITE};
use crate::assets::id::AssetId;
use crate::db::tx::{Dialect, Tx};
use crate::params;
use crate::search;
use capsid_model::problem::Result;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_rules::meaning::MeaningTerms;
use serde_json::json;
use std::collections::HashMap;

/// How many assets are read at most because the index names them.
pub const MAX_GATHERED: usize = 600;

/// An asset that may be an answer.
#[derive(Debug, Clone)]
pub struct SemanticCandidate {
    pub asset_id: AssetId,
    pub gdi: i64,
    pub meaning: MeaningTerms,
}

/// The assets that were read.
#[derive(Debug)]
pub struct CandidatePool<'w> {
    wanted: &'w SemanticQuery,
    /// Nothing for those that the filters leave out.
    read: HashMap<i64, Option<SemanticCandidate>>,
    gathered: usize,
}

impl<'w> CandidatePool<'w> {
    /// One without anything in it.
    pub fn new(wanted: &'w SemanticQuery) -> Self {
        Self { wanted, read: HashMap::new(), gathered: 0 }
    }

    /// How many assets were read.
    pub fn len(&self) -> usize {
        self.read.len()
    }

    /// How many of them may be answers.
    pub fn fitting(&self) -> usize {
        self.candidates().count()
    }

    /// Those that may be answers.
    pub fn candidates(&self) -> impl Iterator<Item = (i64, &SemanticCandidate)> {
        self.read.iter().filter_map(|(seq, candidate)| candidate.as_ref().map(|candidate| (*seq, candidate)))
    }

    /// One that may be an answer.
    pub fn get(&self, seq: i64) -> Option<&SemanticCandidate> {
        self.read.get(&seq)?.as_ref()
    }

    /// Reads assets that the index names, until enough were read.
    pub fn gather(&mut self, tx: &mut dyn Tx, seqs: &[i64]) -> Result<()> {
        let mut new: Vec<i64> = seqs.iter().copied().filter(|seq| !self.read.contains_key(seq)).collect();
        new.truncate(MAX_GATHERED - self.gathered);
        self.gathered += new.len();
        self.read_all(tx, &new)
    }

    /// Whether enough were read.
    pub fn is_full(&self) -> bool {
        self.gathered >= MAX_GATHERED
    }

    /// Reads assets, however many.
    pub fn read_all(&mut self, tx: &mut dyn Tx, seqs: &[i64]) -> Result<()> {
        if seqs.is_empty() {
            return Ok(());
        }
        let sql = match tx.dialect() {
            Dialect::Sqlite => BY_SEQ_SQLITE,
            Dialect::Postgres => BY_SEQ_POSTGRES,
        };
        self.read_with(tx, sql, &json!(seqs).to_string()).map(|_| ())
    }

    /// Reads assets by their ids, however many, and gives the sequences of those that may be answers, in the
    /// order of the ids.
    pub fn read_ids(&mut self, tx: &mut dyn Tx, ids: &[AssetId]) -> Result<Vec<i64>> {
        let hex: Vec<String> = ids.iter().map(|id| capsid_model::hash::hex(&id.0)).collect();
        let sql = match tx.dialect() {
            Dialect::Sqlite => BY_ID_SQLITE,
            Dialect::Postgres => BY_ID_POSTGRES,
        };
        let by_id: HashMap<AssetId, i64> = match ids {
            [] => HashMap::new(),
            _ => self.read_with(tx, sql, &json!(hex).to_string())?,
        };
        let seqs = ids.iter().filter_map(|id| by_id.get(id).copied());
        Ok(seqs.filter(|seq| self.get(*seq).is_some()).collect())
    }

    fn read_with(&mut self, tx: &mut dyn Tx, sql: &'static str, list: &str) -> Result<HashMap<AssetId, i64>> {
        let (wanted, mut by_id) = (self.wanted, HashMap::new());
        let candidates = tx.query_all::<(i64, AssetId, i64, CandidateFacts, bool)>(
            sql,
            params![&wanted.environment, list],
        )?;
        let mut fitting = Vec::new();
        for (seq, asset_id, gdi, facts, works_there) in candidates {
            by_id.insert(asset_id, seq);
            match works_there && wanted.is_accepted(&facts) {
                true => fitting.push((seq, asset_id, gdi)),
                false => drop(self.read.insert(seq, None)),
            }
        }
        let seqs: Vec<i64> = fitting.iter().map(|(seq, ..)| *seq).collect();
        let mut meanings = search::meanings(tx, &seqs)?;
        for (seq, asset_id, gdi) in fitting {
            let meaning = meanings.remove(&seq).unwrap_or_default();
            self.read.insert(seq, Some(SemanticCandidate { asset_id, gdi, meaning }));
        }
        Ok(by_id)
    }
}

/// Type, status, tier, publisher, category and time of a candidate, which the filters look at.
type CandidateFacts = (AssetType, AssetStatus, String, String, Option<String>, i64);

impl SemanticQuery {
    /// Whether the filters let an asset through.
    fn is_accepted(
        &self,
        (asset_type, status, tier, node_id, category, created_at): &CandidateFacts,
    ) -> bool {
        self.asset_type.is_none_or(|kind| *asset_type == kind)
            && *status == self.status
            && tier != "delisted"
            && self.node_id.as_ref().is_none_or(|node| node_id == node)
            && (self.category.is_none() || *category == self.category)
            && self.since.is_none_or(|since| *created_at >= since)
            && self.until.is_none_or(|until| *created_at < until)
    }
}
