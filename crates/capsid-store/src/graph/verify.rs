//! Whether the hub's part of the graph is what its statements add up to.
//!
//! Both sides are added up to one number each, so however large the graph is, this takes no memory for it.

use super::Relation;
use super::rebuild::every;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::graph::sum::relation_id;
use capsid_rules::graph::{CountedRelation, StatementSum, link, names};

/// How many rows are looked at together.
const PAGE: i64 = 2_000;

/// Numbers of things and relations, added up, each as often as it counts.
#[derive(Debug, Default, PartialEq, Eq)]
struct GraphTotals {
    things: u64,
    relations: u64,
}

/// Tells what differs, in sentences.
pub(crate) fn check(tx: &mut dyn Tx) -> Result<Vec<String>> {
    let mut expected = GraphTotals::default();
    every(tx, &mut |_, _, _| {}, &mut |_, statements| {
        let mut sum = StatementSum::default();
        statements.iter().for_each(|statement| sum.add_statement(statement));
        for (id, (_, count)) in &sum.things {
            add(&mut expected.things, *id, *count);
        }
        for (id, (relation, count)) in &sum.relations {
            add(&mut expected.relations, fingerprint(*id, relation), *count);
        }
        Ok(())
    })?;
    let mut problems = Vec::new();
    let (counted, ingested) = things(tx, &mut problems)?;
    let (relations, ends) = relations(tx, &mut problems)?;
    if counted != expected.things {
        problems
            .push("The things of the graph are not those that assets, reports and tasks name.".to_owned());
    }
    if relations != expected.relations {
        problems
            .push("The relations of the graph are not those that assets, reports and tasks say.".to_owned());
    }
    let notes = tx.count("SELECT COUNT(*) FROM graph_notes", params![])?;
    if ingested != notes + ends {
        problems.push("What was ingested was not counted rightly.".to_owned());
    }
    Ok(problems)
}

fn add(total: &mut u64, number: i64, count: i64) {
    *total = total.wrapping_add(number.cast_unsigned().wrapping_mul(count.cast_unsigned()));
}

fn fingerprint(id: i64, relation: &CountedRelation) -> i64 {
    let asset = relation.asset.as_deref().unwrap_or_default();
    names::number(&format!("{id} {} {asset} {}", relation.said_at, relation.confidence))
}

/// Adds up the things; also how often they were told of.
fn things(tx: &mut dyn Tx, problems: &mut Vec<String>) -> Result<(u64, i64)> {
    let (mut total, mut ingested, mut wrong, mut after) = (0, 0, 0_u64, i64::MIN);
    loop {
        let page = tx.query_all::<(i64, String, String, i64, i64)>(
            "SELECT id, kind, key, mentions, told FROM graph_entities WHERE id > $1 ORDER BY id LIMIT $2",
            params![after, PAGE],
        )?;
        let Some((last, ..)) = page.last() else { break };
        after = *last;
        for (id, kind, key, mentions, told_here) in page {
            let is_own = names::entity_id(&kind, &key) == id;
            add(&mut total, id, mentions);
            ingested += told_here;
            wrong += u64::from(!is_own || mentions < 0 || told_here < 0 || mentions + told_here == 0);
        }
    }
    if wrong > 0 {
        problems.push(format!("{wrong} things have the wrong number, or nobody names them."));
    }
    Ok((total, ingested))
}

/// Adds up the hub's relations; also how many ends those have that were told.
fn relations(tx: &mut dyn Tx, problems: &mut Vec<String>) -> Result<(u64, i64)> {
    let (mut total, mut ends, mut wrong, mut after) = (0, 0, 0_u64, i64::MIN);
    loop {
        let page = tx.query_all::<(Relation, i64, i64)>(
            "SELECT source, kind, target, said_by, said_at, asset_id, confidence, claims, is_told, id, lane
             FROM graph_relations WHERE id > $1 ORDER BY id LIMIT $2",
            params![after, PAGE],
        )?;
        let Some((_, last, _)) = page.last() else { break };
        after = *last;
        for (relation, id, lane) in page {
            let Relation { source, target, is_told, claims, .. } = relation;
            let own_lane = if is_told { link::OTHER_LANE } else { link::lane(&relation.kind) };
            let own_id = relation_id(source, &relation.kind, target, &relation.said_by, is_told);
            wrong += u64::from(own_id != id || own_lane != lane);
            if is_told {
                ends += 2;
                continue;
            }
            let relation_now = CountedRelation {
                source,
                kind: relation.kind,
                target,
                said_by: relation.said_by,
                said_at: relation.said_at.unwrap_or_default(),
                asset: relation.asset_id.map(|id| id.to_string()),
                confidence: relation.confidence,
            };
            add(&mut total, fingerprint(id, &relation_now), claims);
        }
    }
    if wrong > 0 {
        problems.push(format!("{wrong} relations have the wrong number or lane."));
    }
    Ok((total, ends))
}
