//! Counting statements: entities and relations appear with the first that names them and go with the last.
//!
//! A step adds up what it changes and writes every row once, in the order of the rows, so each page is written once a step.

use super::{entity_rows, index_sql, link_name};
use crate::db::tx::Tx;
use crate::{damaged, params};
use capsid_model::problem::Result;
use capsid_rules::graph::{CountedEntity, CountedRelation, StatementSum, kind};
use capsid_rules::meaning::terms::encode_term;
use capsid_rules::meaning::{MeaningTerms, SearchableText};
use std::collections::{BTreeMap, BTreeSet, HashMap};

/// How many terms an entity is found by.
const MAX_WORDS: usize = 24;

/// The numbers of the entities and sources of a sum, by their places in it.
struct SumNumbers {
    entities: Vec<Option<i64>>,
    sources: Vec<i64>,
}

impl SumNumbers {
    fn entity(&self, place: usize) -> Result<i64> {
        let missing = || damaged("A relation names an entity that nothing names.");
        self.entities.get(place).copied().flatten().ok_or_else(missing)
    }

    fn source(&self, place: usize) -> Result<i64> {
        self.sources.get(place).copied().ok_or_else(|| damaged("A relation has no source."))
    }
}

/// Adds a sum of statements to the graph. Tasks are found by what they are called.
pub(super) fn apply_sum(
    index: &mut dyn Tx,
    sum: &StatementSum,
    titles: &HashMap<String, String>,
) -> Result<()> {
    let mut change = GraphChange::default();
    let entities = change.count_entities(index, sum.entities(), titles)?;
    let sources =
        sum.sources().iter().map(|name| entity_rows::source_number(index, name)).collect::<Result<_>>()?;
    let numbers = SumNumbers { entities, sources };
    change.count_relations(index, sum, &numbers)?;
    change.write_terms(index)?;
    change.entities.write(index, false)?;
    change.relations.write(index, true)
}

/// Rows that are written at the end of a step, in their order.
#[derive(Default)]
struct GraphChange {
    /// Terms, classes and entities, and whether they are added.
    terms: BTreeMap<(String, i64, i64), bool>,
    /// How many more entities and relations there are of each kind.
    entities: KindChange,
    relations: KindChange,
}

/// How many more there are of each kind.
#[derive(Default)]
struct KindChange(BTreeMap<String, i64>);

impl KindChange {
    fn count(&mut self, kind: &str, by: i64) {
        match self.0.get_mut(kind) {
            Some(count) => *count += by,
            None => drop(self.0.insert(kind.to_owned(), by)),
        }
    }

    /// Counts each kind, and all of them as the kind ''.
    fn write(&self, index: &mut dyn Tx, is_relation: bool) -> Result<()> {
        let all = ("", self.0.values().sum::<i64>());
        let each = self.0.iter().map(|(kind, by)| (kind.as_str(), *by));
        for (kind, by) in each.chain([all]).filter(|(_, by)| *by != 0) {
            index.run(index_sql::COUNT_KIND, params![is_relation, kind, by])?;
        }
        Ok(())
    }
}

impl GraphChange {
    fn count_entities(
        &mut self,
        index: &mut dyn Tx,
        counted: &[CountedEntity],
        titles: &HashMap<String, String>,
    ) -> Result<Vec<Option<i64>>> {
        let mut known: Vec<Option<(i64, i64, i64)>> = vec![None; counted.len()];
        let mut sorted: Vec<(usize, &CountedEntity)> = counted.iter().enumerate().collect();
        sorted.sort_unstable_by_key(|(_, counted)| counted.id);
        for (place, counted) in sorted {
            if let Some(known) = known.get_mut(place) {
                *known = index.query_first(index_sql::FIND_ENTITY, params![counted.id])?;
            }
        }
        let mut newest = index.count("SELECT COALESCE(MAX(id), 0) FROM entities", params![])?;
        let mut numbers = Vec::with_capacity(counted.len());
        for (counted, known) in counted.iter().zip(known) {
            if known.is_none() && counted.mentions + counted.ingested > 0 {
                newest += 1;
                self.add_entity(index, newest, counted, titles)?;
                numbers.push(Some(newest));
                continue;
            }
            if let Some(known) = known.filter(|_| (counted.mentions, counted.ingested) != (0, 0)) {
                self.count_entity(index, counted, known)?;
            }
            numbers.push(known.map(|(number, ..)| number));
        }
        Ok(numbers)
    }

