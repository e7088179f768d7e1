//! Counting things while remembering which was seen first.

use std::collections::HashMap;
use std::hash::Hash;

/// How often each thing was seen, in the order of first sight.
pub(super) struct SignalTally<K> {
    places: HashMap<K, usize>,
    counts: Vec<(K, usize)>,
}

impl<K: Clone + Eq + Hash> SignalTally<K> {
    /// Counts everything in `things`.
    pub(super) fn from_iter(things: impl IntoIterator<Item = K>) -> Self {
        let mut tally = Self { places: HashMap::new(), counts: Vec::new() };
        for thing in things {
            let place = *tally.places.entry(thing.clone()).or_insert_with(|| {
                tally.counts.push((thing, 0));
                tally.counts.len() - 1
            });
            tally.counts[place].1 += 1;
        }
        tally
    }

    /// The thing seen most often, the first one on ties.
    pub(super) fn top(self) -> Option<(K, usize)> {
        let most = self.counts.iter().map(|(_, count)| *count).max()?;
        self.counts.into_iter().find(|(_, count)| *count == most)
    }

    /// Everything with its count, in the order of first sight.
    pub(super) fn iter(&self) -> impl Iterator<Item = &(K, usize)> {
        self.counts.iter()
    }
}
