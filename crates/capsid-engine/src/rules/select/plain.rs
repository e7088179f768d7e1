//! The plain algorithm: every pattern of every gene against every signal. The index must give the same.

use super::pattern::{Pattern, Signals};
use super::score::{GeneCard, Influence, KEPT, Scored};

/// The genes that hit, best first. Above [`KEPT`], those that may be chosen are kept before banned ones.
pub fn rank(cards: &[GeneCard], signals: &Signals<'_>, influence: Influence<'_>) -> Vec<Scored> {
    let mut scored: Vec<Scored> = (0..)
        .zip(cards)
        .map(|(order, card)| Scored::new(card, order, hits(card, signals), influence))
        .filter(|scored| scored.score > 0.0)
        .collect();
    scored.sort_by(|a, b| a.banned.cmp(&b.banned).then(a.best_first(b)));
    scored.truncate(KEPT);
    scored.sort_by(Scored::best_first);
    scored
}

fn hits(card: &GeneCard, signals: &Signals<'_>) -> u32 {
    let hitting = card.patterns.iter().filter(|text| Pattern::parse(text).hits(signals));
    hitting.count() as u32
}
