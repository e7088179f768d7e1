//! What an owner or an operator does to nodes and accounts. Every change is audited.

use crate::accounts::{self, AccountRole, UserRow, node_secrets};
use crate::assets::id::AssetId;
use crate::audit::{self, AuditChange};
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::evaluation::owners;
use crate::nodes::reputation_days;
use crate::nodes::{self, NodeRow};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// Who does something, why and when.
#[derive(Debug, Clone, Copy)]
pub struct AdminAction<'a> {
    /// `operator` or `user:…`.
    pub actor: &'a str,
    pub reason: Option<&'a str>,
    pub now: Time,
}

impl AdminAction<'_> {
    fn audit_change(
        self,
        tx: &mut dyn Tx,
        [kind, subject, action]: [&str; 3],
        before: Option<&str>,
        after: Option<&str>,
    ) -> Result<()> {
        let change = AuditChange { kind, subject, action, before, after, reason: self.reason };
        audit::add(tx, self.actor, change, self.now)
    }
}

/// Appoints an account to moderate and to decide disputes, or dismisses it, and gives it as it was; nothing when there is
/// none.
pub fn appoint(
    tx: &mut dyn Tx,
    user_id: &str,
    is_appointed: bool,
    by: AdminAction<'_>,
) -> Result<Option<UserRow>> {
    if !accounts::lock(tx, user_id)? {
        return Ok(None);
    }
    let Some(user) = accounts::get(tx, user_id)? else { return Ok(None) };
    if user.appointed_at.is_some() != is_appointed {
        let since = is_appointed.then_some(by.now);
        tx.run("UPDATE users SET appointed_at = $2 WHERE user_id = $1", params![user_id, since])?;
        let word = |appointed: bool| Some(if appointed { "appointed" } else { "not appointed" });
        let action = if is_appointed { "appoint" } else { "dismiss" };
        by.audit_change(tx, ["user", user_id, action], word(!is_appointed), word(is_appointed))?;
        owners::assess_account(tx, user_id, by.now)?;
    }
    Ok(Some(user))
}

/// Where a node stands with the operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(rename_all = "snake_case"))]
pub enum NodeStatus {
    /// Nothing is held against it.
    Active,
    Quarantined,
    Banned,
}

impl NodeStatus {
    /// The word that is stored and sent.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Quarantined => "quarantined",
            Self::Banned => "banned",
        }
    }
}

/// Sets where a node stands, and gives it as it was; nothing when there is none.
pub fn set_node_status(
    tx: &mut dyn Tx,
    node_id: &str,
    status: NodeStatus,
    action: &str,
    by: AdminAction<'_>,
) -> Result<Option<NodeRow>> {
    let Some(node) = nodes::lock(tx, node_id)? else { return Ok(None) };
    tx.run("UPDATE nodes SET status = $2 WHERE node_id = $1", params![node_id, status.as_str()])?;
    by.audit_change(tx, ["node", node_id, action], Some(&node.status), Some(status.as_str()))?;
    Ok(Some(node))
}

/// Takes away what the hub itself holds against a node: its flag, its strikes and the pause they brought.
pub fn unflag(tx: &mut dyn Tx, node_id: &str, by: AdminAction<'_>) -> Result<bool> {
    if nodes::lock(tx, node_id)?.is_none() {
        return Ok(false);
    }
    let (flag, strikes, until) = tx.query_one::<(Option<String>, i64, Option<Time>)>(
        "SELECT sybil_flag, strikes, cooldown_until FROM nodes WHERE node_id = $1",
        params![node_id],
    )?;
    let paused = until.map(|until| format!("paused until {until}"));
    let held = [flag, Some(format!("{strikes} strikes")), paused]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(", ");
    tx.run(
        "UPDATE nodes SET sybil_flag = NULL, strikes = 0, last_strike_at = NULL, cooldown_until = NULL
         WHERE node_id = $1",
        params![node_id],
    )?;
    by.audit_change(tx, ["node", node_id, "unflag"], Some(&held), None)?;
    Ok(true)
}

