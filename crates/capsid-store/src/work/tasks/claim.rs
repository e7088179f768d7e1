//! Taking a task, and giving it back. However many nodes ask at the same moment, one gets it.

use super::{TaskRow, is_own, lock, set_status, submissions};
use crate::db::tx::Tx;
use crate::nodes::{self, NodeRow};
use crate::notifications::notices;
use crate::params;
use crate::work::bounties;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::work::tasks::{
    CommitmentError, MAX_EXTENSIONS, TaskEvent, TaskRefusal, TaskStatus, check_promise, step,
};

/// How taking a task went.
#[derive(Debug, Clone, PartialEq)]
pub enum ClaimOutcome {
    Done(TaskRow),
    /// The node had it already.
    Again(TaskRow),
    /// There is no such task.
    NotFound,
    /// It is not open; this is how it stands.
    NotOpen(TaskRow),
    /// It is kept for another node.
    Reserved,
    /// The node had it before and did not keep its promise; otherwise one node could hold it for ever.
    WasOverdue,
    /// The node or its owner asked it.
    Own,
    Reputation {
        /// What it takes.
        need: f64,
        /// What the node has.
        have: f64,
    },
    /// It takes another model than this one, which the node runs on.
    Model(TaskRow, Option<String>),
    /// The promise cannot be kept.
    BadPromise(CommitmentError),
}

/// Takes a task for a node, which is locked. `tiers` ranks models by name.
pub fn claim(
    tx: &mut dyn Tx,
    node: &NodeRow,
    task_id: &str,
    deadline: Option<i64>,
    submission_id: &str,
    tiers: &[(String, i64)],
    now: Time,
) -> Result<ClaimOutcome> {
    let Some(task) = lock(tx, task_id)? else { return Ok(ClaimOutcome::NotFound) };
    let status = task.status_at(now);
    if status == TaskStatus::Claimed && task.is_of(&node.node_id) {
        return Ok(ClaimOutcome::Again(task));
    }
    if status != TaskStatus::Open {
        return Ok(ClaimOutcome::NotOpen(TaskRow { status, ..task }));
    }
    if task.reserved_for.as_ref().is_some_and(|only| *only != node.node_id) {
        return Ok(ClaimOutcome::Reserved);
    }
    if submissions::was_overdue(tx, task_id, &node.node_id)? {
        return Ok(ClaimOutcome::WasOverdue);
    }
    if is_own(tx, node, &task)? {
        return Ok(ClaimOutcome::Own);
    }
    if node.reputation < task.min_reputation {
        return Ok(ClaimOutcome::Reputation { need: task.min_reputation, have: node.reputation });
    }
    let model = nodes::model(tx, &node.node_id)?;
    if !task.allows_model(model.as_deref(), tiers) {
        return Ok(ClaimOutcome::Model(task, model));
    }
    if let Some(Err(bad)) = deadline.map(|deadline| check_promise(deadline, task.expires_at, now.0)) {
        return Ok(ClaimOutcome::BadPromise(bad));
    }
    let Ok(after) = step(task.state(), TaskEvent::Claim) else { return Ok(ClaimOutcome::NotOpen(task)) };
    assign_task(tx, node, &task, deadline, submission_id, after, now)
}

fn assign_task(
    tx: &mut dyn Tx,
    node: &NodeRow,
    task: &TaskRow,
    deadline: Option<i64>,
    submission_id: &str,
    after: TaskStatus,
    now: Time,
) -> Result<ClaimOutcome> {
    let actor = format!("node:{}", node.node_id);
    let now = now.max(Time(task.created_at));
    set_status(tx, task, after, &actor, "claim", None, now)?;
    tx.run(
        "UPDATE tasks SET claimed_by = $2, claimed_at = $3, submission_id = $4, commitment_deadline = $5,
            extensions = 0, reminded_for = NULL WHERE task_id = $1",
        params![&task.task_id, &node.node_id, now, submission_id, deadline],
    )?;
    submissions::begin(tx, submission_id, &task.task_id, &node.node_id, now)?;
    bounties::task_claimed(tx, task, &actor, now)?;
    let task = super::reload(tx, &task.task_id)?;
    notices::notify_node(tx, &node.node_id, &task.notice("task_assigned"), now)?;
    Ok(ClaimOutcome::Done(task))
}

