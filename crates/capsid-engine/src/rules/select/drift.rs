//! Drift: randomness in the choice of a gene. Only on request, from a seed that is recorded.

use serde::{Deserialize, Serialize};

/// How chance took part in a selection; enough to draw again.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct DriftRecord {
    pub seed: u64,
    /// How many genes the pool had.
    pub pool: usize,
    /// How likely it was to leave the best gene, and how far.
    pub intensity: f64,
    /// The place, in score order, of the gene drawn.
    pub index: usize,
}

impl DriftRecord {
    /// Drift from a seed over a pool: the smaller the pool, the stronger.
    pub fn new(seed: u64, pool: usize) -> Self {
        let mut drift = Self { seed, pool, ..Self::default() };
        drift.intensity = drift.strength();
        drift
    }

    fn strength(&self) -> f64 {
        if self.pool > 1 { (1.0 / (self.pool as f64).sqrt() + 0.3).min(1.0) } else { 0.7 }
    }

    /// Draws the place of a gene among the candidates, and records it.
    pub(super) fn draw(&mut self, candidates: usize) -> usize {
        self.intensity = self.strength();
        let mut chance = fastrand::Rng::with_seed(self.seed);
        let leaves_the_best = candidates > 1 && chance.f64() < self.intensity;
        self.index = if leaves_the_best {
            let reach = (candidates as f64 * self.intensity).ceil() as usize;
            chance.usize(0..reach.clamp(2, candidates))
        } else {
            0
        };
        self.index
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_pools_drift_more() {
        assert_eq!(DriftRecord::new(1, 1).intensity, 0.7);
        assert_eq!(DriftRecord::new(1, 4).intensity, 0.8);
        assert_eq!(DriftRecord::new(1, 100).intensity, 0.4);
        assert_eq!(DriftRecord::new(1, 2).intensity, 1.0);
    }

    #[test]
    fn a_seed_draws_the_same_again_and_seeds_differ() {
        let draw = |seed| DriftRecord::new(seed, 10).draw(10);
        let draws: Vec<usize> = (0..50).map(draw).collect();
        assert_eq!(draws, (0..50).map(draw).collect::<Vec<_>>());
        assert!(draws.contains(&0) && draws.iter().any(|index| *index > 0));
        assert!(draws.iter().all(|index| *index < 7), "ceil(10 x 0.616) is the reach");
        assert_eq!(DriftRecord::new(3, 10).draw(1), 0);
        assert_eq!(DriftRecord::new(3, 10).draw(0), 0);
    }
}
