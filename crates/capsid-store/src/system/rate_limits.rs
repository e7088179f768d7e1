//! Limits that several hubs share.

use crate::db::tx::{Dialect, Tx};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::rate_limit::{self, RateLimit};

/// Takes one request under a key: `Ok(Err(ms))` says how long to wait.
pub fn check(tx: &mut dyn Tx, key: &str, limit: RateLimit, now: Time) -> Result<Result<(), i64>> {
    // A count that a crash forgets harms nobody, so nobody waits for the disk.
    if tx.dialect() == Dialect::Postgres {
        tx.run("SET LOCAL synchronous_commit = off", params![])?;
    }
    tx.run("INSERT INTO limits (key, arrival) VALUES ($1, 0) ON CONFLICT DO NOTHING", params![key])?;
    let arrival =
        tx.query_first::<i64>("SELECT arrival FROM limits WHERE key = $1 FOR UPDATE", params![key])?;
    match rate_limit::check(arrival, now.0, limit) {
        Err(wait) => Ok(Err(wait)),
        Ok(arrival) => {
            tx.run("UPDATE limits SET arrival = $2 WHERE key = $1", params![key, arrival])?;
            Ok(Ok(()))
        }
    }
}

/// Takes one request back that turned out not to count.
pub fn refund(tx: &mut dyn Tx, key: &str, limit: RateLimit) -> Result<()> {
    tx.run(
        "UPDATE limits SET arrival = arrival - $2 WHERE key = $1",
        params![key, -rate_limit::refund(0, limit)],
    )?;
    Ok(())
}

/// Forgets keys that no longer delay anybody.
pub fn forget_old(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    tx.run("DELETE FROM limits WHERE arrival < $1", params![now.0 * 1000])
}
