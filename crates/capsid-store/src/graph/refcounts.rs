//! Counting statements: things and relations appear with the first that names them and go with the last.
//!
//! However many statements are added or taken away, that is two statements of SQL, a third where things are new, and
//! three more where some go.

use super::index_sql;
use crate::db::tx::Tx;
use crate::{damaged, params};
use capsid_model::problem::Result;
use capsid_rules::graph::{EntityKey, StatementSum, kind, link};
use capsid_rules::meaning::terms::encode_term;
use capsid_rules::meaning::{MeaningTerms, SearchableText};
use serde_json::{Value, json};
use std::collections::HashMap;

/// How many terms a thing is found by.
const MAX_WORDS: usize = 24;
/// How many things or relations go in one statement.
const TOGETHER: usize = 2_000;

/// How much more often a thing is named.
pub struct RefcountChange<'a> {
    pub id: i64,
    pub thing: &'a EntityKey,
    /// By statements of the hub.
    pub mentions: i64,
    pub told: i64,
}

/// Adds a sum of statements to the graph. Tasks are found by what they are called.
pub fn apply_sum(index: &mut dyn Tx, sum: &StatementSum, titles: &HashMap<String, String>) -> Result<()> {
    let counts: Vec<RefcountChange<'_>> = sum
        .things
        .iter()
        .filter(|(_, (_, count))| *count != 0)
        .map(|(id, (thing, count))| RefcountChange { id: *id, thing, mentions: *count, told: 0 })
        .collect();
    count_things(index, &counts, titles)?;
    count_relations(index, sum)
}

