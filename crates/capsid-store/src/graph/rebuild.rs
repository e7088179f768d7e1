//! Making the hub's part of the graph again from what it follows from. What was told stays.

use super::membership::{GraphAssetRow, GraphBundleRow, GraphReportRow, GraphSolutionRow, in_graph};
use super::property_words::rebuild_property_words;
use super::refcounts::{add_words, apply};
use crate::db::row::select;
use crate::db::tx::{Dialect, Tx};
use crate::params;
use crate::store::Store;
use capsid_model::problem::Result;
use capsid_rules::graph::{EntityKey, Statement, StatementSum, link, task_statement};
use serde::Serialize;

/// How many rows are looked at together.
const TOGETHER: i64 = 200;

/// What was said again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RebuildSummary {
    pub statements: u64,
    /// How many things there are now, those that were told included.
    pub things: u64,
    pub relations: u64,
}

/// Is told what is being read, how much of it was done, and how much there is.
pub type RebuildProgress<'a> = &'a mut dyn FnMut(&'static str, u64, u64);

/// Makes the hub's part again. All of it is one transaction: whoever is killed in the middle has changed nothing.
/// Others that would change the graph wait for it.
pub fn rebuild(tx: &mut dyn Tx, progress: RebuildProgress<'_>) -> Result<RebuildSummary> {
    if tx.dialect() == Dialect::Postgres {
        tx.run(
            "LOCK TABLE graph_entities, graph_words, graph_property_words, graph_relations IN SHARE ROW EXCLUSIVE MODE",
            params![],
        )?;
    }
    tx.run("DELETE FROM graph_relations WHERE is_told = 0", params![])?;
    tx.run("UPDATE graph_relations SET lane = $1 WHERE lane <> $1", params![link::OTHER_LANE])?;
    tx.run("DELETE FROM graph_entities WHERE told = 0", params![])?;
    tx.run("UPDATE graph_entities SET mentions = 0", params![])?;
    tx.run("DELETE FROM graph_words", params![])?;
    words_of_told(tx)?;
    rebuild_property_words(tx)?;
    let mut rebuilt = RebuildSummary::default();
    every(tx, progress, &mut |tx, statements| {
        let mut sum = StatementSum::default();
        statements.iter().for_each(|statement| sum.add_statement(statement));
        rebuilt.statements += statements.len() as u64;
        apply(tx, &sum)
    })?;
    rebuilt.things = tx.count("SELECT COUNT(*) FROM graph_entities", params![])?.unsigned_abs();
    rebuilt.relations = tx.count("SELECT COUNT(*) FROM graph_relations", params![])?.unsigned_abs();
    Ok(rebuilt)
}

/// Fills the graph of a hub that had none before.
pub(crate) fn fill_if_new(store: &Store) -> Result<()> {
    let lacks = |tx: &mut dyn Tx| {
        let is_empty = !tx.exists("SELECT 1 FROM graph_entities LIMIT 1", params![])?;
        let in_graph = concat!("SELECT 1 FROM assets WHERE status IN ", in_graph!(), " LIMIT 1");
        Ok(is_empty
            && (tx.exists(in_graph, params![])? || tx.exists("SELECT 1 FROM tasks LIMIT 1", params![])?))
    };
    if !store.read_now(lacks)? {
        return Ok(());
    }
    tracing::info!("the knowledge graph is made of what the hub holds");
    store.write_now(move |tx| {
        // Another hub may have done it meanwhile.
        if lacks(tx)? {
            rebuild(tx, &mut |_, _, _| {})?;
        }
        Ok(())
    })
}

fn words_of_told(tx: &mut dyn Tx) -> Result<()> {
    let mut after = i64::MIN;
    loop {
        let page = tx.query_all::<(i64, String, String)>(
            "SELECT id, kind, key FROM graph_entities WHERE id > $1 ORDER BY id LIMIT $2",
            params![after, TOGETHER],
        )?;
        let Some((last, ..)) = page.last() else { return Ok(()) };
        after = *last;
        let things: Vec<EntityKey> = page.into_iter().map(|(_, kind, key)| EntityKey { kind, key }).collect();
        add_words(tx, &things.iter().collect::<Vec<_>>())?;
    }
}

/// Takes some statements.
pub(super) type StatementSink<'a> = &'a mut dyn FnMut(&mut dyn Tx, &[Statement]) -> Result<()>;

/// Every statement that stands, some at a time.
pub(super) fn every(tx: &mut dyn Tx, progress: RebuildProgress<'_>, take: StatementSink<'_>) -> Result<()> {
    let total = tx.count("SELECT COUNT(*) FROM assets", params![])?.unsigned_abs();
    let (mut after, mut done) = (0, 0);
    loop {
        progress("assets", done, total);
        let page = tx.query_all::<GraphAssetRow>(
            select!(
                GraphAssetRow,
                concat!(
                    "FROM assets a WHERE a.seq > $1 AND a.status IN ",
                    in_graph!(),
                    " AND length(a.asset_id) = 32 ORDER BY a.seq LIMIT $2"
                )
            ),
            params![after, TOGETHER],
        )?;
        let Some(last) = page.last() else { break };
        (after, done) = (last.seq, done + page.len() as u64);
        let statements: Vec<Statement> =
            page.iter().map(|asset| asset.statement(tx)).collect::<Result<_>>()?;
        take(tx, &statements)?;
    }
    progress("bundles", 0, 0);
    bundles(tx, take)?;
    progress("reports", 0, 0);
    reports(tx, take)?;
    progress("tasks", 0, 0);
    tasks(tx, take)
}

fn bundles(tx: &mut dyn Tx, take: StatementSink<'_>) -> Result<()> {
    let mut after = String::new();
    loop {
        let page = tx.query_all::<(GraphBundleRow, String)>(
            select!(
                GraphBundleRow,
                concat!(
                    ", b.bundle_id FROM bundles b
                    JOIN assets c ON c.asset_id = b.capsule_id
                 WHERE b.bundle_id > $1 AND c.status IN ",
                    in_graph!(),
                    " ORDER BY b.bundle_id LIMIT $2"
                )
            ),
            params![&after, TOGETHER],
        )?;
        let Some((_, last)) = page.last() else { return Ok(()) };
        after.clone_from(last);
        take(tx, &page.iter().map(|(bundle, _)| bundle.statement()).collect::<Vec<_>>())?;
    }
}

fn reports(tx: &mut dyn Tx, take: StatementSink<'_>) -> Result<()> {
    let mut after = 0;
    loop {
        let page = tx.query_all::<GraphReportRow>(
            select!(
                GraphReportRow,
                concat!(
                    "FROM reports r JOIN assets a ON a.asset_id = r.asset_id
                 WHERE r.seq > $1 AND a.status IN ",
                    in_graph!(),
                    " ORDER BY r.seq LIMIT $2"
                )
            ),
            params![after, TOGETHER],
        )?;
        let Some(last) = page.last() else { return Ok(()) };
        after = last.seq;
        take(tx, &page.iter().filter_map(GraphReportRow::statement).collect::<Vec<_>>())?;
    }
}

fn tasks(tx: &mut dyn Tx, take: StatementSink<'_>) -> Result<()> {
    let mut after = 0;
    loop {
        let page = tx.query_all::<(i64, String, String, i64)>(
            "SELECT seq, task_id, signals, created_at FROM tasks WHERE seq > $1 ORDER BY seq LIMIT $2",
            params![after, TOGETHER],
        )?;
        let Some((last, ..)) = page.last() else { break };
        after = *last;
        let statements = page.iter().map(|(_, task_id, signals, at)| task_statement(task_id, signals, *at));
        take(tx, &statements.collect::<Vec<_>>())?;
    }
    after = 0;
    loop {
        let page = tx.query_all::<(GraphSolutionRow, i64)>(
            select!(
                GraphSolutionRow,
                concat!(
                    ", t.seq FROM tasks t
                    JOIN assets a ON a.asset_id = t.result_asset
                 WHERE t.seq > $1 AND t.completed_at IS NOT NULL AND a.status IN ",
                    in_graph!(),
                    " ORDER BY t.seq LIMIT $2"
                )
            ),
            params![after, TOGETHER],
        )?;
        let Some((_, last)) = page.last() else { return Ok(()) };
        after = *last;
        take(tx, &page.iter().map(|(solution, _)| solution.statement()).collect::<Vec<_>>())?;
    }
}
