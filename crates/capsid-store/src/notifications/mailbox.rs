//! The mailbox: messages that wait for a node, and the answers to those that it sent.

use crate::db::DAY_MS;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use sha2::{Digest, Sha256};

/// How long a message waits.
pub const KEPT_MS: i64 = 30 * 24 * 3_600_000;
/// How many messages may wait for one node.
pub const MAX_WAITING: i64 = 1000;

/// How many bytes a node may send on one day.
pub const BYTES_A_DAY: i64 = 64 * 1024 * 1024;

row! {
    /// A message that waits for a node.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct MailboxMessageRow {
        /// Its place in the order of all messages.
        pub seq: i64 = "seq",
        pub message_id: String = "message_id",
        /// What it is, such as `dm`.
        pub kind: String = "kind",
        /// What it says, as JSON.
        pub payload: String = "payload",
        pub priority: String = "priority",
        /// The message that it answers.
        pub ref_id: Option<String> = "ref_id",
        pub created_at: i64 = "created_at",
        pub expires_at: Option<i64> = "expires_at",
    }
}

/// A message to be left for a node.
#[derive(Debug, Clone, Copy)]
pub struct NewMailboxMessage<'a> {
    /// Its id, unique among all messages.
    pub message_id: &'a str,
    pub node_id: &'a str,
    /// What it is, such as `dm`.
    pub kind: &'a str,
    /// What it says, as JSON.
    pub payload: &'a str,
    pub priority: &'a str,
    /// The message that it answers.
    pub ref_id: Option<&'a str>,
}

/// Leaves a message for a node. A message that was left before is not left again.
pub fn insert_message(tx: &mut dyn Tx, message: NewMailboxMessage<'_>, now: Time) -> Result<()> {
    // One writer at a time for each node, so that a reader's cursor never passes a message that is still being left.
    tx.exists("SELECT 1 FROM nodes WHERE node_id = $1 FOR UPDATE", params![message.node_id])?;
    tx.run(
        "INSERT INTO mailbox (message_id, node_id, kind, payload, priority, ref_id, created_at, expires_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
        params![
            message.message_id,
            message.node_id,
            message.kind,
            message.payload,
            message.priority,
            message.ref_id,
            now,
            now.0 + KEPT_MS
        ],
    )?;
    Ok(())
}

/// Leaves a notice for a node that subscribed to its mailbox.
pub(super) fn insert_notice(
    tx: &mut dyn Tx,
    node_id: &str,
    event: i64,
    kind: &str,
    payload: &str,
    now: Time,
) -> Result<()> {
    if !tx.exists("SELECT 1 FROM workers WHERE node_id = $1 AND subscribed = 1", params![node_id])? {
        return Ok(());
    }
    // What can be taken is a task that is available; everything else is news.
    let available =
        ["high_value_task", "swarm_subtask_available", "swarm_aggregation_available", "task_available"];
    let kind = if available.contains(&kind) { "task_available" } else { "hub_event" };
    // Its type may differ from the event's, and clients take an id for one message of one type.
    let message_id = format!("mail_{event}");
    let message = NewMailboxMessage {
        message_id: &message_id,
        node_id,
        kind,
        payload,
        priority: "normal",
        ref_id: None,
    };
    insert_message(tx, message, now)
}

/// What waits for a node after a place, oldest first. It goes on waiting until it is acknowledged.
pub fn waiting(
    tx: &mut dyn Tx,
    node_id: &str,
    after: i64,
    limit: i64,
    now: Time,
) -> Result<Vec<MailboxMessageRow>> {
    tx.query_all(
        select!(
            MailboxMessageRow,
            "FROM mailbox
         WHERE node_id = $1 AND seq > $2 AND acked_at IS NULL AND (expires_at IS NULL OR expires_at > $3)
         ORDER BY seq LIMIT $4"
        ),
        params![node_id, after, now, limit],
    )
}

/// How many messages wait for a node.
pub fn count(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<i64> {
    tx.count(
        "SELECT COUNT(*) FROM mailbox
         WHERE node_id = $1 AND acked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)",
        params![node_id, now],
    )
}

