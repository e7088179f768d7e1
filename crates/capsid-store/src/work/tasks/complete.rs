//! Handing in what solves a task.

use super::{TaskRow, lock, set_status, submissions};
use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::nodes::NodeRow;
use crate::notifications::notices;
use crate::work::{bounties, swarm};
use crate::{assets, graph, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::lifecycle::AssetStatus;
use capsid_rules::work::swarm::AggregatorTerms;
use capsid_rules::work::tasks::{SubtaskRole, TaskEvent, TaskRefusal, TaskStatus, step};

/// How handing in went.
#[derive(Debug, Clone, PartialEq)]
pub enum CompleteOutcome {
    Done(TaskRow),
    /// The node had handed it in already.
    Again(TaskRow),
    /// There is no such task.
    NotFound,
    /// Another node works on it, or nobody does.
    NotClaimer(TaskRow),
    /// It cannot be done as the task stands.
    Refused(TaskRow, TaskRefusal),
    /// The asset is not known, and the node has published none since it took the task.
    AssetNotFound,
    /// Another node published the asset.
    NotOwnAsset,
    /// The asset was withdrawn, rejected or is held back.
    UnusableAsset(AssetStatus),
}

/// What a node hands in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SubmittedResult<'a> {
    Asset(&'a AssetId),
    Newest,
}

/// What follows when something was handed in.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CompletionTerms {
    /// How long the creator of the bounty has to decide.
    pub decide_ms: i64,
    /// Who merges the results of a swarm.
    pub aggregator: AggregatorTerms,
}

/// Hands in an asset for a task. The node is locked.
///
/// Clients hand in while they publish, and sometimes by an id that they changed before publishing. So an id that is not
/// known stands for the newest capsule that the node has published since it took the task.
pub fn complete(
    tx: &mut dyn Tx,
    node: &NodeRow,
    task_id: &str,
    handed_in: SubmittedResult<'_>,
    terms: &CompletionTerms,
    now: Time,
) -> Result<CompleteOutcome> {
    let Some(task) = lock(tx, task_id)? else { return Ok(CompleteOutcome::NotFound) };
    let task = TaskRow { status: task.status_at(now), ..task };
    match (task.status, task.is_of(&node.node_id)) {
        (TaskStatus::Completed, true) => return Ok(CompleteOutcome::Again(task)),
        (TaskStatus::Claimed | TaskStatus::Completed, false) => return Ok(CompleteOutcome::NotClaimer(task)),
        _ => {}
    }
    let after = match step(task.state(), TaskEvent::Complete) {
        Ok(after) => after,
        Err(refusal) => return Ok(CompleteOutcome::Refused(task, refusal)),
    };
    let asset = match find_asset(tx, node, &task, handed_in)? {
        Ok(asset) => asset,
        Err(refused) => return Ok(refused),
    };
    let actor = format!("node:{}", node.node_id);
    let now = now.max(Time(task.claimed_at.unwrap_or(task.created_at)));
    set_status(tx, &task, after, &actor, "complete", None, now)?;
    tx.run(
        "UPDATE tasks SET result_asset = $2, completed_at = $3 WHERE task_id = $1",
        params![task_id, &asset, now],
    )?;
    graph::membership::solution_changed(tx, task.result_asset.as_ref(), Some(&asset), now)?;
    if let Some(submission) = &task.submission_id {
        submissions::submit_result(tx, submission, &asset, now)?;
    }
    let task = super::reload(tx, task_id)?;
    match task.role {
        None => bounties::task_completed(tx, &task, &task, terms.decide_ms, now)?,
        Some(SubtaskRole::Solver) => swarm::part_solved(tx, &task, &terms.aggregator, now)?,
        Some(SubtaskRole::Aggregator) => swarm::merged(tx, &task, terms.decide_ms, now)?,
    }
    Ok(CompleteOutcome::Done(task))
}

fn find_asset(
    tx: &mut dyn Tx,
    node: &NodeRow,
    task: &TaskRow,
    handed_in: SubmittedResult<'_>,
) -> Result<Result<AssetId, CompleteOutcome>> {
    if let SubmittedResult::Asset(id) = handed_in
        && let Some(asset) = assets::get(tx, id)?
    {
        return Ok(match asset.status {
            _ if asset.node_id != node.node_id => Err(CompleteOutcome::NotOwnAsset),
            status if status.is_unusable() => Err(CompleteOutcome::UnusableAsset(status)),
            _ => Ok(*id),
        });
    }
    let newest = tx.query_first::<AssetId>(
        "SELECT asset_id FROM assets WHERE node_id = $1 AND asset_type = 'Capsule' AND created_at >= $2
            AND status IN ('candidate', 'promoted') ORDER BY seq DESC LIMIT 1",
        params![&node.node_id, task.claimed_at],
    )?;
    Ok(newest.ok_or(CompleteOutcome::AssetNotFound))
}

/// Opens a completed task again, because what was handed in was not taken. Of a swarm only the merging is done again.
/// The whole task is locked.
pub(crate) fn undo(
    tx: &mut dyn Tx,
    whole: &TaskRow,
    actor: &str,
    reason: Option<&str>,
    now: Time,
) -> Result<()> {
    let Ok(after) = step(whole.state(), TaskEvent::Reject) else { return Ok(()) };
    set_status(tx, whole, after, actor, "reject", reason, now)?;
    tx.run(
        "UPDATE tasks SET result_asset = NULL, completed_at = NULL WHERE task_id = $1",
        params![&whole.task_id],
    )?;
    graph::membership::solution_changed(tx, whole.result_asset.as_ref(), None, now)?;
    let redone = match whole.decomposed_at {
        None => Some(whole.clone()),
        Some(_) => swarm::aggregation(tx, &whole.task_id)?,
    };
    let Some(redone) = redone else { return Ok(()) };
    if redone.parent_task_id.is_some() {
        set_status(tx, &redone, TaskStatus::Open, actor, "reject", reason, now)?;
        graph::membership::solution_changed(tx, redone.result_asset.as_ref(), None, now)?;
    }
    tx.run(
        "UPDATE tasks SET claimed_by = NULL, claimed_at = NULL, submission_id = NULL, commitment_deadline = NULL,
            extensions = 0, result_asset = NULL, completed_at = NULL WHERE task_id = $1",
        params![&redone.task_id],
    )?;
    if let Some(submission) = &redone.submission_id {
        submissions::end(tx, submission, "rejected", now)?;
    }
    if let Some(node_id) = &redone.claimed_by {
        let notice = redone.notice("submission_rejected").with("reason", reason);
        notices::notify_node(tx, node_id, &notice, now)?;
    }
    match redone.role {
        Some(_) => swarm::announce(tx, &redone.task_id, now),
        None => Ok(()),
    }
}
