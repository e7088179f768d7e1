//! Finding in the graph: the things that a question names, and the assets that these lead to.

use super::property_terms::property_meanings;
use super::read::{by_names, find_visible};
use super::walk::neighbours;
use super::{Entity, PathStep, RelatedAsset, Relation, entities, index_sql};
use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::graph::{kind, link};
use capsid_rules::meaning::terms::encode_term;
use capsid_rules::meaning::{
    MeaningTerms, QueryTerm, SearchableText, SemanticQuestion, TermFrequencies, TextScorer,
};
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

/// Things that a question names, best first, each with its score and the words that it answers. Of these
/// kinds only, where any are given.
pub fn matching(
    tx: &mut dyn Tx,
    question: &SemanticQuestion,
    kinds: &[String],
    limit: usize,
) -> Result<Vec<(Entity, f64, Vec<String>)>> {
    if question.is_empty() || limit == 0 {
        return Ok(Vec::new());
    }
    let Candidates { corpus, mut best, by_properties } = candidates(tx, question)?;
    // However many others share its words, what is called exactly as asked is among those that are judged.
    let exact = exactly_named(tx, question)?;
    let judged: HashSet<i64> = best.iter().copied().collect();
    best.extend(exact.difference(&judged));
    let words: HashSet<&str> = question.terms.iter().map(|term| term.word.as_str()).collect();
    let judge = TextScorer::new(question, &corpus);
    let told = property_meanings(tx, &by_properties)?;
    let mut matches: Vec<(Entity, f64, Vec<String>)> = Vec::new();
    for thing in entities(tx, &best)? {
        if !kinds.is_empty() && !kinds.contains(&thing.kind) {
            continue;
        }
        let meaning =
            MeaningTerms::parse(&SearchableText { title: &thing.name, ..SearchableText::default() });
        let by_name = judge.score(&meaning).map(|answer| {
            let answered = answer.words.len() as f64 / words.len().max(1) as f64;
            let bonus = if exact.contains(&thing.id) { 1.0 + answered } else { 1.0 };
            (answer.score * coverage(question, &meaning) * fame(&thing) * bonus, answer.words)
        });
        let by_property = told
            .get(&thing.id)
            .and_then(|properties| judge.score(properties))
            .map(|answer| (answer.score * PROPERTY * fame(&thing), answer.words));
        let best = [by_name, by_property].into_iter().flatten().max_by(|a, b| a.0.total_cmp(&b.0));
        matches.extend(best.map(|(score, words)| (thing, score, words)));
    }
    matches.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.id.cmp(&b.0.id)));
    matches.truncate(limit);
    Ok(matches)
}

/// What shares terms with a question.
struct Candidates {
    /// How often the terms occur.
    corpus: TermFrequencies,
    /// The things that share the most and the rarest terms.
    best: Vec<i64>,
    /// Those of them of which something was told that has some of the terms.
    by_properties: Vec<i64>,
}

