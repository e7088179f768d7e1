//! Swarms: a task that several nodes do in parts. Its node proposes the parts, solvers do them, and when the last one is
//! done there is one more part: to merge the results. When that is done, so is the whole.

use crate::db::tx::Tx;
use crate::nodes::NodeRow;
use crate::work::announcements;
use crate::work::bounties;
use crate::work::tasks;
use crate::work::tasks::{NewTask, TaskRow};
use crate::{graph, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::work::swarm::{AGGREGATOR, AggregatorFallback, AggregatorTerms, share};
use capsid_rules::work::tasks::{SubtaskRole, TaskEvent, TaskStatus, step};

/// A part that a node proposes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SubtaskProposal {
    pub title: String,
    /// What is to be done.
    pub body: String,
    /// What it is about, with commas between; those of the whole where there are none.
    pub signals: String,
    pub weight: i64,
}

/// How a proposal went.
#[derive(Debug, Clone, PartialEq)]
pub enum ProposeOutcome {
    Done(Vec<TaskRow>),
    /// There is no such task.
    NotFound,
    /// Nobody works on it; this is how it stands.
    NotClaimed(TaskRow),
    /// Another node works on it.
    NotClaimer(TaskRow),
    IsPart,
    Again(Vec<TaskRow>),
}

/// Finds a task that a node may cut into parts, or tells why it may not. The task is locked.
pub fn may_propose(
    tx: &mut dyn Tx,
    node: &NodeRow,
    task_id: &str,
    now: Time,
) -> Result<std::result::Result<TaskRow, ProposeOutcome>> {
    let Some(task) = tasks::lock(tx, task_id)? else { return Ok(Err(ProposeOutcome::NotFound)) };
    if task.parent_task_id.is_some() {
        return Ok(Err(ProposeOutcome::IsPart));
    }
    let status = task.status_at(now);
    if status != TaskStatus::Claimed {
        return Ok(Err(ProposeOutcome::NotClaimed(TaskRow { status, ..task })));
    }
    if !task.is_of(&node.node_id) {
        return Ok(Err(ProposeOutcome::NotClaimer(task)));
    }
    if task.decomposed_at.is_some() {
        return Ok(Err(ProposeOutcome::Again(tasks::parts(tx, task_id)?)));
    }
    Ok(Ok(task))
}

/// Cuts a task into parts. The weights were checked.
pub fn propose(
    tx: &mut dyn Tx,
    node: &NodeRow,
    task_id: &str,
    wanted: &[SubtaskProposal],
    now: Time,
) -> Result<ProposeOutcome> {
    let task = match may_propose(tx, node, task_id, now)? {
        Ok(task) => task,
        Err(refused) => return Ok(refused),
    };
    tx.run("UPDATE tasks SET decomposed_at = $2 WHERE task_id = $1", params![task_id, now])?;
    let weights: Vec<i64> = wanted.iter().map(|part| part.weight).collect();
    let amounts = share(task.amount, &weights).solvers;
    for (at, (part, amount)) in wanted.iter().zip(amounts).enumerate() {
        let signals = if part.signals.is_empty() { &task.signals } else { &part.signals };
        let new = NewTask {
            task_id: format!("{task_id}_s{}", at + 1),
            title: part.title.clone(),
            body: part.body.clone(),
            signals: signals.clone(),
            amount,
            min_reputation: task.min_reputation,
            part: Some((SubtaskRole::Solver, task_id.to_owned(), part.weight)),
            ..inherited(&task)
        };
        tasks::add(tx, &new, now)?;
        announce(tx, &new.task_id, now)?;
    }
    Ok(ProposeOutcome::Done(tasks::parts(tx, task_id)?))
}

/// What every part has from its whole.
fn inherited(whole: &TaskRow) -> NewTask {
    NewTask {
        asker: whole.asker.clone(),
        bounty_id: whole.bounty_id.clone(),
        min_model_tier: whole.min_model_tier,
        allowed_models: whole.allowed_models.as_ref().map(|models| serde_json::json!(models.0).to_string()),
        expires_at: whole.expires_at,
        ..NewTask::default()
    }
}

/// Tells nodes of a part that may be taken.
pub(crate) fn announce(tx: &mut dyn Tx, task_id: &str, now: Time) -> Result<()> {
    let task = tasks::reload(tx, task_id)?;
    let kind = match task.role {
        Some(SubtaskRole::Aggregator) => "swarm_aggregation_available",
        _ => "swarm_subtask_available",
    };
    announcements::announce(tx, &task.notice(kind), &task, now)
}

