//! Which changes of the hub's database change what the graph says.
//!
//! An asset is in the graph while it is candidate, promoted, stale or archived. With it stand the reports on it, the
//! bundles of a capsule, and the tasks that it solves. New assets, reports and tasks are found by their numbers; whoever
//! changes what was there before names it here.

use super::changes::{Subject, append};
use crate::assets::AssetRow;
use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::lifecycle::AssetStatus;

/// Whether an asset in a state is in the graph.
pub fn is_in_graph(status: AssetStatus) -> bool {
    !status.is_unusable()
}

/// An asset changed hands, or its bundle did.
pub(crate) fn asset_changed(tx: &mut dyn Tx, id: &AssetId, now: Time) -> Result<()> {
    append(tx, &[Subject::asset(id)], now)
}

/// An asset's state changed: what it says, and what is said with it, may enter or leave.
pub(crate) fn status_changed(tx: &mut dyn Tx, asset: &AssetRow, to: AssetStatus, now: Time) -> Result<()> {
    match is_in_graph(asset.status) == is_in_graph(to) {
        true => Ok(()),
        false => asset_changed(tx, &asset.asset_id, now),
    }
}

/// A report took the place of an earlier one.
pub(crate) fn report_changed(tx: &mut dyn Tx, asset: &AssetId, node_id: &str, now: Time) -> Result<()> {
    append(tx, &[Subject::report(asset, node_id)], now)
}

/// A task got another result, or lost the one that it had.
pub(crate) fn solution_changed(
    tx: &mut dyn Tx,
    before: Option<&AssetId>,
    after: Option<&AssetId>,
    now: Time,
) -> Result<()> {
    let changed: Vec<Subject> = before.into_iter().chain(after).map(Subject::asset).collect();
    append(tx, &changed, now)
}

/// Tasks are forgotten, each with the result that it may have had.
pub(crate) fn tasks_deleted<'t>(
    tx: &mut dyn Tx,
    tasks: impl Iterator<Item = (&'t str, Option<&'t AssetId>)>,
    now: Time,
) -> Result<()> {
    let mut changed = Vec::new();
    for (task_id, result) in tasks {
        changed.push(Subject::Task(task_id.to_owned()));
        changed.extend(result.map(Subject::asset));
    }
    append(tx, &changed, now)
}
