//! Finding in the graph: the things that a question names.

#[cfg(test)]
pub(super) mod growth_tests;
mod related;

use super::property_terms::property_meanings;
use super::read::{by_names, count_all};
use super::{Entity, entities, entity_rows, index_sql};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::graph::kind;
use capsid_rules::meaning::terms::encode_term;
use capsid_rules::meaning::{MeaningTerms, SearchableText, SemanticQuestion, TermFrequencies, TextScorer};
pub use related::related;
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// How many terms of a question are looked up, and how many things for each.
const MAX_TERMS: usize = 32;
const PER_TERM: i64 = 500;
/// How many things are judged by their names.
const JUDGED: usize = 400;
/// How many names are made of a question's words, of how many words and phrases, and what may stand between
/// these.
const MAX_NAMES: usize = 48;
const MAX_SINGLE: usize = 8;
const JOINTS: [&str; 4] = [" ", "_", "-", ""];
/// How much what was told of a thing says, where its name says 1.
const PROPERTY: f64 = 0.5;
/// How many texts there are is counted up to here.
const COUNTED: i64 = 20_000;

/// A thing that a question names, with its score and the words that it answers.
pub type NameMatch = (Entity, f64, Vec<String>);

/// Things that a question names, best first. Of these kinds only, where any are given.
pub fn matching(
    tx: &mut dyn Tx,
    question: &SemanticQuestion,
    kinds: &[String],
    limit: usize,
) -> Result<Vec<NameMatch>> {
    NameMatches::load(tx, question)?.first(tx, kinds, limit)
}

/// All things that a question names, best first, whether they are to be seen or not.
#[derive(Debug, Default)]
pub struct NameMatches(Vec<NameMatch>);

impl NameMatches {
    /// Matches names once, for whatever kinds are asked for then.
    pub fn load(tx: &mut dyn Tx, question: &SemanticQuestion) -> Result<Self> {
        if question.is_empty() {
            return Ok(Self::default());
        }
        // However many others share its words, what is called exactly as asked is among those that are judged.
        let exact = exactly_named(tx, question)?;
        let exact = entities(tx, &exact)?;
        let candidates = Candidates::load(tx.index()?, question)?;
        let told = property_meanings(tx, &candidates.by_properties)?;
        let judge = NameJudge::new(question, &candidates.corpus);
        let mut matches: Vec<NameMatch> = Vec::new();
        let is_exact: HashSet<i64> = exact.iter().map(|thing| thing.id).collect();
        for (thing, terms) in candidates.best {
            if !is_exact.contains(&thing.id) {
                let answer = judge.score(&thing, &MeaningTerms::read(&terms), told.get(&thing.id), false);
                matches.extend(answer.map(|(score, words)| (thing, score, words)));
            }
        }
        for thing in exact {
            let name =
                MeaningTerms::parse(&SearchableText { title: &thing.name, ..SearchableText::default() });
            let answer = judge.score(&thing, &name, told.get(&thing.id), true);
            matches.extend(answer.map(|(score, words)| (thing, score, words)));
        }
        matches.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.id.cmp(&b.0.id)));
        Ok(Self(matches))
    }

    /// The first of some kinds, or of all where none is given, that are to be seen, with their names.
    pub fn first(&self, tx: &mut dyn Tx, kinds: &[String], limit: usize) -> Result<Vec<NameMatch>> {
        let is_wanted = |found: &&NameMatch| kinds.is_empty() || kinds.contains(&found.0.kind);
        let mut left = self.0.iter().filter(is_wanted).peekable();
        let mut shown = Vec::new();
        while shown.len() < limit && left.peek().is_some() {
            let some: Vec<&NameMatch> = left.by_ref().take(limit).collect();
            let ids: Vec<i64> = some.iter().map(|(thing, ..)| thing.id).collect();
            let mut named: HashMap<i64, Entity> =
                entities(tx, &ids)?.into_iter().map(|thing| (thing.id, thing)).collect();
            let is_shown =
                |(thing, score, words): &NameMatch| Some((named.remove(&thing.id)?, *score, words.clone()));
            shown.extend(some.into_iter().filter_map(is_shown));
        }
        shown.truncate(limit);
        Ok(shown)
    }
}

/// Judges things by their names and by what was told of them.
struct NameJudge<'q> {
    question: &'q SemanticQuestion,
    texts: TextScorer<'q>,
    /// How many words the question has.
    words: usize,
}

impl<'q> NameJudge<'q> {
    fn new(question: &'q SemanticQuestion, corpus: &TermFrequencies) -> Self {
        let words: HashSet<&str> = question.terms.iter().map(|term| term.word.as_str()).collect();
        Self { question, texts: TextScorer::new(question, corpus), words: words.len().max(1) }
    }

    /// How well a thing answers, and which words.
    fn score(
        &self,
        thing: &Entity,
        name: &MeaningTerms,
        told: Option<&MeaningTerms>,
        is_exact: bool,
    ) -> Option<(f64, Vec<String>)> {
        let by_name = self.texts.score(name).map(|answer| {
            let answered = answer.words.len() as f64 / self.words as f64;
            let bonus = if is_exact { 1.0 + answered } else { 1.0 };
            (answer.score * coverage(self.question, name) * fame(thing) * bonus, answer.words)
        });
        let by_property = told
            .and_then(|properties| self.texts.score(properties))
            .map(|answer| (answer.score * PROPERTY * fame(thing), answer.words));
        [by_name, by_property].into_iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0))
    }
}

