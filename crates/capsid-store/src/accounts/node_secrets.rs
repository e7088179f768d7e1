//! What becomes of a node's secret, and of the claim codes that were returned with it.

use crate::accounts::claim_codes;
use crate::db::tx::Tx;
use crate::nodes::{NodeRow, secret_hash};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::identity::network::Network;

/// A secret that a hello returns.
#[derive(Debug, Clone)]
pub struct IssuedSecret<'a> {
    pub secret: &'a str,
    /// The same in the form in which it is kept until the issue window ends.
    pub sealed: &'a [u8],
    /// Where the hello comes from.
    pub network: &'a Network,
    /// Whether its client is known to store it.
    pub keeps_secret: bool,
    /// Whether the secret before stays valid until one of them is shown.
    pub keeps_earlier: bool,
}

/// Gives a node a secret that nobody has shown yet.
pub fn issue(tx: &mut dyn Tx, node_id: &str, issued: &IssuedSecret<'_>, now: Time) -> Result<()> {
    tx.run(
        "UPDATE nodes SET secret_state = 'issued', earlier_hash = CASE WHEN CAST($7 AS BIGINT) = 1 THEN secret_hash ELSE NULL END,
            secret_hash = $2, issued_sealed = $3, issued_at = $4, issued_network = $5, keeps_secret = $6,
            presented_at = NULL, last_secret_at = NULL, recovery_at = NULL, secret_version = secret_version + 1
         WHERE node_id = $1",
        params![
            node_id,
            &secret_hash(issued.secret),
            issued.sealed,
            now,
            issued.network.as_str(),
            issued.keeps_secret,
            issued.keeps_earlier
        ],
    )?;
    if !issued.keeps_earlier {
        claim_codes::invalidate_all(tx, node_id, now)?;
    }
    Ok(())
}

/// Gives a node a secret that is told once, to whoever may have it, and has to be shown from then on. All claim codes end.
pub fn replace(tx: &mut dyn Tx, node_id: &str, secret: &str, now: Time) -> Result<()> {
    tx.run(
        "UPDATE nodes SET secret_state = 'bound', secret_hash = $2, earlier_hash = NULL, issued_sealed = NULL,
            presented_at = $3, last_secret_at = $3, recovery_at = NULL, secret_version = secret_version + 1
         WHERE node_id = $1",
        params![node_id, &secret_hash(secret), now],
    )?;
    claim_codes::invalidate_all(tx, node_id, now)
}

/// Somebody has shown the secret for the first time: from now on it must be shown, no other one is valid, and the claim
/// codes of strangers end.
pub fn bind(tx: &mut dyn Tx, node: &NodeRow, secret: &str, network: &Network, now: Time) -> Result<()> {
    let bound = tx.run(
        "UPDATE nodes SET secret_state = 'bound', secret_hash = $2, earlier_hash = NULL, issued_sealed = NULL,
            presented_at = $3, last_secret_at = $3, recovery_at = NULL,
            issued_network = COALESCE(issued_network, $4)
         WHERE node_id = $1 AND presented_at IS NULL",
        params![&node.node_id, &secret_hash(secret), now, network.as_str()],
    )?;
    if bound == 0 {
        return Ok(());
    }
    claim_codes::invalidate_of_strangers(tx, &node.node_id, node.issued_network.as_deref(), network, now)
}

/// Notes that the secret was shown. Whoever has it has not lost it, so a recovery ends.
pub fn note_use(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<()> {
    tx.run(
        "UPDATE nodes SET last_secret_at = $2, recovery_at = NULL WHERE node_id = $1",
        params![node_id, now],
    )?;
    Ok(())
}

/// Notes that somebody asks for another secret in the place of a lost one.
pub fn request_recovery(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<()> {
    tx.run("UPDATE nodes SET recovery_at = $2 WHERE node_id = $1", params![node_id, now])?;
    Ok(())
}

/// Whether a secret is kept that was issued before a moment.
pub fn has_issued_before(tx: &mut dyn Tx, before: i64) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM nodes WHERE issued_sealed IS NOT NULL AND issued_at <= $1 LIMIT 1",
        params![before],
    )
}

/// Erases secrets that were issued before a moment, a few at a time. Nodes whose clients store secrets are bound then.
pub fn erase_issued_before(tx: &mut dyn Tx, before: i64) -> Result<u64> {
    tx.run(
        "UPDATE nodes SET issued_sealed = NULL,
            secret_state = CASE WHEN secret_state = 'issued' AND keeps_secret = 1 THEN 'bound' ELSE secret_state END
         WHERE node_id IN (SELECT node_id FROM nodes WHERE issued_sealed IS NOT NULL AND issued_at <= $1 LIMIT 1000)",
        params![before],
    )
}
