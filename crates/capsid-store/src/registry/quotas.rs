//! How much an owner, or a node, published on one day.

use crate::db::DAY_MS;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// What may be published on one day; nothing is no limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PublishQuota {
    pub bytes: Option<i64>,
    pub bundles: Option<i64>,
}

/// A limit that a bundle would exceed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QuotaExceeded {
    /// bytes or bundles.
    pub what: &'static str,
    pub limit: i64,
    /// How much was published today.
    pub used: i64,
    /// When a new day begins.
    pub until: i64,
}

/// Checks whether a bundle may be stored today. What was published is locked until the end, so that two bundles at once do
/// not use the same room.
pub fn check(
    tx: &mut dyn Tx,
    owner: &str,
    quota: &PublishQuota,
    bytes: i64,
    now: Time,
) -> Result<Option<QuotaExceeded>> {
    let day = now.0.div_euclid(DAY_MS);
    tx.run(
        "INSERT INTO publish_days (owner, day, bytes, bundles) VALUES ($1, $2, 0, 0) ON CONFLICT DO NOTHING",
        params![owner, day],
    )?;
    let (had_bytes, had_bundles) = tx.query_one::<(i64, i64)>(
        "SELECT bytes, bundles FROM publish_days WHERE owner = $1 AND day = $2 FOR UPDATE",
        params![owner, day],
    )?;
    let until = (day + 1) * DAY_MS;
    let exceeded = quota.exceeded((had_bytes, had_bundles), bytes);
    Ok(exceeded.map(|(what, limit, used)| QuotaExceeded { what, limit, used, until }))
}

impl PublishQuota {
    /// The limit that one more bundle would exceed, after so many bytes and bundles: its name, the limit, and what is used
    /// of it.
    pub(super) fn exceeded(&self, used: (i64, i64), bytes: i64) -> Option<(&'static str, i64, i64)> {
        let exceeded = |what, limit: Option<i64>, used: i64, more: i64| {
            let limit = limit.filter(|limit| used.saturating_add(more) > *limit)?;
            Some((what, limit, used))
        };
        exceeded("bytes", self.bytes, used.0, bytes).or_else(|| exceeded("bundles", self.bundles, used.1, 1))
    }
}

/// Counts a bundle that was stored.
pub fn count(tx: &mut dyn Tx, owner: &str, bytes: i64, now: Time) -> Result<()> {
    tx.run(
        "UPDATE publish_days SET bytes = bytes + $3, bundles = bundles + 1 WHERE owner = $1 AND day = $2",
        params![owner, now.0.div_euclid(DAY_MS), bytes],
    )?;
    Ok(())
}

/// Forgets days that are over.
pub fn forget_old(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    // A day more than needed: a hub whose clock is behind may still be in it.
    tx.run("DELETE FROM publish_days WHERE day < $1", params![now.0.div_euclid(DAY_MS) - 1])
}
