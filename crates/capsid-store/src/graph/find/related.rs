//! The assets that a question leads to along the graph.

use super::matching;
use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::graph::edges::{EdgeSelection, Neighbourhood, neighbourhood};
use crate::graph::read::retain_visible;
use crate::graph::{Entity, PathStep, RelatedAsset, Relation, entities};
use capsid_model::problem::Result;
use capsid_rules::graph::{kind, link};
use capsid_rules::meaning::SemanticQuestion;
use std::collections::{HashMap, HashSet};

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

/// The relations that lead on from some things. Of signals that stand together, those that do so the most often.
fn follow_relations(index: &mut dyn Tx, ids: &[i64]) -> Result<Neighbourhood> {
    let kinds = [link::SOLVED_BY, link::TRIGGERS, link::DERIVED_FROM, link::ASKS_ABOUT, link::RECORDED_IN];
    let lanes: Vec<i64> = kinds.iter().map(|kind| link::lane(kind)).chain([link::OTHER_LANE]).collect();
    let mut leading = neighbourhood(index, ids, EdgeSelection::new(&lanes, FAN_OUT))?;
    let company = [link::lane(link::CO_OCCURS)];
    let company = EdgeSelection { lanes: &company, fan_out: COMPANY, strongest: FAN_OUT };
    let together = neighbourhood(index, ids, company)?;
    leading.relations.extend(together.relations);
    leading.entities.extend(together.entities);
    Ok(leading)
}

/// How strongly something is meant, and by which way from what the question names.
#[derive(Clone)]
struct LeadingPath {
    strength: f64,
    path: Vec<(i64, Relation, i64)>,
}

/// Assets that the graph leads to from what a question names, best first. The graph itself tells what lies
/// near, so the question is taken to the letter.
pub fn related(tx: &mut dyn Tx, question: &SemanticQuestion, limit: usize) -> Result<Vec<RelatedAsset>> {
    let starts = matching(tx, &question.exact_terms(), &[], STARTS)?;
    let mut found = LeadingMatches::default();
    for (thing, score, _) in starts {
        found.meant.insert(thing.id, LeadingPath { strength: score, path: Vec::new() });
        found.known.insert(thing.id, thing);
    }
    let first: HashSet<i64> = found.meant.keys().copied().collect();
    found.expand(tx.index()?, first.iter().copied().collect(), 1.0)?;
    let met = found.strongest(|thing| !first.contains(&thing.id), |thing| thing.id);
    let onward: Vec<i64> = first_visible(tx, met, ONWARD)?.into_iter().map(|thing| thing.id).collect();
    found.expand(tx.index()?, onward, FADING)?;
    let assets = found.strongest(|thing| kind::is_asset(&thing.kind), |thing| thing.key.clone());
    let assets = first_visible(tx, assets, limit)?;
    found.into_related(tx, &assets)
}

/// The first of some things that are to be seen.
fn first_visible(tx: &mut dyn Tx, things: Vec<Entity>, limit: usize) -> Result<Vec<Entity>> {
    let mut visible = Vec::new();
    let mut left = things.into_iter().peekable();
    while visible.len() < limit && left.peek().is_some() {
        let mut some: Vec<Entity> = left.by_ref().take(limit).collect();
        retain_visible(tx, &mut some)?;
        visible.extend(some);
    }
    visible.truncate(limit);
    Ok(visible)
}

/// What a question leads to. Nothing leads on from what is not to be seen.
#[derive(Default)]
struct LeadingMatches {
    meant: HashMap<i64, LeadingPath>,
    known: HashMap<i64, Entity>,
}

impl LeadingMatches {
    /// Lets things lead on by one step. A thing that is connected with much leads to each of it more weakly; of
    /// several ways to something the strongest counts.
    fn expand(&mut self, index: &mut dyn Tx, mut from: Vec<i64>, left: f64) -> Result<()> {
        from.sort_unstable();
        let near = follow_relations(index, &from)?;
        for (id, thing) in near.entities {
            self.known.entry(id).or_insert(thing);
        }
        let before: HashMap<i64, LeadingPath> =
            from.iter().filter_map(|id| Some((*id, self.meant.get(id)?.clone()))).collect();
        for relation in &near.relations {
            for start in [relation.source, relation.target] {
                let to = relation.other(start);
                let (Some(source), Some(thing)) = (before.get(&start), self.known.get(&start)) else {
                    continue;
                };
                let often = 1.0 + 0.1 * (relation.claims.max(1) as f64).ln();
                let shared = width(thing, relation).sqrt();
                let strength =
                    source.strength * left * relation.confidence * weight(relation) * often / shared;
                if strength > 0.0 && self.meant.get(&to).is_none_or(|known| strength > known.strength) {
                    let mut path = source.path.clone();
                    path.push((start, relation.clone(), to));
                    self.meant.insert(to, LeadingPath { strength, path });
                }
            }
        }
        Ok(())
    }

    /// Those of the things that are wanted, the strongest first, and of equals in an order of their own.
    fn strongest<O: Ord>(
        &self,
        is_wanted: impl Fn(&Entity) -> bool,
        order: impl Fn(&Entity) -> O,
    ) -> Vec<Entity> {
        let wanted = |(id, meant): (&i64, &LeadingPath)| {
            let thing = self.known.get(id).filter(|thing| is_wanted(thing))?;
            Some((meant.strength, thing.clone()))
        };
        let mut found: Vec<(f64, Entity)> = self.meant.iter().filter_map(wanted).collect();
        found.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| order(&a.1).cmp(&order(&b.1))));
        found.into_iter().map(|(_, thing)| thing).collect()
    }

    /// The assets, each with the way that led to it.
    fn into_related(self, tx: &mut dyn Tx, assets: &[Entity]) -> Result<Vec<RelatedAsset>> {
        let found: Vec<(&Entity, &LeadingPath)> =
            assets.iter().filter_map(|asset| Some((asset, self.meant.get(&asset.id)?))).collect();
        let ends = found.iter().flat_map(|(_, meant)| &meant.path).flat_map(|(from, _, to)| [*from, *to]);
        let ends: Vec<i64> = ends.collect::<HashSet<i64>>().into_iter().collect();
        let named: HashMap<i64, Entity> =
            entities(tx, &ends)?.into_iter().map(|thing| (thing.id, thing)).collect();
        let hop = |(from, relation, to): &(i64, Relation, i64)| {
            let (from, to) = (named.get(from)?.clone(), named.get(to)?.clone());
            Some(PathStep { from, relation: relation.clone(), to })
        };
        let related = |(asset, meant): (&Entity, &LeadingPath)| {
            Some(RelatedAsset {
                asset_id: AssetId::parse(&asset.key)?,
                score: meant.strength,
                path: meant.path.iter().map(hop).collect::<Option<_>>()?,
            })
        };
        Ok(found.into_iter().filter_map(related).collect())
    }
}
