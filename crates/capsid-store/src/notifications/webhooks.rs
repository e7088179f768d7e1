//! Webhooks: where nodes are called, and the secrets that calls to them are signed with.

use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// How long a replaced secret is still used beside the new one.
pub const OLD_SECRET_MS: i64 = 24 * 3_600_000;
/// How many calls in a row are given up before the receiver is no longer called at all.
pub const MAX_DEATHS: i64 = 20;
/// Why a webhook was switched off whose receiver said that it is gone.
pub const GONE: &str = "gone";
/// Why a webhook was switched off that took nothing for too long.
pub const TOO_MANY_DEATHS: &str = "too_many_failures";

row! {
    /// A node's webhook.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct WebhookRow {
        pub node_id: String = "w.node_id",
        pub url: String = "n.webhook_url",
        /// Deliveries in a row that were given up.
        pub deaths: i64 = "w.deaths",
        /// Since when it is switched off.
        pub disabled_at: Option<i64> = "w.disabled_at",
        pub disabled_reason: Option<String> = "w.disabled_reason",
        /// Until when the secret before the present one is still used.
        pub old_until: Option<i64> = "w.old_until",
        pub created_at: i64 = "w.created_at",
        /// When it was last changed.
        pub updated_at: i64 = "w.updated_at",
    }
}

/// A node's webhook, if it has one.
pub fn get(tx: &mut dyn Tx, node_id: &str) -> Result<Option<WebhookRow>> {
    tx.query_first(select!(WebhookRow, "FROM webhooks w JOIN nodes n ON n.node_id = w.node_id AND n.webhook_url IS NOT NULL WHERE w.node_id = $1"), params![node_id])
}

/// Webhooks after a node, in the order of their nodes' ids.
pub fn list(tx: &mut dyn Tx, only_disabled: bool, after: &str, limit: i64) -> Result<Vec<WebhookRow>> {
    tx.query_all(
        select!(
            WebhookRow,
            "FROM webhooks w JOIN nodes n ON n.node_id = w.node_id AND n.webhook_url IS NOT NULL
         WHERE w.node_id > $1 AND ($2 = 0 OR w.disabled_at IS NOT NULL) ORDER BY w.node_id LIMIT $3"
        ),
        params![after, only_disabled, limit],
    )
}

/// Registers where a node is called. The secret is used, and told back, where there was no webhook or another address;
/// otherwise nothing changes. What waits to be delivered goes to the new address.
pub fn register(
    tx: &mut dyn Tx,
    node_id: &str,
    url: &str,
    secret: &str,
    now: Time,
) -> Result<Option<String>> {
    if get(tx, node_id)?.is_some_and(|webhook| webhook.url == url) {
        return Ok(None);
    }
    tx.run("UPDATE nodes SET webhook_url = $2 WHERE node_id = $1", params![node_id, url])?;
    tx.run(
        "INSERT INTO webhooks (node_id, secret, probe_at, created_at, updated_at) VALUES ($1, $2, $3, $3, $3)
         ON CONFLICT (node_id) DO UPDATE SET secret = excluded.secret, old_secret = NULL, old_until = NULL,
            deaths = 0, probe_at = excluded.probe_at, disabled_at = NULL, disabled_reason = NULL,
            updated_at = excluded.updated_at",
        params![node_id, secret, now],
    )?;
    Ok(Some(secret.to_owned()))
}

/// Forgets where a node is called, and gives up what waits to be delivered. Tells whether there was a webhook.
pub fn remove(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<bool> {
    let had = tx.run(
        "UPDATE nodes SET webhook_url = NULL WHERE node_id = $1 AND webhook_url IS NOT NULL",
        params![node_id],
    )?;
    tx.run("DELETE FROM webhooks WHERE node_id = $1", params![node_id])?;
    tx.run(
        "UPDATE deliveries SET state = 'dead', holder = NULL, last_error = 'webhook_removed', updated_at = $2
         WHERE node_id = $1 AND state IN ('queued', 'retrying', 'delivering')",
        params![node_id, now],
    )?;
    Ok(had > 0)
}

/// Gives a webhook another secret. The one before is used beside it for a day. Tells until when; nothing when there is
/// no webhook.
pub fn rotate(tx: &mut dyn Tx, node_id: &str, secret: &str, now: Time) -> Result<Option<Time>> {
    let until = Time(now.0 + OLD_SECRET_MS);
    let changed = tx.run(
        "UPDATE webhooks SET old_secret = secret, old_until = $3, secret = $2, updated_at = $4 WHERE node_id = $1",
        params![node_id, secret, until, now],
    )?;
    Ok((changed > 0).then_some(until))
}

/// Switches a webhook off. Tells whether it was on. What waits to be delivered waits on.
pub fn disable(tx: &mut dyn Tx, node_id: &str, reason: &str, now: Time) -> Result<bool> {
    let changed = tx.run(
        "UPDATE webhooks SET disabled_at = $3, disabled_reason = $2, updated_at = $3
         WHERE node_id = $1 AND disabled_at IS NULL",
        params![node_id, reason, now],
    )?;
    Ok(changed > 0)
}

/// Switches a webhook on again. Tells whether there is one.
pub fn enable(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<bool> {
    let changed = tx.run(
        "UPDATE webhooks SET deaths = 0, probe_at = $2, disabled_at = NULL, disabled_reason = NULL, updated_at = $2
         WHERE node_id = $1",
        params![node_id, now],
    )?;
    Ok(changed > 0)
}

/// Holds a webhook against others that change it, so that whoever changes it and its deliveries does so in one order.
pub(crate) fn lock(tx: &mut dyn Tx, node_id: &str) -> Result<()> {
    tx.exists("SELECT 1 FROM webhooks WHERE node_id = $1 FOR UPDATE", params![node_id])?;
    Ok(())
}

/// Notes that a delivery arrived.
pub(crate) fn alive(tx: &mut dyn Tx, node_id: &str) -> Result<()> {
    tx.run(
        "UPDATE webhooks SET deaths = 0, probe_at = NULL
         WHERE node_id = $1 AND (deaths > 0 OR probe_at IS NOT NULL)",
        params![node_id],
    )?;
    Ok(())
}

/// Notes that a call failed: from `at` on one call may try whether others would arrive.
pub(crate) fn failed(tx: &mut dyn Tx, node_id: &str, at: Time) -> Result<()> {
    tx.run("UPDATE webhooks SET probe_at = $2 WHERE node_id = $1", params![node_id, at])?;
    Ok(())
}

/// Notes that a delivery was given up. Too many in a row switch the webhook off.
pub(crate) fn died(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<()> {
    tx.run("UPDATE webhooks SET deaths = deaths + 1 WHERE node_id = $1", params![node_id])?;
    tx.run(
        "UPDATE webhooks SET disabled_at = $2, disabled_reason = $3, updated_at = $2
         WHERE node_id = $1 AND disabled_at IS NULL AND deaths >= $4",
        params![node_id, now, TOO_MANY_DEATHS, MAX_DEATHS],
    )?;
    Ok(())
}