/// Counts things, in the order of their numbers.
pub fn count_things(
    index: &mut dyn Tx,
    counts: &[RefcountChange<'_>],
    titles: &HashMap<String, String>,
) -> Result<()> {
    for some in counts.chunks(TOGETHER) {
        let rows: Vec<Value> = some
            .iter()
            .map(|RefcountChange { id, thing, mentions, told }| {
                json!([id, thing.kind, thing.key, thing.look_alike_key(), mentions, told])
            })
            .collect();
        let after = index.query_all(index_sql::COUNT_THINGS, params![&Value::Array(rows).to_string()])?;
        let after: HashMap<i64, (i64, i64)> = after.into_iter().collect();
        let (mut new, mut unreferenced) = (Vec::new(), Vec::new());
        for count in some {
            let missing = || damaged(format!("The thing {} is not there after it was counted.", count.id));
            let (mentions, told) = *after.get(&count.id).ok_or_else(missing)?;
            if (mentions, told) == (count.mentions, count.told) && mentions + told > 0 {
                new.push(count.thing);
            }
            if mentions <= 0 && told <= 0 {
                unreferenced.push(count.id);
            }
        }
        add_terms(index, &new, titles)?;
        delete_unreferenced(index, &unreferenced)?;
    }
    Ok(())
}

fn delete_unreferenced(index: &mut dyn Tx, ids: &[i64]) -> Result<()> {
    if ids.is_empty() {
        return Ok(());
    }
    let ids = json!(ids).to_string();
    index.run(index_sql::DELETE_THINGS, params![&ids])?;
    index.run(index_sql::DELETE_TERMS, params![&ids])?;
    Ok(())
}

fn count_relations(index: &mut dyn Tx, sum: &StatementSum) -> Result<()> {
    let changed: Vec<_> = sum.relations.iter().filter(|(_, (_, count))| *count != 0).collect();
    for some in changed.chunks(TOGETHER) {
        let rows: Vec<Value> = some
            .iter()
            .map(|(id, (relation, count))| {
                let asset = relation.asset.as_deref().and_then(|asset| asset.strip_prefix("sha256:"));
                json!([
                    id,
                    relation.source,
                    relation.kind,
                    relation.target,
                    relation.said_by,
                    relation.said_at,
                    asset,
                    relation.confidence,
                    count,
                    link::lane(&relation.kind)
                ])
            })
            .collect();
        let rows = Value::Array(rows).to_string();
        let left = index.query_all::<(i64, i64)>(index_sql::COUNT_RELATIONS, params![&rows])?;
        let gone: Vec<i64> = left.into_iter().filter(|(_, claims)| *claims <= 0).map(|(id, _)| id).collect();
        if !gone.is_empty() {
            index.run(index_sql::DELETE_RELATIONS, params![&json!(gone).to_string()])?;
        }
    }
    Ok(())
}

/// Lets things be found by their names. Assets are found by the search index, nodes only by their ids.
fn add_terms(index: &mut dyn Tx, things: &[&EntityKey], titles: &HashMap<String, String>) -> Result<()> {
    let named = things.iter().filter(|thing| !kind::is_asset(&thing.kind) && thing.kind != kind::NODE);
    let mut rows: Vec<Value> = Vec::new();
    for thing in named {
        let name = titles.get(&thing.key).filter(|_| thing.kind == kind::TASK).unwrap_or(&thing.key);
        let id = thing.id();
        rows.extend(terms_of(name).iter().map(|term| json!([encode_term(term), id])));
    }
    for some in rows.chunks(TOGETHER) {
        index.run(index_sql::ADD_TERMS, params![&json!(some).to_string()])?;
    }
    Ok(())
}

/// The terms that a name is found by.
pub fn terms_of(name: &str) -> Vec<String> {
    let meaning = MeaningTerms::parse(&SearchableText { title: name, ..SearchableText::default() });
    meaning.terms().into_iter().take(MAX_WORDS).map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::db::raw_row::RawRow;
    use crate::db::tx::{Dialect, Param};
    use crate::{Store, StoreOptions};
    use capsid_model::time::Time;
    use capsid_rules::graph::{PublishedAssetFacts, asset_statement, bundle_statement};
    use capsid_rules::lifecycle::AssetType;

    /// A transaction that counts its statements.
    struct Counting<'t>(&'t mut dyn Tx, usize);

    impl Tx for Counting<'_> {
        fn dialect(&self) -> Dialect {
            self.0.dialect()
        }

        fn run(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
            self.1 += 1;
            self.0.run(sql, params)
        }

        fn each(
            &mut self,
            sql: &'static str,
            params: &[Param<'_>],
            visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
        ) -> Result<()> {
            self.1 += 1;
            self.0.each(sql, params, visit)
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

    /// What the bundle of a number says, all with the same signals.
    fn bundle(n: u8) -> StatementSum {
        let id = |kind: u8| format!("sha256:{}", capsid_model::hash::hex(&[n, kind].repeat(16)));
        let signals: Vec<String> = (0..12).map(|n| format!("signal_{n}")).collect();
        let body = serde_json::json!({"signals_match": signals, "trigger": signals, "confidence": 0.9,
            "env_fingerprint": {"platform": "linux", "arch": "x64"}})
        .to_string();
        let mut sum = StatementSum::default();
        for (kind, asset_type) in
            [(0, AssetType::Gene), (1, AssetType::Capsule), (2, AssetType::EvolutionEvent)]
        {
            let (asset_id, node_id) = (&id(kind), "node_a");
            sum.add_statement(&asset_statement(&PublishedAssetFacts {
                asset_id,
                asset_type,
                node_id,
                created_at: 7,
                body: &body,
                origins: &[],
            }));
        }
        sum.add_statement(&bundle_statement(&id(1), "node_a", 7, &id(0), Some(&id(2))));
        sum
    }

    #[test]
    fn a_publish_costs_two_or_three_statements() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(&StoreOptions::new(folder.path(), None), Time(1)).unwrap();
        let apply_to = |n: u8| {
            store.index().unwrap().write(move |tx| {
                let mut counting = Counting(tx, 0);
                apply_sum(&mut counting, &bundle(n), &HashMap::new())?;
                Ok(counting.1)
            })
        };
        assert_eq!(apply_to(1).unwrap(), 3, "with new signals");
        assert_eq!(apply_to(2).unwrap(), 2, "with known ones");
        let rows = |sql: &'static str| store.read_now(move |tx| tx.index()?.count(sql, params![])).unwrap();
        assert_eq!(rows("SELECT COUNT(*) FROM entities"), 12 + 2 + 2 * 3);
        assert_eq!(rows("SELECT MAX(claims) FROM relations WHERE kind = 'co_occurs'"), 4);
        assert_eq!(rows("SELECT mentions FROM entities WHERE key = 'signal_0'"), 4);
    }
}
