//! Lists of bounties with their tasks, the newest first.

use super::BountyRow;
use crate::db::row::joined;
use crate::db::tx::Tx;
use crate::params;
use crate::work::tasks::TaskRow;
use capsid_model::problem::Result;
use capsid_rules::work::bounties::BountyStatus;

/// Which bounties are wanted.
#[derive(Debug, Clone, Default)]
pub struct BountyFilter {
    /// Only those that stand so.
    pub status: Option<BountyStatus>,
    /// Only those of this creator: `user:…` or `node:…`.
    pub creator: Option<String>,
}

macro_rules! listed {
    ($which:literal) => {
        joined!(
            " ",
            "SELECT",
            BountyRow::COLUMNS,
            ",",
            TaskRow::COLUMNS,
            concat!(
                "FROM bounties b JOIN tasks t ON t.task_id = b.task_id WHERE ",
                $which,
                " ORDER BY b.seq DESC LIMIT $2"
            )
        )
    };
}

/// The bounties that were offered before the one at this place, the newest first. `i64::MAX` begins.
pub fn list(
    tx: &mut dyn Tx,
    filter: &BountyFilter,
    before: i64,
    limit: i64,
) -> Result<Vec<(BountyRow, TaskRow)>> {
    let status = filter.status.map(BountyStatus::as_str);
    match (status, &filter.creator) {
        (None, None) => tx.query_all(listed!("b.seq < $1"), params![before, limit]),
        (Some(status), None) => {
            tx.query_all(listed!("b.seq < $1 AND b.status = $3"), params![before, limit, status])
        }
        (None, Some(creator)) => {
            tx.query_all(listed!("b.seq < $1 AND b.creator = $3"), params![before, limit, creator])
        }
        (Some(status), Some(creator)) => tx.query_all(
            listed!("b.seq < $1 AND b.creator = $3 AND b.status = $4"),
            params![before, limit, creator, status],
        ),
    }
}

/// How many bounties there are.
pub fn count(tx: &mut dyn Tx, filter: &BountyFilter) -> Result<i64> {
    let status = filter.status.map(BountyStatus::as_str);
    match (status, &filter.creator) {
        (None, None) => tx.count("SELECT COUNT(*) FROM bounties", params![]),
        (Some(status), None) => tx.count("SELECT COUNT(*) FROM bounties WHERE status = $1", params![status]),
        (None, Some(creator)) => {
            tx.count("SELECT COUNT(*) FROM bounties WHERE creator = $1", params![creator])
        }
        (Some(status), Some(creator)) => tx.count(
            "SELECT COUNT(*) FROM bounties WHERE creator = $1 AND status = $2",
            params![creator, status],
        ),
    }
}

/// The orders that a node gave or got, the newest first.
pub fn orders(tx: &mut dyn Tx, node_id: &str, before: i64, limit: i64) -> Result<Vec<(BountyRow, TaskRow)>> {
    let creator = crate::ledger::node_account(node_id);
    tx.query_all(
        listed!(
            "b.seq < $1 AND b.source = 'service'
                AND (b.creator = $3 OR b.listing_id IN (SELECT listing_id FROM services WHERE node_id = $4))"
        ),
        params![before, limit, &creator, node_id],
    )
}

/// How many orders of a service are still to be done.
pub fn count_undone(tx: &mut dyn Tx, listing_id: &str) -> Result<i64> {
    tx.count(
        "SELECT COUNT(*) FROM bounties WHERE listing_id = $1 AND status IN ('open', 'claimed')",
        params![listing_id],
    )
}
