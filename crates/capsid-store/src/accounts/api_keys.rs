//! API keys: what a program shows in its owner's name.

use super::{UserRow, audit_change, lock, token_hash};
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// The most keys that an account has at a time.
pub const MAX: i64 = 5;
/// The time of the last use is kept this roughly, so that a busy key is not a busy row.
const USE_STEP_MS: i64 = 60_000;

row! {
    /// A key as its owner sees it: never the key itself.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ApiKeyRow {
        /// `key_…`.
        pub key_id: String = "key_id",
        /// What its owner calls it.
        pub name: String = "name",
        /// How it begins and ends.
        pub hint: String = "hint",
        pub created_at: i64 = "created_at",
        /// When it was last shown, to the minute.
        pub last_used_at: Option<i64> = "last_used_at",
    }
}

/// Makes a key; nothing when the account has as many as it may.
pub fn add(tx: &mut dyn Tx, user: &UserRow, key: &ApiKeyRow, text: &str, now: Time) -> Result<bool> {
    lock(tx, &user.user_id)?;
    let live = tx.count(
        "SELECT COUNT(*) FROM api_keys WHERE user_id = $1 AND revoked_at IS NULL",
        params![&user.user_id],
    )?;
    if live >= MAX {
        return Ok(false);
    }
    tx.run(
        "INSERT INTO api_keys (key_id, key_hash, user_id, name, hint, created_at) VALUES ($1, $2, $3, $4, $5, $6)",
        params![&key.key_id, &token_hash(text), &user.user_id, &key.name, &key.hint, now],
    )?;
    audit_change(tx, &user.actor(), &user.user_id, "add_key", [None, Some(&key.key_id)], now)?;
    Ok(true)
}

/// The keys of an account that still hold, oldest first.
pub fn list(tx: &mut dyn Tx, user_id: &str) -> Result<Vec<ApiKeyRow>> {
    tx.query_all(
        select!(
            ApiKeyRow,
            "FROM api_keys
         WHERE user_id = $1 AND revoked_at IS NULL ORDER BY created_at, key_id"
        ),
        params![user_id],
    )
}

/// Ends a key of an account; no when it has none with this id.
pub fn revoke(tx: &mut dyn Tx, user: &UserRow, key_id: &str, now: Time) -> Result<bool> {
    let ended = tx.run(
        "UPDATE api_keys SET revoked_at = $3 WHERE key_id = $1 AND user_id = $2 AND revoked_at IS NULL",
        params![key_id, &user.user_id, now],
    )?;
    if ended == 1 {
        audit_change(tx, &user.actor(), &user.user_id, "revoke_key", [Some(key_id), None], now)?;
    }
    Ok(ended == 1)
}

/// Whose key a text is.
pub fn user(tx: &mut dyn Tx, text: &str) -> Result<Option<UserRow>> {
    tx.query_first(select!(UserRow, "FROM api_keys k JOIN users u ON u.user_id = k.user_id WHERE k.key_hash = $1 AND k.revoked_at IS NULL"), params![&token_hash(text)])
}

/// Notes that a key was shown.
pub fn used(tx: &mut dyn Tx, text: &str, now: Time) -> Result<()> {
    tx.run(
        "UPDATE api_keys SET last_used_at = $2 WHERE key_hash = $1 AND COALESCE(last_used_at, 0) < $3",
        params![&token_hash(text), now, now.0 - USE_STEP_MS],
    )?;
    Ok(())
}