/// Sets the reputation that is shown and used, or lets the computed one hold again.
pub fn set_reputation(
    tx: &mut dyn Tx,
    node_id: &str,
    value: Option<f64>,
    by: AdminAction<'_>,
) -> Result<bool> {
    if nodes::lock(tx, node_id)?.is_none() {
        return Ok(false);
    }
    let before = tx
        .query_first::<Option<f64>>(
            "SELECT reputation_override FROM nodes WHERE node_id = $1",
            params![node_id],
        )?
        .flatten();
    let state_before = reputation_days::load_state(tx, node_id)?;
    tx.run("UPDATE nodes SET reputation_override = $2 WHERE node_id = $1", params![node_id, value])?;
    reputation_days::record_point(tx, node_id, state_before, by.now)?;
    let text = |value: Option<f64>| value.map_or_else(|| "computed".to_owned(), |value| value.to_string());
    by.audit_change(tx, ["node", node_id, "set_reputation"], Some(&text(before)), Some(&text(value)))?;
    Ok(true)
}

/// Gives a node another secret, for its owner to hand over. From now on only whoever has it may act for the node, and
/// no hello shows it. Gives the new version.
pub fn reset_secret(
    tx: &mut dyn Tx,
    node_id: &str,
    secret: &str,
    by: AdminAction<'_>,
) -> Result<Option<i64>> {
    let Some(node) = nodes::lock(tx, node_id)? else { return Ok(None) };
    node_secrets::replace(tx, node_id, secret, by.now)?;
    let version = node.secret_version + 1;
    let (before, after) = (format!("version {}", node.secret_version), format!("version {version}"));
    by.audit_change(tx, ["node", node_id, "reset_secret"], Some(&before), Some(&after))?;
    Ok(Some(version))
}

/// Bans an account or lets it back; gives it as it was.
pub fn set_user_banned(
    tx: &mut dyn Tx,
    user_id: &str,
    banned: bool,
    by: AdminAction<'_>,
) -> Result<Option<UserRow>> {
    let Some(user) = accounts::get(tx, user_id)? else { return Ok(None) };
    let since = banned.then_some(user.banned_at.unwrap_or(by.now.0));
    tx.run("UPDATE users SET banned_at = $2 WHERE user_id = $1", params![user_id, since])?;
    let word = |banned| if banned { "banned" } else { "active" };
    let action = if banned { "ban" } else { "unban" };
    by.audit_change(tx, ["user", user_id, action], Some(word(user.banned_at.is_some())), Some(word(banned)))?;
    Ok(Some(user))
}

/// Sets what an account may do; gives it as it was.
pub fn set_role(
    tx: &mut dyn Tx,
    user_id: &str,
    role: AccountRole,
    by: AdminAction<'_>,
) -> Result<Option<UserRow>> {
    let Some(user) = accounts::get(tx, user_id)? else { return Ok(None) };
    tx.run("UPDATE users SET role = $2 WHERE user_id = $1", params![user_id, role.as_str()])?;
    by.audit_change(tx, ["user", user_id, "set_role"], Some(user.role.as_str()), Some(role.as_str()))?;
    Ok(Some(user))
}

/// Gives an account another password and ends all its sessions.
pub fn reset_password(
    tx: &mut dyn Tx,
    user_id: &str,
    password_hash: &str,
    by: AdminAction<'_>,
) -> Result<Option<UserRow>> {
    let Some(user) = accounts::get(tx, user_id)? else { return Ok(None) };
    tx.run("UPDATE users SET password_hash = $2 WHERE user_id = $1", params![user_id, password_hash])?;
    accounts::sessions::close_all(tx, user_id)?;
    by.audit_change(tx, ["user", user_id, "reset_password"], None, None)?;
    Ok(Some(user))
}

