//! Finding in the graph: the things that a question names, and the assets that these lead to.

use super::reading::seen;
use super::walking::beside;
use super::{Entity, Hop, Related, Relation, entities, texts};
use crate::id::AssetId;
use crate::tx::Tx;
use crate::{params, search};
use capsid_model::problem::Result;
use capsid_rules::graph::{kind, link};
use capsid_rules::meaning::{Asked, Corpus, Judge, Meaning, Question, Text};
use serde_json::json;
use std::collections::{HashMap, HashSet};

/// How many terms of a question are looked up, and how many things for each.
const MOST_TERMS: usize = 32;
const PER_TERM: i64 = 500;
/// How many things are judged by their names.
const JUDGED: usize = 400;
/// How many texts there are is counted up to here.
const COUNTED: i64 = 20_000;

/// Things that a question names, best first, each with its score and the words that it answers. Of these kinds only,
/// where any are given.
pub fn matching(
    tx: &mut dyn Tx,
    question: &Question,
    kinds: &[String],
    limit: usize,
) -> Result<Vec<(Entity, f64, Vec<String>)>> {
    if question.is_empty() || limit == 0 {
        return Ok(Vec::new());
    }
    let (corpus, best) = candidates(tx, question)?;
    let judge = Judge::new(question, &corpus);
    let mut found: Vec<(Entity, f64, Vec<String>)> = Vec::new();
    for thing in entities(tx, &best)? {
        if !kinds.is_empty() && !kinds.contains(&thing.kind) {
            continue;
        }
        let meaning = Meaning::of(&Text { title: &thing.name, ..Text::default() });
        if let Some(answer) = judge.judge(&meaning) {
            let score = answer.score * coverage(question, &meaning) * fame(&thing);
            found.push((thing, score, answer.words));
        }
    }
    found.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.id.cmp(&b.0.id)));
    found.truncate(limit);
    Ok(found)
}

/// The things that share the most and the rarest terms with a question, and how often these occur.
fn candidates(tx: &mut dyn Tx, question: &Question) -> Result<(Corpus, Vec<i64>)> {
    let asked: Vec<(String, &Asked)> =
        question.terms.iter().take(MOST_TERMS).map(|asked| (search::encoded(&asked.term), asked)).collect();
    let terms: HashSet<&str> = asked.iter().map(|(term, _)| term.as_str()).collect();
    let mut terms: Vec<&str> = terms.into_iter().collect();
    terms.sort_unstable();
    let mut having: HashMap<String, Vec<i64>> = HashMap::new();
    let sql = texts(tx).having;
    tx.each(sql, params![&json!(terms).to_string(), PER_TERM], &mut |row| {
        having.entry(row.string(0)?).or_default().push(row.int(1)?);
        Ok(())
    })?;
    let texts = tx
        .number("SELECT COUNT(*) FROM (SELECT 1 FROM graph_entities LIMIT $1) c", params![COUNTED])?
        .unsigned_abs();
    let mut corpus = Corpus { texts, ..Corpus::default() };
    let mut points: HashMap<i64, f64> = HashMap::new();
    for (term, asked) in &asked {
        let Some(things) = having.get(term) else { continue };
        corpus.counts.insert(asked.term.clone(), things.len() as u64);
        for thing in things {
            *points.entry(*thing).or_default() += asked.weight / (1.0 + things.len() as f64).ln().max(0.5);
        }
    }
    let mut best: Vec<(i64, f64)> = points.into_iter().collect();
    best.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    best.truncate(JUDGED);
    Ok((corpus, best.into_iter().map(|(id, _)| id).collect()))
}

/// A name that says nothing else answers better than one that says much else.
fn coverage(question: &Question, name: &Meaning) -> f64 {
    let terms = name.terms();
    let asked = terms.iter().filter(|term| question.terms.iter().any(|asked| asked.term == **term)).count();
    0.5 + 0.5 * asked as f64 / terms.len().max(1) as f64
}

/// What is often named is a little more likely meant.
fn fame(thing: &Entity) -> f64 {
    1.0 + 0.05 * ((thing.mentions + thing.told).max(0) as f64).ln_1p()
}

/// From how many things assets are looked for, from how many more at the second step, and how far each reaches.
const STARTS: usize = 16;
const ONWARD: usize = 48;
const FAN_OUT: usize = 32;
/// Among how many signals those are looked for that stand together with one the most often.
const COMPANY: usize = 200;
/// What of a thing's strength is left at the second step.
const FADING: f64 = 0.6;

/// How strongly a relation leads on: to what solves something more than to what merely stands beside it.
fn weight(relation: &Relation) -> f64 {
    match relation.kind.as_str() {
        link::SOLVED_BY => 1.0,
        link::TRIGGERS => 0.8,
        link::DERIVED_FROM | link::ASKS_ABOUT => 0.6,
        link::CO_OCCURS => 0.4,
        link::RECORDED_IN => 0.3,
        _ if relation.is_told => 0.5,
        _ => 0.0,
    }
}