fn candidates(tx: &mut dyn Tx, question: &SemanticQuestion) -> Result<Candidates> {
    let wanted: Vec<(String, &QueryTerm)> =
        question.terms.iter().take(MAX_TERMS).map(|wanted| (encode_term(&wanted.term), wanted)).collect();
    let terms: HashSet<&str> = wanted.iter().map(|(term, _)| term.as_str()).collect();
    let mut terms: Vec<&str> = terms.into_iter().collect();
    terms.sort_unstable();
    let mut having: HashMap<String, Vec<i64>> = HashMap::new();
    let terms = json!(terms).to_string();
    let index = tx.index()?;
    for (term, thing) in index.query_all::<(String, i64)>(index_sql::HAVING, params![&terms, PER_TERM])? {
        having.entry(term).or_default().push(thing);
    }
    let mut by_properties: HashMap<String, Vec<i64>> = HashMap::new();
    for (term, thing) in
        index.query_all::<(String, i64)>(index_sql::HAVING_PROPERTIES, params![&terms, PER_TERM])?
    {
        by_properties.entry(term).or_default().push(thing);
    }
    let texts = index
        .count("SELECT COUNT(*) FROM (SELECT 1 FROM entities LIMIT $1) c", params![COUNTED])?
        .unsigned_abs();
    let mut corpus = TermFrequencies { texts, ..TermFrequencies::default() };
    let mut points: HashMap<i64, f64> = HashMap::new();
    for (term, wanted) in &wanted {
        let [named, told] =
            [having.get(term), by_properties.get(term)].map(|things| things.map_or(&[][..], Vec::as_slice));
        if named.is_empty() && told.is_empty() {
            continue;
        }
        let all: HashSet<i64> = named.iter().chain(told).copied().collect();
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
    let best: Vec<i64> = best.into_iter().map(|(id, _)| id).collect();
    let told: HashSet<i64> = by_properties.into_values().flatten().collect();
    let by_properties = best.iter().copied().filter(|id| told.contains(id)).collect();
    Ok(Candidates { corpus, best, by_properties })
}

/// The things that are called as a question's words, as two or three of them together, or as all of them.
fn exactly_named(tx: &mut dyn Tx, question: &SemanticQuestion) -> Result<HashSet<i64>> {
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

/// From how many things assets are looked for, from how many more at the second step, and how far each
/// reaches.
const STARTS: usize = 16;
const ONWARD: usize = 48;
const FAN_OUT: usize = 32;
/// Among how many signals those are looked for that stand together with one the most often.
const COMPANY: usize = 200;
/// What of a thing's strength is left at the second step.
const FADING: f64 = 0.6;

/// What of the hub's own word somebody else's counts.
const TOLD: f64 = 0.5;

/// How strongly a relation leads on: to what solves something more than to what merely stands beside it, and
/// by the hub's own word more than by what it was told.
fn weight(relation: &Relation) -> f64 {
    let of_kind = match relation.kind.as_str() {
        link::SOLVED_BY => 1.0,
        link::TRIGGERS => 0.8,
        link::DERIVED_FROM | link::ASKS_ABOUT => 0.6,
        link::CO_OCCURS => 0.4,
        link::RECORDED_IN => 0.3,
        known if link::ALL.contains(&known) => 0.0,
        _ => 1.0,
    };
    if relation.is_told { TOLD * of_kind } else { of_kind }
}

/// Among how much a thing's strength is shared. What is told of it takes nothing from what the hub says.
fn width(thing: &Entity, relation: &Relation) -> f64 {
    let ingested = if relation.is_told { thing.told } else { 0 };
    (2.0 + (thing.mentions + ingested).max(0) as f64).log2()
}

/// The relations that lead on from some things, in the order of their numbers. Of signals that stand
/// together, those that do so the most often.
fn follow_relations(tx: &mut dyn Tx, ids: &[i64]) -> Result<Vec<Relation>> {
    let kinds = [link::SOLVED_BY, link::TRIGGERS, link::DERIVED_FROM, link::ASKS_ABOUT, link::RECORDED_IN];
    let lanes: Vec<i64> = kinds.iter().map(|kind| link::lane(kind)).chain([link::OTHER_LANE]).collect();
    let mut leading = neighbours(tx, ids, &lanes, FAN_OUT)?;
    let mut together = neighbours(tx, ids, &[link::lane(link::CO_OCCURS)], COMPANY)?;
    together.sort_by_key(|relation| std::cmp::Reverse(relation.claims));
    let mut taken: HashMap<i64, usize> = HashMap::new();
    together.retain(|relation| {
        let mut is_strong = |id: i64| {
            let taken = taken.entry(id).or_default();
            *taken += 1;
            *taken <= FAN_OUT && ids.binary_search(&id).is_ok()
        };
        let (one, other) = (is_strong(relation.source), is_strong(relation.target));
        one || other
    });
    leading.extend(together);
    Ok(leading)
}

/// How strongly something is meant, and by which way from what the question names.
#[derive(Clone)]
struct NameMatch {
    strength: f64,
    path: Vec<(i64, Relation, i64)>,
}

/// Assets that the graph leads to from what a question names, best first. The graph itself tells what lies
/// near, so the question is taken to the letter.
pub fn related(tx: &mut dyn Tx, question: &SemanticQuestion, limit: usize) -> Result<Vec<RelatedAsset>> {
    let starts = matching(tx, &question.exact_terms(), &[], STARTS)?;
    let mut known: HashMap<i64, Entity> = HashMap::new();
    let mut meant: HashMap<i64, NameMatch> = HashMap::new();
    for (thing, score, _) in starts {
        meant.insert(thing.id, NameMatch { strength: score, path: Vec::new() });
        known.insert(thing.id, thing);
    }
    let first: Vec<i64> = meant.keys().copied().collect();
    expand_matches(tx, &first, 1.0, &mut meant, &mut known)?;
    let mut onward: Vec<(i64, f64)> =
        meant.iter().filter(|(id, _)| !first.contains(id)).map(|(id, meant)| (*id, meant.strength)).collect();
    onward.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    onward.truncate(ONWARD);
    let onward: Vec<i64> = onward.into_iter().map(|(id, _)| id).collect();
    expand_matches(tx, &onward, FADING, &mut meant, &mut known)?;
    Ok(assets(&meant, &known, limit))
}

/// Lets things lead on by one step. A thing that hangs together with much leads to each of it more weakly; of
/// several ways to something the strongest counts.
fn expand_matches(
    tx: &mut dyn Tx,
    from: &[i64],
    left: f64,
    meant: &mut HashMap<i64, NameMatch>,
    known: &mut HashMap<i64, Entity>,
) -> Result<()> {
    let mut sorted = from.to_vec();
    sorted.sort_unstable();
    let relations = follow_relations(tx, &sorted)?;
    let met: HashSet<i64> =
        relations.iter().flat_map(|r| [r.source, r.target]).filter(|id| !known.contains_key(id)).collect();
    known.extend(find_visible(tx, &met)?);
    let before = meant.clone();
    for relation in &relations {
        for start in [relation.source, relation.target] {
            let to = relation.other(start);
            let (Some(source), Some(thing)) = (before.get(&start), known.get(&start)) else { continue };
            if !known.contains_key(&to) || sorted.binary_search(&start).is_err() {
                continue;
            }
            let often = 1.0 + 0.1 * (relation.claims.max(1) as f64).ln();
            let shared = width(thing, relation).sqrt();
            let strength = source.strength * left * relation.confidence * weight(relation) * often / shared;
            if strength > 0.0 && meant.get(&to).is_none_or(|known| strength > known.strength) {
                let mut path = source.path.clone();
                path.push((start, relation.clone(), to));
                meant.insert(to, NameMatch { strength, path });
            }
        }
    }
    Ok(())
}

/// The assets among what is meant.
fn assets(meant: &HashMap<i64, NameMatch>, known: &HashMap<i64, Entity>, limit: usize) -> Vec<RelatedAsset> {
    let asset = |(id, meant): (&i64, &NameMatch)| {
        let thing = known.get(id).filter(|thing| kind::is_asset(&thing.kind))?;
        let hop = |(from, relation, to): &(i64, Relation, i64)| {
            let (from, to) = (known.get(from)?.clone(), known.get(to)?.clone());
            Some(PathStep { from, relation: relation.clone(), to })
        };
        Some(RelatedAsset {
            asset_id: AssetId::parse(&thing.key)?,
            score: meant.strength,
            path: meant.path.iter().map(hop).collect::<Option<_>>()?,
        })
    };
    let mut related: Vec<RelatedAsset> = meant.iter().filter_map(asset).collect();
    related.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.asset_id.cmp(&b.asset_id)));
    related.truncate(limit);
    related
}
