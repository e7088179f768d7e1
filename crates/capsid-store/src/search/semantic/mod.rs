//! Finding assets by what they mean: by their text, by the graph and by embeddings, joined into one ranking.
//!
//! However many assets there are, only some hundred of them are read: those that the index names as the
//! likeliest.

mod gather;
mod pool;
mod scope;
mod text;

use crate::assets::id::AssetId;
use crate::assets::list;
use crate::assets::list::ListedAsset;
use crate::db::tx::Tx;
use crate::graph::{self, PathStep, RelatedAsset};
use crate::search::MAX_FRESH;
use crate::search::embeddings::NearAssets;
use capsid_model::problem::Result;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_rules::meaning::SemanticQuestion;
use capsid_rules::meaning::fuse::{FusedHit, Ranking, RankingSource, by_likeness, by_score, fuse};
use pool::{CandidatePool, MAX_GATHERED};
use std::collections::HashMap;
pub use text::NAMES;

/// How many places each ranking has.
const PLACES: usize = 200;
/// How many assets are read at most: what the index names, what is not indexed yet, and what graph and
/// embeddings name.
pub const MAX_READ: usize = MAX_GATHERED + MAX_FRESH as usize + 2 * PLACES;

/// What is asked for.
#[derive(Debug, Clone)]
pub struct SemanticQuery {
    pub question: SemanticQuestion,
    /// Names of signals: assets that have exactly these come first.
    pub names: Vec<String>,
    pub asset_type: Option<AssetType>,
    pub status: AssetStatus,
    pub node_id: Option<String>,
    /// Of this kind of change.
    pub category: Option<String>,
    /// Published at this time or later, in milliseconds.
    pub since: Option<i64>,
    pub until: Option<i64>,
    /// Known to work there, such as `linux_x64`.
    pub environment: Option<String>,
    /// What lies near the question; empty where there are no embeddings.
    pub near: NearAssets,
    pub limit: usize,
}

