//! What is said at a moment: which statements stand, and what changes when something is published, reported, solved or
//! taken away.
//!
//! An asset is in the graph while it is candidate, promoted, stale or archived. With it stand the reports on it, the
//! bundles of a capsule, and the tasks that it solves.

use super::refcounts::apply;
use crate::assets::AssetRow;
use crate::assets::id::AssetId;
use crate::db::tx::{Row, Tx};
use crate::params;
use crate::registry::publish::NewAsset;
use crate::work::tasks::TaskRow;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::graph::statement::origins_named;
use capsid_rules::graph::{
    PublishedAssetFacts, ReportedOutcome, Statement, StatementSum, asset_statement, bundle_statement,
    report_statement, solution_statement, task_statement,
};
use capsid_rules::lifecycle::{AssetStatus, AssetType};

/// Says or unsays a statement.
type ApplyStatement = fn(&mut StatementSum, &Statement);

/// How many reports are looked at together.
const REPORTS_TOGETHER: i64 = 1_000;

/// The states in which an asset is in the graph, as a list in SQL; [`is_in`] says the same.
macro_rules! in_graph {
    () => {
        "('candidate', 'promoted', 'stale', 'archived')"
    };
}
pub(super) use in_graph;

/// Whether an asset in a state is in the graph.
pub fn is_in_graph(status: AssetStatus) -> bool {
    !status.is_unusable()
}

/// A bundle as it is linked now, and the event that it had before.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkedBundle<'a> {
    pub gene: &'a AssetId,
    pub capsule: &'a AssetId,
    /// When the capsule was published.
    pub created_at: i64,
    pub event: Option<&'a AssetId>,
    /// What it was linked with before, if it was.
    pub before: Option<Option<AssetId>>,
}

/// A bundle was published: these assets are new, and a bundle links them where its capsule is in the graph.
pub(crate) fn add_bundle(
    tx: &mut dyn Tx,
    node_id: &str,
    new: &[&NewAsset],
    linked: Option<LinkedBundle<'_>>,
    now: Time,
) -> Result<()> {
    let mut sum = StatementSum::default();
    for asset in new {
        let id = asset.asset_id.to_string();
        let origins = origins(tx, &asset.asset_id, &asset.body)?;
        sum.add_statement(&asset_statement(&PublishedAssetFacts {
            asset_id: &id,
            asset_type: asset.asset_type,
            node_id,
            created_at: now.0,
            body: &asset.body,
            origins: &origins,
        }));
    }
    if let Some(linked) = linked {
        let bundle = |event: Option<&AssetId>| {
            let (gene, event) = (linked.gene.to_string(), event.map(AssetId::to_string));
            bundle_statement(&linked.capsule.to_string(), node_id, linked.created_at, &gene, event.as_deref())
        };
        if let Some(before) = &linked.before {
            sum.unsay(&bundle(before.as_ref()));
        }
        // A bundle keeps the event that it was first linked with.
        let first = linked.before.flatten();
        sum.add_statement(&bundle(first.as_ref().or(linked.event)));
    }
    apply(tx, &sum)
}

/// The assets that one says it comes from, and that were there before it.
fn origins(tx: &mut dyn Tx, id: &AssetId, body: &str) -> Result<Vec<(AssetType, String)>> {
    let mut origins = Vec::new();
    for named in origins_named(body) {
        let Some(origin) = AssetId::parse(&named) else { continue };
        let found = tx.first(
            "SELECT o.asset_type FROM assets o JOIN assets a ON a.asset_id = $2
             WHERE o.asset_id = $1 AND o.seq < a.seq",
            params![&origin, id],
            |row| Ok(AssetType::parse(row.text(0)?)),
        )?;
        origins.extend(found.flatten().map(|asset_type| (asset_type, named)));
    }
    Ok(origins)
}

/// An asset's state changed: what it says, and what is said with it, enters or leaves.
pub(crate) fn moved(tx: &mut dyn Tx, asset: &AssetRow, to: AssetStatus) -> Result<()> {
    match (is_in_graph(asset.status), is_in_graph(to)) {
        (true, false) => each_with(tx, &asset.asset_id, StatementSum::unsay),
        (false, true) => add_asset(tx, &asset.asset_id),
        _ => Ok(()),
    }
}

