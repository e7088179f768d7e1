//! Deliveries: calls to nodes' webhooks. They are written with the event they tell of, so that none is lost, and made by
//! a worker until the node has taken them.

pub mod calls;
pub mod select;

use crate::db::DAY_MS;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// How long a delivery that arrived can be looked at and sent again.
const DELIVERED_KEPT_MS: i64 = 7 * DAY_MS;
/// How long one that was given up can.
const DEAD_KEPT_MS: i64 = 30 * DAY_MS;

/// How many deliveries wait for one node at most. Events beyond are not called for; its stream, poll and heartbeat tell
/// them all the same.
pub const MAX_WAITING: i64 = 1000;

/// Every state, in the order in which a delivery may go through them.
pub const STATES: [&str; 5] = ["queued", "delivering", "retrying", "delivered", "dead"];

row! {
    /// One delivery.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct DeliveryRow {
        /// Its place in the order of all.
        pub seq: i64 = "seq",
        /// Its id, the same over all tries.
        pub delivery_id: String = "delivery_id",
        pub node_id: String = "node_id",
        /// What it tells, such as `task_assigned`.
        pub kind: String = "kind",
        /// One of [`STATES`].
        pub state: String = "state",
        /// How often it was tried since it was queued.
        pub attempts: i64 = "attempts",
        pub next_at: i64 = "next_at",
        pub last_status: Option<i64> = "last_status",
        pub last_error: Option<String> = "last_error",
        pub created_at: i64 = "created_at",
        pub updated_at: i64 = "updated_at",
        pub delivered_at: Option<i64> = "delivered_at",
    }
}

/// Queues an event for a node's webhook, where it has one that is not switched off and for which not too much waits
/// already ([`MOST_WAITING`]).
pub(crate) fn queue(
    tx: &mut dyn Tx,
    node_id: &str,
    event: i64,
    kind: &str,
    payload: &str,
    now: Time,
) -> Result<()> {
    tx.run(
        "INSERT INTO deliveries (delivery_id, node_id, kind, payload, state, next_at, created_at, queued_at, updated_at)
         SELECT $1, n.node_id, $3, $4, 'queued', $5, $5, $5, $5 FROM nodes n
            JOIN webhooks w ON w.node_id = n.node_id AND w.disabled_at IS NULL
         WHERE n.node_id = $2 AND n.webhook_url IS NOT NULL AND NOT EXISTS
            (SELECT 1 FROM deliveries d WHERE d.node_id = $2 AND d.state NOT IN ('delivering', 'delivered', 'dead')
             LIMIT 1 OFFSET $6)",
        params![&format!("evt_{event}"), node_id, kind, payload, now, MAX_WAITING - 1],
    )?;
    Ok(())
}

/// Whether so much waits for a node that no more is queued.
pub fn is_full(tx: &mut dyn Tx, node_id: &str) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM deliveries WHERE node_id = $1 AND state NOT IN ('delivering', 'delivered', 'dead') LIMIT 1 OFFSET $2",
        params![node_id, MAX_WAITING - 1],
    )
}

/// Which deliveries.
#[derive(Debug, Clone, Default)]
pub struct DeliveryFilter {
    pub node_id: Option<String>,
    pub state: Option<String>,
}

/// Deliveries before a place, newest first.
pub fn list(tx: &mut dyn Tx, filter: &DeliveryFilter, before: i64, limit: i64) -> Result<Vec<DeliveryRow>> {
    // One statement for each way that the list can be found, so that each uses its index.
    let sql = match (&filter.node_id, &filter.state) {
        (Some(_), _) => {
            select!(
                DeliveryRow,
                "FROM deliveries
             WHERE node_id = $1 AND ($2 IS NULL OR state = $2) AND seq < $3 ORDER BY seq DESC LIMIT $4"
            )
        }
        (None, Some(_)) => {
            select!(
                DeliveryRow,
                "FROM deliveries
             WHERE $1 IS NULL AND state = $2 AND seq < $3 ORDER BY seq DESC LIMIT $4"
            )
        }
        (None, None) => {
            select!(
                DeliveryRow,
                "FROM deliveries
             WHERE $1 IS NULL AND $2 IS NULL AND seq < $3 ORDER BY seq DESC LIMIT $4"
            )
        }
    };
    tx.query_all(sql, params![&filter.node_id, &filter.state, before, limit])
}

/// How many deliveries are in which state, of one node or of all.
pub fn counts(tx: &mut dyn Tx, node_id: Option<&str>) -> Result<Vec<(String, i64)>> {
    match node_id {
        Some(node_id) => tx.query_all(
            "SELECT state, COUNT(*) FROM deliveries WHERE node_id = $1 GROUP BY state ORDER BY state",
            params![node_id],
        ),
        None => {
            tx.query_all("SELECT state, COUNT(*) FROM deliveries GROUP BY state ORDER BY state", params![])
        }
    }
}

/// One delivery, held against others that change it.
fn lock(tx: &mut dyn Tx, delivery_id: &str) -> Result<Option<DeliveryRow>> {
    tx.query_first(
        select!(DeliveryRow, "FROM deliveries WHERE delivery_id = $1 FOR UPDATE"),
        params![delivery_id],
    )
}

/// What came of the wish to send something again.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplayOutcome {
    /// It is queued, with the same id.
    Queued,
    /// There is no such delivery, or not of this node.
    Missing,
    /// It is still being tried, in this state.
    UnderWay(String),
    /// The node has no webhook, or one that is switched off.
    NoWebhook,
}

/// Queues a delivery again that arrived or was given up. `of` is the node it has to belong to, if any.
pub fn replay(tx: &mut dyn Tx, delivery_id: &str, of: Option<&str>, now: Time) -> Result<ReplayOutcome> {
    let delivery =
        lock(tx, delivery_id)?.filter(|delivery| of.is_none_or(|node_id| delivery.node_id == node_id));
    let Some(delivery) = delivery else { return Ok(ReplayOutcome::Missing) };
    if !["delivered", "dead"].contains(&delivery.state.as_str()) {
        return Ok(ReplayOutcome::UnderWay(delivery.state));
    }
    if crate::notifications::webhooks::get(tx, &delivery.node_id)?
        .is_none_or(|webhook| webhook.disabled_at.is_some())
    {
        return Ok(ReplayOutcome::NoWebhook);
    }
    tx.run(
        "UPDATE deliveries SET state = 'queued', attempts = 0, next_at = $2, queued_at = $2, holder = NULL,
            updated_at = $2, delivered_at = NULL WHERE delivery_id = $1",
        params![delivery_id, now],
    )?;
    Ok(ReplayOutcome::Queued)
}

/// Forgets deliveries that came to their end long ago, a few at a time.
pub fn delete_expired(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    let forget = |tx: &mut dyn Tx, state: &str, kept_ms: i64| {
        tx.run(
            "DELETE FROM deliveries WHERE seq IN
                (SELECT seq FROM deliveries WHERE state = $1 AND updated_at <= $2 LIMIT 1000)",
            params![state, now.0 - kept_ms],
        )
    };
    let delivered = forget(tx, "delivered", DELIVERED_KEPT_MS)?;
    Ok(delivered + forget(tx, "dead", DEAD_KEPT_MS)?)
}