impl SemanticQuery {
    /// Promoted assets that answer a question.
    pub fn new(question: SemanticQuestion, limit: usize) -> Self {
        Self {
            question,
            names: Vec::new(),
            asset_type: None,
            status: AssetStatus::Promoted,
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
pub struct SemanticHit {
    pub listed: ListedAsset,
    /// How well, comparable within one answer only.
    pub score: f64,
    /// How it was found, and at which place.
    pub places: Vec<(RankingSource, usize)>,
    /// The words of the question that its text answers.
    pub words: Vec<String>,
    /// The way through the graph that leads to it; empty where its text alone does.
    pub path: Vec<PathStep>,
    /// How near its embedding is, where there is one.
    pub similarity: Option<f64>,
}

/// Finds assets, the best first.
pub fn find(tx: &mut dyn Tx, wanted: &SemanticQuery) -> Result<Vec<SemanticHit>> {
    Ok(find_counting(tx, wanted)?.0)
}

/// Finds assets, and tells how many were read for it.
pub fn find_counting(tx: &mut dyn Tx, wanted: &SemanticQuery) -> Result<(Vec<SemanticHit>, usize)> {
    if wanted.limit == 0 || (wanted.question.is_empty() && wanted.names.is_empty()) {
        return Ok((Vec::new(), 0));
    }
    let mut pool = CandidatePool::new(wanted);
    let ranked = text::ranking(tx, wanted, &mut pool, PLACES)?;
    let mut why = HitExplanation::default();
    let best = ranked.ranking.first().map_or(0.0, |(_, answer)| answer.score);
    let by_graph = why.graph(tx, wanted, best, &mut pool)?;
    let by_embedding = why.embeddings(tx, wanted, &mut pool)?;
    let by_text = by_score(ranked.ranking.iter().map(|(seq, answer)| (*seq, answer.score)).collect());
    let mut fused = fuse(&[
        (RankingSource::Text, by_text),
        (RankingSource::Graph, by_graph),
        (RankingSource::Embedding, by_embedding),
    ]);
    add_named(&mut fused, &ranked.named);
    fused.sort_by(|a, b| {
        let order = |hit: &FusedHit<i64>| {
            (ranked.named.get(&hit.key).copied().unwrap_or_default(), pool.get(hit.key).map(|it| it.gdi))
        };
        let ((named, gdi), (other_named, other_gdi)) = (order(b), order(a));
        named
            .cmp(&other_named)
            .then_with(|| b.score.total_cmp(&a.score))
            .then_with(|| (gdi, b.key).cmp(&(other_gdi, a.key)))
    });
    fused.truncate(wanted.limit);
    why.words = ranked.ranking.into_iter().map(|(seq, answer)| (seq, answer.words)).collect();
    let read = pool.len();
    Ok((why.explain(tx, fused)?, read))
}

/// What has an asked name as a signal is an answer, even where no word of it is.
fn add_named(fused: &mut Vec<FusedHit<i64>>, named: &HashMap<i64, usize>) {
    let mut missing: Vec<i64> = named.keys().copied().collect();
    missing.retain(|seq| fused.iter().all(|hit| hit.key != *seq));
    fused.extend(missing.into_iter().map(|key| FusedHit { key, score: 0.0, places: Vec::new() }));
}

/// What tells why an asset was found.
#[derive(Default)]
struct HitExplanation {
    words: HashMap<i64, Vec<String>>,
    paths: HashMap<i64, Vec<PathStep>>,
    similarities: HashMap<i64, f64>,
}

impl HitExplanation {
    /// The ranking of the graph. Its scores are made by the same rule as those of texts, and what is far
    /// behind the best text hangs together with hardly anything that was asked for.
    fn graph(
        &mut self,
        tx: &mut dyn Tx,
        wanted: &SemanticQuery,
        best: f64,
        pool: &mut CandidatePool<'_>,
    ) -> Result<Ranking<i64>> {
        let mut related = graph::related(tx, &wanted.question, PLACES)?;
        related.retain(|related| related.score >= best * text::WEAK);
        let ids: Vec<AssetId> = related.iter().map(|related| related.asset_id).take(PLACES).collect();
        let seqs = pool.read_ids(tx, &ids)?;
        let mut related: HashMap<AssetId, RelatedAsset> =
            related.into_iter().map(|related| (related.asset_id, related)).collect();
        let mut scored = Vec::new();
        for seq in seqs {
            let Some(related) = pool.get(seq).and_then(|candidate| related.remove(&candidate.asset_id))
            else {
                continue;
            };
            scored.push((seq, related.score));
            self.paths.insert(seq, related.path);
        }
        Ok(by_score(scored))
    }

    /// The ranking of the embeddings.
    fn embeddings(
        &mut self,
        tx: &mut dyn Tx,
        wanted: &SemanticQuery,
        pool: &mut CandidatePool<'_>,
    ) -> Result<Ranking<i64>> {
        let near: HashMap<AssetId, f64> = wanted.near.iter().take(PLACES).copied().collect();
        let ids: Vec<AssetId> = wanted.near.iter().map(|(id, _)| *id).take(PLACES).collect();
        let seqs = pool.read_ids(tx, &ids)?;
        let mut alike = Vec::new();
        for seq in seqs {
            let Some(similarity) = pool.get(seq).and_then(|candidate| near.get(&candidate.asset_id)) else {
                continue;
            };
            alike.push((seq, *similarity));
            self.similarities.insert(seq, *similarity);
        }
        Ok(by_likeness(alike))
    }

    /// The assets themselves, each with why it was found.
    fn explain(mut self, tx: &mut dyn Tx, fused: Vec<FusedHit<i64>>) -> Result<Vec<SemanticHit>> {
        let seqs: Vec<i64> = fused.iter().map(|hit| hit.key).collect();
        let mut fused: HashMap<i64, FusedHit<i64>> = fused.into_iter().map(|hit| (hit.key, hit)).collect();
        let mut listed = list::by_seq(tx, &seqs)?;
        listed.retain(|listed| listed.asset.is_scanned());
        let explained = listed.into_iter().filter_map(|listed| {
            let seq = listed.asset.seq;
            let FusedHit { score, places, .. } = fused.remove(&seq)?;
            Some(SemanticHit {
                listed,
                score,
                places,
                words: self.words.remove(&seq).unwrap_or_default(),
                path: self.paths.remove(&seq).unwrap_or_default(),
                similarity: self.similarities.remove(&seq),
            })
        });
        Ok(explained.collect())
    }
}
