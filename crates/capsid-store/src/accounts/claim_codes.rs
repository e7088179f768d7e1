//! Claim codes: how an account comes to own a node.

use crate::audit::{self, AuditChange};
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use crate::{accounts, nodes};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::identity::claims::survives_binding;
use capsid_rules::identity::network::Network;

/// How long a code can be used.
pub const VALID_MS: i64 = 24 * 3_600_000;

row! {
    /// A code that was given out.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ClaimCodeRow {
        /// `XXXX-XXXX`.
        pub code: String = "c.code",
        pub node_id: String = "c.node_id",
        /// Until when it can be used.
        pub expires_at: i64 = "c.expires_at",
        /// Whether it was used.
        pub claimed: bool = "CAST(CASE WHEN c.claimed_at IS NOT NULL THEN 1 ELSE 0 END AS BIGINT)",
        /// When it was made invalid before its time.
        invalidated_at: Option<i64> = "c.invalidated_at",
        /// The account that owns the node.
        owner: Option<String> = "n.owner",
    }
}

impl ClaimCodeRow {
    /// Whether it can no longer be used. One that was used stays used, unless the node refused the claim.
    pub fn is_expired(&self, now: Time) -> bool {
        self.invalidated_at.is_some() || (!self.claimed && (self.expires_at <= now.0 || self.owner.is_some()))
    }
}

/// How a claim went.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NodeClaimOutcome {
    /// The node now belongs to the account.
    Done {
        /// The node.
        node_id: String,
    },
    /// There is no such code.
    Unknown,
    Expired,
    /// It was used, or the node has an owner.
    Before,
}

/// The code that a node shows its user: the present one of its network, or `fresh` when there is none that still holds.
pub fn current_or_new(
    tx: &mut dyn Tx,
    node_id: &str,
    fresh: &str,
    network: &Network,
    now: Time,
) -> Result<String> {
    let open = tx.query_first::<String>(
        "SELECT code FROM claims WHERE node_id = $1 AND claimed_at IS NULL AND invalidated_at IS NULL
            AND expires_at > $2 AND network = $3
         ORDER BY expires_at DESC LIMIT 1",
        params![node_id, now, network.as_str()],
    )?;
    if let Some(code) = open {
        return Ok(code);
    }
    tx.run(
        "INSERT INTO claims (code, node_id, network, created_at, expires_at) VALUES ($1, $2, $3, $4, $5)",
        params![fresh, node_id, network.as_str(), now, now.0 + VALID_MS],
    )?;
    Ok(fresh.to_owned())
}

/// Ends all codes of a node that were not used.
pub fn invalidate_all(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<()> {
    tx.run(
        "UPDATE claims SET invalidated_at = $2 WHERE node_id = $1 AND claimed_at IS NULL AND invalidated_at IS NULL",
        params![node_id, now],
    )?;
    Ok(())
}

/// Ends the codes that a bound node does not have from a hello of its own.
pub fn invalidate_of_strangers(
    tx: &mut dyn Tx,
    node_id: &str,
    issued_to: Option<&str>,
    shown_from: &Network,
    now: Time,
) -> Result<()> {
    let codes = tx.query_all::<(String, Option<String>)>(
        "SELECT code, network FROM claims WHERE node_id = $1 AND claimed_at IS NULL AND invalidated_at IS NULL",
        params![node_id],
    )?;
    for (code, network) in codes {
        if !survives_binding(network.as_deref(), issued_to, shown_from.as_str()) {
            tx.run("UPDATE claims SET invalidated_at = $2 WHERE code = $1", params![&code, now])?;
        }
    }
    Ok(())
}

/// Finds a code, in the form that `capsid_rules::account::claim_code` gives.
pub fn find(tx: &mut dyn Tx, code: &str) -> Result<Option<ClaimCodeRow>> {
    tx.query_first(
        select!(ClaimCodeRow, "FROM claims c JOIN nodes n ON n.node_id = c.node_id WHERE c.code = $1"),
        params![code],
    )
}

/// Gives the node of a code to an account. A code is used once, and a node has one owner.
pub fn claim(tx: &mut dyn Tx, code: &str, user: &accounts::UserRow, now: Time) -> Result<NodeClaimOutcome> {
    let Some(claim) = find(tx, code)? else { return Ok(NodeClaimOutcome::Unknown) };
    // Two codes of one node, used at once, wait for each other here.
    nodes::lock(tx, &claim.node_id)?;
    let Some(claim) = find(tx, code)? else { return Ok(NodeClaimOutcome::Unknown) };
    if claim.is_expired(now) {
        return Ok(NodeClaimOutcome::Expired);
    }
    if claim.claimed {
        return Ok(NodeClaimOutcome::Before);
    }
    tx.run(
        "UPDATE claims SET claimed_at = $2, user_id = $3 WHERE code = $1",
        params![code, now, &user.user_id],
    )?;
    tx.run(
        "UPDATE nodes SET owner = $2, claimed_at = $3 WHERE node_id = $1",
        params![&claim.node_id, &user.user_id, now],
    )?;
    let change = AuditChange {
        kind: "node",
        subject: &claim.node_id,
        action: "claim",
        before: None,
        after: Some(&user.user_id),
        reason: None,
    };
    audit::add(tx, &user.actor(), change, now)?;
    invalidate_all(tx, &claim.node_id, now)?;
    Ok(NodeClaimOutcome::Done { node_id: claim.node_id })
}

/// Takes a node from the account that claimed it, in the name of the node. The code that was used ends.
pub fn refuse(tx: &mut dyn Tx, node_id: &str, owner: &str, now: Time) -> Result<()> {
    tx.run("UPDATE nodes SET owner = NULL, claimed_at = NULL WHERE node_id = $1", params![node_id])?;
    tx.run(
        "UPDATE claims SET invalidated_at = $2 WHERE node_id = $1 AND invalidated_at IS NULL",
        params![node_id, now],
    )?;
    let change = AuditChange {
        kind: "node",
        subject: node_id,
        action: "refuse_claim",
        before: Some(owner),
        after: None,
        reason: None,
    };
    audit::add(tx, &format!("node:{node_id}"), change, now)
}

/// How long a code is kept that nobody used in time.
const KEPT_MS: i64 = 30 * 24 * 3_600_000;

/// Forgets codes that nobody used, long after their time, a few at a time.
pub fn delete_expired(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    tx.run(
        "DELETE FROM claims WHERE code IN
            (SELECT code FROM claims WHERE claimed_at IS NULL AND expires_at <= $1 LIMIT 1000)",
        params![now.0 - KEPT_MS],
    )
}
