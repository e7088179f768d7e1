//! Statements added up: what is to be counted up or down, in the order of the numbers.

use super::{EntityKey, Statement, link, names};
use std::collections::BTreeMap;

/// A relation as it is kept, without how often it is said.
#[derive(Debug, Clone, PartialEq)]
pub struct CountedRelation {
    pub source: i64,
    pub kind: String,
    pub target: i64,
    pub said_by: String,
    /// When, in milliseconds; 0 for what is only counted.
    pub said_at: i64,
    /// The asset that says so.
    pub asset: Option<String>,
    /// 0 to 1.
    pub confidence: f64,
}

/// The number of a relation. Those that were ingested have numbers of their own, so that nobody can count up, or take
/// away, what the hub says.
pub fn relation_id(source: i64, kind: &str, target: i64, said_by: &str, is_told: bool) -> i64 {
    names::number(&format!("{source}\0{kind}\0{target}\0{said_by}\0{is_told}"))
}

impl CountedRelation {
    /// Its number.
    pub fn id(&self) -> i64 {
        relation_id(self.source, &self.kind, self.target, &self.said_by, false)
    }
}

/// What some statements change. Counts of 0 change nothing.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct StatementSum {
    /// Things by their numbers, and how many statements more, or fewer, name them.
    pub things: BTreeMap<i64, (EntityKey, i64)>,
    /// Relations by their numbers, and how many statements more, or fewer, say so.
    pub relations: BTreeMap<i64, (CountedRelation, i64)>,
}

impl StatementSum {
    /// Adds a statement.
    pub fn add_statement(&mut self, statement: &Statement) {
        self.count(statement, 1);
    }

    /// Takes a statement away.
    pub fn unsay(&mut self, statement: &Statement) {
        self.count(statement, -1);
    }

    /// Whether it changes nothing.
    pub fn is_empty(&self) -> bool {
        self.things.values().all(|(_, count)| *count == 0)
            && self.relations.values().all(|(_, count)| *count == 0)
    }

    fn count(&mut self, statement: &Statement, by: i64) {
        let mut ids = BTreeMap::new();
        for thing in &statement.things {
            let id = thing.id();
            if ids.insert(thing, id).is_none() {
                self.things.entry(id).or_insert_with(|| (thing.clone(), 0)).1 += by;
            }
        }
        let id = |thing: &EntityKey| ids.get(thing).copied().unwrap_or_else(|| thing.id());
        for part in &statement.links {
            let said = CountedRelation {
                source: id(&part.source),
                kind: part.kind.to_owned(),
                target: id(&part.target),
                said_by: statement.said_by.clone(),
                said_at: statement.said_at,
                asset: statement.asset.clone(),
                confidence: part.confidence,
            };
            self.relations.entry(said.id()).or_insert((said, 0)).1 += by;
        }
        for (one, other) in &statement.pairs {
            let (one, other) = (id(one), id(other));
            let said = CountedRelation {
                source: one.min(other),
                kind: link::CO_OCCURS.to_owned(),
                target: one.max(other),
                said_by: "hub".to_owned(),
                said_at: 0,
                asset: None,
                confidence: 1.0,
            };
            self.relations.entry(said.id()).or_insert((said, 0)).1 += by;
        }
    }
}
