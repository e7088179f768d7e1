//! An admin matches a bounty with something that was published, whoever works on it.

use super::{BountyRow, lock_beside, match_with};
use crate::assets::id::AssetId;
use crate::assets::{self, AssetRow};
use crate::db::tx::Tx;
use crate::notifications::notices;
use crate::work::tasks;
use crate::work::tasks::{TaskRow, submissions};
use crate::{graph, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::lifecycle::AssetStatus;
use capsid_rules::work::tasks::{TaskEvent, step};

/// How matching went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MatchOutcome {
    Done(BountyRow),
    /// There is no such bounty.
    NotFound,
    /// There is no such asset.
    AssetNotFound,
    /// The asset was withdrawn, rejected or is held back.
    UnusableAsset(AssetStatus),
    /// It cannot be done as the bounty stands: it is over, matched already, or a swarm works on it.
    Refused(BountyRow),
}

/// Matches a bounty with an asset: its publisher counts as the node that did the task, and whoever worked on it is told
/// that it no longer needs to.
pub fn match_asset(
    tx: &mut dyn Tx,
    bounty_id: &str,
    asset_id: &AssetId,
    submission_id: &str,
    actor: &str,
    decide_ms: i64,
    now: Time,
) -> Result<MatchOutcome> {
    let publisher = assets::get(tx, asset_id)?.map(|asset| asset.node_id);
    let Some((bounty, task)) = lock_beside(tx, bounty_id, publisher.as_deref())? else {
        return Ok(MatchOutcome::NotFound);
    };
    let Some(asset) = assets::get(tx, asset_id)? else { return Ok(MatchOutcome::AssetNotFound) };
    if asset.status.is_unusable() {
        return Ok(MatchOutcome::UnusableAsset(asset.status));
    }
    // Whoever began earlier may come later.
    let now = now.max(Time(task.claimed_at.unwrap_or(task.created_at)));
    let state = capsid_rules::work::tasks::TaskState { status: task.status_at(now), ..task.state() };
    let Ok(after) = step(state, TaskEvent::Match) else { return Ok(MatchOutcome::Refused(bounty)) };
    tasks::set_status(tx, &task, after, actor, "match", None, now)?;
    let submission = assign_result(tx, &task, &asset, submission_id, now)?;
    submissions::submit_result(tx, &submission, asset_id, now)?;
    tx.run(
        "UPDATE tasks SET claimed_by = $2, claimed_at = CASE WHEN claimed_by = $2 THEN claimed_at ELSE $3 END,
            submission_id = $4, commitment_deadline = NULL, result_asset = $5, completed_at = $3 WHERE task_id = $1",
        params![&task.task_id, &asset.node_id, now, &submission, asset_id],
    )?;
    graph::membership::solution_changed(tx, task.result_asset.as_ref(), Some(asset_id), now)?;
    let publisher = Some(asset.node_id.as_str());
    if !match_with(tx, &bounty, &task, Some(asset_id), publisher, actor, decide_ms, now)? {
        return Err(crate::damaged(format!("The bounty {bounty_id} stands otherwise than its task.")));
    }
    Ok(MatchOutcome::Done(super::reload(tx, bounty_id)?))
}

/// The submission of the node that published the asset: the one it has, or a new one in place of another node's.
fn assign_result(
    tx: &mut dyn Tx,
    task: &TaskRow,
    asset: &AssetRow,
    submission_id: &str,
    now: Time,
) -> Result<String> {
    if let (true, Some(own)) = (task.is_of(&asset.node_id), &task.submission_id) {
        return Ok(own.clone());
    }
    if let Some(other) = &task.submission_id {
        submissions::end(tx, other, "released", now)?;
    }
    if let Some(node_id) = &task.claimed_by {
        let notice = task.notice("task_released").with("reason", "The bounty was matched with other work.");
        notices::notify_node(tx, node_id, &notice, now)?;
    }
    submissions::begin(tx, submission_id, &task.task_id, &asset.node_id, now)?;
    notices::notify_node(tx, &asset.node_id, &task.notice("bounty_matched"), now)?;
    Ok(submission_id.to_owned())
}
