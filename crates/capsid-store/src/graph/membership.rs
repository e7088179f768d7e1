//! What is said at a moment: which statements stand, and what changes when something is published, reported, solved or
//! taken away.
//!
//! An asset is in the graph while it is candidate, promoted, stale or archived. With it stand the reports on it, the
//! bundles of a capsule, and the tasks that it solves.

use super::refcounts::apply;
use crate::assets::AssetRow;
use crate::assets::id::AssetId;
use crate::assets::new::NewAsset;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
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
        let asset_type = tx.query_first::<AssetType>(
            "SELECT o.asset_type FROM assets o JOIN assets a ON a.asset_id = $2
             WHERE o.asset_id = $1 AND o.seq < a.seq",
            params![&origin, id],
        )?;
        origins.extend(asset_type.map(|asset_type| (asset_type, named)));
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

row! {
    /// An asset as it is kept.
    pub(super) struct GraphAssetRow {
        pub seq: i64 = "a.seq",
        pub asset_id: AssetId = "a.asset_id",
        asset_type: AssetType = "a.asset_type",
        node_id: String = "a.node_id",
        created_at: i64 = "a.created_at",
        body: String = "a.body",
    }
}

impl GraphAssetRow {
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
    let asset = tx.query_first::<GraphAssetRow>(
        select!(GraphAssetRow, "FROM assets a WHERE a.asset_id = $1"),
        params![id],
    )?;
    let Some(asset) = asset else { return Ok(()) };
    let mut sum = StatementSum::default();
    count(&mut sum, &asset.statement(tx)?);
    let bundles = tx.query_all::<GraphBundleRow>(
        select!(
            GraphBundleRow,
            "FROM bundles b
            JOIN assets c ON c.asset_id = b.capsule_id WHERE b.capsule_id = $1 ORDER BY b.bundle_id"
        ),
        params![id],
    )?;
    let solutions = tx.query_all::<GraphSolutionRow>(
        select!(
            GraphSolutionRow,
            "FROM tasks t
            JOIN assets a ON a.asset_id = t.result_asset
             WHERE t.result_asset = $1 AND t.completed_at IS NOT NULL ORDER BY t.seq"
        ),
        params![id],
    )?;
    bundles.iter().for_each(|bundle| count(&mut sum, &bundle.statement()));
    solutions.iter().for_each(|solution| count(&mut sum, &solution.statement()));
    apply(tx, &sum)?;
    let mut after = 0;
    loop {
        let reports = tx.query_all::<GraphReportRow>(
            select!(
                GraphReportRow,
                "FROM reports r JOIN assets a ON a.asset_id = r.asset_id
             WHERE r.asset_id = $1 AND r.seq > $2 ORDER BY r.seq LIMIT $3"
            ),
            params![id, after, REPORTS_TOGETHER],
        )?;
        let Some(last) = reports.last() else { return Ok(()) };
        after = last.seq;
        let mut sum = StatementSum::default();
        reports
            .iter()
            .filter_map(GraphReportRow::statement)
            .for_each(|statement| count(&mut sum, &statement));
        apply(tx, &sum)?;
    }
}

row! {
    /// A bundle with its capsule.
    pub(super) struct GraphBundleRow {
        capsule: AssetId = "b.capsule_id",
        node_id: String = "c.node_id",
        created_at: i64 = "c.created_at",
        gene: AssetId = "b.gene_id",
        event: Option<AssetId> = "b.event_id",
    }
}

impl GraphBundleRow {
    /// What it says.
    pub fn statement(&self) -> Statement {
        let (capsule, gene) = (self.capsule.to_string(), self.gene.to_string());
        let event = self.event.map(|id| id.to_string());
        bundle_statement(&capsule, &self.node_id, self.created_at, &gene, event.as_deref())
    }
}

row! {
    /// A task with its result.
    pub(super) struct GraphSolutionRow {
        task_id: String = "t.task_id",
        asset_type: AssetType = "a.asset_type",
        asset_id: AssetId = "a.asset_id",
        node_id: String = "a.node_id",
        completed_at: i64 = "t.completed_at",
    }
}