/// The relations that lead on from some things, in the order of their numbers. Of signals that stand together, those that do so the most often.
fn leading(tx: &mut dyn Tx, ids: &[i64]) -> Result<Vec<Relation>> {
    let kinds = [link::SOLVED_BY, link::TRIGGERS, link::DERIVED_FROM, link::ASKS_ABOUT, link::RECORDED_IN];
    let lanes: Vec<i64> = kinds.iter().map(|kind| link::lane(kind)).chain([link::OTHER_LANE]).collect();
    let mut leading = beside(tx, ids, &lanes, FAN_OUT)?;
    let mut together = beside(tx, ids, &[link::lane(link::CO_OCCURS)], COMPANY)?;
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
struct Meant {
    strength: f64,
    path: Vec<(i64, Relation, i64)>,
}

/// Assets that the graph leads to from what a question names, best first.
pub fn related(tx: &mut dyn Tx, question: &Question, limit: usize) -> Result<Vec<Related>> {
    let starts = matching(tx, question, &[], STARTS)?;
    let Some(best) = starts.first().map(|(_, score, _)| *score).filter(|best| *best > 0.0) else {
        return Ok(Vec::new());
    };
    let mut known: HashMap<i64, Entity> = HashMap::new();
    let mut meant: HashMap<i64, Meant> = HashMap::new();
    for (thing, score, _) in starts {
        meant.insert(thing.id, Meant { strength: score / best, path: Vec::new() });
        known.insert(thing.id, thing);
    }
    let first: Vec<i64> = meant.keys().copied().collect();
    spread(tx, &first, 1.0, &mut meant, &mut known)?;
    let mut onward: Vec<(i64, f64)> =
        meant.iter().filter(|(id, _)| !first.contains(id)).map(|(id, meant)| (*id, meant.strength)).collect();
    onward.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
    onward.truncate(ONWARD);
    let onward: Vec<i64> = onward.into_iter().map(|(id, _)| id).collect();
    spread(tx, &onward, FADING, &mut meant, &mut known)?;
    Ok(assets(&meant, &known, limit))
}

/// Lets things lead on by one step. A thing that hangs together with much leads to each of it more weakly; of several
/// ways to something the strongest counts.
fn spread(
    tx: &mut dyn Tx,
    from: &[i64],
    left: f64,
    meant: &mut HashMap<i64, Meant>,
    known: &mut HashMap<i64, Entity>,
) -> Result<()> {
    let mut sorted = from.to_vec();
    sorted.sort_unstable();
    let relations = leading(tx, &sorted)?;
    let met: HashSet<i64> =
        relations.iter().flat_map(|r| [r.source, r.target]).filter(|id| !known.contains_key(id)).collect();
    known.extend(seen(tx, &met)?);
    let before = meant.clone();
    for relation in &relations {
        for start in [relation.source, relation.target] {
            let to = relation.other(start);
            let (Some(source), Some(thing)) = (before.get(&start), known.get(&start)) else { continue };
            if !known.contains_key(&to) || sorted.binary_search(&start).is_err() {
                continue;
            }
            let width = (2.0 + (thing.mentions + thing.told).max(0) as f64).log2();
            let often = 1.0 + 0.1 * (relation.claims.max(1) as f64).ln();
            let strength =
                source.strength * left * relation.confidence * weight(relation) * often / width.sqrt();
            if strength > 0.0 && meant.get(&to).is_none_or(|known| strength > known.strength) {
                let mut path = source.path.clone();
                path.push((start, relation.clone(), to));
                meant.insert(to, Meant { strength, path });
            }
        }
    }
    Ok(())
}

/// The assets among what is meant.
fn assets(meant: &HashMap<i64, Meant>, known: &HashMap<i64, Entity>, limit: usize) -> Vec<Related> {
    let asset = |(id, meant): (&i64, &Meant)| {
        let thing = known.get(id).filter(|thing| kind::is_asset(&thing.kind))?;
        let hop = |(from, relation, to): &(i64, Relation, i64)| {
            let (from, to) = (known.get(from)?.clone(), known.get(to)?.clone());
            Some(Hop { from, relation: relation.clone(), to })
        };
        Some(Related {
            asset_id: AssetId::parse(&thing.key)?,
            score: meant.strength,
            path: meant.path.iter().map(hop).collect::<Option<_>>()?,
        })
    };
    let mut found: Vec<Related> = meant.iter().filter_map(asset).collect();
    found.sort_by(|a, b| b.score.total_cmp(&a.score).then_with(|| a.asset_id.cmp(&b.asset_id)));
    found.truncate(limit);
    found
}
