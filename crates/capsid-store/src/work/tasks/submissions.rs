//! Submissions: who took a task, and what came of it.

use crate::assets::id::AssetId;
use crate::db::tx::{Row, Tx};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// One node's try at a task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubmissionRow {
    pub submission_id: String,
    pub task_id: String,
    pub node_id: String,
    /// working, pending, accepted, rejected, released, overdue or expired.
    pub status: String,
    pub asset_id: Option<AssetId>,
    /// When the task was taken.
    pub created_at: i64,
    /// When its status last changed.
    pub updated_at: i64,
}

impl SubmissionRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Self::read_from(row, 0)
    }

    /// Reads its columns from one on.
    pub(super) fn read_from(row: &dyn Row, at: usize) -> Result<Self> {
        Ok(Self {
            submission_id: row.string(at)?,
            task_id: row.string(at + 1)?,
            node_id: row.string(at + 2)?,
            status: row.string(at + 3)?,
            asset_id: AssetId::read_or(row, at + 4)?,
            created_at: row.int(at + 5)?,
            updated_at: row.int(at + 6)?,
        })
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
    tx.first(
        "SELECT submission_id, task_id, node_id, status, asset_id, created_at, updated_at FROM submissions
         WHERE submission_id = $1",
        params![submission_id],
        SubmissionRow::read,
    )
}

/// The submissions to a task, oldest first.
pub fn list_for_task(tx: &mut dyn Tx, task_id: &str, limit: i64) -> Result<Vec<SubmissionRow>> {
    tx.all(
        "SELECT submission_id, task_id, node_id, status, asset_id, created_at, updated_at FROM submissions
         WHERE task_id = $1 ORDER BY seq LIMIT $2",
        params![task_id, limit],
        SubmissionRow::read,
    )
}
