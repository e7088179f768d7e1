//! Sessions: what a login gives.

use super::{UserRow, token_hash};
use crate::db::row::select;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// How long a session lasts.
pub const VALID_MS: i64 = 30 * 24 * 3_600_000;

/// Begins a session, and tells when it ends. Those of the account that have ended are forgotten.
pub fn open(tx: &mut dyn Tx, user_id: &str, token: &str, now: Time) -> Result<Time> {
    let expires = Time(now.0 + VALID_MS);
    tx.run("DELETE FROM sessions WHERE user_id = $1 AND expires_at <= $2", params![user_id, now])?;
    tx.run(
        "INSERT INTO sessions (token_hash, user_id, created_at, expires_at) VALUES ($1, $2, $3, $4)",
        params![&token_hash(token), user_id, now, expires],
    )?;
    Ok(expires)
}

/// Whose session a token is.
pub fn user(tx: &mut dyn Tx, token: &str, now: Time) -> Result<Option<UserRow>> {
    tx.query_first(select!(UserRow, "FROM sessions s JOIN users u ON u.user_id = s.user_id WHERE s.token_hash = $1 AND s.expires_at > $2"), params![&token_hash(token), now])
}

/// Ends a session.
pub fn close(tx: &mut dyn Tx, token: &str) -> Result<()> {
    tx.run("DELETE FROM sessions WHERE token_hash = $1", params![&token_hash(token)])?;
    Ok(())
}

/// Ends every session of an account but one.
pub fn close_others(tx: &mut dyn Tx, user_id: &str, token: &str) -> Result<()> {
    tx.run(
        "DELETE FROM sessions WHERE user_id = $1 AND token_hash <> $2",
        params![user_id, &token_hash(token)],
    )?;
    Ok(())
}

/// Ends every session of an account.
pub fn close_all(tx: &mut dyn Tx, user_id: &str) -> Result<()> {
    tx.run("DELETE FROM sessions WHERE user_id = $1", params![user_id])?;
    Ok(())
}

/// Forgets sessions that have ended.
pub fn delete_expired(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    tx.run("DELETE FROM sessions WHERE expires_at <= $1", params![now])
}
