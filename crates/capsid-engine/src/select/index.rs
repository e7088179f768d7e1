//! The index of a gene pool: the plain algorithm's results, in time that follows the signals and the matches.

use super::pattern::{Expression, Signals, words};
use super::required::{LONG_S, required_words};
use super::score::{GeneCard, Influence, KEPT, Scored, mark_boost, score};
use super::words::Words;
use std::cmp::Ordering;
use std::collections::HashMap;

/// A gene pool, ready for many selections.
#[derive(Debug)]
pub struct GeneIndex {
    cards: Vec<GeneCard>,
    /// Places in `cards`, sorted by gene id.
    by_id: Vec<u32>,
    words: Words,
    /// The distinct patterns that each word belongs to.
    patterns_of: Lists,
    /// The genes that have each distinct pattern, as often as they have it.
    owners_of: Lists,
    /// For each distinct pattern, its expression if it is one: then a word only says that it may hit.
    expressions: Vec<Option<Expression>>,
    /// Expressions that no word can rule out.
    always: Vec<u32>,
}

impl GeneIndex {
    /// Builds the index of genes in file order. The cards' patterns are taken in and not kept as text.
    pub fn build(mut cards: Vec<GeneCard>) -> Self {
        let texts: Vec<Vec<String>> = cards
            .iter_mut()
            .map(|card| std::mem::take(&mut card.patterns))
            .collect();
        let mut numbers: HashMap<&str, u32> = HashMap::new();
        let mut distinct: Vec<&str> = Vec::new();
        let mut owners = Vec::new();
        for (gene, patterns) in (0..).zip(&texts) {
            for text in patterns {
                let number = *numbers.entry(text).or_insert_with(|| {
                    distinct.push(text);
                    distinct.len() as u32 - 1
                });
                owners.push((number, gene));
            }
        }
        let mut by_id: Vec<u32> = (0..cards.len() as u32).collect();
        by_id.sort_by(|a, b| cards[*a as usize].id.cmp(&cards[*b as usize].id));

        let mut parsed = Parsed::default();
        for (number, text) in (0..).zip(&distinct) {
            parsed.add(number, text);
        }
        let (words, patterns_of) = parsed.number_words();
        Self {
            owners_of: Lists::new(distinct.len(), &owners),
            expressions: parsed.expressions,
            always: parsed.always,
            cards,
            by_id,
            words,
            patterns_of,
        }
    }

    /// How many genes it holds.
    pub fn len(&self) -> usize {
        self.cards.len()
    }

    /// Whether it holds no gene.
    pub fn is_empty(&self) -> bool {
        self.cards.is_empty()
    }

    /// The genes that hit, best first; the same as the plain algorithm gives.
    pub fn rank(&self, signals: &Signals<'_>, influence: Influence<'_>) -> Vec<Scored> {
        let counts = self.counts(signals);
        let special = self.special(influence);
        let candidates = counts.touched.iter().map(|gene| {
            let place = *gene as usize;
            let (card, hits) = (&self.cards[place], counts.of[place]);
            let (memory, banned) = if special[place] {
                let banned = influence.banned.contains(card.id.as_str());
                (influence.advice.boost(&card.id), banned)
            } else {
                (0.0, false)
            };
            let epigenetic = mark_boost(&card.marks, influence.env_context);
            let score = score(&card.id, hits, memory, epigenetic);
            Candidate {
                score,
                order: *gene,
                banned,
            }
        });
        let mut best: Vec<Candidate> = candidates.filter(|c| c.score > 0.0).collect();
        if best.len() > KEPT {
            best.select_nth_unstable_by(KEPT, Candidate::keep_first);
            best.truncate(KEPT);
        }
        let mut scored: Vec<Scored> = best
            .iter()
            .map(|candidate| {
                let place = candidate.order as usize;
                Scored::new(
                    &self.cards[place],
                    candidate.order,
                    counts.of[place],
                    influence,
                )
            })
            .collect();
        scored.sort_by(Scored::best_first);
        scored
    }

    /// How many patterns of each gene hit.
    fn counts(&self, signals: &Signals<'_>) -> Counts {
        let mut counts = Counts {
            of: vec![0; self.cards.len()],
            touched: Vec::new(),
        };
        for pattern in self.hitting_patterns(signals) {
            for gene in self.owners_of.get(pattern) {
                let count = &mut counts.of[*gene as usize];
                if *count == 0 {
                    counts.touched.push(*gene);
                }
                *count += 1;
            }
        }
        counts
    }

