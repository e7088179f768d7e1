//! Whether the index holds what the database says.
//!
//! Two things are compared: what each subject says now with what the index remembers of it, and the graph with what all
//! that is remembered adds up to. Sums are kept as one number each, so however large the graph is, this takes no memory
//! for it.

use super::edges::{Edge, EdgeRow};
use super::facts::{AssetBody, Facts};
use super::sync::{LogHeads, compare_all};
use super::{link_name, refcounts};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::graph::{CountedRelation, StatementSum, names};
use capsid_rules::meaning::MeaningTerms;
use capsid_rules::meaning::terms::encode_term;
use std::collections::BTreeMap;

/// Numbers of entities and relations, added up, each as often as it counts.
#[derive(Debug, Default, PartialEq, Eq)]
struct GraphTotals {
    entities: u64,
    relations: u64,
    /// How often entities were told of.
    told: i64,
}

/// What a look at the index finds.
pub(crate) enum GraphCheck {
    /// It follows the database and is behind just now, so nothing can be compared.
    Behind,
    /// What differs, in sentences.
    Compared(Vec<String>),
}

/// Compares the index with the database.
pub(crate) fn check(tx: &mut dyn Tx) -> Result<GraphCheck> {
    let heads = LogHeads::load(tx)?;
    if heads.lag(tx.index()?)?.waiting > 0 {
        return Ok(GraphCheck::Behind);
    }
    let mut expected = GraphTotals::default();
    let stale = compare_all(tx, &mut |facts, body| expected.add(facts, body))?;
    let mut problems = Vec::new();
    if stale > 0 {
        problems.push(format!(
            "{stale} assets, reports, tasks, notes or relations say something else than the graph was made of."
        ));
    }
    let index = tx.index()?;
    let mut held = HeldGraph::default();
    held.read_entities(index)?;
    held.read_edges(index)?;
    held.read_terms(index)?;
    if held.wrong_entities > 0 {
        problems.push(format!("{} things have the wrong number, or nobody names them.", held.wrong_entities));
    }
    if held.entities != expected.entities {
        problems
            .push("The things of the graph are not those that assets, reports and tasks name.".to_owned());
    }
    if [held.from_source, held.from_target] != [expected.relations; 2] {
        problems
            .push("The relations of the graph are not those that assets, reports and tasks say.".to_owned());
    }
    if held.told != expected.told {
        problems.push("What was ingested was not counted rightly.".to_owned());
    }
    if held.terms != held.expected_terms {
        problems.push("The terms of things are not those of their names.".to_owned());
    }
    if held.kinds != counted_kinds(index)? {
        problems.push("Things or relations of a kind were not counted rightly.".to_owned());
    }
    Ok(GraphCheck::Compared(problems))
}

fn add(total: &mut u64, number: i64, count: i64) {
    *total = total.wrapping_add(number.cast_unsigned().wrapping_mul(count.cast_unsigned()));
}

/// What makes a relation that relation: its ends and the asset that says so by their ids.
struct RelationText<'a> {
    source: i64,
    lane: i64,
    kind: &'a str,
    target: i64,
    said_by: &'a str,
    said_at: i64,
    asset: Option<i64>,
    confidence: i64,
}

impl RelationText<'_> {
    fn fingerprint(&self) -> i64 {
        let Self { source, lane, kind, target, said_by, said_at, asset, confidence } = self;
        names::number(&format!(
            "{source} {lane} {kind:?} {target} {said_by:?} {said_at} {asset:?} {confidence}"
        ))
    }
}

impl GraphTotals {
    fn add(&mut self, facts: &Facts, body: Option<&AssetBody>) -> Result<()> {
        let mut sum = StatementSum::default();
        facts.count(body, &mut sum, 1)?;
        let id = |place: usize| sum.entities().get(place).map(|counted| counted.id).unwrap_or_default();
        for counted in sum.entities() {
            add(&mut self.entities, counted.id, counted.mentions);
            self.told += counted.ingested;
        }
        for (relation, count) in sum.relations() {
            let CountedRelation { source, lane, kind, target, said_by, said_at, asset, confidence } =
                relation;
            let text = RelationText {
                source: id(*source),
                lane: *lane,
                kind: link_name(*lane, kind),
                target: id(*target),
                said_by: sum.sources().get(*said_by).map_or("", String::as_str),
                said_at: *said_at,
                asset: asset.map(id),
                confidence: *confidence,
            };
            add(&mut self.relations, text.fingerprint(), *count);
        }
        Ok(())
    }
}