/// How a change by the node that works on a task went.
#[derive(Debug, Clone, PartialEq)]
pub enum TaskChangeOutcome {
    Done(TaskRow),
    /// There is no such task.
    NotFound,
    /// Another node works on it, or nobody does.
    NotClaimer(TaskRow),
    /// It cannot be done as the task stands.
    Refused(TaskRow, TaskRefusal),
    /// The promise cannot be kept.
    BadPromise(CommitmentError),
}

/// Finds a task that a node works on.
fn claimed_by(
    tx: &mut dyn Tx,
    node: &NodeRow,
    task_id: &str,
    now: Time,
) -> Result<Result<TaskRow, TaskChangeOutcome>> {
    let Some(task) = lock(tx, task_id)? else { return Ok(Err(TaskChangeOutcome::NotFound)) };
    let task = TaskRow { status: task.status_at(now), ..task };
    if task.status != TaskStatus::Claimed {
        return Ok(Err(TaskChangeOutcome::Refused(task, TaskRefusal::NotClaimed)));
    }
    Ok(if task.is_of(&node.node_id) { Ok(task) } else { Err(TaskChangeOutcome::NotClaimer(task)) })
}

/// Gives a task back, so that others may take it.
pub fn release(tx: &mut dyn Tx, node: &NodeRow, task_id: &str, now: Time) -> Result<TaskChangeOutcome> {
    let task = match claimed_by(tx, node, task_id, now)? {
        Ok(task) => task,
        Err(refused) => return Ok(refused),
    };
    if let Err(refusal) = step(task.state(), TaskEvent::Release) {
        return Ok(TaskChangeOutcome::Refused(task, refusal));
    }
    let actor = format!("node:{}", node.node_id);
    free(tx, &task, &actor, "release", None, now)?;
    Ok(TaskChangeOutcome::Done(super::reload(tx, task_id)?))
}

/// Opens a task again that somebody worked on. The task is locked and the step allowed.
pub(super) fn free(
    tx: &mut dyn Tx,
    task: &TaskRow,
    actor: &str,
    action: &str,
    reason: Option<&str>,
    now: Time,
) -> Result<()> {
    set_status(tx, task, TaskStatus::Open, actor, action, reason, now)?;
    tx.run(
        "UPDATE tasks SET claimed_by = NULL, claimed_at = NULL, submission_id = NULL, commitment_deadline = NULL,
            extensions = 0 WHERE task_id = $1",
        params![&task.task_id],
    )?;
    if let Some(submission) = &task.submission_id {
        let ended = if action == "overdue" { "overdue" } else { "released" };
        submissions::end(tx, submission, ended, now)?;
    }
    bounties::task_released(tx, task, actor, now)
}

/// Promises to be done by a moment, or puts that off; twice at most.
pub fn commit(
    tx: &mut dyn Tx,
    node: &NodeRow,
    task_id: &str,
    deadline: i64,
    now: Time,
) -> Result<TaskChangeOutcome> {
    let task = match claimed_by(tx, node, task_id, now)? {
        Ok(task) => task,
        Err(refused) => return Ok(refused),
    };
    if task.commitment_deadline == Some(deadline) {
        return Ok(TaskChangeOutcome::Done(task));
    }
    let put_off = task.commitment_deadline.is_some();
    if put_off && task.extensions >= MAX_EXTENSIONS {
        return Ok(TaskChangeOutcome::BadPromise(CommitmentError::PutOffTooOften));
    }
    if let Err(bad) = check_promise(deadline, task.expires_at, now.0) {
        return Ok(TaskChangeOutcome::BadPromise(bad));
    }
    tx.run(
        "UPDATE tasks SET commitment_deadline = $2, extensions = extensions + $3 WHERE task_id = $1",
        params![task_id, deadline, put_off],
    )?;
    Ok(TaskChangeOutcome::Done(super::reload(tx, task_id)?))
}
