//! Walking through the graph, within bounds: what lies around things, and the way from one to another.

use super::read::find_visible;
use super::{Entity, PathStep, Relation, WalkBounds, WalkStep, index_sql};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::graph::link;
use serde_json::json;
use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

/// How often a walk may meet a thing, for each relation that it may bring back.
const MET_PER_RELATION: usize = 2;
/// How many relations a walk reads at most, whatever is asked for and whatever there is.
const MAX_READ: usize = 400_000;
/// From how many things a walk begins at most, and how many relations of one lane and direction it follows from each.
const MAX_STARTS: usize = 100;
const MAX_FAN_OUT: usize = 1_000;
/// From how many things a search for a way goes on together. It looks at so much before it asks whether that is enough.
const TOGETHER: usize = 20;

/// How many relations are read of one thing at most: so many of each lane, both ways.
fn per_thing(fan_out: usize) -> usize {
    2 * link::LANES.len() * fan_out
}

/// How many things a walk may meet: twice as many as there may be relations, and so few that it stays within what may be
/// read. The relations of each are read twice: on the way, and to be told.
fn most_met(starts: usize, bounds: WalkBounds) -> usize {
    let readable = MAX_READ / (2 * per_thing(bounds.fan_out).max(1));
    let wanted = starts.saturating_add(bounds.most.saturating_mul(MET_PER_RELATION));
    wanted.min(readable).max(1)
}

