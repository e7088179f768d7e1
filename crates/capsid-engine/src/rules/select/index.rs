//! The index of a gene pool: the plain algorithm's results, in time that follows the signals and the matches.

use super::parts::{NumberLists, PatternParts};
use super::pattern::{LinearRegex, SignalSet};
use super::required::LONG_S;
use super::score::{GeneCard, GeneInfluence, KEPT, ScoredGene, is_builtin, mark_boost, score};
use super::words::WordSet;
use std::cmp::Ordering;

/// A gene pool, ready for many selections.
#[derive(Debug)]
pub struct GeneIndex {
    /// Without their patterns, which the other fields hold.
    cards: Vec<GeneCard>,
    /// A short hash of each gene's id.
    tags: Vec<u16>,
    words: WordSet,
    /// The genes that have each word as a pattern, as often as they have it.
    owners_of_word: NumberLists,
    /// The aliases and expressions that each word belongs to.
    patterns_of_word: NumberLists,
    /// The genes that have each alias or expression.
    owners_of_pattern: NumberLists,
    /// For each alias nothing; for each expression itself, since a word only shows that it may match.
    expressions: Vec<Option<LinearRegex>>,
    /// Expressions that no word can rule out.
    always: Vec<u32>,
}

impl GeneIndex {
    /// Builds the index of genes in file order.
    pub fn build(mut cards: Vec<GeneCard>) -> Self {
        let mut parts = PatternParts::default();
        for (gene, card) in (0..).zip(&mut cards) {
            for text in std::mem::take(&mut card.patterns) {
                parts.add(gene, text);
            }
        }
        let (words, owners_of_word, patterns_of_word) = parts.number_words();
        Self {
            tags: cards.iter().map(|card| tag(&card.id)).collect(),
            owners_of_pattern: NumberLists::new(parts.expressions.len(), &parts.owners),
            expressions: parts.expressions,
            always: parts.always,
            cards,
            words,
            owners_of_word,
            patterns_of_word,
        }
    }

    /// How many genes it holds.
    pub fn len(&self) -> usize {
        self.cards.len()
    }

    /// Their ids, in file order.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.cards.iter().map(|card| card.id.as_str())
    }

    /// Whether it holds no gene.
    pub fn is_empty(&self) -> bool {
        self.cards.is_empty()
    }

    /// The genes that hit, best first; the same as the plain algorithm gives.
    pub fn rank(&self, signals: &SignalSet<'_>, influence: GeneInfluence<'_>) -> Vec<ScoredGene> {
        let counts = self.counts(signals);
        let special = special_tags(influence);
        let candidates = counts.touched.iter().map(|gene| {
            let index = *gene as usize;
            let (card, hits) = (&self.cards[index], counts.of[index]);
            let (memory, banned) = if special[usize::from(self.tags[index])] {
                let banned = influence.banned.contains(card.id.as_str());
                (influence.advice.boost(&card.id), banned)
            } else {
                (0.0, false)
            };
            let epigenetic = mark_boost(&card.marks, influence.env_context);
            let score = score(&card.id, hits, memory, epigenetic);
            GeneCandidate { score, order: *gene, banned, builtin: is_builtin(&card.id) }
        });
        let mut best: Vec<GeneCandidate> = candidates.filter(|c| c.score > 0.0).collect();
        if best.len() > KEPT {
            best.select_nth_unstable_by(KEPT, GeneCandidate::retain_first);
            best.truncate(KEPT);
        }
        let mut scored: Vec<ScoredGene> = best
            .iter()
            .map(|candidate| {
                let index = candidate.order as usize;
                ScoredGene::new(&self.cards[index], candidate.order, counts.of[index], influence)
            })
            .collect();
        scored.sort_by(ScoredGene::best_first);
        scored
    }

    /// How many patterns of each gene hit.
    fn counts(&self, signals: &SignalSet<'_>) -> MatchCounts {
        let mut words = Vec::new();
        for signal in &signals.lower {
            self.words.find(signal, |word| words.push(word));
        }
        sort_distinct(&mut words);
        let mut counts = MatchCounts { of: vec![0; self.cards.len()], touched: Vec::new() };
        for word in &words {
            counts.add(self.owners_of_word.get(*word));
        }
        for pattern in self.hitting_patterns(&words, signals) {
            counts.add(self.owners_of_pattern.get(pattern));
        }
        counts
    }

    /// The aliases and expressions that hit, each once.
    fn hitting_patterns(&self, words: &[u32], signals: &SignalSet<'_>) -> Vec<u32> {
        let of_words = words.iter().flat_map(|word| self.patterns_of_word.get(*word));
        let mut patterns: Vec<u32> = of_words.chain(&self.always).copied().collect();
        if signals.raw.iter().any(|signal| signal.contains(LONG_S)) {
            patterns.extend(
                (0..)
                    .zip(&self.expressions)
                    .filter(|(_, expression)| expression.is_some())
                    .map(|(number, _)| number),
            );
        }
        sort_distinct(&mut patterns);
        patterns.retain(|number| match &self.expressions[*number as usize] {
            Some(expression) => expression.hits(signals),
            None => true,
        });
        patterns
    }
}

/// The tags of genes that memory or a ban affects.
fn special_tags(influence: GeneInfluence<'_>) -> Vec<bool> {
    let mut special = vec![false; 1 << 16];
    let advised = influence.advice.genes.keys().map(String::as_str);
    for id in advised.chain(influence.banned.iter().copied()) {
        special[usize::from(tag(id))] = true;
    }
    special
}

fn tag(id: &str) -> u16 {
    let hash =
        id.bytes().fold(0_u64, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x9E37_79B9_7F4A_7C15));
    (hash >> 48) as u16
}

struct MatchCounts {
    of: Vec<u32>,
    touched: Vec<u32>,
}

impl MatchCounts {
    fn add(&mut self, genes: &[u32]) {
        for gene in genes {
            let count = &mut self.of[*gene as usize];
            if *count == 0 {
                self.touched.push(*gene);
            }
            *count += 1;
        }
    }
}

struct GeneCandidate {
    score: f64,
    order: u32,
    banned: bool,
    builtin: bool,
}

impl GeneCandidate {
    fn retain_first(&self, other: &Self) -> Ordering {
        self.banned
            .cmp(&other.banned)
            .then(other.score.total_cmp(&self.score))
            .then(self.builtin.cmp(&other.builtin))
            .then(self.order.cmp(&other.order))
    }
}

fn sort_distinct(numbers: &mut Vec<u32>) {
    numbers.sort_unstable();
    numbers.dedup();
}
