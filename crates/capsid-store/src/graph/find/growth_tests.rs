//! However large the graph is, a question reads about as many rows of it.

use super::{matching, related};
use crate::db::raw_row::RawRow;
use crate::db::tx::{Dialect, Param, Tx};
use crate::graph::{self, WalkBounds};
use crate::index::IndexSnapshot;
use crate::{Store, StoreOptions, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::meaning::SemanticQuestion;

/// A snapshot of the index that counts the rows that it gives.
struct CountedIndex {
    snapshot: IndexSnapshot,
    rows: usize,
}

impl Tx for CountedIndex {
    fn dialect(&self) -> Dialect {
        Dialect::Sqlite
    }

    fn run(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        self.snapshot.run(sql, params)
    }

    fn each(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        let rows = &mut self.rows;
        self.snapshot.each(sql, params, &mut |row| {
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
        self.rows += 1;
        self.snapshot.one(sql, params, visit)
    }
}

/// A transaction of the hub with such a snapshot.
struct CountingTx<'t> {
    hub: &'t mut dyn Tx,
    index: CountedIndex,
}

impl Tx for CountingTx<'_> {
    fn index(&mut self) -> Result<&mut dyn Tx> {
        Ok(&mut self.index)
    }

    fn dialect(&self) -> Dialect {
        self.hub.dialect()
    }

    fn run(&mut self, sql: &'static str, params: &[Param<'_>]) -> Result<u64> {
        self.hub.run(sql, params)
    }

    fn each(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        self.hub.each(sql, params, visit)
    }

    fn one(
        &mut self,
        sql: &'static str,
        params: &[Param<'_>],
        visit: &mut dyn FnMut(&dyn RawRow) -> Result<()>,
    ) -> Result<()> {
        self.hub.one(sql, params, visit)
    }
}

/// Entities that are called by three of forty words, each with five relations to others, some of which are named by many.
fn fill(index: &mut dyn Tx, entities: i64) -> Result<()> {
    const NUMBERS: &str =
        "WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < $1)";
    let run = |index: &mut dyn Tx, rest: &str| {
        let sql: &'static str = Box::leak(format!("{NUMBERS} {rest}").into_boxed_str());
        index.run(sql, params![entities]).map(drop)
    };
    run(
        index,
        "INSERT INTO entities (id, wire_id, kind, key, skeleton, mentions, told, terms)
         SELECT n, n * 1000003, 'component', 'part ' || n, n, 0, 6,
            '|m_word' || (n % 40) || ' m_word' || (n / 40 % 40) || ' m_part|' FROM numbers",
    )?;
    for word in ["n % 40", "n / 40 % 40"] {
        run(
            index,
            &format!(
                "INSERT INTO entity_terms (term, mentions_class, entity) SELECT 'm_word' || ({word}), 3, n
                 FROM numbers WHERE TRUE ON CONFLICT DO NOTHING"
            ),
        )?;
    }
    index.run("INSERT INTO sources (id, name) VALUES (1, 'user:u')", params![])?;
    for step in 0..5 {
        let other = match step {
            0 => "n * 7 % 500 + 1".to_owned(),
            step => format!("(n / {} + {step} * 7919) % $1 + 1", step + 1),
        };
        for (lane, from, to) in [(198, "n", other.as_str()), (199, other.as_str(), "n")] {
            run(
                index,
                &format!(
                    "INSERT INTO edges (entity, lane, asserted_at, other, kind, asserted_by, confidence, claims)
                     SELECT {from}, {lane}, -n, {to}, 'needs_{step}', 1, 500000, 1 FROM numbers"
                ),
            )?;
        }
    }
    index.run("INSERT INTO kind_counts VALUES (0, 'component', $1), (0, '', $1)", params![entities])?;
    Ok(())
}

/// Does something, and counts the rows of the index that it is given.
pub(in crate::graph) fn count_rows<T: Send + 'static>(
    store: &Store,
    op: fn(&mut dyn Tx) -> Result<T>,
) -> (T, usize) {
    let index = std::sync::Arc::clone(store.index().unwrap());
    let counted = store.read_now(move |tx| {
        let index = CountedIndex { snapshot: index.snapshot()?, rows: 0 };
        let mut counting = CountingTx { hub: tx, index };
        let done = op(&mut counting)?;
        Ok((done, counting.index.rows))
    });
    counted.unwrap()
}

/// How many rows of a graph of a size are given for a question, for assets that it leads to, for a walk, and for a way.
fn rows(entities: i64) -> [usize; 4] {
    let folder = tempfile::tempdir().unwrap();
    let store = Store::open(&StoreOptions::new(folder.path(), None), Time(1)).unwrap();
    store.index().unwrap().write(|index| fill(index, entities)).unwrap();
    let counted = |op: fn(&mut dyn Tx) -> Result<()>| count_rows(&store, op).1;
    [
        counted(|tx| {
            let found = matching(tx, &SemanticQuestion::parse("word3 word7", &[]), &[], 10)?;
            assert_eq!(found.len(), 10);
            Ok(())
        }),
        counted(|tx| related(tx, &SemanticQuestion::parse("word3 word7", &[]), 10).map(drop)),
        counted(|tx| {
            let bounds = WalkBounds { depth: 2, fan_out: 8, most: 500 };
            let starts: Vec<i64> = (1..9).map(|n| n * 97 * 1_000_003).collect();
            assert!(graph::walk(tx, &starts, bounds)?.steps.len() > 50);
            Ok(())
        }),
        counted(|tx| {
            let bounds = WalkBounds { depth: 6, fan_out: 25, most: 4_000 };
            graph::path(tx, 1_000_003, 5_003 * 1_000_003, bounds).map(drop)
        }),
    ]
}

#[test]
fn a_large_graph_gives_no_more_rows_than_a_small_one() {
    let (small, large) = (rows(20_000), rows(100_000));
    for (what, (small, large)) in ["names", "assets", "walk"].iter().zip(small.into_iter().zip(large)) {
        assert!(large < 2 * small, "{what}: {small} rows of 20,000 entities, {large} of 100,000");
        assert!(large < 20_000, "{what}: {large} rows");
    }
    // Where two ways meet differs, so only the bound is the same.
    assert!(small[3] < 10_000 && large[3] < 10_000, "way: {} and {} rows", small[3], large[3]);
}
