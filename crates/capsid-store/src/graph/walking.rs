//! Walking through the graph, within bounds: what lies around things, and the way from one to another.

use super::reading::seen;
use super::{Bounds, Entity, Hop, Relation, Step, texts};
use crate::params;
use crate::tx::Tx;
use capsid_model::problem::Result;
use capsid_rules::graph::link;
use serde_json::json;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// How often a walk may meet a thing, for each relation that it may bring back.
const MET_PER_RELATION: usize = 2;

/// What hangs together with some things, the nearest first.
pub fn around(tx: &mut dyn Tx, ids: &[i64], bounds: Bounds) -> Result<Vec<Step>> {
    if ids.is_empty() || bounds.depth == 0 {
        return Ok(Vec::new());
    }
    let met = ids.len() + bounds.most.saturating_mul(MET_PER_RELATION);
    let sql = texts(tx).around;
    let mut relations = HashMap::new();
    tx.each(
        sql,
        params![
            &json!(ids).to_string(),
            &json!(link::LANES).to_string(),
            bounds.fan_out as i64,
            bounds.depth as i64,
            met as i64
        ],
        &mut |row| {
            relations.insert(row.int(9)?, Relation::read(row, 0)?);
            Ok(())
        },
    )?;
    let ends: HashSet<i64> = relations.values().flat_map(|r| [r.source, r.target]).collect();
    let shown = seen(tx, &ends)?;
    let mut steps = by_depth(relations.into_values().collect(), ids, bounds.depth, &shown);
    steps.truncate(bounds.most);
    Ok(steps)
}

/// The relations that can be reached over things that are to be seen, the nearest first, of these the hub's own, of
/// these the newest.
fn by_depth(
    mut relations: Vec<Relation>,
    starts: &[i64],
    depth: usize,
    shown: &HashMap<i64, Entity>,
) -> Vec<Step> {
    relations.retain(|r| shown.contains_key(&r.source) && shown.contains_key(&r.target));
    let mut beside: HashMap<i64, Vec<usize>> = HashMap::new();
    for (at, relation) in relations.iter().enumerate() {
        beside.entry(relation.source).or_default().push(at);
        beside.entry(relation.target).or_default().push(at);
    }
    let mut reached: HashSet<i64> = starts.iter().copied().filter(|id| shown.contains_key(id)).collect();
    let (mut edge, mut taken) = (reached.clone(), HashSet::new());
    let mut steps: Vec<Step> = Vec::new();
    for depth in 1..=depth {
        let found: HashSet<usize> = edge
            .iter()
            .filter_map(|id| beside.get(id))
            .flatten()
            .copied()
            .filter(|at| taken.insert(*at))
            .collect();
        edge.clear();
        for relation in found.iter().filter_map(|at| relations.get(*at)) {
            steps.push(Step { relation: relation.clone(), depth });
            edge.extend([relation.source, relation.target].into_iter().filter(|id| reached.insert(*id)));
        }
    }
    // What the hub says comes first, so that nothing that is told takes its place where only so much is wanted.
    let place = |step: &Step| (step.depth, step.relation.is_told);
    steps.sort_by(|a, b| place(a).cmp(&place(b)).then_with(|| order(&a.relation).cmp(&order(&b.relation))));
    steps
}

/// An order without ties, the newest first; of what is only counted, what is said the most often.
fn order(relation: &Relation) -> (Reverse<(i64, i64)>, &str, i64, i64, &str, bool) {
    let Relation { kind, source, target, said_by, is_told, claims, .. } = relation;
    let newest = Reverse((relation.said_at.unwrap_or_default(), *claims));
    (newest, kind, *source, *target, said_by, *is_told)
}

/// What hangs together with some things directly, in some lanes, so many of each lane and direction.
pub(super) fn beside(tx: &mut dyn Tx, ids: &[i64], lanes: &[i64], fan_out: usize) -> Result<Vec<Relation>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let sql = texts(tx).beside;
    let mut relations = HashMap::new();
    let (ids, lanes) = (json!(ids).to_string(), json!(lanes).to_string());
    tx.each(sql, params![&ids, &lanes, fan_out as i64], &mut |row| {
        relations.insert(row.int(9)?, Relation::read(row, 0)?);
        Ok(())
    })?;
    let mut relations: Vec<Relation> = relations.into_values().collect();
    relations.sort_by(|a, b| order(a).cmp(&order(b)));
    Ok(relations)
}

