//! Failed logins. They are counted for an e-mail address and the address on the network together, so that nobody can
//! lock the owner of an account out from elsewhere.

use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use sha2::{Digest, Sha256};

/// So many failures are let pass …
pub const MAX: i64 = 5;
/// … in this time; afterwards nothing is tried for as long.
pub const WINDOW_MS: i64 = 15 * 60_000;

/// Under what an attempt is counted. A hash, so that the table tells nobody who tried to be whom.
pub fn key(email: &str, address: &str) -> String {
    capsid_model::hash::hex(&Sha256::digest(format!("{}:{email}:{address}", email.len())))
}

/// Begins an attempt. It counts as failed until [`succeeded`], so that attempts made at the same time cannot be more
/// than those made one after the other. `Ok(Err(ms))` says how long to wait.
pub fn begin(tx: &mut dyn Tx, key: &str, now: Time) -> Result<Result<(), i64>> {
    tx.run(
        "INSERT INTO login_failures (key, failures, first_at) VALUES ($1, 0, $2) ON CONFLICT DO NOTHING",
        params![key, now],
    )?;
    let (mut failures, mut first, blocked) = tx.query_one::<(i64, i64, i64)>(
        "SELECT failures, first_at, COALESCE(blocked_until, 0) FROM login_failures WHERE key = $1 FOR UPDATE",
        params![key],
    )?;
    // A clock that was set back keeps nobody out for longer than the rule says.
    if blocked > now.0 && blocked <= now.0 + WINDOW_MS {
        return Ok(Err(blocked - now.0));
    }
    if blocked != 0 || !(first..first + WINDOW_MS).contains(&now.0) {
        (failures, first) = (0, now.0);
    }
    failures += 1;
    let blocked = (failures >= MAX).then_some(now.0 + WINDOW_MS);
    tx.run(
        "UPDATE login_failures SET failures = $2, first_at = $3, blocked_until = $4 WHERE key = $1",
        params![key, failures, first, blocked],
    )?;
    Ok(Ok(()))
}

/// The attempt was right: those before it no longer count.
pub fn succeeded(tx: &mut dyn Tx, key: &str) -> Result<()> {
    tx.run("DELETE FROM login_failures WHERE key = $1", params![key])?;
    Ok(())
}

/// Forgets attempts that no longer count.
pub fn delete_expired(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    tx.run(
        "DELETE FROM login_failures WHERE first_at < $1 AND COALESCE(blocked_until, 0) < $2",
        params![now.0 - WINDOW_MS, now],
    )
}