/// What hangs together with some things, the nearest first.
pub fn walk(tx: &mut dyn Tx, ids: &[i64], bounds: WalkBounds) -> Result<Vec<WalkStep>> {
    if ids.is_empty() || bounds.depth == 0 {
        return Ok(Vec::new());
    }
    let bounds = WalkBounds { fan_out: bounds.fan_out.min(MAX_FAN_OUT), ..bounds };
    let met = most_met(ids.len(), bounds);
    let ids = ids.get(..met.min(MAX_STARTS)).unwrap_or(ids);
    let mut relations = HashMap::new();
    tx.index()?.query_each(
        index_sql::WALK,
        params![
            &json!(ids).to_string(),
            &json!(link::LANES).to_string(),
            bounds.fan_out as i64,
            bounds.depth as i64,
            met as i64
        ],
        |(relation, id): (Relation, i64)| {
            relations.insert(id, relation);
            Ok(())
        },
    )?;
    let ends: HashSet<i64> = relations.values().flat_map(|r| [r.source, r.target]).collect();
    let shown = find_visible(tx, &ends)?;
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
) -> Vec<WalkStep> {
    relations.retain(|r| shown.contains_key(&r.source) && shown.contains_key(&r.target));
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

/// An order without ties, the newest first; of what is only counted, what is said the most often.
fn order(relation: &Relation) -> (Reverse<(i64, i64)>, &str, i64, i64, &str, bool) {
    let Relation { kind, source, target, said_by, is_told, claims, .. } = relation;
    let newest = Reverse((relation.said_at.unwrap_or_default(), *claims));
    (newest, kind, *source, *target, said_by, *is_told)
}

/// What hangs together with some things directly, in some lanes, so many of each lane and direction.
pub(super) fn neighbours(
    tx: &mut dyn Tx,
    ids: &[i64],
    lanes: &[i64],
    fan_out: usize,
) -> Result<Vec<Relation>> {
    if ids.is_empty() {
        return Ok(Vec::new());
    }
    let mut relations = HashMap::new();
    let (ids, lanes) = (json!(ids).to_string(), json!(lanes).to_string());
    tx.index()?.query_each(
        index_sql::NEIGHBOURS,
        params![&ids, &lanes, fan_out as i64],
        |(relation, id): (Relation, i64)| {
            relations.insert(id, relation);
            Ok(())
        },
    )?;
    let mut relations: Vec<Relation> = relations.into_values().collect();
    relations.sort_by(|a, b| order(a).cmp(&order(b)));
    Ok(relations)
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
            let relations = neighbours(tx, some, &link::LANES, fan_out)?;
            looked_at += relations.len();
            self.follow(tx, some, &relations, &mut next, known)?;
        }
        let mut edge: Vec<(i64, f64)> = next.iter().map(|(id, (sure, _))| (*id, *sure)).collect();
        edge.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        self.edge = edge.into_iter().map(|(id, _)| id).collect();
        self.reached.extend(next);
        self.depth += 1;
        Ok(looked_at)
    }

    /// Follows relations from some things to others that were not reached before.
    fn follow(
        &self,
        tx: &mut dyn Tx,
        edge: &[i64],
        relations: &[Relation],
        next: &mut HashMap<i64, (f64, Option<Relation>)>,
        known: &mut HashMap<i64, Entity>,
    ) -> Result<()> {
        let is_new = |id: &i64| !self.reached.contains_key(id);
        let met: HashSet<i64> = relations.iter().flat_map(|r| [r.source, r.target]).filter(is_new).collect();
        let shown = find_visible(tx, &met)?;
        let edge: HashSet<i64> = edge.iter().copied().collect();
        for relation in relations {
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
        known.extend(shown);
        Ok(())
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
    let mut known = find_visible(tx, &HashSet::from([from, to]))?;
    if known.len() < HashSet::from([from, to]).len() {
        return Ok(None);
    }
    let (mut one, mut other) = (SearchFrontier::at(from), SearchFrontier::at(to));
    let fan_out = bounds.fan_out.min(MAX_FAN_OUT);
    let mut looked_at = 0;
    loop {
        if let Some(middle) = meeting_point(&one, &other) {
            return Ok(hops(&one, &other, middle, &known));
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
    one: &SearchFrontier,
    other: &SearchFrontier,
    middle: i64,
    known: &HashMap<i64, Entity>,
) -> Option<Vec<PathStep>> {
    let mut steps: Vec<(i64, Relation, i64)> =
        one.back(middle).into_iter().map(|(at, relation, before)| (before, relation, at)).collect();
    steps.reverse();
    steps.extend(other.back(middle));
    let hop = |(from, relation, to): (i64, Relation, i64)| {
        Some(PathStep { from: known.get(&from)?.clone(), relation, to: known.get(&to)?.clone() })
    };
    steps.into_iter().map(hop).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::raw_row::RawRow;
    use crate::db::tx::{Dialect, Param};
    use crate::{Store, StoreOptions};
    use capsid_model::time::Time;

    /// A snapshot of the index that counts the rows that it gives.
    struct Counting<'t>(&'t mut dyn Tx, usize);

    impl Tx for Counting<'_> {
        fn index(&mut self) -> Result<&mut dyn Tx> {
            Ok(self)
        }

        fn dialect(&self) -> Dialect {
            self.0.dialect()
        }

        fn run(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
            self.0.run(sql, params)
        }

        fn each(
            &mut self,
            sql: &'static str,
            params: &[Param<'_>],
            visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
        ) -> Result<()> {
            let rows = &mut self.1;
            self.0.each(sql, params, &mut |row| {
                *rows += 1;
                visit(row)
            })
        }

        fn one(
            &mut self,
            sql: &'static str,
            params: &[Param<'_>],
            visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
        ) -> Result<()> {
            self.1 += 1;
            self.0.one(sql, params, visit)
        }
    }

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

    /// Many things, each of which hangs together with all others.
    fn thicket(tx: &mut dyn Tx, size: i64) -> Result<()> {
        for n in 0..size {
            tx.run(
                "INSERT INTO entities (id, kind, key, mentions, told) VALUES ($1, 'thing', $2, 1, 0)",
                params![n, &format!("thing {n}")],
            )?;
        }
        for (source, target) in (0..size).flat_map(|a| (a + 1..size).map(move |b| (a, b))) {
            tx.run(
                "INSERT INTO relations (id, source, kind, target, said_by, said_at, confidence, claims, is_told, lane)
                 VALUES ($1, $2, 'near', $3, 'user:u', $1, 0.5, 1, 1, $4)",
                params![source * size + target, source, target, link::OTHER_LANE],
            )?;
        }
        // Two that hang together with nothing else, so that no way is found.
        for id in [size, size + 1] {
            tx.run(
                "INSERT INTO entities (id, kind, key, mentions, told) VALUES ($1, 'thing', $2, 1, 0)",
                params![id, &format!("far {id}")],
            )?;
        }
        tx.run(
            "INSERT INTO relations (id, source, kind, target, said_by, said_at, confidence, claims, is_told, lane)
             VALUES (-1, $1, 'near', $2, 'user:u', 1, 0.5, 1, 1, $3)",
            params![size, size + 1, link::OTHER_LANE],
        )?;
        Ok(())
    }

    #[test]
    fn a_thicket_is_not_read_through() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path(), None), Time(1)).unwrap();
        store.index().unwrap().write(|tx| thicket(tx, 150)).unwrap();
        let rows = |walk: fn(&mut dyn Tx) -> Result<usize>| {
            store
                .read_now(move |tx| {
                    let mut counting = Counting(tx.index()?, 0);
                    let followed = walk(&mut counting)?;
                    Ok((followed, counting.1))
                })
                .unwrap()
        };
        // A way is looked for in vain: 11,175 relations are there, and of each thing up to 50 are followed.
        let (followed, read) = rows(|tx| {
            let bounds = WalkBounds { depth: 6, fan_out: 25, most: 1_000 };
            Ok(path(tx, 0, 151, bounds)?.map_or(0, |way| way.len()))
        });
        assert_eq!(followed, 0);
        assert!(read <= 1_000 + TOGETHER * 50 + 200, "{read} rows");
        // A walk brings back no more than was asked for, and reads each thing's relations only so often.
        let (followed, read) = rows(|tx| {
            let all: Vec<i64> = (0..150).collect();
            Ok(walk(tx, &all, WalkBounds { depth: 3, fan_out: 25, most: 40 })?.len())
        });
        assert_eq!(followed, 40);
        assert!(read <= (MAX_STARTS + 80) * 50 + 200, "{read} rows");
    }
}
