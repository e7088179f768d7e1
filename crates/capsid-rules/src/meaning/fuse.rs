//! Bringing several rankings of the same things together by their places, since their scores cannot be compared.

use serde::Serialize;
use std::collections::HashMap;
use std::hash::Hash;

/// How something was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Way {
    /// By what its text says.
    Text,
    /// By what it hangs together with.
    Graph,
    /// By an embedding that lies near that of the question.
    Embedding,
}

impl Way {
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
            Self::Graph => 0.5,
        }
    }
}

/// The place from which on places count little.
const EASE: f64 = 60.0;

/// Something in the joint ranking.
#[derive(Debug, Clone, PartialEq)]
pub struct Fused<K> {
    /// What it is.
    pub key: K,
    /// The sum over all ways; at most about 0.05.
    pub score: f64,
    /// How it was found, and at which place, counted from 1.
    pub places: Vec<(Way, usize)>,
}

/// Joins rankings. Each lists its things best first; of equals the smaller key comes first.
pub fn fuse<K: Clone + Eq + Hash + Ord>(rankings: &[(Way, Vec<K>)]) -> Vec<Fused<K>> {
    let mut found: HashMap<&K, Fused<K>> = HashMap::new();
    for (way, keys) in rankings {
        for (at, key) in keys.iter().enumerate() {
            let entry = found.entry(key).or_insert_with(|| Fused {
                key: key.clone(),
                score: 0.0,
                places: Vec::new(),
            });
            if entry.places.iter().all(|(known, _)| known != way) {
                entry.score += way.weight() / (EASE + at as f64 + 1.0);
                entry.places.push((*way, at + 1));
            }
        }
    }
    let mut fused: Vec<Fused<K>> = found.into_values().collect();
    fused.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.key.cmp(&b.key)));
    fused
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_several_ways_find_comes_first() {
        let fused =
            fuse(&[(Way::Text, vec!["a", "b"]), (Way::Graph, vec!["c", "b"]), (Way::Embedding, vec!["b"])]);
        let keys: Vec<&str> = fused.iter().map(|found| found.key).collect();
        assert_eq!(keys, ["b", "a", "c"]);
        let best = fused.first().expect("a best one");
        assert_eq!(best.places, [(Way::Text, 2), (Way::Graph, 2), (Way::Embedding, 1)]);
        assert!((best.score - (1.5 / 62.0 + 1.0 / 61.0)).abs() < 1e-12);
    }

    #[test]
    fn equals_come_by_key_and_a_thing_counts_once_in_a_ranking() {
        let fused = fuse(&[(Way::Text, vec!["b", "b"]), (Way::Embedding, vec!["a"])]);
        assert_eq!(fused.iter().map(|found| found.key).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(fused.first().map(|found| found.score), fused.last().map(|found| found.score));
        assert_eq!(fuse::<&str>(&[]), []);
    }
}