/// A solver is done. After the last one the results are to be merged; the whole is locked, so that there is one last one.
pub(crate) fn part_solved(
    tx: &mut dyn Tx,
    part: &TaskRow,
    aggregator: &AggregatorTerms,
    now: Time,
) -> Result<()> {
    let Some(parent) = &part.parent_task_id else { return Ok(()) };
    let parts = tasks::parts(tx, parent)?;
    let solved = parts.iter().all(|part| part.status == TaskStatus::Completed);
    if !solved || parts.iter().any(|part| part.role == Some(SubtaskRole::Aggregator)) {
        return Ok(());
    }
    let whole = tasks::reload(tx, parent)?;
    let weights = parts.iter().map(TaskRow::weight_of_part).collect::<Result<Vec<i64>>>()?;
    let required = aggregator.required(whole.min_reputation);
    let proposer = whole.claimed_by.clone().filter(|_| aggregator.fallback == AggregatorFallback::Proposer);
    // Whoever earns the reputation later does not take it from the proposer, who has to know that the work is its own.
    let reserved_for = match proposer {
        Some(proposer) if best_reputation(tx, &whole, now)? < required => Some(proposer),
        _ => None,
    };
    let new = NewTask {
        task_id: format!("{parent}_merge"),
        title: format!("Aggregate: {}", whole.title),
        body: results(&whole, &parts),
        signals: whole.signals.clone(),
        amount: share(whole.amount, &weights).aggregator,
        min_reputation: if reserved_for.is_some() { 0.0 } else { required },
        reserved_for,
        part: Some((SubtaskRole::Aggregator, parent.clone(), AGGREGATOR)),
        ..inherited(&whole)
    };
    tasks::add(tx, &new, now)?;
    announce(tx, &new.task_id, now)
}

/// The best reputation among the nodes that could merge the results of a task: those that are there, but for whoever
/// asked it and their other nodes.
pub fn best_reputation(tx: &mut dyn Tx, whole: &TaskRow, now: Time) -> Result<f64> {
    let (asker, owner) = announcements::asker_and_owner(tx, whole)?;
    let best = tx.query_one::<Option<f64>>(
        "SELECT MAX(COALESCE(n.reputation_override, n.reputation)) FROM nodes n
         WHERE n.status = 'active' AND n.last_seen_at >= $1 AND n.node_id <> $2 AND (n.owner IS NULL OR n.owner <> $3)",
        params![now.0 - announcements::HEARD_MS, &asker, &owner],
    )?;
    Ok(best.unwrap_or_default())
}

/// What an aggregator has to work with.
fn results(whole: &TaskRow, parts: &[TaskRow]) -> String {
    let mut text = format!("Merge what the solvers of \"{}\" found into one solution:\n", whole.title);
    for part in parts {
        let asset = part.result_asset.map(|id| id.to_string()).unwrap_or_default();
        text.push_str(&format!("- {}: {asset}\n", part.title));
    }
    text.push_str(
        "Once you have claimed this task, fetch them with POST /a2a/fetch and these ids in `asset_ids`.\n",
    );
    if !whole.body.is_empty() {
        text.push_str(&format!("\nThe whole task:\n{}", whole.body));
    }
    text
}

/// The results are merged: the whole is completed with them.
pub(crate) fn merged(tx: &mut dyn Tx, part: &TaskRow, decide_ms: i64, now: Time) -> Result<()> {
    let Some(parent) = &part.parent_task_id else { return Ok(()) };
    let whole = tasks::reload(tx, parent)?;
    let Ok(after) = step(whole.state(), TaskEvent::Merge) else { return Ok(()) };
    let now = now.max(Time(whole.claimed_at.unwrap_or(whole.created_at)));
    let actor = format!("node:{}", part.completed_by()?);
    tasks::set_status(tx, &whole, after, &actor, "merge", None, now)?;
    let asset = part.result_asset;
    tx.run(
        "UPDATE tasks SET result_asset = $2, completed_at = $3 WHERE task_id = $1",
        params![parent, &asset, now],
    )?;
    graph::membership::solution_changed(tx, whole.result_asset.as_ref(), asset.as_ref(), now)?;
    bounties::task_completed(tx, &whole, part, decide_ms, now)
}

/// The part of a task that merges the others.
pub fn aggregation(tx: &mut dyn Tx, task_id: &str) -> Result<Option<TaskRow>> {
    Ok(tasks::parts(tx, task_id)?.into_iter().find(|part| part.role == Some(SubtaskRole::Aggregator)))
}