/// How many there are of each kind, whether they are relations or not.
type KindCounts = BTreeMap<(bool, String), i64>;

fn counted_kinds(index: &mut dyn Tx) -> Result<KindCounts> {
    let mut kinds = KindCounts::new();
    index.query_each::<(bool, String, i64)>(
        "SELECT is_relation, kind, count FROM kind_counts WHERE count <> 0",
        params![],
        |(is_relation, kind, count)| {
            kinds.insert((is_relation, kind), count);
            Ok(())
        },
    )?;
    Ok(kinds)
}

/// What the graph holds, added up.
#[derive(Default)]
struct HeldGraph {
    entities: u64,
    told: i64,
    wrong_entities: u64,
    /// Relations as their sources and their targets see them.
    from_source: u64,
    from_target: u64,
    /// Terms, and what they should be.
    terms: u64,
    expected_terms: u64,
    kinds: KindCounts,
}

impl HeldGraph {
    fn count_kind(&mut self, is_relation: bool, kind: &str) {
        for kind in [kind, ""] {
            *self.kinds.entry((is_relation, kind.to_owned())).or_default() += 1;
        }
    }

    fn read_entities(&mut self, index: &mut dyn Tx) -> Result<()> {
        index.query_each::<(i64, i64, String, String, i64, i64, Option<String>)>(
            "SELECT id, wire_id, kind, key, mentions, told, terms FROM entities",
            params![],
            |(number, id, kind, key, mentions, told, terms)| {
                let is_own = names::entity_id(&kind, &key) == id;
                add(&mut self.entities, id, mentions);
                self.told += told;
                self.wrong_entities += u64::from(!is_own || mentions < 0 || told < 0 || mentions + told == 0);
                self.count_kind(false, &kind);
                let class = refcounts::mentions_class(mentions + told);
                for term in refcounts::index_terms(&MeaningTerms::read(&terms.unwrap_or_default())) {
                    add(&mut self.expected_terms, term_number(&encode_term(term), class, number), 1);
                }
                Ok(())
            },
        )
    }

    fn read_edges(&mut self, index: &mut dyn Tx) -> Result<()> {
        index.query_each::<(EdgeRow, (i64, i64, Option<i64>), (i64, String))>(
            "SELECT x.lane, x.asserted_at, x.other, x.kind, x.asserted_by, x.asset, x.confidence, x.claims,
                COALESCE(e.wire_id, 0), COALESCE(o.wire_id, 0), a.wire_id, x.entity, COALESCE(s.name, '')
             FROM edges x LEFT JOIN entities e ON e.id = x.entity LEFT JOIN entities o ON o.id = x.other
                LEFT JOIN entities a ON a.id = x.asset LEFT JOIN sources s ON s.id = x.asserted_by",
            params![],
            |(row, (own, other, asset), (entity, said_by))| {
                let is_outgoing = row.0 % 2 == 0;
                let edge = Edge::from_row(entity, row);
                let (source, target) = if is_outgoing { (own, other) } else { (other, own) };
                let text = RelationText {
                    source,
                    lane: edge.lane,
                    kind: link_name(edge.lane, &edge.kind),
                    target,
                    said_by: &said_by,
                    said_at: edge.said_at,
                    asset,
                    confidence: edge.confidence,
                };
                let total = if is_outgoing { &mut self.from_source } else { &mut self.from_target };
                add(total, text.fingerprint(), edge.claims);
                if is_outgoing {
                    self.count_kind(true, text.kind);
                }
                Ok(())
            },
        )
    }

    fn read_terms(&mut self, index: &mut dyn Tx) -> Result<()> {
        index.query_each::<(String, i64, i64)>(
            "SELECT term, mentions_class, entity FROM entity_terms",
            params![],
            |(term, class, entity)| {
                add(&mut self.terms, term_number(&term, class, entity), 1);
                Ok(())
            },
        )
    }
}

fn term_number(term: &str, class: i64, entity: i64) -> i64 {
    names::number(&format!("{term} {class} {entity}"))
}
