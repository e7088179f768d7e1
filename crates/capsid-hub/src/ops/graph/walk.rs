//! A walk through the graph, and the best way from where it began to each thing that it met.

use capsid_rules::graph::kind;
use capsid_store::graph::{Entity, PathStep, Relation, WalkStep};
use std::collections::{BTreeMap, HashMap};

/// How much less a thing matters for each step that it lies away.
const FADE: f64 = 0.6;
/// How much less where somebody told so and the hub did not see it.
const TOLD: f64 = 0.5;
/// How much less where the step leads to a thing that almost everything hangs together with.
const COMMON: f64 = 0.3;

/// A thing that was met.
#[derive(Debug, Clone, Copy)]
struct VisitedEntity {
    score: f64,
    depth: usize,
    /// Where the way to it came from, and by which relation.
    before: Option<(i64, usize)>,
}

/// Where a walk led.
#[derive(Debug, Default)]
pub struct GraphWalk {
    relations: Vec<Relation>,
    met: BTreeMap<i64, VisitedEntity>,
    entities: HashMap<i64, Entity>,
}

impl GraphWalk {
    /// Follows steps from where the walk began. Each beginning has a score, which fades on the way.
    pub fn new(began: &[(i64, f64)], steps: Vec<WalkStep>) -> Self {
        let mut walk = Self::default();
        for (id, score) in began {
            walk.met.entry(*id).or_insert(VisitedEntity { score: *score, depth: 0, before: None });
        }
        let deepest = steps.iter().map(|step| step.depth).max().unwrap_or_default();
        let depths: Vec<usize> = steps.iter().map(|step| step.depth).collect();
        walk.relations = steps.into_iter().map(|step| step.relation).collect();
        for depth in 1..=deepest {
            for (at, _) in depths.iter().enumerate().filter(|(_, of)| **of == depth) {
                walk.visit(at, depth);
            }
        }
        walk
    }

    /// Follows one relation, either way, from what lies nearer to what does not.
    fn visit(&mut self, at: usize, depth: usize) {
        let Some(relation) = self.relations.get(at) else { return };
        let by_whom = if relation.is_told { TOLD } else { 1.0 };
        let weight = relation.confidence.clamp(0.0, 1.0) * FADE * by_whom * common(&relation.kind);
        for (from, to) in [(relation.source, relation.target), (relation.target, relation.source)] {
            let Some(score) = self.met.get(&from).filter(|met| met.depth < depth).map(|met| met.score) else {
                continue;
            };
            let found = VisitedEntity { score: score * weight, depth, before: Some((from, at)) };
            match self.met.get_mut(&to) {
                Some(known) if known.depth < depth || known.score >= found.score => {}
                Some(known) => *known = found,
                None => {
                    self.met.insert(to, found);
                }
            }
        }
    }

    /// The numbers of all that was met.
    pub fn ids(&self) -> Vec<i64> {
        self.met.keys().copied().collect()
    }

    /// Tells it what the numbers stand for.
    pub fn record_entities(&mut self, entities: Vec<Entity>) {
        self.entities.extend(entities.into_iter().map(|entity| (entity.id, entity)));
    }

    /// A thing that was met.
    pub fn entity(&self, id: i64) -> Option<&Entity> {
        self.entities.get(&id)
    }

    /// Where it began and everything it leads to, the best first.
    pub fn ranking(&self) -> Vec<i64> {
        let mut ends: Vec<(f64, i64)> = self
            .met
            .iter()
            .filter(|(id, _)| self.entities.contains_key(id))
            .map(|(id, met)| (met.score, *id))
            .collect();
        ends.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
        ends.into_iter().map(|(_, id)| id).collect()
    }