/// Notes that a node has a message, which need not be kept from then on. False when it is not a message of this node; true again when it was noted before.
pub fn acknowledge(tx: &mut dyn Tx, node_id: &str, message_id: &str, now: Time) -> Result<bool> {
    let changed = tx.run(
        "UPDATE mailbox SET acked_at = COALESCE(acked_at, $3), payload = '{}' WHERE message_id = $1 AND node_id = $2",
        params![message_id, node_id, now],
    )?;
    Ok(changed == 1)
}

/// What a node sends: an id, and what makes it another message than one with the same id.
#[derive(Debug, Clone)]
pub struct MailboxMessageKey {
    pub node_id: String,
    /// The sender's own id for it.
    pub message_id: String,
    /// The hash of its type and payload.
    body_hash: [u8; 32],
    bytes: i64,
}

impl MailboxMessageKey {
    /// A message of a node as it was sent.
    pub fn new(node_id: &str, message_id: &str, kind: &str, payload: &str) -> Self {
        let mut hash = Sha256::new();
        hash.update((kind.len() as u64).to_le_bytes());
        hash.update(kind.as_bytes());
        hash.update(payload.as_bytes());
        Self {
            node_id: node_id.to_owned(),
            message_id: message_id.to_owned(),
            body_hash: hash.finalize().into(),
            bytes: (message_id.len() + kind.len() + payload.len()) as i64,
        }
    }
}

/// What is known of a message that a node sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MailboxLookup {
    /// Nothing: it has to be done.
    New,
    Answered(String),
    /// Its id was used for another body.
    Other,
    /// It is new, and the node has sent too much today; there is room again in so many milliseconds.
    TooMuch(i64),
}

/// Looks whether a message was answered before, and counts one that is new. The node is locked.
pub fn find_answer(tx: &mut dyn Tx, message: &MailboxMessageKey, now: Time) -> Result<MailboxLookup> {
    let known = tx.query_first::<(Vec<u8>, String)>(
        "SELECT body_hash, answer FROM mailbox_taken WHERE node_id = $1 AND message_id = $2",
        params![&message.node_id, &message.message_id],
    )?;
    match known {
        Some((body, answer)) if body == message.body_hash => return Ok(MailboxLookup::Answered(answer)),
        Some(_) => return Ok(MailboxLookup::Other),
        None => {}
    }
    let day = now.0.div_euclid(DAY_MS);
    let sent = tx.count(
        "INSERT INTO mailbox_days (node_id, day, bytes) VALUES ($1, $2, $3)
         ON CONFLICT (node_id, day) DO UPDATE SET bytes = mailbox_days.bytes + excluded.bytes RETURNING bytes",
        params![&message.node_id, day, message.bytes],
    )?;
    Ok(if sent > BYTES_A_DAY {
        MailboxLookup::TooMuch((day + 1) * DAY_MS - now.0)
    } else {
        MailboxLookup::New
    })
}

/// Keeps the answer to a message, so that it is not done twice.
pub fn save_answer(tx: &mut dyn Tx, message: &MailboxMessageKey, answer: &str, now: Time) -> Result<()> {
    tx.run(
        "INSERT INTO mailbox_taken (node_id, message_id, body_hash, answer, created_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT DO NOTHING",
        params![&message.node_id, &message.message_id, &message.body_hash, answer, now],
    )?;
    Ok(())
}

/// Forgets messages that nobody fetched in time, those that were acknowledged a month ago, and as old answers.
pub fn forget_old(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    let letters = tx.run(
        "DELETE FROM mailbox WHERE seq IN (SELECT seq FROM mailbox WHERE expires_at <= $1 LIMIT 1000)",
        params![now],
    )?;
    let answers = tx.run("DELETE FROM mailbox_taken WHERE created_at < $1", params![now.0 - KEPT_MS])?;
    let days = tx.run("DELETE FROM mailbox_days WHERE day < $1", params![now.0.div_euclid(DAY_MS)])?;
    Ok(letters + answers + days)
}

/// The place of the newest message of anybody.
pub fn newest(tx: &mut dyn Tx) -> Result<i64> {
    tx.count("SELECT COALESCE(MAX(seq), 0) FROM mailbox", params![])
}
