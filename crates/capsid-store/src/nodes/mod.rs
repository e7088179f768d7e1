//! Nodes: who they are, what secret they have, and how they stand.

pub mod list;
pub mod reputation_days;

use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::ledger::{self, MINT, Transfer};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::identity::secrets::{PresentedSecret, SecretState};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

row! {
    /// A node as the hub knows it.
    #[derive(Debug, Clone)]
    pub struct NodeRow {
        pub node_id: String = "node_id",
        /// Whether it has a secret, and whether that was ever shown.
        pub secret_state: SecretState = "secret_state",
        secret_hash: Option<Vec<u8>> = "secret_hash",
        /// The secret itself, while nobody has shown it.
        pub issued_secret: Option<String> = "issued_secret",
        /// Which one in a row.
        pub secret_version: i64 = "secret_version",
        /// The machine it said hello from.
        pub device_id: Option<String> = "device_id",
        /// The account that claimed it.
        pub owner: Option<String> = "owner",
        pub status: String = "status",
        /// Until when it may not publish.
        pub cooldown_until: Option<i64> = "cooldown_until",
        /// 0 to 100.
        pub reputation: f64 = "COALESCE(reputation_override, reputation)",
        /// A name it gave itself.
        pub name: Option<String> = "name",
        /// When the hub first heard of it.
        pub created_at: i64 = "created_at",
        /// When the hub last heard of it.
        pub last_seen_at: i64 = "last_seen_at",
        /// How many bundles it has published.
        pub total_published: i64 = "total_published",
    }
}

impl NodeRow {
    /// Compares what a request showed with this node's secret, in constant time.
    pub fn presented(&self, secret: Option<&str>) -> PresentedSecret {
        let Some(secret) = secret else { return PresentedSecret::Nothing };
        let shown = Sha256::digest(secret.to_ascii_lowercase().as_bytes());
        match &self.secret_hash {
            Some(hash) if bool::from(hash.as_slice().ct_eq(shown.as_slice())) => PresentedSecret::Right,
            _ => PresentedSecret::Wrong,
        }
    }

    /// Who counts as one: all nodes of an account together, and an unclaimed node alone.
    pub fn owner_key(&self) -> String {
        match &self.owner {
            Some(user) => format!("user:{user}"),
            None => format!("node:{}", self.node_id),
        }
    }
}

/// Finds a node.
pub fn get(tx: &mut dyn Tx, node_id: &str) -> Result<Option<NodeRow>> {
    tx.query_first(select!(NodeRow, "FROM nodes WHERE node_id = $1"), params![node_id])
}

/// Finds a node and keeps others from changing it meanwhile.
pub fn lock(tx: &mut dyn Tx, node_id: &str) -> Result<Option<NodeRow>> {
    tx.query_first(select!(NodeRow, "FROM nodes WHERE node_id = $1 FOR UPDATE"), params![node_id])
}

/// Finds a node, or makes it with its first credits. Either way it is kept from changing meanwhile.
pub fn lock_or_register(tx: &mut dyn Tx, node_id: &str, grant: i64, now: Time) -> Result<NodeRow> {
    if let Some(node) = lock(tx, node_id)? {
        return Ok(node);
    }
    let made = tx.run(
        "INSERT INTO nodes (node_id, created_at, last_seen_at) VALUES ($1, $2, $2) ON CONFLICT DO NOTHING",
        params![node_id, now],
    )?;
    if made == 1 && grant > 0 {
        let (reference, account) = (format!("grant:node:{node_id}"), ledger::node_account(node_id));
        let gift = Transfer { reference: &reference, kind: "grant", from: MINT, to: &account, amount: grant };
        ledger::transfer(tx, gift, now)?;
    }
    lock(tx, node_id)?
        .ok_or_else(|| crate::damaged(format!("The node {node_id} is not there after it was made.")))
}

/// Locks a node that must be there, because something names it.
pub(crate) fn lock_known(tx: &mut dyn Tx, node_id: &str) -> Result<NodeRow> {
    lock(tx, node_id)?
        .ok_or_else(|| crate::damaged(format!("The node {node_id} is named, but is not there.")))
}

