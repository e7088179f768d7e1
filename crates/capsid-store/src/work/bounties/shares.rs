//! Who shares in a bounty, and in which parts.

use super::BountyRow;
use crate::db::tx::Tx;
use crate::work::tasks;
use crate::work::tasks::TaskRow;
use capsid_model::problem::Result;
use capsid_rules::work::swarm::share;
use capsid_rules::work::tasks::SubtaskRole;

/// Who gets a part of a bounty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BountyShare {
    pub task_id: String,
    pub node_id: String,
    /// solo, proposer, solver or aggregator.
    pub role: &'static str,
    /// The submission it pays for.
    pub submission_id: Option<String>,
}

/// Who shares in a bounty: the node that did the task, or all that took part in the swarm. In the order of
/// [`amounts`]: the proposer, the solvers, the aggregator.
pub fn shares(tx: &mut dyn Tx, bounty: &BountyRow, whole: &TaskRow) -> Result<Vec<BountyShare>> {
    let of = |task: &TaskRow, role| {
        task.claimed_by.clone().map(|node_id| BountyShare {
            task_id: task.task_id.clone(),
            node_id,
            role,
            submission_id: task.submission_id.clone(),
        })
    };
    if whole.decomposed_at.is_none() {
        // An admin may have matched it with the work of a node that never took it.
        let node_id = bounty.matched_node.clone().or_else(|| whole.claimed_by.clone());
        let submission_id = whole.submission_id.clone().filter(|_| whole.claimed_by == node_id);
        return Ok(node_id
            .map(|node_id| BountyShare {
                task_id: whole.task_id.clone(),
                node_id,
                role: "solo",
                submission_id,
            })
            .into_iter()
            .collect());
    }
    let mut shares: Vec<BountyShare> = of(whole, "proposer").into_iter().collect();
    for part in tasks::parts(tx, &whole.task_id)? {
        let role = if part.role == Some(SubtaskRole::Aggregator) { "aggregator" } else { "solver" };
        shares.extend(of(&part, role));
    }
    Ok(shares)
}

/// What each share is worth.
pub fn amounts(tx: &mut dyn Tx, amount: i64, whole: &TaskRow, shares: &[BountyShare]) -> Result<Vec<i64>> {
    if whole.decomposed_at.is_none() {
        return Ok(shares.iter().map(|_| amount).collect());
    }
    let solvers: Vec<TaskRow> = tasks::parts(tx, &whole.task_id)?
        .into_iter()
        .filter(|part| part.role == Some(SubtaskRole::Solver))
        .collect();
    let weights = solvers.iter().map(TaskRow::weight_of_part).collect::<Result<Vec<i64>>>()?;
    let shared = share(amount, &weights);
    // Not every part needs to have somebody who works on it.
    let solved = |share: &BountyShare| {
        let at = solvers.iter().position(|part| part.task_id == share.task_id);
        at.and_then(|at| shared.solvers.get(at).copied()).ok_or_else(|| {
            crate::damaged(format!("The part {} of a task is not there after it was read.", share.task_id))
        })
    };
    let amount = |share: &BountyShare| match share.role {
        "proposer" => Ok(shared.proposer),
        "solver" => solved(share),
        _ => Ok(shared.aggregator),
    };
    shares.iter().map(amount).collect()
}
