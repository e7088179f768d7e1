//! Statements added up: what is to be counted up or down.

use super::{EntityKey, Statement, kind, link, names};
use std::collections::HashMap;

/// An entity, and how much more or less often it is named.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CountedEntity {
    /// Follows from kind and key.
    pub id: i64,
    pub entity: EntityKey,
    /// By statements of the hub.
    pub mentions: i64,
    /// By notes and ingested relations.
    pub ingested: i64,
}

/// A relation without how often it is said. Its entities and its source are places in the lists of the sum.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct CountedRelation {
    pub source: usize,
    pub lane: i64,
    /// Of an ingested relation; empty where the lane says it.
    pub kind: String,
    pub target: usize,
    /// Whose word it is.
    pub said_by: usize,
    /// In milliseconds; 0 for what is only counted.
    pub said_at: i64,
    /// The asset that says so.
    pub asset: Option<usize>,
    /// In millionths.
    pub confidence: i64,
}

/// A relation that was ingested.
#[derive(Debug, Clone, Copy)]
pub struct IngestedRelation<'a> {
    pub source: &'a EntityKey,
    pub kind: &'a str,
    pub target: &'a EntityKey,
    pub said_by: &'a str,
    pub said_at: i64,
    pub confidence: f64,
}

/// The number of an ingested relation in the hub's database.
pub fn relation_id(source: i64, kind: &str, target: i64, said_by: &str, is_told: bool) -> i64 {
    names::number(&format!("{source}\0{kind}\0{target}\0{said_by}\0{is_told}"))
}

/// A confidence as it is counted.
pub fn millionths(confidence: f64) -> i64 {
    (confidence * 1e6).round() as i64
}

/// What some statements change. Counts of 0 change nothing.
#[derive(Debug, Clone, Default)]
pub struct StatementSum {
    entities: Vec<CountedEntity>,
    sources: Vec<String>,
    relations: HashMap<CountedRelation, i64>,
    entity_places: HashMap<EntityKey, usize>,
    source_places: HashMap<String, usize>,
}

impl StatementSum {
    /// The entities, in the order in which they were first named.
    pub fn entities(&self) -> &[CountedEntity] {
        &self.entities
    }

    /// Who says something: `node:…`, `user:…`, or `hub`.
    pub fn sources(&self) -> &[String] {
        &self.sources
    }

    /// The relations, and how many statements more, or fewer, say so.
    pub fn relations(&self) -> &HashMap<CountedRelation, i64> {
        &self.relations
    }

    /// Adds a statement.
    pub fn add_statement(&mut self, statement: &Statement) {
        self.count(statement, 1);
    }

    /// Takes a statement away.
    pub fn unsay(&mut self, statement: &Statement) {
        self.count(statement, -1);
    }

    /// Adds what somebody ingested of an entity, or takes it away.
    pub fn count_note(&mut self, entity: &EntityKey, by: i64) {
        let place = self.place(entity);
        self.count_ingested(place, by);
    }

    /// Adds a relation that somebody ingested, or takes it away.
    pub fn count_relation(&mut self, relation: IngestedRelation<'_>, by: i64) {
        let (source, target) = (self.place(relation.source), self.place(relation.target));
        self.count_ingested(source, by);
        self.count_ingested(target, by);
        let relation = CountedRelation {
            source,
            lane: link::OTHER_LANE,
            kind: relation.kind.to_owned(),
            target,
            said_by: self.source(relation.said_by),
            said_at: relation.said_at,
            asset: None,
            confidence: millionths(relation.confidence),
        };
        *self.relations.entry(relation).or_default() += by;
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.entities.iter().all(|entity| entity.mentions == 0 && entity.ingested == 0)
            && self.relations.values().all(|count| *count == 0)
    }

    fn count(&mut self, statement: &Statement, by: i64) {
        let mut asset = None;
        for entity in &statement.things {
            let place = self.place(entity);
            if let Some(counted) = self.entities.get_mut(place) {
                counted.mentions += by;
            }
            if kind::is_asset(&entity.kind) && statement.asset.as_deref() == Some(&entity.key) {
                asset = Some(place);
            }
        }
        let said_by = self.source(&statement.said_by);
        for part in &statement.links {
            let relation = CountedRelation {
                source: self.place(&part.source),
                lane: link::lane(part.kind),
                kind: String::new(),
                target: self.place(&part.target),
                said_by,
                said_at: statement.said_at,
                asset,
                confidence: millionths(part.confidence),
            };
            *self.relations.entry(relation).or_default() += by;
        }
        if statement.pairs.is_empty() {
            return;
        }
        let hub = self.source("hub");
        for (one, other) in &statement.pairs {
            let (one, other) = (self.place(one), self.place(other));
            let id = |place: usize| self.entities.get(place).map(|entity| entity.id);
            let (source, target) = if id(one) <= id(other) { (one, other) } else { (other, one) };
            let relation = CountedRelation {
                source,
                lane: link::lane(link::CO_OCCURS),
                kind: String::new(),
                target,
                said_by: hub,
                said_at: 0,
                asset: None,
                confidence: millionths(1.0),
            };
            *self.relations.entry(relation).or_default() += by;
        }
    }

    fn count_ingested(&mut self, place: usize, by: i64) {
        if let Some(counted) = self.entities.get_mut(place) {
            counted.ingested += by;
        }
    }

    fn place(&mut self, entity: &EntityKey) -> usize {
        if let Some(place) = self.entity_places.get(entity) {
            return *place;
        }
        let place = self.entities.len();
        self.entities.push(CountedEntity {
            id: entity.id(),
            entity: entity.clone(),
            mentions: 0,
            ingested: 0,
        });
        self.entity_places.insert(entity.clone(), place);
        place
    }

    fn source(&mut self, name: &str) -> usize {
        if let Some(place) = self.source_places.get(name) {
            return *place;
        }
        let place = self.sources.len();
        self.sources.push(name.to_owned());
        self.source_places.insert(name.to_owned(), place);
        place
    }
}
