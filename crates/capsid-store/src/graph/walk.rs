//! Walking through the graph, within bounds: what lies around things, and the way from one to another.

use super::edges::{EdgeSelection, Neighbourhood, neighbourhood, order};
use super::read::retain_visible;
use super::{Entity, PathStep, Relation, WalkBounds, WalkResult, WalkStep, entities};
use crate::db::tx::Tx;
use capsid_model::problem::Result;
use capsid_rules::graph::link;
use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap, HashSet};

/// How often a walk may meet a thing, for each relation that it may bring back.
const MET_PER_RELATION: usize = 2;
/// How many relations a walk reads at most, whatever is asked for and whatever there is.
const MAX_READ: usize = 400_000;
/// From how many things a walk begins at most, and how many relations of one lane and direction it follows from each.
const MAX_STARTS: usize = 100;
const MAX_FAN_OUT: usize = 1_000;
/// From how many things a search for a way goes on together. It looks at so much before it asks whether that is enough.
const TOGETHER: usize = 20;

/// How many relations are followed of one thing at most: so many of each lane, both ways.
fn per_thing(fan_out: usize) -> usize {
    2 * link::LANES.len() * fan_out
}

/// How many things a walk may meet: twice as many as there may be relations, and so few that it stays within what may be
/// read. A row may be read twice.
fn most_met(starts: usize, bounds: WalkBounds) -> usize {
    let readable = MAX_READ / (2 * per_thing(bounds.fan_out).max(1));
    let wanted = starts.saturating_add(bounds.most.saturating_mul(MET_PER_RELATION));
    wanted.min(readable).max(1)
}

/// What some things are connected with, the nearest first. Goes on to the next step only where the relations of those
/// before are fewer than are wanted.
pub fn walk(tx: &mut dyn Tx, ids: &[i64], bounds: WalkBounds) -> Result<WalkResult> {
    if ids.is_empty() || bounds.depth == 0 {
        return Ok(WalkResult::default());
    }
    let bounds = WalkBounds { fan_out: bounds.fan_out.min(MAX_FAN_OUT), ..bounds };
    let mut left = most_met(ids.len(), bounds);
    let starts = ids.get(..left.min(MAX_STARTS)).unwrap_or(ids);
    let (mut relations, mut shown, mut met) = (Vec::new(), HashMap::new(), HashSet::new());
    let mut edge: Vec<i64> = starts.to_vec();
    met.extend(edge.iter().copied());
    for _ in 0..bounds.depth {
        edge.truncate(left);
        left -= edge.len();
        if edge.is_empty() || relations.len() >= bounds.most {
            break;
        }
        let mut near = neighbourhood(tx.index()?, &edge, EdgeSelection::new(&link::LANES, bounds.fan_out))?;
        keep_visible(tx, &mut near, &mut shown)?;
        let ends: BTreeSet<i64> = near.relations.iter().flat_map(|r| [r.source, r.target]).collect();
        edge = ends.into_iter().filter(|id| met.insert(*id)).collect();
        relations.append(&mut near.relations);
        relations.sort_by(|a, b| order(a).cmp(&order(b)));
        relations.dedup();
    }
    let mut steps = by_depth(&relations, starts, bounds.depth, &shown);
    steps.truncate(bounds.most);
    let ends: HashSet<i64> = steps.iter().flat_map(|s| [s.relation.source, s.relation.target]).collect();
    shown.retain(|id, _| ends.contains(id) || starts.contains(id));
    Ok(WalkResult { steps, entities: shown })
}

/// Leaves out relations with an end that is not to be seen. Notes the ends of the others.
fn keep_visible(tx: &mut dyn Tx, near: &mut Neighbourhood, shown: &mut HashMap<i64, Entity>) -> Result<()> {
    let mut met: Vec<Entity> = std::mem::take(&mut near.entities).into_values().collect();
    met.retain(|entity| !shown.contains_key(&entity.id));
    retain_visible(tx, &mut met)?;
    shown.extend(met.into_iter().map(|entity| (entity.id, entity)));
    near.relations.retain(|r| shown.contains_key(&r.source) && shown.contains_key(&r.target));
    Ok(())
}