/// Accounts for an operator, in the order of their e-mail addresses: banned ones, others, or all.
pub fn list_users(tx: &mut dyn Tx, banned: Option<bool>, limit: i64) -> Result<Vec<UserRow>> {
    let wanted = banned.map_or(-1, i64::from);
    tx.query_all(select!(
            UserRow,
            "FROM users u WHERE CAST($1 AS BIGINT) = -1
                OR CAST($1 AS BIGINT) = CASE WHEN u.banned_at IS NULL THEN 0 ELSE 1 END ORDER BY u.email LIMIT $2"
        ), params![wanted, limit])
}

row! {
    /// A node in a list of its owner or an operator.
    #[derive(Debug, Clone, PartialEq, serde::Serialize)]
    pub struct AdminNodeRow {
        pub node_id: String = "n.node_id",
        /// A name it gave itself.
        pub name: Option<String> = "n.name",
        pub status: String = "n.status",
        pub secret_state: String = "n.secret_state",
        /// The account that owns it.
        pub owner: Option<String> = "n.owner",
        /// 0 to 100.
        pub reputation: f64 = "COALESCE(n.reputation_override, n.reputation)",
        pub reputation_set: bool = "CAST(CASE WHEN n.reputation_override IS NULL THEN 0 ELSE 1 END AS BIGINT)",
        /// Why the hub holds something against it.
        pub flag: Option<String> = "n.sybil_flag",
        /// Until when it may not publish.
        pub cooldown_until: Option<i64> = "n.cooldown_until",
        /// How many bundles it has published.
        pub total_published: i64 = "n.total_published",
        /// When the hub first heard of it.
        pub created_at: i64 = "n.created_at",
        /// When the hub last heard of it.
        pub last_seen_at: i64 = "n.last_seen_at",
        pub claimed_at: Option<i64> = "n.claimed_at",
        pub balance: i64 = "COALESCE(a.balance, 0)",
        /// The part of it that was granted.
        pub granted: i64 = "COALESCE(a.granted, 0)",
    }
}

/// The nodes of an account, in the order of their ids.
pub fn nodes_of(tx: &mut dyn Tx, user_id: &str, limit: i64) -> Result<Vec<AdminNodeRow>> {
    tx.query_all(
        select!(
            AdminNodeRow,
            "FROM nodes n LEFT JOIN accounts a ON a.account = 'node:' || n.node_id
         WHERE n.owner = $1 ORDER BY n.node_id LIMIT $2"
        ),
        params![user_id, limit],
    )
}

/// Nodes for an operator, the newest first, of one status or of all.
pub fn list_nodes(tx: &mut dyn Tx, status: Option<&str>, limit: i64) -> Result<Vec<AdminNodeRow>> {
    tx.query_all(
        select!(
            AdminNodeRow,
            "FROM nodes n LEFT JOIN accounts a ON a.account = 'node:' || n.node_id
         WHERE CAST($1 AS TEXT) IS NULL OR n.status = CAST($1 AS TEXT)
            OR (n.sybil_flag IS NOT NULL AND CAST($1 AS TEXT) = 'flagged')
         ORDER BY n.created_at DESC, n.node_id LIMIT $2"
        ),
        params![status, limit],
    )
}

row! {
    /// An asset in a list of an operator.
    #[derive(Debug, Clone, PartialEq, serde::Serialize)]
    pub struct AdminAssetRow {
        pub asset_id: AssetId = "asset_id",
        pub asset_type: String = "asset_type",
        pub status: String = "status",
        pub node_id: String = "node_id",
        /// 0 to 100.
        pub gdi: f64 = "gdi / CAST(100 AS DOUBLE PRECISION)",
        /// Why it is held or warned of.
        pub safety: Option<String> = "safety",
        pub created_at: i64 = "created_at",
    }
}

/// Assets for an operator, the newest first, of one status or of all.
pub fn list_assets(tx: &mut dyn Tx, status: Option<&str>, limit: i64) -> Result<Vec<AdminAssetRow>> {
    tx.query_all(
        select!(
            AdminAssetRow,
            "FROM assets
         WHERE CAST($1 AS TEXT) IS NULL OR status = CAST($1 AS TEXT) ORDER BY seq DESC LIMIT $2"
        ),
        params![status, limit],
    )
}