    fn add_entity(
        &mut self,
        index: &mut dyn Tx,
        number: i64,
        counted: &CountedEntity,
        titles: &HashMap<String, String>,
    ) -> Result<()> {
        let CountedEntity { id, entity, mentions, ingested } = counted;
        let terms = has_terms(&entity.kind).then(|| {
            let name = titles.get(&entity.key).filter(|_| entity.kind == kind::TASK).unwrap_or(&entity.key);
            MeaningTerms::parse(&SearchableText { title: name, ..SearchableText::default() })
        });
        let line = terms.as_ref().map(MeaningTerms::line);
        let added = index.run(
            index_sql::ADD_ENTITY,
            params![
                number,
                *id,
                &entity.kind,
                &entity.key,
                entity.look_alike_key(),
                *mentions,
                *ingested,
                &line
            ],
        )?;
        must_be_one(added, *id)?;
        self.entities.count(&entity.kind, 1);
        if let Some(terms) = &terms {
            self.set_terms(terms, mentions_class(mentions + ingested), number, true);
        }
        Ok(())
    }

    /// Counts an entity that is there: by its number, how often it was mentioned, and told of.
    fn count_entity(
        &mut self,
        index: &mut dyn Tx,
        counted: &CountedEntity,
        (number, mentions, told): (i64, i64, i64),
    ) -> Result<()> {
        let (mentions_now, told_now) = (mentions + counted.mentions, told + counted.ingested);
        let is_gone = mentions_now <= 0 && told_now <= 0;
        let (before, after) = (mentions_class(mentions + told), mentions_class(mentions_now + told_now));
        if has_terms(&counted.entity.kind) && (is_gone || before != after) {
            let line = index
                .query_first::<Option<String>>("SELECT terms FROM entities WHERE id = $1", params![number])?;
            let terms = MeaningTerms::read(&line.flatten().unwrap_or_default());
            self.set_terms(&terms, before, number, false);
            if !is_gone {
                self.set_terms(&terms, after, number, true);
            }
        }
        if is_gone {
            self.entities.count(&counted.entity.kind, -1);
            must_be_one(index.run(index_sql::DELETE_ENTITY, params![number])?, counted.id)?;
        } else {
            let changed = index.run(index_sql::COUNT_ENTITY, params![number, mentions_now, told_now])?;
            must_be_one(changed, counted.id)?;
        }
        Ok(())
    }

    fn set_terms(&mut self, terms: &MeaningTerms, class: i64, number: i64, is_added: bool) {
        for term in index_terms(terms) {
            self.terms.insert((encode_term(term), class, number), is_added);
        }
    }

    fn count_relations(&mut self, index: &mut dyn Tx, sum: &StatementSum, at: &SumNumbers) -> Result<()> {
        let (mut withdrawn, mut added) = (BTreeSet::new(), BTreeSet::new());
        for (relation, claims) in sum.relations() {
            let rows = if *claims < 0 { &mut withdrawn } else { &mut added };
            if *claims != 0 {
                rows.extend(EdgeChange::both(relation, *claims, at)?);
            }
        }
        // What was said in another way before goes first, for it may be in the same place.
        for change in withdrawn {
            if change.withdraw(index)? && change.is_outgoing() {
                self.relations.count(change.kind_name(), -1);
            }
        }
        for change in added {
            if change.add(index)? && change.is_outgoing() {
                self.relations.count(change.kind_name(), 1);
            }
        }
        Ok(())
    }

