//! Events: what a node is to be told, by stream, poll or heartbeat.
//!
//! A client that brings a cursor is told everything after it, as often as it asks. For one that brings none the hub
//! remembers how far it was told, for each way on its own: what one way loses, another one still tells.

use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::text_enum;
use capsid_model::time::Time;

/// How long an event waits to be told.
pub const KEPT_MS: i64 = 7 * 24 * 3_600_000;

row! {
    /// One thing to be told.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct EventRow {
        /// Its place in the order of all events.
        pub seq: i64 = "seq",
        /// What it is, such as `task_assigned`.
        pub kind: String = "kind",
        /// What it says, as JSON.
        pub payload: String = "payload",
        pub created_at: i64 = "created_at",
        /// Until when it is told.
        pub expires_at: i64 = "expires_at",
    }
}

/// How a node is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EventChannel {
    Stream,
    /// By a request that waits.
    Poll,
    Heartbeat,
}

text_enum!(EventChannel {
    Stream = "stream",
    Poll = "poll",
    Heartbeat = "heartbeat",
});

/// Leaves an event for a node. `payload` is JSON text of an object.
pub fn insert_event(tx: &mut dyn Tx, node_id: &str, kind: &str, payload: &str, now: Time) -> Result<i64> {
    // One teller at a time for each node: a reader that saw an event has then seen all before it.
    tx.exists("SELECT 1 FROM nodes WHERE node_id = $1 FOR UPDATE", params![node_id])?;
    tx.query_one("INSERT INTO events (node_id, kind, payload, created_at, expires_at) VALUES ($1, $2, $3, $4, $5) RETURNING seq", params![node_id, kind, payload, now, now.0 + KEPT_MS])
}

/// A node's events after a place, oldest first.
pub fn after(tx: &mut dyn Tx, node_id: &str, after: i64, limit: i64, now: Time) -> Result<Vec<EventRow>> {
    tx.query_all(
        select!(
            EventRow,
            "FROM events
         WHERE node_id = $1 AND seq > $2 AND expires_at > $3 ORDER BY seq LIMIT $4"
        ),
        params![node_id, after, now, limit],
    )
}

/// The place of the newest event of anybody.
pub fn newest(tx: &mut dyn Tx) -> Result<i64> {
    tx.count("SELECT COALESCE(MAX(seq), 0) FROM events", params![])
}

/// Where a reader begins: after its own cursor, or else after what it was told this way. A cursor that lies in the
/// future is one of another database, and begins at the beginning.
pub fn begin(tx: &mut dyn Tx, node_id: &str, channel: EventChannel, cursor: Option<i64>) -> Result<i64> {
    match cursor {
        Some(cursor) if cursor <= newest(tx)? => Ok(cursor),
        Some(_) => Ok(0),
        None => {
            let reached = tx.query_first(
                "SELECT seq FROM told WHERE node_id = $1 AND way = $2",
                params![node_id, channel.as_str()],
            )?;
            Ok(reached.unwrap_or(0))
        }
    }
}

/// Remembers how far a node was told.
pub fn advance_cursor(tx: &mut dyn Tx, node_id: &str, channel: EventChannel, seq: i64) -> Result<()> {
    tx.run(
        "INSERT INTO told (node_id, way, seq) VALUES ($1, $2, $3)
         ON CONFLICT (node_id, way) DO UPDATE SET seq = excluded.seq WHERE told.seq < excluded.seq",
        params![node_id, channel.as_str(), seq],
    )?;
    Ok(())
}

/// Forgets events that nobody fetched in time, a few at a time.
pub fn forget_old(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    tx.run(
        "DELETE FROM events WHERE seq IN (SELECT seq FROM events WHERE expires_at <= $1 LIMIT 1000)",
        params![now],
    )
}
