//! Announcements: what many nodes are told. The announcement is written with the change it tells of; a job spreads it
//! to the nodes, a few in each transaction, and remembers how far it came. Nobody is left out and nobody told twice.

use crate::db::row::{Json, row, select};
use crate::db::tx::Tx;
use crate::notifications::notices;
use crate::notifications::notices::NodeNotice;
use crate::work::tasks;
use crate::work::tasks::TaskRow;
use crate::work::workers;
use crate::{nodes, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::assets::traits::card_members;
use capsid_rules::work::tasks::{TaskStatus, shares_signal};
use serde_json::Value;

/// What only those are told who said that they take work.
pub const FOR_WORKERS: &str = "task_available";
/// What those are told who said so, or have published something with one of its signals.
pub const PAYS_WELL: &str = "high_value_task";
/// How many of a node's newest assets show what it has worked on.
const MAX_SHOWN: i64 = 50;

const HOUR_MS: i64 = 3_600_000;
/// How many tasks of one asker are announced within an hour.
pub const MAX_AN_HOUR: i64 = 60;

/// Nodes that were not heard of for so long are not told.
pub(super) const HEARD_MS: i64 = 7 * 24 * 3_600_000;

row! {
    struct AnnouncementRow {
        seq: i64 = "seq",
        kind: String = "kind",
        task_id: String = "task_id",
        payload: String = "payload",
        position: String = "place",
    }
}

/// Announces a task to every node that may take it and is good at such tasks; [`FOR_WORKERS`] to workers alone. Asking
/// costs nothing and telling everybody does: whoever asks much within an hour is found in lists only.
pub fn announce(tx: &mut dyn Tx, notice: &NodeNotice, task: &TaskRow, now: Time) -> Result<()> {
    let lately = tx.count(
        "SELECT COUNT(*) FROM announcements WHERE asker = $1 AND created_at > $2",
        params![&task.asker, now.0 - HOUR_MS],
    )?;
    if lately >= MAX_AN_HOUR {
        return Ok(());
    }
    tx.run(
        "INSERT INTO announcements (kind, task_id, asker, payload, created_at) VALUES ($1, $2, $3, $4, $5)",
        params![notice.kind, &task.task_id, &task.asker, &notice.text(), now],
    )?;
    Ok(())
}

/// Whether something is to be spread. Only reads.
pub fn is_waiting(tx: &mut dyn Tx) -> Result<bool> {
    tx.exists("SELECT 1 FROM announcements WHERE done_at IS NULL LIMIT 1", params![])
}

/// Spreads the oldest announcement to the next few nodes, and tells how many were told; nothing when none is left. One of a
/// task that nobody can take any more is told to nobody. `tiers` are the models that the hub has ranked.
pub fn deliver_announcement(
    tx: &mut dyn Tx,
    tiers: &[(String, i64)],
    few: i64,
    now: Time,
) -> Result<Option<u64>> {
    let next = tx.query_first::<AnnouncementRow>(
        select!(
            AnnouncementRow,
            "FROM announcements
         WHERE done_at IS NULL ORDER BY seq LIMIT 1 FOR UPDATE"
        ),
        params![],
    )?;
    let Some(next) = next else { return Ok(None) };
    let task = tasks::get(tx, &next.task_id)?.filter(|task| task.status_at(now) == TaskStatus::Open);
    let Some(task) = task else {
        reached(tx, &next, &next.position, Some(now))?;
        return Ok(Some(0));
    };
    let nodes = reachable(tx, &next, &task, few, now)?;
    let mut notified = 0;
    for node in &nodes {
        if task.allows_model(node.model.as_deref(), tiers) && is_addressed(tx, node, &next.kind, &task)? {
            notices::notify_text(tx, &node.node_id, &next.kind, &next.payload, now)?;
            notified += 1;
        }
    }
    let last = nodes.last().map_or(next.position.as_str(), |node| node.node_id.as_str());
    reached(tx, &next, last, ((nodes.len() as i64) < few).then_some(now))?;
    Ok(Some(notified))
}

row! {
    /// A node that may be told.
    struct AnnouncementRecipient {
        node_id: String = "n.node_id",
        model: Option<String> = "n.model",
        domains: Option<Json<Vec<String>>> = "w.domains",
    }
}

/// Whether a node is good at a task. Where it does not say what it is good at, what it has published does: otherwise
/// everybody would be told of everything that pays.
fn is_addressed(tx: &mut dyn Tx, node: &AnnouncementRecipient, kind: &str, task: &TaskRow) -> Result<bool> {
    match &node.domains {
        Some(Json(domains)) => Ok(workers::is_good_at(domains, &task.signals)),
        None if kind != PAYS_WELL || shares_signal(&task.signals, []) => Ok(true),
        None => {
            let cards = tx.query_all::<String>(
                "SELECT card FROM assets WHERE node_id = $1 AND asset_type <> 'EvolutionEvent'
                    AND status IN ('candidate', 'promoted', 'stale') ORDER BY seq DESC LIMIT $2",
                params![&node.node_id, MAX_SHOWN],
            )?;
            Ok(cards.iter().any(|card| {
                let card = card_members(card);
                let signals = card.get("signals").and_then(Value::as_array).into_iter().flatten();
                shares_signal(&task.signals, signals.filter_map(Value::as_str))
            }))
        }
    }
}

/// The node that asked a task, and its owner or the account that asked; empty where there is none.
pub(super) fn asker_and_owner(tx: &mut dyn Tx, task: &TaskRow) -> Result<(String, String)> {
    let asker = task.asker.strip_prefix("node:").unwrap_or_default();
    let owner = match task.asker.strip_prefix("user:") {
        Some(user) => Some(user.to_owned()),
        None => nodes::get(tx, asker)?.and_then(|node| node.owner),
    };
    Ok((asker.to_owned(), owner.unwrap_or_default()))
}

/// The next few nodes that are there and stand well enough; the only one where a task is kept for it. Whoever asked knows, and so do the other nodes of the same
/// owner.
fn reachable(
    tx: &mut dyn Tx,
    next: &AnnouncementRow,
    task: &TaskRow,
    few: i64,
    now: Time,
) -> Result<Vec<AnnouncementRecipient>> {
    let (asker, owner) = asker_and_owner(tx, task)?;
    tx.query_all(
        select!(
            AnnouncementRecipient,
            "FROM nodes n
            LEFT JOIN workers w ON w.node_id = n.node_id AND (w.enabled = 1 OR w.subscribed = 1)
         WHERE n.node_id > $1 AND n.status = 'active' AND n.last_seen_at >= $2
            AND COALESCE(n.reputation_override, n.reputation) >= $3 AND ($4 = 0 OR w.node_id IS NOT NULL)
            AND n.node_id <> $5 AND (n.owner IS NULL OR n.owner <> $6) AND ($8 = '' OR n.node_id = $8)
         ORDER BY n.node_id LIMIT $7"
        ),
        params![
            &next.position,
            now.0 - HEARD_MS,
            task.min_reputation,
            next.kind == FOR_WORKERS,
            &asker,
            &owner,
            few,
            task.reserved_for.as_deref().unwrap_or_default()
        ],
    )
}

/// Remembers how far an announcement came, and when everybody was told.
fn reached(tx: &mut dyn Tx, next: &AnnouncementRow, position: &str, done: Option<Time>) -> Result<()> {
    tx.run(
        "UPDATE announcements SET place = $2, done_at = $3 WHERE seq = $1",
        params![next.seq, position, done],
    )?;
    Ok(())
}

/// Forgets announcements that were spread, a few at a time.
pub fn delete_expired(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    tx.run(
        "DELETE FROM announcements WHERE seq IN (SELECT seq FROM announcements WHERE done_at <= $1 LIMIT 1000)",
        params![now.0 - HEARD_MS],
    )
}