/// The relations that can be reached, the nearest first, of these the hub's own, of these the newest.
fn by_depth(
    relations: &[Relation],
    starts: &[i64],
    depth: usize,
    shown: &HashMap<i64, Entity>,
) -> Vec<WalkStep> {
    let mut beside: HashMap<i64, Vec<usize>> = HashMap::new();
    for (at, relation) in relations.iter().enumerate() {
        beside.entry(relation.source).or_default().push(at);
        beside.entry(relation.target).or_default().push(at);
    }
    let mut reached: HashSet<i64> = starts.iter().copied().filter(|id| shown.contains_key(id)).collect();
    let (mut edge, mut taken) = (reached.clone(), HashSet::new());
    let mut steps: Vec<WalkStep> = Vec::new();
    for depth in 1..=depth {
        let followed: HashSet<usize> = edge
            .iter()
            .filter_map(|id| beside.get(id))
            .flatten()
            .copied()
            .filter(|at| taken.insert(*at))
            .collect();
        edge.clear();
        for relation in followed.iter().filter_map(|at| relations.get(*at)) {
            steps.push(WalkStep { relation: relation.clone(), depth });
            edge.extend([relation.source, relation.target].into_iter().filter(|id| reached.insert(*id)));
        }
    }
    // What the hub says comes first, so that nothing that is told takes its place where only so much is wanted.
    let distance = |step: &WalkStep| (step.depth, step.relation.is_told);
    steps.sort_by(|a, b| {
        distance(a).cmp(&distance(b)).then_with(|| order(&a.relation).cmp(&order(&b.relation)))
    });
    steps
}

/// One side of a search for a way: the things that it has reached, each with how surely, and by which step.
#[derive(Default)]
struct SearchFrontier {
    reached: HashMap<i64, (f64, Option<Relation>)>,
    edge: Vec<i64>,
    depth: usize,
}

impl SearchFrontier {
    fn at(start: i64) -> Self {
        Self { reached: HashMap::from([(start, (1.0, None))]), edge: vec![start], depth: 0 }
    }

    /// Goes one step further, over things that are to be seen, the surest first. It ends early once it has looked at as
    /// many relations as are left. Tells how many it looked at.
    fn step(
        &mut self,
        tx: &mut dyn Tx,
        fan_out: usize,
        left: usize,
        known: &mut HashMap<i64, Entity>,
    ) -> Result<usize> {
        let mut next: HashMap<i64, (f64, Option<Relation>)> = HashMap::new();
        let mut looked_at = 0;
        for some in self.edge.chunks(TOGETHER) {
            if looked_at >= left {
                break;
            }
            let mut near = neighbourhood(tx.index()?, some, EdgeSelection::new(&link::LANES, fan_out))?;
            looked_at += near.relations.len();
            keep_visible(tx, &mut near, known)?;
            self.follow(some, &near.relations, &mut next);
        }
        let mut edge: Vec<(i64, f64)> = next.iter().map(|(id, (sure, _))| (*id, *sure)).collect();
        edge.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        self.edge = edge.into_iter().map(|(id, _)| id).collect();
        self.reached.extend(next);
        self.depth += 1;
        Ok(looked_at)
    }

    /// Follows relations from some things to others that were not reached before.
    fn follow(&self, edge: &[i64], relations: &[Relation], next: &mut HashMap<i64, (f64, Option<Relation>)>) {
        let edge: HashSet<i64> = edge.iter().copied().collect();
        for relation in relations {
            for from in [relation.source, relation.target] {
                let to = relation.other(from);
                let Some((sure, _)) = self.reached.get(&from).filter(|_| edge.contains(&from)) else {
                    continue;
                };
                let sure = sure * relation.confidence;
                let is_new = !self.reached.contains_key(&to);
                if is_new && next.get(&to).is_none_or(|(known, _)| sure > *known) {
                    next.insert(to, (sure, Some(relation.clone())));
                }
            }
        }
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

/// A shortest way between two things, within bounds; of several the one that is the surest. Where there is more than it
/// may look at, it follows what is surest, and may find none.
pub fn path(tx: &mut dyn Tx, from: i64, to: i64, bounds: WalkBounds) -> Result<Option<Vec<PathStep>>> {
    let mut known: HashMap<i64, Entity> =
        entities(tx, &[from, to])?.into_iter().map(|entity| (entity.id, entity)).collect();
    if !(known.contains_key(&from) && known.contains_key(&to)) {
        return Ok(None);
    }
    let (mut one, mut other) = (SearchFrontier::at(from), SearchFrontier::at(to));
    let fan_out = bounds.fan_out.min(MAX_FAN_OUT);
    let mut looked_at = 0;
    loop {
        if let Some(middle) = meeting_point(&one, &other) {
            return hops(tx, &one, &other, middle);
        }
        let spent = one.depth + other.depth >= bounds.depth || looked_at >= bounds.most;
        if spent || one.edge.is_empty() || other.edge.is_empty() {
            return Ok(None);
        }
        let nearer = if one.edge.len() <= other.edge.len() { &mut one } else { &mut other };
        looked_at += nearer.step(tx, fan_out, bounds.most - looked_at, &mut known)?;
    }
}

/// The thing that both sides have reached, by the surest way.
fn meeting_point(one: &SearchFrontier, other: &SearchFrontier) -> Option<i64> {
    let both = one.reached.iter().filter_map(|(id, (sure, _))| {
        other.reached.get(id).map(|(as_sure, _)| (sure * as_sure, Reverse(*id)))
    });
    both.max_by(|a, b| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1))).map(|(_, id)| id.0)
}

