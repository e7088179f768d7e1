//! Workers: nodes that take work, what they are good at, and how much at a time.

use crate::db::row::Json;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// How much a worker does at a time where it does not say.
pub const DEFAULT_LOAD: i64 = 5;

/// A node that takes work.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerRow {
    /// Whether it takes any now.
    pub enabled: bool,
    /// What it is good at; everything where there is nothing.
    pub domains: Vec<String>,
    /// How many tasks it does at a time.
    pub max_load: i64,
    /// Whether new tasks are also left in its mailbox.
    pub subscribed: bool,
}

impl Default for WorkerRow {
    fn default() -> Self {
        Self { enabled: false, domains: Vec::new(), max_load: DEFAULT_LOAD, subscribed: false }
    }
}

impl WorkerRow {
    /// Whether it is good at a task with these signals.
    pub fn is_good_at(&self, signals: &str) -> bool {
        is_good_at(&self.domains, signals)
    }
}

/// What a node tells of how it works. What it does not tell stays as it was.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkerUpdate {
    pub enabled: Option<bool>,
    /// What it is good at.
    pub domains: Option<Vec<String>>,
    /// How many tasks it does at a time.
    pub max_load: Option<i64>,
    /// Whether new tasks are to be left in its mailbox.
    pub subscribed: Option<bool>,
}

impl WorkerUpdate {
    /// Whether it tells nothing at all.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

pub fn get(tx: &mut dyn Tx, node_id: &str) -> Result<Option<WorkerRow>> {
    let worker = tx.query_first::<(bool, Json<Vec<String>>, i64, bool)>(
        "SELECT enabled, domains, max_load, subscribed FROM workers WHERE node_id = $1",
        params![node_id],
    )?;
    Ok(worker.map(|(enabled, Json(domains), max_load, subscribed)| WorkerRow {
        enabled,
        domains,
        max_load,
        subscribed,
    }))
}

/// Keeps what a node tells of how it works, and gives how it stands then. The node is locked.
pub fn register(tx: &mut dyn Tx, node_id: &str, update: &WorkerUpdate, now: Time) -> Result<WorkerRow> {
    let before = get(tx, node_id)?;
    let known = before.clone().unwrap_or_default();
    let worker = WorkerRow {
        enabled: update.enabled.unwrap_or(known.enabled),
        domains: update.domains.clone().unwrap_or(known.domains),
        max_load: update.max_load.unwrap_or(known.max_load),
        subscribed: update.subscribed.unwrap_or(known.subscribed),
    };
    if before.as_ref() == Some(&worker) {
        return Ok(worker);
    }
    let domains = serde_json::to_string(&worker.domains).unwrap_or_else(|_| "[]".to_owned());
    tx.run(
        "INSERT INTO workers (node_id, enabled, domains, max_load, subscribed, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (node_id) DO UPDATE SET enabled = excluded.enabled, domains = excluded.domains,
            max_load = excluded.max_load, subscribed = excluded.subscribed, updated_at = excluded.updated_at",
        params![node_id, worker.enabled, &domains, worker.max_load, worker.subscribed, now],
    )?;
    Ok(worker)
}

/// How many tasks a node works on. One that was cut into parts waits for others.
pub fn load(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<i64> {
    tx.count(
        "SELECT COUNT(*) FROM tasks WHERE claimed_by = $1 AND status = 'claimed' AND decomposed_at IS NULL
            AND expires_at > $2",
        params![node_id, now],
    )
}

/// Who names nothing is good at everything.
pub(crate) fn is_good_at(domains: &[String], signals: &str) -> bool {
    let signals = signals.to_lowercase();
    domains.is_empty() || domains.iter().any(|domain| signals.contains(&domain.to_lowercase()))
}

#[cfg(test)]
mod tests {
    use super::is_good_at;

    #[test]
    fn who_names_nothing_is_good_at_everything() {
        let list = |words: &[&str]| words.iter().map(|&word| word.to_owned()).collect::<Vec<_>>();
        assert!(is_good_at(&[], "x") && is_good_at(&[], ""));
        assert!(is_good_at(&list(&["Timeout", "net"]), "TimeoutError,retry"));
        assert!(!is_good_at(&list(&["css"]), "TimeoutError,retry"));
    }
}
