//! Takes the patterns of a gene pool apart into words, aliases and expressions, for the index to look up.

use super::pattern::{LinearRegex, each_word};
use super::words::WordSet;
use std::collections::HashMap;

/// The patterns of a pool, taken apart.
#[derive(Default)]
pub(super) struct PatternParts {
    /// All words, one after another.
    text: String,
    words: Vec<PatternWord>,
    /// Expressions by their text, since each is costly.
    numbers: HashMap<String, u32>,
    /// Which gene has which alias or expression.
    pub owners: Vec<(u32, u32)>,
    pub expressions: Vec<Option<LinearRegex>>,
    /// The sets of words that each expression requires.
    required: Vec<(u32, Vec<Vec<String>>)>,
    /// How many expressions require each word.
    uses: HashMap<String, u32>,
    pub always: Vec<u32>,
}

struct PatternWord {
    start: usize,
    end: usize,
    of: WordOwner,
}

/// What a word belongs to: a gene's pattern that is just this word, or an alias or expression.
#[derive(Clone, Copy)]
enum WordOwner {
    Gene(u32),
    Pattern(u32),
}

impl PatternParts {
    /// Takes in one pattern of a gene.
    pub fn add(&mut self, gene: u32, text: String) {
        let next = self.expressions.len() as u32;
        let known = text.starts_with('/').then(|| self.numbers.get(&text));
        if let Some(Some(number)) = known {
            self.owners.push((*number, gene));
        } else if let Some((expression, required)) = LinearRegex::parse(&text) {
            for word in required.iter().flatten() {
                *self.uses.entry(word.clone()).or_default() += 1;
            }
            self.required.push((next, required));
            self.expressions.push(Some(expression));
            self.owners.push((next, gene));
            self.numbers.insert(text, next);
        } else if text.contains('|') {
            each_word(&text, |word| self.push(word, WordOwner::Pattern(next)));
            self.expressions.push(None);
            self.owners.push((next, gene));
        } else {
            each_word(&text, |word| self.push(word, WordOwner::Gene(gene)));
        }
    }

    fn push(&mut self, word: &str, of: WordOwner) {
        let start = self.text.len();
        self.text.push_str(word);
        let end = self.text.len();
        self.words.push(PatternWord { start, end, of });
    }

    /// Looks each expression up by the set of words that fewest others require, since it is the least likely to be
    /// found in vain.
    fn push_required(&mut self) {
        let uses = std::mem::take(&mut self.uses);
        let cost = |set: &Vec<String>| set.iter().filter_map(|word| uses.get(word)).sum::<u32>();
        for (number, sets) in std::mem::take(&mut self.required) {
            match sets.iter().min_by_key(|set| cost(set)) {
                Some(set) => set.iter().for_each(|word| self.push(word, WordOwner::Pattern(number))),
                None => self.always.push(number),
            }
        }
    }

    /// Numbers the distinct words, and lists the genes and the patterns of each.
    pub fn number_words(&mut self) -> (WordSet, NumberLists, NumberLists) {
        self.push_required();
        let mut sorted: Vec<(u128, &str, WordOwner)> = self
            .words
            .iter()
            .map(|word| {
                let text = &self.text[word.start..word.end];
                (opening(text), text, word.of)
            })
            .collect();
        sorted.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| a.1.cmp(b.1)));
        let (mut of_genes, mut of_patterns) = (Vec::new(), Vec::new());
        let mut distinct: Vec<&str> = Vec::new();
        for (_, text, of) in sorted {
            if distinct.last() != Some(&text) {
                distinct.push(text);
            }
            let number = distinct.len() as u32 - 1;
            match of {
                WordOwner::Gene(gene) => of_genes.push((number, gene)),
                WordOwner::Pattern(pattern) => of_patterns.push((number, pattern)),
            }
        }
        let genes = NumberLists::new(distinct.len(), &of_genes);
        let patterns = NumberLists::new(distinct.len(), &of_patterns);
        (WordSet::new(distinct.into_iter()), genes, patterns)
    }
}

/// The first sixteen bytes as a number that sorts as they do: most words differ there, so few are compared fully.
fn opening(word: &str) -> u128 {
    let mut bytes = [0; 16];
    let length = word.len().min(16);
    bytes[..length].copy_from_slice(&word.as_bytes()[..length]);
    u128::from_be_bytes(bytes)
}

/// Lists of numbers by number, in two arrays.
#[derive(Debug)]
pub(super) struct NumberLists {
    ends: Vec<u32>,
    items: Vec<u32>,
}

impl NumberLists {
    /// Lists the second of each pair under the first, which is below `count`.
    pub fn new(count: usize, pairs: &[(u32, u32)]) -> Self {
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

    /// The list of a number.
    pub fn get(&self, key: u32) -> &[u32] {
        let key = key as usize;
        let start = key.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        &self.items[start..self.ends[key] as usize]
    }
}