    fn write_terms(&self, index: &mut dyn Tx) -> Result<()> {
        for ((term, class, entity), is_added) in &self.terms {
            let sql = if *is_added { index_sql::ADD_TERM } else { index_sql::DELETE_TERM };
            index.run(sql, params![term, *class, *entity])?;
        }
        Ok(())
    }
}

/// A row of an edge, in the order of the table, and how much more often it is said.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct EdgeChange<'s> {
    entity: i64,
    lane: i64,
    asserted_at: i64,
    other: i64,
    kind: &'s str,
    asserted_by: i64,
    asset: Option<i64>,
    confidence: i64,
    claims: i64,
}

impl<'s> EdgeChange<'s> {
    /// A relation as it is seen from both its ends.
    fn both(relation: &'s CountedRelation, claims: i64, at: &SumNumbers) -> Result<[Self; 2]> {
        let (source, target) = (at.entity(relation.source)?, at.entity(relation.target)?);
        let (asserted_by, asset) =
            (at.source(relation.said_by)?, relation.asset.map(|asset| at.entity(asset)));
        let asset = asset.transpose()?;
        let seen_from = |entity: i64, other: i64, lane: i64| Self {
            entity,
            lane,
            asserted_at: -relation.said_at,
            other,
            kind: &relation.kind,
            asserted_by,
            asset,
            confidence: relation.confidence,
            claims,
        };
        let lane = 2 * relation.lane;
        Ok([seen_from(source, target, lane), seen_from(target, source, lane + 1)])
    }

    fn is_outgoing(&self) -> bool {
        self.lane % 2 == 0
    }

    fn kind_name(&self) -> &'s str {
        link_name(self.lane / 2, self.kind)
    }

    /// Counts it up, and tells whether it is new.
    fn add(&self, index: &mut dyn Tx) -> Result<bool> {
        let Self { entity, lane, asserted_at, other, kind, asserted_by, asset, confidence, claims } = self;
        let added = index.run(
            index_sql::ADD_EDGE,
            params![*entity, *lane, *asserted_at, *other, *kind, *asserted_by, *asset, *confidence, *claims],
        )?;
        if added == 0 {
            self.count(index)?;
        }
        Ok(added > 0)
    }

    /// Counts it down, and tells whether that was the last time that it was said.
    fn withdraw(&self, index: &mut dyn Tx) -> Result<bool> {
        self.count(index)?;
        let Self { entity, lane, asserted_at, other, kind, asserted_by, .. } = self;
        let key = params![*entity, *lane, *asserted_at, *other, *kind, *asserted_by];
        Ok(index.run(index_sql::DELETE_EDGE, key)? > 0)
    }

    fn count(&self, index: &mut dyn Tx) -> Result<u64> {
        let Self { entity, lane, asserted_at, other, kind, asserted_by, claims, .. } = self;
        let params = params![*entity, *lane, *asserted_at, *other, *kind, *asserted_by, *claims];
        index.run(index_sql::COUNT_EDGE, params)
    }
}

/// A statement that counts an entity changes its row, or the index has lost it.
fn must_be_one(changed: u64, id: i64) -> Result<()> {
    if changed == 1 {
        return Ok(());
    }
    Err(damaged(format!("The thing {id} is not there after it was counted.")))
}

/// Whether entities of a kind are found by their names. Assets are found by the search index, nodes only by their ids.
fn has_terms(of: &str) -> bool {
    !kind::is_asset(of) && of != kind::NODE
}

/// The terms of a name that the index has.
pub(super) fn index_terms(terms: &MeaningTerms) -> impl Iterator<Item = &str> {
    terms.terms().into_iter().take(MAX_WORDS)
}