/// Gives a node a secret that nobody has shown yet. Until somebody does, the hub can tell it again.
pub fn issue_secret(tx: &mut dyn Tx, node_id: &str, secret: &str) -> Result<()> {
    let hash: [u8; 32] = Sha256::digest(secret.as_bytes()).into();
    tx.run(
        "UPDATE nodes SET secret_state = 'issued', secret_hash = $2, issued_secret = $3,
            secret_version = secret_version + 1 WHERE node_id = $1",
        params![node_id, &hash, secret],
    )?;
    Ok(())
}

/// Gives a node a secret that is told once, to whoever may have it, and has to be shown from now on.
pub fn replace_secret(tx: &mut dyn Tx, node_id: &str, secret: &str) -> Result<()> {
    let hash: [u8; 32] = Sha256::digest(secret.as_bytes()).into();
    tx.run(
        "UPDATE nodes SET secret_state = 'bound', secret_hash = $2, issued_secret = NULL,
            secret_version = secret_version + 1 WHERE node_id = $1",
        params![node_id, &hash],
    )?;
    Ok(())
}

/// Somebody has shown the secret: from now on it must be shown, and its text is forgotten.
pub fn bind_secret(tx: &mut dyn Tx, node_id: &str) -> Result<()> {
    tx.run(
        "UPDATE nodes SET secret_state = 'bound', issued_secret = NULL WHERE node_id = $1 AND secret_state = 'issued'",
        params![node_id],
    )?;
    Ok(())
}

/// Whether a text stands in anything that a node published, so that everybody can know it.
pub fn has_published(tx: &mut dyn Tx, node_id: &str, text: &str) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM assets WHERE node_id = $1 AND replace(body, $2, '') <> body LIMIT 1",
        params![node_id, text],
    )
}

/// Notes that a node was heard of.
pub fn touch(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<()> {
    tx.run(
        "UPDATE nodes SET last_seen_at = $2,
            days_seen = days_seen + CASE WHEN last_seen_at / 86400000 < $2 / 86400000 THEN 1 ELSE 0 END
         WHERE node_id = $1 AND last_seen_at < $2",
        params![node_id, now],
    )?;
    Ok(())
}

/// What a node tells about itself in a hello. What it does not tell stays as it was.
#[derive(Debug, Clone, Default)]
pub struct NodeProfileUpdate {
    /// A name; the first one sticks.
    pub name: Option<String>,
    /// The model it runs on.
    pub model: Option<String>,
    /// Who told it of this hub.
    pub referrer: Option<String>,
    /// The machine; the first one sticks.
    pub device_id: Option<String>,
    pub env_fingerprint: Option<String>,
    /// How many genes it has.
    pub gene_count: Option<i64>,
    /// How many capsules it has.
    pub capsule_count: Option<i64>,
}

/// The model that a node said it runs on.
pub fn model(tx: &mut dyn Tx, node_id: &str) -> Result<Option<String>> {
    let model =
        tx.query_first::<Option<String>>("SELECT model FROM nodes WHERE node_id = $1", params![node_id])?;
    Ok(model.flatten())
}

/// Keeps what a node tells about itself.
pub fn update_profile(tx: &mut dyn Tx, node_id: &str, update: &NodeProfileUpdate, now: Time) -> Result<()> {
    tx.run(
        "UPDATE nodes SET name = COALESCE(name, $2), model = COALESCE($3, model), referrer = COALESCE(referrer, $4),
            device_id = COALESCE(device_id, $5), env_fingerprint = COALESCE($6, env_fingerprint),
            gene_count = COALESCE($7, gene_count), capsule_count = COALESCE($8, capsule_count),
            days_seen = days_seen + CASE WHEN last_seen_at / 86400000 < $9 / 86400000 THEN 1 ELSE 0 END, last_seen_at = $9
         WHERE node_id = $1",
        params![
            node_id,
            &update.name,
            &update.model,
            &update.referrer,
            &update.device_id,
            &update.env_fingerprint,
            update.gene_count,
            update.capsule_count,
            now
        ],
    )?;
    Ok(())
}
