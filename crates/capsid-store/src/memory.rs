//! Memories: what a node wants to be reminded of. They are its own; no other node sees them.

use crate::db::row::{Json, row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use sha2::{Digest, Sha256};

/// The same memory within this time is a repeated request, not a second memory.
const REPEAT_MS: i64 = 60_000;
/// Stands for the minute of a memory that is the same whenever it comes.
const ANY_TIME: i64 = i64::MIN;

/// How many memories a node keeps.
const MAX: i64 = 10_000;
/// How many bytes of them.
const MAX_BYTES: i64 = 64 * 1024 * 1024;
/// How many old memories make room for a new one at most.
const ROOM: i64 = 100;

/// What a node records.
#[derive(Debug, Clone, Default)]
pub struct NewMemory {
    pub signals: Vec<String>,
    /// The gene that was used.
    pub gene_id: Option<String>,
    pub status: Option<String>,
    /// How well, from 0 to 1.
    pub score: Option<f64>,
    pub summary: Option<String>,
    /// The whole record as it was sent, JSON.
    pub body: String,
    /// What makes it the same as another one.
    pub identity: String,
}

/// A memory and when it was made.
#[derive(Debug, Clone)]
pub struct MemoryRow {
    pub memory: NewMemory,
    pub at: Time,
}

row! {
    /// How much a node remembers.
    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    pub struct MemoryCounts {
        pub total: i64 = "COUNT(*)",
        pub succeeded: i64 = "COUNT(CASE WHEN status = 'success' THEN 1 END)",
        pub failed: i64 = "COUNT(CASE WHEN status = 'failed' THEN 1 END)",
        /// When the newest was made.
        pub newest_at: Option<i64> = "MAX(created_at)",
    }
}

/// Records a memory; where there are too many, the oldest are forgotten. False when it is the repetition of one that was just recorded.
pub fn record(tx: &mut dyn Tx, node_id: &str, memory: &NewMemory, now: Time) -> Result<bool> {
    let minute = now.0.div_euclid(REPEAT_MS);
    let (key, earlier) = (dedupe(node_id, memory, minute), dedupe(node_id, memory, minute - 1));
    if tx.exists(
        "SELECT 1 FROM memories WHERE dedupe = $1 OR (dedupe = $2 AND created_at > $3)",
        params![&key, &earlier, now.0 - REPEAT_MS],
    )? {
        return Ok(false);
    }
    insert_memory(tx, node_id, memory, &key, now)
}

/// The same for a memory that may come again after any time, because it waited to be sent: as long as it is kept, its
/// repetition is none.
pub fn record_once(tx: &mut dyn Tx, node_id: &str, memory: &NewMemory, now: Time) -> Result<bool> {
    let key = dedupe(node_id, memory, ANY_TIME);
    if tx.exists("SELECT 1 FROM memories WHERE dedupe = $1", params![&key])? {
        return Ok(false);
    }
    insert_memory(tx, node_id, memory, &key, now)
}

fn insert_memory(
    tx: &mut dyn Tx,
    node_id: &str,
    memory: &NewMemory,
    key: &[u8; 32],
    now: Time,
) -> Result<bool> {
    let signals = serde_json::to_string(&memory.signals).unwrap_or_else(|_| "[]".to_owned());
    let (count, bytes) = so_far(tx, node_id)?;
    let (count, bytes) = (count + 1, bytes + memory.bytes(signals.len()));
    let added = tx.run(
        "INSERT INTO memories (dedupe, node_id, signals, gene_id, status, score, summary, body, count_so_far,
            bytes_so_far, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11) ON CONFLICT DO NOTHING",
        params![
            key,
            node_id,
            &signals,
            &memory.gene_id,
            &memory.status,
            memory.score,
            &memory.summary,
            &memory.body,
            count,
            bytes,
            now
        ],
    )?;
    if count > MAX || bytes > MAX_BYTES {
        forget(tx, node_id, count - MAX, bytes - MAX_BYTES)?;
    }
    Ok(added == 1)
}

impl NewMemory {
    fn bytes(&self, signals: usize) -> i64 {
        let summary = self.summary.as_ref().map_or(0, String::len);
        (signals + summary + self.body.len()) as i64
    }
}

/// How much a node has recorded, with what was forgotten since.
fn so_far(tx: &mut dyn Tx, node_id: &str) -> Result<(i64, i64)> {
    let newest = tx.query_first::<(i64, i64)>(
        "SELECT count_so_far, bytes_so_far FROM memories WHERE node_id = $1 ORDER BY seq DESC LIMIT 1",
        params![node_id],
    )?;
    Ok(newest.unwrap_or((0, 0)))
}

/// Forgets the oldest memories of a node, up to these counts.
fn forget(tx: &mut dyn Tx, node_id: &str, count: i64, bytes: i64) -> Result<()> {
    tx.run(
        "DELETE FROM memories WHERE seq IN (SELECT seq FROM
            (SELECT seq, count_so_far, bytes_so_far FROM memories WHERE node_id = $1 ORDER BY seq LIMIT $2) AS oldest
         WHERE count_so_far <= $3 OR bytes_so_far <= $4)",
        params![node_id, ROOM, count, bytes],
    )?;
    Ok(())
}

fn dedupe(node_id: &str, memory: &NewMemory, minute: i64) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in [node_id, &memory.identity] {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part.as_bytes());
    }
    hash.update(minute.to_le_bytes());
    hash.finalize().into()
}

/// A node's newest memories, newest first.
pub fn newest(tx: &mut dyn Tx, node_id: &str, limit: i64) -> Result<Vec<MemoryRow>> {
    let rows = tx
        .query_all::<(Json<Vec<String>>, Option<String>, Option<String>, Option<f64>, Option<String>, Time)>(
            "SELECT signals, gene_id, status, score, summary, created_at FROM memories
         WHERE node_id = $1 ORDER BY seq DESC LIMIT $2",
            params![node_id, limit],
        )?;
    let memories = rows.into_iter().map(|(Json(signals), gene_id, status, score, summary, at)| MemoryRow {
        memory: NewMemory { signals, gene_id, status, score, summary, ..NewMemory::default() },
        at,
    });
    Ok(memories.collect())
}

/// What a node recorded of how something ended, as it was sent, newest first: no more than so many, and out of no more
/// than the newest so many bytes of its memories.
pub fn outcomes(tx: &mut dyn Tx, node_id: &str, limit: i64, bytes: i64) -> Result<Vec<String>> {
    let (_, recorded) = so_far(tx, node_id)?;
    tx.query_all::<String>(
        "SELECT body FROM memories WHERE node_id = $1 AND gene_id IS NOT NULL
            AND status IN ('success', 'failed', 'failure') AND bytes_so_far > $2 ORDER BY seq DESC LIMIT $3",
        params![node_id, recorded - bytes, limit],
    )
}

/// How much a node remembers.
pub fn counts(tx: &mut dyn Tx, node_id: &str) -> Result<MemoryCounts> {
    tx.query_one(select!(MemoryCounts, "FROM memories WHERE node_id = $1"), params![node_id])
}