    /// The distinct patterns that hit, each once.
    fn hitting_patterns(&self, signals: &Signals<'_>) -> Vec<u32> {
        let mut found = Vec::new();
        for signal in &signals.lower {
            self.words.find(signal, |word| found.push(word));
        }
        sort_distinct(&mut found);
        let mut patterns: Vec<u32> = found
            .iter()
            .flat_map(|word| self.patterns_of.get(*word))
            .copied()
            .collect();
        if signals.raw.iter().any(|signal| signal.contains(LONG_S)) {
            let expressions = (0..).zip(&self.expressions).filter(|(_, e)| e.is_some());
            patterns.extend(expressions.map(|(number, _)| number));
        } else {
            patterns.extend(&self.always);
        }
        sort_distinct(&mut patterns);
        patterns.retain(|number| match &self.expressions[*number as usize] {
            Some(expression) => expression.hits(signals),
            None => true,
        });
        patterns
    }

    /// Which genes memory or a ban says something of.
    fn special(&self, influence: Influence<'_>) -> Vec<bool> {
        let mut special = vec![false; self.cards.len()];
        let advised = influence.advice.genes.keys().map(String::as_str);
        for id in advised.chain(influence.banned.iter().copied()) {
            let id_at = |place: &u32| self.cards[*place as usize].id.as_str();
            let start = self.by_id.partition_point(|place| id_at(place) < id);
            let same = self.by_id[start..]
                .iter()
                .take_while(|place| id_at(place) == id);
            same.for_each(|place| special[*place as usize] = true);
        }
        special
    }
}

struct Counts {
    of: Vec<u32>,
    touched: Vec<u32>,
}

struct Candidate {
    score: f64,
    order: u32,
    banned: bool,
}

impl Candidate {
    fn keep_first(&self, other: &Self) -> Ordering {
        self.banned
            .cmp(&other.banned)
            .then(other.score.total_cmp(&self.score))
            .then(self.order.cmp(&other.order))
    }
}

fn sort_distinct(numbers: &mut Vec<u32>) {
    numbers.sort_unstable();
    numbers.dedup();
}

/// The distinct patterns, taken apart.
#[derive(Default)]
struct Parsed {
    words: Vec<(String, u32)>,
    expressions: Vec<Option<Expression>>,
    always: Vec<u32>,
}

impl Parsed {
    fn add(&mut self, number: u32, text: &str) {
        let Some((expression, hir)) = Expression::parse(text) else {
            let words = words(text).into_iter().map(|word| (word, number));
            self.words.extend(words);
            self.expressions.push(None);
            return;
        };
        match required_words(&hir) {
            Some(required) => self
                .words
                .extend(required.into_iter().map(|word| (word, number))),
            None => self.always.push(number),
        }
        self.expressions.push(Some(expression));
    }

    /// Numbers the distinct words, and lists the patterns of each.
    fn number_words(&mut self) -> (Words, Lists) {
        let mut words = std::mem::take(&mut self.words);
        words.sort_unstable();
        let mut pairs = Vec::with_capacity(words.len());
        let mut distinct: Vec<&str> = Vec::new();
        for (word, pattern) in &words {
            if distinct.last() != Some(&word.as_str()) {
                distinct.push(word);
            }
            pairs.push((distinct.len() as u32 - 1, *pattern));
        }
        let lists = Lists::new(distinct.len(), &pairs);
        (Words::new(distinct.into_iter()), lists)
    }
}

/// Lists of numbers by number, in two arrays.
#[derive(Debug)]
struct Lists {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl Lists {
    fn new(count: usize, pairs: &[(u32, u32)]) -> Self {
        let mut ends = vec![0_u32; count + 1];
        for (key, _) in pairs {
            ends[*key as usize + 1] += 1;
        }
        for at in 1..ends.len() {
            ends[at] += ends[at - 1];
        }
        // Each list's end starts at its beginning and moves as the list fills.
        ends.pop();
        let mut items = vec![0; pairs.len()];
        for (key, item) in pairs {
            let end = &mut ends[*key as usize];
            items[*end as usize] = *item;
            *end += 1;
        }
        Self { ends, items }
    }

    fn get(&self, key: u32) -> &[u32] {
        let key = key as usize;
        let start = key
            .checked_sub(1)
            .map_or(0, |before| self.ends[before] as usize);
        &self.items[start..self.ends[key] as usize]
    }
}