/// An asset enters with what is said with it.
pub(crate) fn add_asset(tx: &mut dyn Tx, id: &AssetId) -> Result<()> {
    each_with(tx, id, StatementSum::add_statement)
}

/// An asset as it is kept.
pub(super) struct GraphAssetRow {
    pub seq: i64,
    pub asset_id: AssetId,
    asset_type: AssetType,
    node_id: String,
    created_at: i64,
    body: String,
}

impl GraphAssetRow {
    pub fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            seq: row.int(0)?,
            asset_id: AssetId::read(row, 1)?,
            asset_type: AssetType::parse(row.text(2)?).unwrap_or(AssetType::Capsule),
            node_id: row.string(3)?,
            created_at: row.int(4)?,
            body: row.string(5)?,
        })
    }

    /// What it says.
    pub fn statement(&self, tx: &mut dyn Tx) -> Result<Statement> {
        let origins = origins(tx, &self.asset_id, &self.body)?;
        Ok(asset_statement(&PublishedAssetFacts {
            asset_id: &self.asset_id.to_string(),
            asset_type: self.asset_type,
            node_id: &self.node_id,
            created_at: self.created_at,
            body: &self.body,
            origins: &origins,
        }))
    }
}

/// Adds or takes away all that stands with an asset.
fn each_with(tx: &mut dyn Tx, id: &AssetId, count: ApplyStatement) -> Result<()> {
    let asset = tx.first(
        "SELECT seq, asset_id, asset_type, node_id, created_at, body FROM assets WHERE asset_id = $1",
        params![id],
        GraphAssetRow::read,
    )?;
    let Some(asset) = asset else { return Ok(()) };
    let mut sum = StatementSum::default();
    count(&mut sum, &asset.statement(tx)?);
    let bundles = tx.all(
        "SELECT b.capsule_id, c.node_id, c.created_at, b.gene_id, b.event_id FROM bundles b
            JOIN assets c ON c.asset_id = b.capsule_id WHERE b.capsule_id = $1 ORDER BY b.bundle_id",
        params![id],
        bundle,
    )?;
    let solutions = tx.all(
        "SELECT t.task_id, a.asset_type, a.asset_id, a.node_id, t.completed_at FROM tasks t
            JOIN assets a ON a.asset_id = t.result_asset WHERE t.result_asset = $1 ORDER BY t.seq",
        params![id],
        solution,
    )?;
    bundles.iter().chain(&solutions).for_each(|statement| count(&mut sum, statement));
    apply(tx, &sum)?;
    let mut after = 0;
    loop {
        let reports = tx.all(
            "SELECT r.seq, a.asset_type, a.asset_id, r.node_id, r.label, r.overall_ok, r.weight, r.env_fingerprint_key,
                r.created_at FROM reports r JOIN assets a ON a.asset_id = r.asset_id
             WHERE r.asset_id = $1 AND r.seq > $2 ORDER BY r.seq LIMIT $3",
            params![id, after, REPORTS_TOGETHER],
            report,
        )?;
        let Some((last, _)) = reports.last() else { return Ok(()) };
        after = *last;
        let mut sum = StatementSum::default();
        reports.iter().filter_map(|(_, said)| said.as_ref()).for_each(|said| count(&mut sum, said));
        apply(tx, &sum)?;
    }
}

/// What a row of bundles says: capsule, its node and time, gene, event.
pub(super) fn bundle(row: &dyn Row) -> Result<Statement> {
    let (capsule, gene) = (AssetId::read(row, 0)?.to_string(), AssetId::read(row, 3)?.to_string());
    let event = AssetId::read_or(row, 4)?.map(|id| id.to_string());
    Ok(bundle_statement(&capsule, row.text(1)?, row.int(2)?, &gene, event.as_deref()))
}

/// What a row of tasks with a result says: task, the result's type, id and node, time.
pub(super) fn solution(row: &dyn Row) -> Result<Statement> {
    let asset_type = AssetType::parse(row.text(1)?).unwrap_or(AssetType::Capsule);
    let id = AssetId::read(row, 2)?.to_string();
    Ok(solution_statement(row.text(0)?, (asset_type, &id), row.text(3)?, row.int(4)?))
}

