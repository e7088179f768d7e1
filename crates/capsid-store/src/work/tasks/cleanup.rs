//! What is forgotten of tasks that are over. Whatever moved credits is kept for ever.

use crate::db::DAY_MS;
use crate::db::tx::Tx;
use crate::{graph, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// How long tries are kept that were given back, once their task is over.
const RELEASED_KEPT_MS: i64 = 90 * DAY_MS;
/// How long tasks are kept that paid nothing.
const UNPAID_KEPT_MS: i64 = 180 * DAY_MS;

/// How many tasks of one asker may be open or claimed, parts not counted.
pub const MAX_OPEN: i64 = 1000;

/// Whether an asker has as many tasks open or claimed as one may.
pub fn has_too_many_open(tx: &mut dyn Tx, asker: &str) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM tasks WHERE asker = $1 AND parent_task_id IS NULL
            AND status NOT IN ('completed', 'expired', 'cancelled') LIMIT 1 OFFSET $2",
        params![asker, MAX_OPEN - 1],
    )
}

/// Forgets tries that were given back, of tasks that are over, a few at a time.
pub fn delete_released(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    tx.run(
        "DELETE FROM submissions WHERE seq IN (SELECT s.seq FROM submissions s
            JOIN tasks t ON t.task_id = s.task_id
         WHERE s.status = 'released' AND s.updated_at <= $1 AND t.status IN ('completed', 'expired', 'cancelled')
            AND (t.submission_id IS NULL OR t.submission_id <> s.submission_id) LIMIT 1000)",
        params![now.0 - RELEASED_KEPT_MS],
    )
}

/// Forgets tasks without parts that paid nothing and ended long ago, with all that belongs to them, a few at a time.
pub fn delete_unpaid(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    let over: Vec<String> = tx.query_all::<String>(
        "SELECT t.task_id FROM tasks t LEFT JOIN bounties b ON b.task_id = t.task_id
         WHERE t.amount = 0 AND t.parent_task_id IS NULL AND t.decomposed_at IS NULL AND t.expires_at <= $1
            AND t.status IN ('completed', 'expired', 'cancelled') AND COALESCE(t.completed_at, 0) <= $1
            AND COALESCE(b.amount, 0) = 0 AND COALESCE(b.settled_at, 0) <= $1
            AND COALESCE(b.status, 'accepted') IN ('accepted', 'expired', 'cancelled')
            AND NOT EXISTS (SELECT 1 FROM tasks p WHERE p.parent_task_id = t.task_id)
         ORDER BY t.expires_at LIMIT 1000",
        params![now.0 - UNPAID_KEPT_MS],
    )?;
    let tasks: Vec<super::TaskRow> =
        over.iter().filter_map(|task_id| super::get(tx, task_id).transpose()).collect::<Result<_>>()?;
    let deleted = tasks.iter().map(|task| (task.task_id.as_str(), task.result_asset.as_ref()));
    graph::membership::tasks_deleted(tx, deleted, now)?;
    for task_id in &over {
        tx.run("DELETE FROM submissions WHERE task_id = $1", params![task_id])?;
        tx.run("DELETE FROM bounties WHERE task_id = $1", params![task_id])?;
        tx.run("DELETE FROM tasks WHERE task_id = $1", params![task_id])?;
    }
    Ok(over.len() as u64)
}
