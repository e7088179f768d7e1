//! Bringing several rankings of the same things together. Their scores cannot be compared, so each says how strong a thing
//! is beside its own best, and the strengths are added up with the weight of their way.

use serde::Serialize;
use std::collections::HashMap;
use std::hash::Hash;

/// How something was found: by its own words, through the graph, or by an embedding that lies near.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = FoundBy))]
pub enum RankingSource {
    /// By what its text says.
    Text,
    /// By what it hangs together with.
    Graph,
    /// By an embedding that lies near that of the question.
    Embedding,
}

impl RankingSource {
    /// The word that is sent.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Graph => "graph",
            Self::Embedding => "embedding",
        }
    }

    /// How much a place in its ranking counts.
    fn weight(self) -> f64 {
        match self {
            Self::Text | Self::Embedding => 1.0,
            // What hangs together with an answer is seldom better than the answer.
            Self::Graph => 0.3,
        }
    }
}

/// The place from which on places count little.
const EASE: f64 = 10.0;

/// Something in the joint ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct FusedHit<K> {
    pub key: K,
    /// The sum over all ways of weight and strength.
    pub score: f64,
    /// How it was found, and at which place, counted from 1.
    pub places: Vec<(RankingSource, usize)>,
}

/// A ranking: things with their strength from 0 to 1, the strongest first.
pub type Ranking<K> = Vec<(K, f64)>;

/// A ranking by scores above 0: each against the best.
pub fn by_score<K>(scored: Vec<(K, f64)>) -> Ranking<K> {
    let best = scored.first().map_or(1.0, |(_, score)| *score).max(f64::MIN_POSITIVE);
    scored.into_iter().map(|(key, score)| (key, (score / best).clamp(0.0, 1.0))).collect()
}

/// A ranking by likenesses, which lie close together: each between the least and the best.
pub fn by_likeness<K>(alike: Vec<(K, f64)>) -> Ranking<K> {
    let end = |likeness: Option<&(K, f64)>| likeness.map_or(0.0, |(_, likeness)| *likeness);
    let (best, least) = (end(alike.first()), end(alike.last()));
    let width = if best > least { best - least } else { 1.0 };
    let least = if best > least { least } else { best - 1.0 };
    alike.into_iter().map(|(key, likeness)| (key, ((likeness - least) / width).clamp(0.0, 1.0))).collect()
}

/// A ranking of things whose scores say nothing beside others: by their places.
pub fn by_place<K>(keys: Vec<K>) -> Ranking<K> {
    keys.into_iter().enumerate().map(|(at, key)| (key, EASE / (EASE + at as f64))).collect()
}

/// Joins rankings; of equals the smaller key comes first.
pub fn fuse<K: Clone + Eq + Hash + Ord>(rankings: &[(RankingSource, Ranking<K>)]) -> Vec<FusedHit<K>> {
    let mut found: HashMap<&K, FusedHit<K>> = HashMap::new();
    for (way, ranking) in rankings {
        for (at, (key, strength)) in ranking.iter().enumerate() {
            let entry = found.entry(key).or_insert_with(|| FusedHit {
                key: key.clone(),
                score: 0.0,
                places: Vec::new(),
            });
            if entry.places.iter().all(|(known, _)| known != way) {
                entry.score += way.weight() * strength;
                entry.places.push((*way, at + 1));
            }
        }
    }
    let mut fused: Vec<FusedHit<K>> = found.into_values().collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_ways_find_comes_first() {
        let fused = fuse(&[
            (RankingSource::Text, by_score(vec![("a", 4.0), ("b", 3.8)])),
            (RankingSource::Graph, by_place(vec!["c", "b"])),
            (RankingSource::Embedding, by_likeness(vec![("b", 0.8), ("c", 0.7)])),
        ]);
        let keys: Vec<&str> = fused.iter().map(|found| found.key).collect();
        assert_eq!(keys, ["b", "a", "c"]);
        let best = fused.first().expect("a best one");
        assert_eq!(
            best.places,
            [(RankingSource::Text, 2), (RankingSource::Graph, 2), (RankingSource::Embedding, 1)]
        );
        let due = 3.8 / 4.0 + RankingSource::Graph.weight() * 10.0 / 11.0 + RankingSource::Embedding.weight();
        assert!((best.score - due).abs() < 1e-12, "{}", best.score);
    }

    #[test]
    fn equals_come_by_key_and_a_thing_counts_once_in_a_ranking() {
        let fused = fuse(&[
            (RankingSource::Text, vec![("b", 1.0), ("b", 0.9)]),
            (RankingSource::Text, vec![("a", 1.0)]),
        ]);
        assert_eq!(fused.iter().map(|found| found.key).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(fused.first().map(|found| found.score), fused.last().map(|found| found.score));
        assert_eq!(fuse::<&str>(&[]), []);
    }

    #[test]
    fn strengths_lie_between_nothing_and_all() {
        assert_eq!(by_score(vec![("a", 5.0), ("b", 1.0)]), [("a", 1.0), ("b", 0.2)]);
        assert_eq!(by_likeness(vec![("a", 0.9), ("b", 0.8)]), [("a", 1.0), ("b", 0.0)]);
        assert_eq!(by_likeness(vec![("a", 0.4)]), [("a", 1.0)]);
        assert_eq!(by_place(vec!["a"]), [("a", 1.0)]);
    }
}