/// One side of a search for a way: the things that it has reached, each with how surely, and by which step.
#[derive(Default)]
struct Side {
    reached: HashMap<i64, (f64, Option<Relation>)>,
    edge: Vec<i64>,
    depth: usize,
}

impl Side {
    fn at(start: i64) -> Self {
        Self { reached: HashMap::from([(start, (1.0, None))]), edge: vec![start], depth: 0 }
    }

    /// Goes one step further, over things that are to be seen. Tells how many relations it looked at.
    fn step(&mut self, tx: &mut dyn Tx, fan_out: usize, known: &mut HashMap<i64, Entity>) -> Result<usize> {
        let relations = beside(tx, &self.edge, &link::LANES, fan_out)?;
        let met: HashSet<i64> = relations
            .iter()
            .flat_map(|r| [r.source, r.target])
            .filter(|id| !self.reached.contains_key(id))
            .collect();
        let shown = seen(tx, &met)?;
        let edge: HashSet<i64> = self.edge.iter().copied().collect();
        let mut next: HashMap<i64, (f64, Option<Relation>)> = HashMap::new();
        for relation in &relations {
            for from in [relation.source, relation.target] {
                let to = relation.other(from);
                let Some((sure, _)) = self.reached.get(&from).filter(|_| edge.contains(&from)) else {
                    continue;
                };
                let sure = sure * relation.confidence;
                let better = next.get(&to).is_none_or(|(known, _)| sure > *known);
                if shown.contains_key(&to) && better {
                    next.insert(to, (sure, Some(relation.clone())));
                }
            }
        }
        self.edge = next.keys().copied().collect();
        self.edge.sort_unstable();
        self.reached.extend(next);
        self.depth += 1;
        known.extend(shown);
        Ok(relations.len())
    }

    /// The things and relations from one that was reached back to the start.
    fn back(&self, from: i64) -> Vec<(i64, Relation, i64)> {
        let (mut at, mut way) = (from, Vec::new());
        while let Some((_, Some(relation))) = self.reached.get(&at) {
            let before = relation.other(at);
            way.push((at, relation.clone(), before));
            at = before;
        }
        way
    }
}

/// A shortest way between two things, within bounds; of several the one that is the surest.
pub fn path(tx: &mut dyn Tx, from: i64, to: i64, bounds: Bounds) -> Result<Option<Vec<Hop>>> {
    let mut known = seen(tx, &HashSet::from([from, to]))?;
    if known.len() < HashSet::from([from, to]).len() {
        return Ok(None);
    }
    let (mut one, mut other) = (Side::at(from), Side::at(to));
    let mut looked_at = 0;
    loop {
        if let Some(middle) = meeting(&one, &other) {
            return Ok(hops(&one, &other, middle, &known));
        }
        let spent = one.depth + other.depth >= bounds.depth || looked_at >= bounds.most;
        if spent || one.edge.is_empty() || other.edge.is_empty() {
            return Ok(None);
        }
        let nearer = if one.edge.len() <= other.edge.len() { &mut one } else { &mut other };
        looked_at += nearer.step(tx, bounds.fan_out, &mut known)?;
    }
}

/// The thing that both sides have reached, by the surest way.
fn meeting(one: &Side, other: &Side) -> Option<i64> {
    let both = one.reached.iter().filter_map(|(id, (sure, _))| {
        other.reached.get(id).map(|(as_sure, _)| (sure * as_sure, Reverse(*id)))
    });
    both.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, id)| id.0)
}

fn hops(one: &Side, other: &Side, middle: i64, known: &HashMap<i64, Entity>) -> Option<Vec<Hop>> {
    let mut steps: Vec<(i64, Relation, i64)> =
        one.back(middle).into_iter().map(|(at, relation, before)| (before, relation, at)).collect();
    steps.reverse();
    steps.extend(other.back(middle));
    let hop = |(from, relation, to): (i64, Relation, i64)| {
        Some(Hop { from: known.get(&from)?.clone(), relation, to: known.get(&to)?.clone() })
    };
    steps.into_iter().map(hop).collect()
}