/// What a row of reports says, if anything, after its place: type and id of the asset, node, label, outcome, weight,
/// environment, time.
pub(super) fn report(row: &dyn Row) -> Result<(i64, Option<Statement>)> {
    let asset_type = AssetType::parse(row.text(1)?).unwrap_or(AssetType::Capsule);
    let id = AssetId::read(row, 2)?.to_string();
    let outcome = ReportedOutcome {
        node_id: row.text(3)?,
        label: row.text(4)?,
        ok: row.flag(5)?,
        weight: row.real(6)?,
        environment: row.text_or(7)?,
        created_at: row.int(8)?,
    };
    Ok((row.int(0)?, report_statement(asset_type, &id, &outcome)))
}

/// What a node's report on an asset says now, if there is one and the asset is in the graph.
pub(crate) fn reported(tx: &mut dyn Tx, asset: &AssetRow, node_id: &str) -> Result<Option<Statement>> {
    if !is_in_graph(asset.status) {
        return Ok(None);
    }
    let found = tx.first(
        "SELECT r.seq, a.asset_type, a.asset_id, r.node_id, r.label, r.overall_ok, r.weight, r.env_fingerprint_key,
            r.created_at FROM reports r JOIN assets a ON a.asset_id = r.asset_id
         WHERE r.node_id = $1 AND r.asset_id = $2",
        params![node_id, &asset.asset_id],
        report,
    )?;
    Ok(found.and_then(|(_, said)| said))
}

/// Puts a statement in the place of another. One after the other: both may say the same relation at different times.
pub(crate) fn replace(tx: &mut dyn Tx, before: Option<&Statement>, after: Option<&Statement>) -> Result<()> {
    if before == after {
        return Ok(());
    }
    let steps: [(Option<&Statement>, ApplyStatement); 2] =
        [(before, StatementSum::unsay), (after, StatementSum::add_statement)];
    for (statement, count) in steps {
        let mut sum = StatementSum::default();
        statement.into_iter().for_each(|statement| count(&mut sum, statement));
        apply(tx, &sum)?;
    }
    Ok(())
}

/// A task was asked.
pub(crate) fn add_task(tx: &mut dyn Tx, task_id: &str, signals: &str, now: Time) -> Result<()> {
    replace(tx, None, Some(&task_statement(task_id, signals, now.0)))
}

/// A task gets a result in place of the one it had, or loses it.
pub(crate) fn set_solution(
    tx: &mut dyn Tx,
    before: &TaskRow,
    result: Option<(&AssetId, Time)>,
) -> Result<()> {
    let old = match (&before.result_asset, before.completed_at) {
        (Some(old), Some(at)) => solution_of(tx, &before.task_id, old, at)?,
        _ => None,
    };
    let new = match result {
        Some((new, at)) => solution_of(tx, &before.task_id, new, at.0)?,
        None => None,
    };
    replace(tx, old.as_ref(), new.as_ref())
}

/// What a result says of a task while it is in the graph, where it then stays until the end of the transaction.
fn solution_of(tx: &mut dyn Tx, task_id: &str, id: &AssetId, at: i64) -> Result<Option<Statement>> {
    let found = tx.first(
        "SELECT asset_type, status, node_id FROM assets WHERE asset_id = $1 FOR SHARE",
        params![id],
        |row| {
            let known = AssetType::parse(row.text(0)?).zip(AssetStatus::parse(row.text(1)?));
            Ok(known.map(|(asset_type, status)| (asset_type, status, row.string(2))))
        },
    )?;
    let Some((asset_type, status, node_id)) = found.flatten() else { return Ok(None) };
    Ok(match is_in_graph(status) {
        true => Some(solution_statement(task_id, (asset_type, &id.to_string()), &node_id?, at)),
        false => None,
    })
}

/// Tasks are forgotten.
pub(crate) fn remove_tasks(tx: &mut dyn Tx, tasks: &[TaskRow]) -> Result<()> {
    let mut sum = StatementSum::default();
    for task in tasks {
        sum.unsay(&task_statement(&task.task_id, &task.signals, task.created_at));
        if let (Some(result), Some(at)) = (&task.result_asset, task.completed_at)
            && let Some(said) = solution_of(tx, &task.task_id, result, at)?
        {
            sum.unsay(&said);
        }
    }
    apply(tx, &sum)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_states_is_what_is_in() {
        for status in AssetStatus::ALL {
            assert_eq!(
                in_graph!().contains(&format!("'{}'", status.as_str())),
                is_in_graph(status),
                "{status:?}"
            );
        }
    }
}
