//! Limits that several hubs share.

use crate::db::tx::{Dialect, PipelinedStatement, Tx};
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

/// Takes a whole lease of requests under a key in one statement, or one request where the limit is near. `unspent` is what is left
/// of a lease that ran out; it is refunded first. `Ok(Ok(n))` says how many may pass, `Ok(Err(ms))` how long to wait.
pub fn take_lease(
    tx: &mut dyn Tx,
    key: &str,
    limit: RateLimit,
    unspent: u32,
    now: Time,
) -> Result<Result<u32, i64>> {
    let size = limit.lease_size();
    let span = |requests: u32| limit.interval_us().saturating_mul(i64::from(requests));
    let (now_us, furthest) = (now.0.saturating_mul(1_000), rate_limit::furthest(now.0, limit));
    if limit.count == 0 {
        return check(tx, key, limit, now).map(|checked| checked.map(|()| 1));
    }
    let (first, given_back) = (now_us.saturating_add(span(size)), span(unspent));
    // A count that a crash forgets harms nobody, so nobody waits for the disk.
    let forget = match tx.dialect() {
        Dialect::Postgres => Some(PipelinedStatement::run("SET LOCAL synchronous_commit = off", params![])),
        Dialect::Sqlite => None,
    };
    let values = params![key, first, now_us, furthest, span(size), given_back];
    let mut statements: Vec<_> =
        forget.into_iter().chain([PipelinedStatement::run(TAKE_LEASE, values)]).collect();
    tx.pipeline(&mut statements)?;
    if statements.last().is_some_and(|lease| lease.changed() > 0) {
        return Ok(Ok(size));
    }
    if unspent > 0 {
        tx.run("UPDATE limits SET arrival = arrival - $2 WHERE key = $1", params![key, given_back])?;
    }
    check(tx, key, limit, now).map(|checked| checked.map(|()| 1))
}

/// What was remembered from beyond the window is of another clock, and what is past delays nobody: both count as now. A row that
/// would go beyond the window stays as it is.
const TAKE_LEASE: &str = "INSERT INTO limits (key, arrival) VALUES ($1, $2) ON CONFLICT (key) DO UPDATE SET
    arrival = CASE WHEN limits.arrival - $6 > $4 OR limits.arrival - $6 < $3 THEN $3 ELSE limits.arrival - $6 END + $5
    WHERE CASE WHEN limits.arrival - $6 > $4 OR limits.arrival - $6 < $3 THEN $3 ELSE limits.arrival - $6 END + $5 <= $4";

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
