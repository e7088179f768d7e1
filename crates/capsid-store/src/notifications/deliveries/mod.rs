//! Deliveries: calls to nodes' webhooks. They are written with the event they tell of, so that none is lost, and made by
//! a worker until the node has taken them.

pub mod calls;
pub mod select;

use crate::db::tx::{Row, Tx};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

const DAY_MS: i64 = 24 * 3_600_000;
/// How long a delivery that arrived can be looked at and sent again.
const DELIVERED_KEPT_MS: i64 = 7 * DAY_MS;
/// How long one that was given up can.
const DEAD_KEPT_MS: i64 = 30 * DAY_MS;

/// How many deliveries wait for one node at most. Events beyond are not called for; its stream, poll and heartbeat tell
/// them all the same.
pub const MAX_WAITING: i64 = 1000;

/// Every state, in the order in which a delivery may go through them.
pub const STATES: [&str; 5] = ["queued", "delivering", "retrying", "delivered", "dead"];

/// One delivery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DeliveryRow {
    /// Its place in the order of all.
    pub seq: i64,
    /// Its id, the same over all tries.
    pub delivery_id: String,
    pub node_id: String,
    /// What it tells, such as `task_assigned`.
    pub kind: String,
    /// One of [`STATES`].
    pub state: String,
    /// How often it was tried since it was queued.
    pub attempts: i64,
    pub next_at: i64,
    pub last_status: Option<i64>,
    pub last_error: Option<String>,
    pub created_at: i64,
    pub updated_at: i64,
    pub delivered_at: Option<i64>,
}

impl DeliveryRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            seq: row.int(0)?,
            delivery_id: row.string(1)?,
            node_id: row.string(2)?,
            kind: row.string(3)?,
            state: row.string(4)?,
            attempts: row.int(5)?,
            next_at: row.int(6)?,
            last_status: row.int_or(7)?,
            last_error: row.string_or(8)?,
            created_at: row.int(9)?,
            updated_at: row.int(10)?,
            delivered_at: row.int_or(11)?,
        })
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
            "SELECT seq, delivery_id, node_id, kind, state, attempts, next_at, last_status, last_error, created_at,
                updated_at, delivered_at FROM deliveries
             WHERE node_id = $1 AND ($2 IS NULL OR state = $2) AND seq < $3 ORDER BY seq DESC LIMIT $4"
        }
        (None, Some(_)) => {
            "SELECT seq, delivery_id, node_id, kind, state, attempts, next_at, last_status, last_error, created_at,
                updated_at, delivered_at FROM deliveries
             WHERE $1 IS NULL AND state = $2 AND seq < $3 ORDER BY seq DESC LIMIT $4"
        }
        (None, None) => {
            "SELECT seq, delivery_id, node_id, kind, state, attempts, next_at, last_status, last_error, created_at,
                updated_at, delivered_at FROM deliveries
             WHERE $1 IS NULL AND $2 IS NULL AND seq < $3 ORDER BY seq DESC LIMIT $4"
        }
    };
    tx.all(sql, params![&filter.node_id, &filter.state, before, limit], DeliveryRow::read)
}

/// How many deliveries are in which state, of one node or of all.
pub fn counts(tx: &mut dyn Tx, node_id: Option<&str>) -> Result<Vec<(String, i64)>> {
    let read = |row: &dyn Row| Ok((row.string(0)?, row.int(1)?));
    match node_id {
        Some(node_id) => tx.all(
            "SELECT state, COUNT(*) FROM deliveries WHERE node_id = $1 GROUP BY state ORDER BY state",
            params![node_id],
            read,
        ),
        None => {
            tx.all("SELECT state, COUNT(*) FROM deliveries GROUP BY state ORDER BY state", params![], read)
        }
    }
}

/// One delivery, held against others that change it.
fn lock(tx: &mut dyn Tx, delivery_id: &str) -> Result<Option<DeliveryRow>> {
    tx.first(
        "SELECT seq, delivery_id, node_id, kind, state, attempts, next_at, last_status, last_error, created_at,
            updated_at, delivered_at FROM deliveries WHERE delivery_id = $1 FOR UPDATE",
        params![delivery_id],
        DeliveryRow::read,
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
    let found = lock(tx, delivery_id)?.filter(|found| of.is_none_or(|node_id| found.node_id == node_id));
    let Some(found) = found else { return Ok(ReplayOutcome::Missing) };
    if !["delivered", "dead"].contains(&found.state.as_str()) {
        return Ok(ReplayOutcome::UnderWay(found.state));
    }
    if crate::notifications::webhooks::get(tx, &found.node_id)?
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
