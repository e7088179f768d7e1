//! Submissions: who took a task, and what came of it.

use crate::assets::id::AssetId;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

row! {
    /// One node's try at a task.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SubmissionRow {
        pub submission_id: String = "s.submission_id",
        pub task_id: String = "s.task_id",
        pub node_id: String = "s.node_id",
        /// working, pending, accepted, rejected, released, overdue or expired.
        pub status: String = "s.status",
        pub asset_id: Option<AssetId> = "s.asset_id",
        /// When the task was taken.
        pub created_at: i64 = "s.created_at",
        /// When its status last changed.
        pub updated_at: i64 = "s.updated_at",
    }
}

/// Notes that a node works on a task.
pub fn begin(tx: &mut dyn Tx, submission_id: &str, task_id: &str, node_id: &str, now: Time) -> Result<()> {
    tx.run(
        "INSERT INTO submissions (submission_id, task_id, node_id, status, created_at, updated_at)
         VALUES ($1, $2, $3, 'working', $4, $4)",
        params![submission_id, task_id, node_id, now],
    )?;
    Ok(())
}

/// Notes what was handed in.
pub fn submit_result(tx: &mut dyn Tx, submission_id: &str, asset: &AssetId, now: Time) -> Result<()> {
    tx.run(
        "UPDATE submissions SET status = 'pending', asset_id = $2, updated_at = $3 WHERE submission_id = $1",
        params![submission_id, asset, now],
    )?;
    Ok(())
}

/// Notes how a try ended. What ended before stays as it ended.
pub fn end(tx: &mut dyn Tx, submission_id: &str, status: &str, now: Time) -> Result<()> {
    tx.run(
        "UPDATE submissions SET status = $2, updated_at = $3
         WHERE submission_id = $1 AND status IN ('working', 'pending')",
        params![submission_id, status, now],
    )?;
    Ok(())
}

/// Whether a node once had a task and did not keep its promise.
pub fn was_overdue(tx: &mut dyn Tx, task_id: &str, node_id: &str) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM submissions WHERE task_id = $1 AND node_id = $2 AND status = 'overdue' LIMIT 1",
        params![task_id, node_id],
    )
}

/// Finds a submission.
pub fn get(tx: &mut dyn Tx, submission_id: &str) -> Result<Option<SubmissionRow>> {
    tx.query_first(
        select!(SubmissionRow, "FROM submissions s WHERE s.submission_id = $1"),
        params![submission_id],
    )
}

/// The submissions to a task, oldest first.
pub fn list_for_task(tx: &mut dyn Tx, task_id: &str, limit: i64) -> Result<Vec<SubmissionRow>> {
    tx.query_all(
        select!(SubmissionRow, "FROM submissions s WHERE s.task_id = $1 ORDER BY s.seq LIMIT $2"),
        params![task_id, limit],
    )
}
