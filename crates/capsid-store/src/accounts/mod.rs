//! Accounts: people who own nodes, vote and administer.
//!
//! Tokens are kept as SHA-256 of what was handed out. They are long and random, so that a hash needs no salt, and a
//! look-up by the hash tells nothing of how much of a guess was right.

pub mod admin;
pub mod api_keys;
pub mod claim_codes;
pub mod grants;
pub mod login_attempts;
pub mod node_secrets;
pub mod sessions;

use crate::audit::{self, AuditChange};
use crate::db::row::{column_enums, row, select};
use crate::db::tx::Tx;
use crate::ledger::{self, MINT, Transfer};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::text_enum;
use capsid_model::time::Time;
use capsid_rules::credits::CreditSource;
use sha2::{Digest, Sha256};

/// What an account may do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum AccountRole {
    User,
    /// May also decide about other people's assets and nodes.
    Admin,
}

text_enum!(AccountRole {
    User = "user",
    Admin = "admin",
});

column_enums!(AccountRole);

row! {
    /// An account.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct UserRow {
        /// `user_…`.
        pub user_id: String = "u.user_id",
        /// In the form that `capsid_rules::account::email` gives.
        pub email: String = "u.email",
        pub role: AccountRole = "u.role",
        pub created_at: i64 = "u.created_at",
        /// Since when it may do nothing.
        pub banned_at: Option<i64> = "u.banned_at",
        /// Since when it may moderate and decide disputes.
        pub appointed_at: Option<i64> = "u.appointed_at",
    }
}

impl UserRow {
    /// Whether it may administer.
    pub fn is_admin(&self) -> bool {
        self.role == AccountRole::Admin
    }

    /// How the audit names it.
    pub fn actor(&self) -> String {
        format!("user:{}", self.user_id)
    }
}

/// An account that is to be made.
#[derive(Debug, Clone)]
pub struct NewUser {
    /// `user_…`.
    pub user_id: String,
    /// In the form that `capsid_rules::account::email` gives.
    pub email: String,
    /// Of the password, as a PHC string.
    pub password_hash: String,
    pub role: AccountRole,
    /// What it gets to begin with, in milli-credits.
    pub grant: i64,
}

/// Makes an account with its first credits; nothing when the e-mail address is taken.
pub fn create(tx: &mut dyn Tx, new: &NewUser, actor: &str, now: Time) -> Result<Option<UserRow>> {
    let made = tx.run(
        "INSERT INTO users (user_id, email, password_hash, role, created_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT DO NOTHING",
        params![&new.user_id, &new.email, &new.password_hash, new.role.as_str(), now],
    )?;
    if made == 0 {
        return Ok(None);
    }
    if new.grant > 0 {
        let (reference, account) =
            (format!("grant:user:{}", new.user_id), ledger::user_account(&new.user_id));
        let gift =
            Transfer { reference: &reference, kind: "grant", from: MINT, to: &account, amount: new.grant };
        ledger::transfer_from(tx, gift, CreditSource::Granted, now)?;
    }
    audit_change(tx, actor, &new.user_id, "create", [None, Some(new.role.as_str())], now)?;
    get(tx, &new.user_id)
}

/// Whether there is an admin.
pub fn has_admin(tx: &mut dyn Tx) -> Result<bool> {
    tx.exists("SELECT 1 FROM users WHERE role = 'admin' LIMIT 1", params![])
}

/// Finds an account by its id.
pub fn get(tx: &mut dyn Tx, user_id: &str) -> Result<Option<UserRow>> {
    tx.query_first(select!(UserRow, "FROM users u WHERE u.user_id = $1"), params![user_id])
}

/// Finds an account by its e-mail address, with the hash of its password.
pub fn by_email(tx: &mut dyn Tx, email: &str) -> Result<Option<(UserRow, String)>> {
    tx.query_first(select!(UserRow, ", u.password_hash FROM users u WHERE u.email = $1"), params![email])
}

/// Keeps others from changing an account meanwhile.
pub fn lock(tx: &mut dyn Tx, user_id: &str) -> Result<bool> {
    tx.exists("SELECT 1 FROM users WHERE user_id = $1 FOR UPDATE", params![user_id])
}

/// Accounts in the order of their ids, from the one after `after`.
pub fn list(tx: &mut dyn Tx, after: &str, limit: i64) -> Result<Vec<UserRow>> {
    tx.query_all(
        select!(UserRow, "FROM users u WHERE u.user_id > $1 ORDER BY u.user_id LIMIT $2"),
        params![after, limit],
    )
}

/// Gives an account another password and ends its sessions, but for the one in which that was asked.
/// Nothing happens, and the answer is no, when the password is no longer the one that was checked.
pub fn change_password(
    tx: &mut dyn Tx,
    user: &UserRow,
    [old_hash, new_hash]: [&str; 2],
    keep_session: &str,
    now: Time,
) -> Result<bool> {
    let changed = tx.run(
        "UPDATE users SET password_hash = $3 WHERE user_id = $1 AND password_hash = $2",
        params![&user.user_id, old_hash, new_hash],
    )?;
    if changed == 0 {
        return Ok(false);
    }
    sessions::close_others(tx, &user.user_id, keep_session)?;
    audit_change(tx, &user.actor(), &user.user_id, "change_password", [None, None], now)?;
    Ok(true)
}

/// Forgets sessions that have ended and failed logins that no longer count.
pub fn delete_expired(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    Ok(sessions::delete_expired(tx, now)? + login_attempts::delete_expired(tx, now)?)
}

fn audit_change(
    tx: &mut dyn Tx,
    actor: &str,
    user_id: &str,
    action: &str,
    [before, after]: [Option<&str>; 2],
    now: Time,
) -> Result<()> {
    let change = AuditChange { kind: "user", subject: user_id, action, before, after, reason: None };
    audit::add(tx, actor, change, now)
}

fn token_hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}
