//! Announcements: what many nodes are told. The announcement is written with the change it tells of; a job spreads it
//! to the nodes, a few in each transaction, and remembers how far it came. Nobody is left out and nobody told twice.

use crate::notices::{self, Notice};
use crate::tasks::Task;
use crate::tx::{Row, Tx};
use crate::{params, workers};
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// What only those are told who said that they take work.
pub const FOR_WORKERS: &str = "task_available";

/// Nodes that were not heard of for so long are not told.
const HEARD_MS: i64 = 7 * 24 * 3_600_000;

struct Announcement {
    seq: i64,
    kind: String,
    payload: String,
    signals: String,
    min_reputation: f64,
    except_node: Option<String>,
    place: String,
}

impl Announcement {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            seq: row.int(0)?,
            kind: row.string(1)?,
            payload: row.string(2)?,
            signals: row.string(3)?,
            min_reputation: row.real(4)?,
            except_node: row.string_or(5)?,
            place: row.string(6)?,
        })
    }
}

/// Announces a task to every node that may take it and is good at such tasks; [`FOR_WORKERS`] to workers alone.
pub fn announce(tx: &mut dyn Tx, notice: &Notice, task: &Task, now: Time) -> Result<()> {
    let except = task.asker.strip_prefix("node:");
    tx.run(
        "INSERT INTO announcements (kind, payload, signals, min_reputation, except_node, created_at)
         VALUES ($1, $2, $3, $4, $5, $6)",
        params![notice.kind, &notice.text(), &task.signals, task.min_reputation, except, now],
    )?;
    Ok(())
}

/// Whether something is to be spread. Only reads.
pub fn is_waiting(tx: &mut dyn Tx) -> Result<bool> {
    tx.exists("SELECT 1 FROM announcements WHERE done_at IS NULL LIMIT 1", params![])
}

/// Spreads the oldest announcement to the next few nodes, and tells how many were told; nothing when none is left.
pub fn spread(tx: &mut dyn Tx, few: i64, now: Time) -> Result<Option<u64>> {
    let next = tx.first(
        "SELECT seq, kind, payload, signals, min_reputation, except_node, place FROM announcements
         WHERE done_at IS NULL ORDER BY seq LIMIT 1 FOR UPDATE",
        params![],
        Announcement::read,
    )?;
    let Some(next) = next else { return Ok(None) };
    let nodes = tx.all(
        "SELECT n.node_id, w.domains FROM nodes n
            LEFT JOIN workers w ON w.node_id = n.node_id AND (w.enabled = 1 OR w.subscribed = 1)
         WHERE n.node_id > $1 AND n.status = 'active' AND n.last_seen_at >= $2
            AND COALESCE(n.reputation_override, n.reputation) >= $3 AND ($4 = 0 OR w.node_id IS NOT NULL)
         ORDER BY n.node_id LIMIT $5",
        params![&next.place, now.0 - HEARD_MS, next.min_reputation, next.kind == FOR_WORKERS, few],
        |row| Ok((row.string(0)?, workers::suits(row.text_or(1)?, &next.signals))),
    )?;
    let mut told = 0;
    for (node_id, suits) in &nodes {
        if *suits && next.except_node.as_ref() != Some(node_id) {
            notices::tell_text(tx, node_id, &next.kind, &next.payload, now)?;
            told += 1;
        }
    }
    let last = nodes.last().map_or(next.place.as_str(), |(node_id, _)| node_id.as_str());
    let done = ((nodes.len() as i64) < few).then_some(now);
    tx.run(
        "UPDATE announcements SET place = $2, done_at = $3 WHERE seq = $1",
        params![next.seq, last, done],
    )?;
    Ok(Some(told))
}

/// Forgets announcements that were spread, a few at a time.
pub fn forget_old(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    tx.run(
        "DELETE FROM announcements WHERE seq IN (SELECT seq FROM announcements WHERE done_at <= $1 LIMIT 1000)",
        params![now.0 - HEARD_MS],
    )
}