/// What shares terms with a question.
struct Candidates {
    /// How often the terms occur.
    corpus: TermFrequencies,
    /// The things that share the most and the rarest terms, each with the terms of its name.
    best: Vec<(Entity, String)>,
    /// Those of them of which something was told that has some of the terms.
    by_properties: Vec<i64>,
}

impl Candidates {
    /// Reads at most 32 x 500 terms of names, as many of what was told, and 400 things.
    fn load(index: &mut dyn Tx, question: &SemanticQuestion) -> Result<Self> {
        let texts = count_all(index, false)?.min(COUNTED).unsigned_abs();
        let mut corpus = TermFrequencies { texts, ..TermFrequencies::default() };
        let mut points: HashMap<i64, f64> = HashMap::new();
        let mut by_properties: HashSet<i64> = HashSet::new();
        let mut having: HashMap<String, [Vec<i64>; 2]> = HashMap::new();
        for wanted in question.terms.iter().take(MAX_TERMS) {
            let term = encode_term(&wanted.term);
            if !having.contains_key(&term) {
                let named = index.query_all::<i64>(index_sql::HAVING, params![&term, PER_TERM])?;
                let told = index.query_all::<i64>(index_sql::HAVING_PROPERTIES, params![&term, PER_TERM])?;
                by_properties.extend(&told);
                having.insert(term.clone(), [named, told]);
            }
            let Some([named, told]) = having.get(&term) else { continue };
            let all: HashSet<i64> = named.iter().chain(told).copied().collect();
            if all.is_empty() {
                continue;
            }
            corpus.counts.insert(wanted.term.clone(), all.len() as u64);
            let rarity = 1.0 / (1.0 + all.len() as f64).ln().max(0.5);
            for (things, weight) in [(named, 1.0), (told, PROPERTY)] {
                for thing in things {
                    *points.entry(*thing).or_default() += wanted.weight * weight * rarity;
                }
            }
        }
        let mut best: Vec<(i64, f64)> = points.into_iter().collect();
        best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        best.truncate(JUDGED);
        let best: Vec<i64> = best.into_iter().map(|(number, _)| number).collect();
        let terms: HashMap<i64, Option<String>> =
            index.query_all(index_sql::TERMS, params![&json!(best).to_string()])?.into_iter().collect();
        let rows = entity_rows::by_numbers(index, &best)?;
        let told = rows.iter().filter(|(number, _)| by_properties.contains(number));
        let by_properties = told.map(|(_, thing)| thing.id).collect();
        let line = |number: i64| terms.get(&number).cloned().flatten().unwrap_or_default();
        let best = rows.into_iter().map(|(number, thing)| (thing, line(number))).collect();
        Ok(Self { corpus, best, by_properties })
    }
}

/// The things that are called as a question's words, as two or three of them together, or as all of them.
fn exactly_named(tx: &mut dyn Tx, question: &SemanticQuestion) -> Result<Vec<i64>> {
    let names = possible_names(question);
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut named = by_names(tx, &names)?;
    // One name may stand for things of many kinds; those of the hub come first.
    named.sort_by_key(|(_, kind, _)| !kind::ALL.contains(&kind.as_str()));
    Ok(named.into_iter().take(JUDGED).map(|(id, ..)| id).collect())
}

/// The names that a question may mean, the likeliest first. Of a question only its terms are left, the
/// weightiest first, so neighbours are joined both ways round.
fn possible_names(question: &SemanticQuestion) -> Vec<String> {
    let mut phrases: Vec<&str> = Vec::new();
    let mut words: Vec<&str> = Vec::new();
    for term in &question.terms {
        let list = if term.term.starts_with("m_") { &mut words } else { &mut phrases };
        if list.len() < MAX_SINGLE && !list.contains(&term.word.as_str()) {
            list.push(&term.word);
        }
    }
    let backwards: Vec<&str> = words.iter().rev().copied().collect();
    let mut groups: Vec<Vec<&str>> = vec![words.clone(), backwards.clone()];
    groups.extend(phrases.iter().map(|phrase| phrase.split(' ').collect()));
    groups.extend(words.iter().map(|word| vec![*word]));
    for length in [2, 3] {
        groups.extend(words.windows(length).chain(backwards.windows(length)).map(<[&str]>::to_vec));
    }
    let mut names: Vec<String> = Vec::new();
    for name in groups.iter().flat_map(|group| JOINTS.map(|joint| group.join(joint))) {
        if names.len() < MAX_NAMES && !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// A name that says nothing else answers better than one that says much else.
fn coverage(question: &SemanticQuestion, name: &MeaningTerms) -> f64 {
    let terms = name.terms();
    let covered =
        terms.iter().filter(|term| question.terms.iter().any(|wanted| wanted.term == **term)).count();
    0.5 + 0.5 * covered as f64 / terms.len().max(1) as f64
}

/// What is often named is a little more likely meant.
fn fame(thing: &Entity) -> f64 {
    1.0 + 0.05 * ((thing.mentions + thing.told).max(0) as f64).ln_1p()
}
