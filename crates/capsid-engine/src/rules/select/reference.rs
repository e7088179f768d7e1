//! The plain algorithm: every pattern of every gene against every signal. The index must give the same.

use super::pattern::{MatchPattern, SignalSet};
use super::score::{GeneCard, GeneInfluence, KEPT, ScoredGene};

/// The genes that match, best first. Above [`KEPT`], selectable ones are retained before banned ones.
pub fn rank(cards: &[GeneCard], signals: &SignalSet<'_>, influence: GeneInfluence<'_>) -> Vec<ScoredGene> {
    let mut scored: Vec<ScoredGene> = (0..)
        .zip(cards)
        .map(|(order, card)| ScoredGene::new(card, order, hits(card, signals), influence))
        .filter(|scored| scored.score > 0.0)
        .collect();
    scored.sort_by(|a, b| a.banned.cmp(&b.banned).then(a.best_first(b)));
    scored.truncate(KEPT);
    scored.sort_by(ScoredGene::best_first);
    scored
}

fn hits(card: &GeneCard, signals: &SignalSet<'_>) -> u32 {
    let hitting = card.patterns.iter().filter(|text| MatchPattern::parse(text).hits(signals));
    hitting.count() as u32
}