fn hops(
    tx: &mut dyn Tx,
    one: &SearchFrontier,
    other: &SearchFrontier,
    middle: i64,
) -> Result<Option<Vec<PathStep>>> {
    let mut steps: Vec<(i64, Relation, i64)> =
        one.back(middle).into_iter().map(|(at, relation, before)| (before, relation, at)).collect();
    steps.reverse();
    steps.extend(other.back(middle));
    let ids: Vec<i64> = steps.iter().flat_map(|(from, _, to)| [*from, *to]).collect();
    let shown: HashMap<i64, Entity> =
        entities(tx, &ids)?.into_iter().map(|entity| (entity.id, entity)).collect();
    let hop = |(from, relation, to): (i64, Relation, i64)| {
        Some(PathStep { from: shown.get(&from)?.clone(), relation, to: shown.get(&to)?.clone() })
    };
    Ok(steps.into_iter().map(hop).collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::find::growth_tests::count_rows;
    use crate::graph::refcounts::apply_sum;
    use crate::{Store, StoreOptions};
    use capsid_model::time::Time;
    use capsid_rules::graph::{EntityKey, IngestedRelation, StatementSum};

    #[test]
    fn whatever_is_asked_for_only_so_much_is_read() {
        let sizes = [1, 2, 7, 25, 1_000];
        for (fan_out, starts) in sizes.iter().flat_map(|fan_out| sizes.map(|starts| (*fan_out, starts))) {
            for most in [0, 1, 900, usize::MAX] {
                let met = most_met(starts, WalkBounds { depth: 3, fan_out, most });
                assert!(met * 2 * per_thing(fan_out) <= MAX_READ, "{fan_out} {starts} {most}: {met}");
                assert!(met >= 1);
            }
        }
        assert_eq!(
            most_met(8, WalkBounds { depth: 2, fan_out: 8, most: 500 }),
            1_008,
            "what is usual fits in"
        );
    }

    /// Many things, each connected with all others, and two connected with nothing else, so that no
    /// way is found.
    fn thicket(tx: &mut dyn Tx, size: i64) -> Result<()> {
        let thing = |n: i64| EntityKey::new("thing", format!("thing {n}"));
        let mut sum = StatementSum::default();
        let pairs = (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b)));
        for (source, target) in pairs.chain([(size, size + 1)]) {
            let relation = IngestedRelation {
                source: &thing(source),
                kind: "near",
                target: &thing(target),
                said_by: "user:u",
                said_at: source + 1,
                confidence: 0.5,
            };
            sum.count_relation(relation, 1);
        }
        apply_sum(tx, &sum, &HashMap::new())
    }

    fn thing(n: i64) -> i64 {
        EntityKey::new("thing", format!("thing {n}")).id()
    }

    #[test]
    fn a_thicket_is_not_read_through() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path(), None), Time(1)).unwrap();
        store.index().unwrap().write(|tx| thicket(tx, 150)).unwrap();
        // A way is looked for in vain: 11,175 relations are there, and of each thing up to 50 are followed.
        let (followed, read) = count_rows(&store, |tx| {
            let bounds = WalkBounds { depth: 6, fan_out: 25, most: 1_000 };
            Ok(path(tx, thing(0), thing(151), bounds)?.map_or(0, |way| way.len()))
        });
        assert_eq!(followed, 0);
        // A row may be read twice, and each end is looked up.
        assert!(read <= 2 * (1_000 + TOGETHER * 50) + 2_000, "{read} rows");
        // A walk brings back no more than was asked for, and reads each thing's relations only so often.
        let (followed, read) = count_rows(&store, |tx| {
            let all: Vec<i64> = (0..150).map(thing).collect();
            Ok(walk(tx, &all, WalkBounds { depth: 3, fan_out: 25, most: 40 })?.steps.len())
        });
        assert_eq!(followed, 40);
        assert!(read <= (MAX_STARTS + 80) * 50 + 200, "{read} rows");
    }
}
