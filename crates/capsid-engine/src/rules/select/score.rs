//! The score of a gene, stored in its parts so that it can be explained and recomputed.

use capsid_model::gene::{EpigeneticMark, Gene};
use capsid_rules::memory::advice::Advice;
use serde::{Deserialize, Serialize};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// How many candidates a selection retains and records.
pub const KEPT: usize = 200;

/// What selecting needs of a gene.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct GeneCard {
    /// Its name in the store.
    pub id: String,
    /// Patterns of signals that it handles.
    pub patterns: Vec<String>,
    /// How it did in which environment.
    pub marks: Vec<EpigeneticMark>,
}

impl From<&Gene> for GeneCard {
    fn from(gene: &Gene) -> Self {
        Self { id: gene.id.clone(), patterns: gene.signals_match.clone(), marks: gene.marks.clone() }
    }
}

/// What weighs on a gene besides its patterns.
#[derive(Debug, Clone, Copy)]
pub struct GeneInfluence<'a> {
    /// What the memory graph advises.
    pub advice: &'a Advice,
    /// Genes that may not be chosen.
    pub banned: &'a BTreeSet<&'a str>,
    /// The present environment, as epigenetic marks name it.
    pub env_context: &'a str,
}

/// One candidate with every part of its score.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ScoredGene {
    pub gene: String,
    /// Its place in the file; of equal scores the earlier wins, and a built-in gene after all others.
    pub order: u32,
    /// How many of its patterns hit.
    pub hits: u32,
    /// What memory adds, as a share.
    pub memory: f64,
    /// What its mark for this environment adds, as a share.
    pub epigenetic: f64,
    /// Whether it may not be chosen.
    pub banned: bool,
    pub score: f64,
}

impl ScoredGene {
    /// Scores a gene.
    pub(super) fn new(card: &GeneCard, order: u32, hits: u32, influence: GeneInfluence<'_>) -> Self {
        let mut scored = Self {
            gene: card.id.clone(),
            order,
            hits,
            memory: influence.advice.boost(&card.id),
            epigenetic: mark_boost(&card.marks, influence.env_context),
            banned: influence.banned.contains(card.id.as_str()),
            score: 0.0,
        };
        scored.score = scored.from_parts();
        scored
    }

    /// The score, computed from the parts.
    pub fn from_parts(&self) -> f64 {
        score(&self.gene, self.hits, self.memory, self.epigenetic)
    }

    /// Best first: the higher score, then what was written for this repository, then the earlier place in the file.
    pub(super) fn best_first(&self, other: &Self) -> Ordering {
        other
            .score
            .total_cmp(&self.score)
            .then(is_builtin(&self.gene).cmp(&is_builtin(&other.gene)))
            .then(self.order.cmp(&other.order))
    }
}

/// Whether a gene is one of those that every store begins with. They fit everything a little.
pub(super) fn is_builtin(gene: &str) -> bool {
    gene.starts_with("gene_gep_")
}

/// Hits, less a fifth for a gene that was distilled by a model, scaled by memory and environment.
pub(super) fn score(gene: &str, hits: u32, memory: f64, epigenetic: f64) -> f64 {
    let trust = if gene.starts_with("gene_distilled_") { 0.8 } else { 1.0 };
    f64::from(hits) * trust * (1.0 + memory) * (1.0 + epigenetic)
}

/// The boost that the newest mark for an environment gives.
pub(super) fn mark_boost(marks: &[EpigeneticMark], context: &str) -> f64 {
    let mark = marks.iter().rfind(|mark| mark.context == context);
    mark.map_or(0.0, |mark| mark.boost.clamp(-0.5, 0.5))
}

#[cfg(test)]
#[path = "score_tests.rs"]
mod tests;
