//! What came of the credits that were put aside for a bounty, as the ledger tells it.

use super::{BountyRow, escrow_account};
use crate::db::tx::Tx;
use crate::params;
use crate::work::tasks;
use crate::work::tasks::TaskRow;
use capsid_model::problem::Result;
use capsid_rules::work::tasks::SubtaskRole;

/// Credits that a node was paid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payout {
    /// The task it was paid for: the whole, or a part of it.
    pub task_id: String,
    pub node_id: String,
    /// solo, proposer, solver or aggregator.
    pub role: &'static str,
    pub amount: i64,
}

/// Where all of it went.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct PayoutSummary {
    pub payouts: Vec<Payout>,
    pub commission: i64,
    pub refunded: i64,
}

/// Where the credits of a bounty went. Only reads.
pub fn load_payouts(tx: &mut dyn Tx, bounty: &BountyRow, whole: &TaskRow) -> Result<PayoutSummary> {
    let moved = tx.query_all::<(String, String, i64)>(
        "SELECT t.reference, e.account, e.delta FROM entries h
            JOIN transfers t ON t.seq = h.transfer
            JOIN entries e ON e.transfer = h.transfer AND e.delta > 0
         WHERE h.account = $1 AND h.delta < 0 ORDER BY h.seq",
        params![&escrow_account(&bounty.bounty_id)],
    )?;
    let parts = if whole.decomposed_at.is_some() { tasks::parts(tx, &whole.task_id)? } else { Vec::new() };
    let start = format!("bounty:{}:", bounty.bounty_id);
    let mut paid = PayoutSummary::default();
    for (reference, account, amount) in moved {
        let what = reference.strip_prefix(&start).unwrap_or(&reference);
        match (what.strip_prefix("pay:"), account.strip_prefix("node:")) {
            (Some(task_id), Some(node_id)) => paid.payouts.push(Payout {
                task_id: task_id.to_owned(),
                node_id: node_id.to_owned(),
                role: role(whole, &parts, task_id),
                amount,
            }),
            _ if what == "commission" => paid.commission += amount,
            _ => paid.refunded += amount,
        }
    }
    Ok(paid)
}

fn role(whole: &TaskRow, parts: &[TaskRow], task_id: &str) -> &'static str {
    match parts.iter().find(|part| part.task_id == task_id).and_then(|part| part.role) {
        Some(SubtaskRole::Aggregator) => "aggregator",
        Some(SubtaskRole::Solver) => "solver",
        None if whole.decomposed_at.is_some() => "proposer",
        None => "solo",
    }
}
