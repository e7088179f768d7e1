//! Chooses the gene or capsule for a set of signals: deterministic, explained, and fast over large pools.

pub mod bans;
pub mod capsule;
pub mod drift;
mod ecma;
pub mod index;
mod parts;
pub mod pattern;
pub mod reference;
mod required;
pub mod score;
pub mod selection;
mod words;

pub use bans::{FailedCapsule, GeneBan};
pub use capsule::{ScoredCapsule, SkippedCapsule};
pub use drift::DriftRecord;
pub use index::GeneIndex;
pub use score::{GeneCard, ScoredGene};
pub use selection::{MemoryNote, Selection};

use capsid_model::capsule::Capsule;
use capsid_model::signal::matchable;
use capsid_rules::memory::advice::Advice;
use pattern::SignalSet;
use score::GeneInfluence;
use std::collections::BTreeSet;

/// Everything a selection depends on.
#[derive(Debug, Clone, Copy)]
pub struct SelectInput<'a> {
    /// What was seen, control signals included.
    pub signals: &'a [String],
    /// The gene pool, in file order.
    pub genes: GenePoolRef<'a>,
    /// The capsules, in file order.
    pub capsules: &'a [Capsule],
    /// What the memory graph advises.
    pub advice: &'a Advice,
    pub failed: &'a [FailedCapsule],
    /// The present environment, as epigenetic marks name it.
    pub env_context: &'a str,
    /// The present platform, as fingerprints name it.
    pub platform: &'a str,
    /// The random seed, if drift is requested.
    pub drift: Option<u64>,
}

/// A gene pool as it is, or with its index. The results are the same.
#[derive(Debug, Clone, Copy)]
pub enum GenePoolRef<'a> {
    /// Looked through gene by gene; right for a few thousand.
    Plain(&'a [GeneCard]),
    /// Looked up; right for large pools and many selections.
    Indexed(&'a GeneIndex),
}

/// The built-in gene that is left where the one gene for an error does not help. The protocol's own records name it as
/// the alternative.
const LAST_RESORT: &str = "gene_gep_innovate_from_opportunity";

impl GenePoolRef<'_> {
    fn contains(self, id: &str) -> bool {
        match self {
            Self::Plain(cards) => cards.iter().any(|card| card.id == id),
            Self::Indexed(index) => index.ids().any(|other| other == id),
        }
    }
}

/// Chooses the gene or capsule that fits the signals best.
pub fn select(input: SelectInput<'_>) -> Selection {
    let signals = SignalSet::new(matchable(input.signals));
    let banned = bans::bans(input.signals, &signals, input.advice, input.failed);
    let banned_ids: BTreeSet<&str> = banned.iter().map(|ban| ban.gene.as_str()).collect();
    let influence =
        GeneInfluence { advice: input.advice, banned: &banned_ids, env_context: input.env_context };
    let (scores, pool) = match input.genes {
        GenePoolRef::Plain(cards) => (reference::rank(cards, &signals, influence), cards.len()),
        GenePoolRef::Indexed(index) => (index.rank(&signals, influence), index.len()),
    };
    let has_last_resort = scores.len() == 1
        && input.signals.iter().any(|signal| signal == "log_error")
        && scores[0].gene != LAST_RESORT
        && !banned_ids.contains(LAST_RESORT)
        && input.genes.contains(LAST_RESORT);
    let (capsule, skipped_capsules) = capsule::best(input.capsules, &signals, &banned_ids, input.platform);
    let preferred = input.advice.preferred.clone();
    let prior = preferred.as_ref().and_then(|gene| input.advice.genes.get(gene));
    let selection = Selection {
        signals: input.signals.to_vec(),
        scores,
        capsule,
        skipped_capsules,
        memory: MemoryNote {
            prior: prior.map_or(0.0, |gene| gene.prior),
            banned: input.advice.banned.clone(),
            preferred,
        },
        last_resort: has_last_resort.then(|| LAST_RESORT.to_owned()),
        drift: input.drift.map(|seed| DriftRecord::new(seed, pool)),
        banned,
        ..Selection::default()
    };
    selection.finish()
}

#[cfg(test)]
mod tests;