/// How many binary digits the number of those has that name an entity, so that it changes seldom.
pub(super) fn mentions_class(named_by: i64) -> i64 {
    i64::from(u64::BITS - named_by.max(0).unsigned_abs().leading_zeros())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Store, StoreOptions};
    use capsid_model::time::Time;
    use capsid_rules::graph::{PublishedAssetFacts, asset_statement, bundle_statement};
    use capsid_rules::lifecycle::AssetType;
    use std::path::Path;

    /// What the bundles of some numbers say: each has a signal of its own and shares others.
    fn bundles(numbers: std::ops::Range<u64>) -> StatementSum {
        let mut sum = StatementSum::default();
        for n in numbers {
            let id = |of: &str| {
                format!("sha256:{}", capsid_model::hash::sha256_hex(format!("{of} {n}").as_bytes()))
            };
            let signals = [format!("own_{n}"), format!("shared_{}", n % 50), "timeout".to_owned()];
            let body = serde_json::json!({"signals_match": signals, "trigger": signals, "confidence": 0.9,
                "env_fingerprint": {"platform": "linux", "arch": "x64"}})
            .to_string();
            let node_id = &format!("node_{}", n % 20);
            let types = [AssetType::Gene, AssetType::Capsule, AssetType::EvolutionEvent];
            for asset_type in types {
                sum.add_statement(&asset_statement(&PublishedAssetFacts {
                    asset_id: &id(asset_type.as_str()),
                    asset_type,
                    node_id,
                    created_at: 1_000 + n as i64,
                    body: &body,
                    origins: &[],
                }));
            }
            let [gene, capsule, event] = types.map(|asset_type| id(asset_type.as_str()));
            sum.add_statement(&bundle_statement(&capsule, node_id, 1_000 + n as i64, &gene, Some(&event)));
        }
        sum
    }

    /// How many bytes a step of a hundred bundles writes.
    fn written(folder: &Path, store: &Store, first: u64) -> u64 {
        let beside = rusqlite::Connection::open(folder.join("index.db")).unwrap();
        beside.query_row("PRAGMA wal_checkpoint(TRUNCATE)", [], |_| Ok(())).unwrap();
        let sum = bundles(first..first + 100);
        store.index().unwrap().write(|tx| apply_sum(tx, &sum, &HashMap::new())).unwrap();
        std::fs::metadata(folder.join("index.db-wal")).unwrap().len()
    }

    #[test]
    fn a_step_writes_three_pages_a_bundle_at_most_however_large_the_graph_is() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path(), None), Time(1)).unwrap();
        let fill = |numbers| {
            let sum = bundles(numbers);
            store.index().unwrap().write(|tx| apply_sum(tx, &sum, &HashMap::new())).unwrap();
        };
        fill(0..300);
        let small = written(folder.path(), &store, 300);
        fill(400..3_000);
        let large = written(folder.path(), &store, 3_000);
        let rows = |sql: &'static str| store.read_now(move |tx| tx.index()?.count(sql, params![])).unwrap();
        assert_eq!(rows("SELECT COUNT(*) FROM entities"), 3_100 * 4 + 50 + 20 + 2);
        assert_eq!(rows("SELECT MAX(claims) FROM edges WHERE lane = 16"), 2 * 62);
        // New rows fill pages of their own; of the others, each is written once a step.
        assert!(small.max(large) < 3 * 100 * 8_192, "{small} and {large} bytes");
    }

    #[test]
    fn what_is_added_and_withdrawn_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path(), None), Time(1)).unwrap();
        let apply = |sum: &StatementSum| {
            store.index().unwrap().write(|tx| apply_sum(tx, sum, &HashMap::new())).unwrap();
        };
        let task = |by: i64| {
            let statement = capsid_rules::graph::task_statement("task_1", "timeout,shared_1", 7);
            let mut sum = StatementSum::default();
            match by > 0 {
                true => sum.add_statement(&statement),
                false => sum.unsay(&statement),
            }
            sum
        };
        let dump = || store.read_now(crate::graph::dump).unwrap();
        apply(&bundles(0..10));
        let before = dump();
        apply(&task(1));
        assert_ne!(dump(), before);
        apply(&task(-1));
        assert_eq!(dump(), before);
    }
}