impl GraphSolutionRow {
    /// What it says.
    pub fn statement(&self) -> Statement {
        let id = self.asset_id.to_string();
        solution_statement(&self.task_id, (self.asset_type, &id), &self.node_id, self.completed_at)
    }
}

row! {
    /// A report with its asset.
    pub(super) struct GraphReportRow {
        pub seq: i64 = "r.seq",
        asset_type: AssetType = "a.asset_type",
        asset_id: AssetId = "a.asset_id",
        node_id: String = "r.node_id",
        label: String = "r.label",
        ok: bool = "r.overall_ok",
        weight: f64 = "r.weight",
        environment: Option<String> = "r.env_fingerprint_key",
        created_at: i64 = "r.created_at",
    }
}

impl GraphReportRow {
    /// What it says, if anything.
    pub fn statement(&self) -> Option<Statement> {
        let outcome = ReportedOutcome {
            node_id: &self.node_id,
            label: &self.label,
            ok: self.ok,
            weight: self.weight,
            environment: self.environment.as_deref(),
            created_at: self.created_at,
        };
        report_statement(self.asset_type, &self.asset_id.to_string(), &outcome)
    }
}

/// What a node's report on an asset says now, if there is one and the asset is in the graph.
pub(crate) fn reported(tx: &mut dyn Tx, asset: &AssetRow, node_id: &str) -> Result<Option<Statement>> {
    if !is_in_graph(asset.status) {
        return Ok(None);
    }
    let report = tx.query_first::<GraphReportRow>(
        select!(
            GraphReportRow,
            "FROM reports r JOIN assets a ON a.asset_id = r.asset_id
         WHERE r.node_id = $1 AND r.asset_id = $2"
        ),
        params![node_id, &asset.asset_id],
    )?;
    Ok(report.and_then(|report| report.statement()))
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

/// What the graph knows of a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GraphTask<'a> {
    pub task_id: &'a str,
    /// What it is about, with commas between.
    pub signals: &'a str,
    pub created_at: i64,
    /// The asset that solves it, and since when.
    pub solution: Option<(&'a AssetId, i64)>,
}

/// A task was asked.
pub(crate) fn add_task(tx: &mut dyn Tx, task_id: &str, signals: &str, now: Time) -> Result<()> {
    replace(tx, None, Some(&task_statement(task_id, signals, now.0)))
}

/// A task gets a result in place of the one it had, or loses it.
pub(crate) fn set_solution(
    tx: &mut dyn Tx,
    before: &GraphTask<'_>,
    result: Option<(&AssetId, Time)>,
) -> Result<()> {
    let old = match before.solution {
        Some((old, at)) => solution_of(tx, before.task_id, old, at)?,
        None => None,
    };
    let new = match result {
        Some((new, at)) => solution_of(tx, before.task_id, new, at.0)?,
        None => None,
    };
    replace(tx, old.as_ref(), new.as_ref())
}

/// What a result says of a task while it is in the graph, where it then stays until the end of the transaction.
fn solution_of(tx: &mut dyn Tx, task_id: &str, id: &AssetId, at: i64) -> Result<Option<Statement>> {
    let asset = tx.query_first::<(AssetType, AssetStatus, String)>(
        "SELECT asset_type, status, node_id FROM assets WHERE asset_id = $1 FOR SHARE",
        params![id],
    )?;
    let Some((asset_type, status, node_id)) = asset else { return Ok(None) };
    Ok(match is_in_graph(status) {
        true => Some(solution_statement(task_id, (asset_type, &id.to_string()), &node_id, at)),
        false => None,
    })
}

/// Tasks are forgotten.
pub(crate) fn remove_tasks(tx: &mut dyn Tx, tasks: &[GraphTask<'_>]) -> Result<()> {
    let mut sum = StatementSum::default();
    for task in tasks {
        sum.unsay(&task_statement(task.task_id, task.signals, task.created_at));
        if let Some((result, at)) = task.solution
            && let Some(statement) = solution_of(tx, task.task_id, result, at)?
        {
            sum.unsay(&statement);
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