    /// The way from where it began to a thing; empty where it began there, or never came there.
    pub fn path(&self, to: i64) -> Vec<PathStep> {
        let mut path = Vec::new();
        let mut at = to;
        while let Some((from, relation)) = self.met.get(&at).and_then(|met| met.before) {
            let ends = self.entity(from).zip(self.entity(at)).zip(self.relations.get(relation));
            let Some(((begins, ends), relation)) = ends else { return Vec::new() };
            path.push(PathStep { from: begins.clone(), relation: relation.clone(), to: ends.clone() });
            at = from;
        }
        path.reverse();
        path
    }

    /// The numbers on the way from where it began to a thing, the thing itself included.
    pub fn ids_on_path(&self, to: i64) -> Vec<i64> {
        let mut ids = vec![to];
        let mut at = to;
        while let Some((from, _)) = self.met.get(&at).and_then(|met| met.before) {
            ids.push(from);
            at = from;
        }
        ids
    }

    /// Where the way to a thing began.
    pub fn origin(&self, of: i64) -> i64 {
        let mut at = of;
        while let Some((from, _)) = self.met.get(&at).and_then(|met| met.before) {
            at = from;
        }
        at
    }

    /// All relations that it met.
    pub fn relations(&self) -> &[Relation] {
        &self.relations
    }
}

/// Nearly every asset has a maker and ran somewhere, so these say little of what a question means.
fn common(kind: &str) -> f64 {
    use capsid_rules::graph::link;
    match kind {
        link::MADE_BY | link::VALIDATED_ON | link::FAILS_ON | link::REUSED_BY => COMMON,
        _ => 1.0,
    }
}

/// Whether a thing is an asset.
pub fn is_asset(entity: &Entity) -> bool {
    kind::is_asset(&entity.kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entity(id: i64) -> Entity {
        let name = format!("thing {id}");
        Entity { id, kind: "signal".to_owned(), key: name.clone(), name, mentions: 1, told: 0, status: None }
    }

    fn step(source: i64, target: i64, depth: usize, confidence: f64) -> WalkStep {
        let relation = Relation {
            source,
            kind: "triggers".to_owned(),
            target,
            said_by: "hub".to_owned(),
            said_at: None,
            asset_id: None,
            confidence,
            claims: 1,
            is_told: false,
        };
        WalkStep { relation, depth }
    }

    fn walk(began: &[(i64, f64)], steps: Vec<WalkStep>) -> GraphWalk {
        let mut walk = GraphWalk::new(began, steps);
        walk.record_entities(walk.ids().into_iter().map(entity).collect());
        walk
    }

    fn way(walk: &GraphWalk, to: i64) -> Vec<(i64, i64)> {
        walk.path(to).iter().map(|hop| (hop.from.id, hop.to.id)).collect()
    }

    #[test]
    fn the_best_way_is_told_whichever_way_relations_point() {
        let walk =
            walk(&[(1, 1.0), (2, 0.5)], vec![step(1, 3, 1, 0.2), step(3, 2, 1, 0.9), step(4, 3, 2, 1.0)]);
        assert_eq!(walk.ranking(), [1, 2, 3, 4]);
        assert_eq!(way(&walk, 3), [(2, 3)], "a surer relation wins over a better beginning");
        assert_eq!(way(&walk, 4), [(2, 3), (3, 4)]);
        assert_eq!((walk.origin(4), walk.origin(1)), (2, 1));
        assert!(walk.path(1).is_empty() && walk.path(99).is_empty());
    }

    #[test]
    fn circles_and_what_hangs_in_the_air_end_no_walk() {
        let walk = walk(
            &[(1, 1.0)],
            vec![
                step(1, 1, 1, 1.0),
                step(1, 2, 1, 1.0),
                step(2, 1, 1, 1.0),
                step(2, 3, 2, 1.0),
                step(3, 1, 2, 1.0),
                step(8, 9, 2, 1.0),
            ],
        );
        assert_eq!(walk.ranking(), [1, 2, 3]);
        assert_eq!(way(&walk, 3), [(1, 3)], "what closes the circle is the shorter way");
    }
}
