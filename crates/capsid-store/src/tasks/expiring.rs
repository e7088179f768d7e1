//! What happens to tasks when their time is over, or when a promise was not kept.

use super::claiming::free;
use super::{Task, lock, parts, set_status, submissions};
use crate::notices::{self, Notice};
use crate::tx::Tx;
use crate::{bounties, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::tasks::{Step, step};

/// Finds whole tasks whose time is over. Only reads.
pub fn find_expired(tx: &mut dyn Tx, limit: i64, now: Time) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for status in ["open", "claimed"] {
        found.extend(tx.all(
            "SELECT task_id FROM tasks WHERE status = $1 AND expires_at <= $2 AND parent_task_id IS NULL
             ORDER BY expires_at, seq LIMIT $3",
            params![status, now, limit],
            |row| row.string(0),
        )?);
    }
    Ok(found)
}

/// Ends a task whose time is over, with all its parts, and gives the bounty back. Does nothing to one that was ended or
/// done meanwhile, so it may be repeated.
pub fn expire(tx: &mut dyn Tx, task_id: &str, now: Time) -> Result<bool> {
    let Some(task) = lock(tx, task_id)? else { return Ok(false) };
    if task.expires_at > now.0 || task.parent_task_id.is_some() {
        return Ok(false);
    }
    if step(task.standing(), Step::Expire).is_err() {
        return Ok(false);
    }
    for part in parts(tx, task_id)? {
        end(tx, &part, now)?;
    }
    end(tx, &task, now)?;
    bounties::task_expired(tx, &task, now)?;
    Ok(true)
}

fn end(tx: &mut dyn Tx, task: &Task, now: Time) -> Result<()> {
    // A part that was done stays done, though nobody pays for it any more.
    if let Ok(after) = step(task.standing(), Step::Expire) {
        set_status(tx, task, after, "hub", "expire", Some("its time was over"), now)?;
    }
    if let Some(submission) = &task.submission_id {
        submissions::end(tx, submission, "expired", now)?;
    }
    if let Some(node_id) = &task.claimed_by {
        notices::tell(tx, node_id, &Notice::of_task("task_expired", task), now)?;
    }
    Ok(())
}

/// Finds tasks whose node did not keep its promise, or took them long ago and promised nothing. Only reads.
pub fn find_overdue(tx: &mut dyn Tx, claim_ms: i64, limit: i64, now: Time) -> Result<Vec<String>> {
    tx.all(
        "SELECT task_id FROM tasks WHERE status = 'claimed' AND parent_task_id IS NULL AND decomposed_at IS NULL
            AND ((commitment_deadline IS NOT NULL AND commitment_deadline <= $1)
              OR (commitment_deadline IS NULL AND claimed_at <= $2))
         ORDER BY seq LIMIT $3",
        params![now, now.0 - claim_ms, limit],
        |row| row.string(0),
    )
}

/// Opens a task again whose node did not keep its promise. May be repeated.
pub fn reopen_overdue(tx: &mut dyn Tx, task_id: &str, claim_ms: i64, now: Time) -> Result<bool> {
    let Some(task) = lock(tx, task_id)? else { return Ok(false) };
    let due = task.commitment_deadline.or(task.claimed_at.map(|at| at + claim_ms));
    let late = due.is_some_and(|due| due <= now.0) && task.expires_at > now.0;
    if !late || step(task.standing(), Step::Overdue).is_err() {
        return Ok(false);
    }
    free(tx, &task, "hub", "overdue", Some("the promised time was over"), now)?;
    if let Some(node_id) = &task.claimed_by {
        notices::tell(tx, node_id, &Notice::of_task("task_overdue", &task), now)?;
    }
    Ok(true)
}
