//! Claim codes: how an account comes to own a node.

use crate::params;
use crate::tx::Tx;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// How long a code can be used.
pub const VALID_MS: i64 = 24 * 3_600_000;

/// The code that a node shows its user: the present one, or `fresh` when there is none that still holds.
pub fn current(tx: &mut dyn Tx, node_id: &str, fresh: &str, now: Time) -> Result<String> {
    let found = tx.first(
        "SELECT code FROM claims WHERE node_id = $1 AND claimed_at IS NULL AND expires_at > $2
         ORDER BY expires_at DESC LIMIT 1",
        params![node_id, now],
        |row| row.string(0),
    )?;
    if let Some(code) = found {
        return Ok(code);
    }
    tx.run(
        "INSERT INTO claims (code, node_id, created_at, expires_at) VALUES ($1, $2, $3, $4)",
        params![fresh, node_id, now, now.0 + VALID_MS],
    )?;
    Ok(fresh.to_owned())
}
