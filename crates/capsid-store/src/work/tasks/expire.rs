//! What happens to tasks when their time is over, or when a promise was not kept.

use super::claim::free;
use super::{TaskRow, lock, parts, set_status, submissions};
use crate::db::tx::Tx;
use crate::notifications::notices;
use crate::work::{bounties, swarm};
use crate::{accounts, nodes, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::work::tasks::{TaskEvent, TaskStatus, step};

/// A node is reminded so long before the time it promised.
pub const REMINDED_MS: i64 = 10 * 60_000;

/// Finds whole tasks whose time is over. Only reads.
pub fn find_expired(tx: &mut dyn Tx, limit: i64, now: Time) -> Result<Vec<String>> {
    let mut expired = Vec::new();
    for status in ["open", "claimed"] {
        expired.extend(tx.query_all::<String>(
            "SELECT task_id FROM tasks WHERE status = $1 AND expires_at <= $2 AND parent_task_id IS NULL
             ORDER BY expires_at, seq LIMIT $3",
            params![status, now, limit],
        )?);
    }
    Ok(expired)
}

/// Ends a task whose time is over, with all its parts, and gives the bounty back. Does nothing to one that was ended or
/// done meanwhile, so it may be repeated.
pub fn expire(tx: &mut dyn Tx, task_id: &str, now: Time) -> Result<bool> {
    lock_workers(tx, task_id)?;
    let Some(task) = lock(tx, task_id)? else { return Ok(false) };
    if task.expires_at > now.0 || task.parent_task_id.is_some() {
        return Ok(false);
    }
    if step(task.state(), TaskEvent::Expire).is_err() {
        return Ok(false);
    }
    for part in parts(tx, task_id)? {
        end(tx, &part, now)?;
    }
    end(tx, &task, now)?;
    bounties::task_expired(tx, &task, now)?;
    Ok(true)
}

/// Locks the nodes that work on a task and its parts, who are told what becomes of it: nodes come before tasks.
fn lock_workers(tx: &mut dyn Tx, task_id: &str) -> Result<()> {
    let nodes = tx.query_all::<String>(
        "SELECT DISTINCT claimed_by FROM tasks
         WHERE (task_id = $1 OR parent_task_id = $1) AND claimed_by IS NOT NULL ORDER BY claimed_by",
        params![task_id],
    )?;
    nodes.iter().try_for_each(|node_id| nodes::lock(tx, node_id).map(|_| ()))
}

fn end(tx: &mut dyn Tx, task: &TaskRow, now: Time) -> Result<()> {
    // A part that was done stays done, but nobody will pay for it any more.
    if let Ok(after) = step(task.state(), TaskEvent::Expire) {
        set_status(tx, task, after, "hub", "expire", Some("its time was over"), now)?;
    }
    if let Some(submission) = &task.submission_id {
        submissions::end(tx, submission, "expired", now)?;
    }
    if let Some(node_id) = &task.claimed_by {
        notices::notify_node(tx, node_id, &task.notice("task_expired"), now)?;
    }
    Ok(())
}

/// Ends a task because an admin ends its bounty. Whoever worked on it is told.
pub(crate) fn withdraw(tx: &mut dyn Tx, task: &TaskRow, actor: &str, reason: &str, now: Time) -> Result<()> {
    if let Ok(after) = step(task.state(), TaskEvent::Withdraw) {
        set_status(tx, task, after, actor, "withdraw", Some(reason), now)?;
    }
    if let Some(submission) = &task.submission_id {
        submissions::end(tx, submission, "expired", now)?;
    }
    match &task.claimed_by {
        Some(node_id) => {
            let notice = task.notice("task_withdrawn").with("reason", reason);
            notices::notify_node(tx, node_id, &notice, now).map(|_| ())
        }
        None => Ok(()),
    }
}

/// Finds tasks whose node did not keep its promise, took them long ago and promised nothing, or was banned, as its owner
/// may have been. Of a part only the last counts: others wait for it. Only reads.
pub fn find_overdue(tx: &mut dyn Tx, claim_ms: i64, limit: i64, now: Time) -> Result<Vec<String>> {
    tx.query_all::<String>(
        "SELECT t.task_id FROM tasks t JOIN nodes n ON n.node_id = t.claimed_by
            LEFT JOIN users u ON u.user_id = n.owner
         WHERE t.status = 'claimed' AND t.decomposed_at IS NULL AND t.expires_at > $1
            AND (n.status = 'banned' OR u.banned_at IS NOT NULL OR (t.parent_task_id IS NULL
              AND (t.commitment_deadline <= $1 OR (t.commitment_deadline IS NULL AND t.claimed_at <= $2))))
         ORDER BY t.seq LIMIT $3",
        params![now, now.0 - claim_ms, limit],
    )
}

/// Opens a task again whose node did not keep its promise, or was banned. May be repeated.
pub fn reopen_overdue(tx: &mut dyn Tx, task_id: &str, claim_ms: i64, now: Time) -> Result<bool> {
    lock_workers(tx, task_id)?;
    let Some(task) = lock(tx, task_id)? else { return Ok(false) };
    let Some(node_id) = task.claimed_by.as_deref().filter(|_| task.expires_at > now.0) else {
        return Ok(false);
    };
    let due = task.commitment_deadline.or(task.claimed_at.map(|at| at + claim_ms));
    let (what, reason) = match is_banned(tx, node_id)? {
        true => (TaskEvent::Ban, "its node was banned"),
        false if due.is_some_and(|due| due <= now.0) => (TaskEvent::Overdue, "the promised time was over"),
        false => return Ok(false),
    };
    if step(task.state(), what).is_err() {
        return Ok(false);
    }
    free(tx, &task, "hub", "overdue", Some(reason), now)?;
    notices::notify_node(tx, node_id, &task.notice("task_overdue"), now)?;
    if task.parent_task_id.is_some() {
        swarm::announce(tx, task_id, now)?;
    }
    Ok(true)
}

/// Whether a node may not act any more: it was banned, or its owner was.
fn is_banned(tx: &mut dyn Tx, node_id: &str) -> Result<bool> {
    let Some(node) = nodes::get(tx, node_id)? else { return Ok(false) };
    let owner = node.owner.as_deref().map(|owner| accounts::get(tx, owner)).transpose()?.flatten();
    Ok(node.status == "banned" || owner.is_some_and(|owner| owner.banned_at.is_some()))
}

/// Finds tasks that are promised within the next minutes, of which their nodes were not reminded yet. Only reads.
pub fn find_approaching(tx: &mut dyn Tx, limit: i64, now: Time) -> Result<Vec<String>> {
    tx.query_all::<String>("SELECT task_id FROM tasks WHERE status = 'claimed' AND commitment_deadline > $1 AND commitment_deadline <= $2
            AND (reminded_for IS NULL OR reminded_for <> commitment_deadline)
         ORDER BY commitment_deadline, seq LIMIT $3", params![now, now.0 + REMINDED_MS, limit])
}

/// Reminds a node of what it promised, once for each deadline. May be repeated.
pub fn send_reminders(tx: &mut dyn Tx, task_id: &str, now: Time) -> Result<bool> {
    lock_workers(tx, task_id)?;
    let Some(task) = lock(tx, task_id)? else { return Ok(false) };
    let (Some(node_id), Some(deadline)) = (&task.claimed_by, task.commitment_deadline) else {
        return Ok(false);
    };
    let soon =
        task.status_at(now) == TaskStatus::Claimed && deadline > now.0 && deadline <= now.0 + REMINDED_MS;
    let marked = soon
        && tx.run(
            "UPDATE tasks SET reminded_for = $2 WHERE task_id = $1 AND (reminded_for IS NULL OR reminded_for <> $2)",
            params![task_id, deadline],
        )? == 1;
    if marked {
        notices::notify_node(tx, node_id, &task.notice("task_deadline_approaching"), now)?;
    }
    Ok(marked)
}
