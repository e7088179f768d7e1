//! What waits in a hub, for whoever watches it.

use crate::db::tx::{Dialect, Tx};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// What waits.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HubBacklog {
    /// Capsules that wait for promotion.
    pub candidates: i64,
    /// What is held for bounties, stakes and rewards, in milli-credits.
    pub escrow: i64,
    /// Jobs, and when each last ran.
    pub jobs: Vec<(String, i64)>,
}

/// Counts what waits.
pub fn count_backlog(tx: &mut dyn Tx) -> Result<HubBacklog> {
    Ok(HubBacklog {
        candidates: tx.count(
            "SELECT COUNT(*) FROM assets WHERE status = 'candidate' AND asset_type = 'Capsule'",
            params![],
        )?,
        escrow: tx.count(
            "SELECT CAST(COALESCE(SUM(balance), 0) AS BIGINT) FROM accounts
             WHERE account LIKE 'hold:%'",
            params![],
        )?,
        jobs: tx.query_all(
            "SELECT name, last_run_at FROM jobs WHERE last_run_at IS NOT NULL ORDER BY name",
            params![],
        )?,
    })
}

/// The time of a database that several hubs share. A file has none of its own.
pub fn database_time(tx: &mut dyn Tx) -> Result<Option<Time>> {
    match tx.dialect() {
        Dialect::Sqlite => Ok(None),
        Dialect::Postgres => tx.query_first::<Time>(
            "SELECT CAST(FLOOR(EXTRACT(EPOCH FROM clock_timestamp()) * 1000) AS BIGINT)",
            params![],
        ),
    }
}
