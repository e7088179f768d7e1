//! Nodes: who they are, what secret they have, and how they stand.

pub mod list;
pub mod names;
pub mod reputation_days;

use crate::db::row::{row, select};
use crate::db::row_batch::{RowBatch, RowsSql};
use crate::db::tx::Tx;
use crate::ledger::{self, MINT, Transfer};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::credits::CreditSource;
use capsid_rules::identity::display_name::DisplayName;
use capsid_rules::identity::network::Network;
use capsid_rules::identity::secrets::{PresentedSecret, SecretStage, SecretState, secret_stage};
use sha2::{Digest, Sha256};
use std::collections::BTreeSet;
use subtle::ConstantTimeEq;

row! {
    /// A node as the hub knows it.
    #[derive(Debug, Clone)]
    pub struct NodeRow {
        pub node_id: String = "node_id",
        /// Whether it has a secret, and whether that was ever shown.
        pub secret_state: SecretState = "secret_state",
        secret_hash: Option<Vec<u8>> = "secret_hash",
        /// The hash of a secret that was issued before, valid until one of the two is shown.
        earlier_hash: Option<Vec<u8>> = "earlier_hash",
        /// The secret, sealed, while it can be returned once more.
        pub issued_sealed: Option<Vec<u8>> = "issued_sealed",
        /// When the secret was issued.
        pub issued_at: Option<i64> = "issued_at",
        /// The network it was issued to; before that, the network of the node's first message.
        pub issued_network: Option<String> = "issued_network",
        /// Whether its client is known to store the secret.
        pub keeps_secret: bool = "keeps_secret",
        /// When the secret was first shown.
        pub presented_at: Option<i64> = "presented_at",
        /// When the secret was last shown, to the half minute.
        pub last_secret_at: Option<i64> = "last_secret_at",
        /// Since when somebody asks for another secret in the place of a lost one.
        pub recovery_at: Option<i64> = "recovery_at",
        /// Ed25519.
        pub public_key: Option<Vec<u8>> = "public_key",
        /// Which one in a row.
        pub secret_version: i64 = "secret_version",
        /// The machine it said hello from, as a keyed hash.
        pub device_hash: Option<Vec<u8>> = "device_hash",
        /// The account that claimed it.
        pub owner: Option<String> = "owner",
        pub claimed_at: Option<i64> = "claimed_at",
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
        let shown = secret_hash(secret);
        let is_right = [&self.secret_hash, &self.earlier_hash]
            .into_iter()
            .flatten()
            .any(|hash| bool::from(hash.as_slice().ct_eq(shown.as_slice())));
        if is_right { PresentedSecret::Right } else { PresentedSecret::Wrong }
    }

    /// Whether a text is the secret that was issued last.
    pub fn is_newest_secret(&self, secret: &str) -> bool {
        self.secret_hash.as_deref().is_some_and(|hash| hash == secret_hash(secret))
    }

    /// Whether the secret was issued less than an issue window ago.
    pub fn is_window_open(&self, window_ms: i64, now: Time) -> bool {
        self.issued_at.is_some_and(|at| now.0 < at.saturating_add(window_ms))
    }

    /// How far the node has got with its secret.
    pub fn stage(&self, window_ms: i64, now: Time) -> SecretStage {
        let window_open = self.is_window_open(window_ms, now);
        secret_stage(self.secret_state, self.presented_at.is_some(), self.keeps_secret, window_open)
    }

    /// Whether anybody who is in its network may be the node: nobody owns it, and its client may never show a secret.
    pub fn is_nobodys(&self) -> bool {
        // A stage that depends on the window is none of a keyless node.
        self.owner.is_none() && self.stage(0, Time(0)).is_keyless()
    }

    /// Whether a request comes from the node's own network. A node of an older hub has none, and then belongs to whoever
    /// comes first, unless somebody owns it.
    pub fn is_from_network(&self, network: &Network) -> bool {
        match &self.issued_network {
            Some(own) => own == network.as_str(),
            None => self.owner.is_none(),
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

const FIND_ALL: RowsSql = RowsSql {
    sqlite: select!(NodeRow, "FROM nodes WHERE node_id = $1"),
    postgres: select!(NodeRow, "FROM nodes WHERE node_id = ANY($1)"),
};

/// Finds those of many nodes that there are.
pub fn find_all(tx: &mut dyn Tx, node_ids: &[String]) -> Result<Vec<NodeRow>> {
    let mut rows = RowBatch::default();
    node_ids.iter().collect::<BTreeSet<_>>().into_iter().for_each(|id| rows.push(params![id]));
    let mut found = Vec::new();
    rows.query_each(tx, FIND_ALL, |row| {
        found.push(row);
        Ok(())
    })?;
    Ok(found)
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
        ledger::transfer_from(tx, gift, CreditSource::Granted, now)?;
    }
    lock(tx, node_id)?
        .ok_or_else(|| crate::damaged(format!("The node {node_id} is not there after it was made.")))
}

/// Locks a node that must be there, because something names it.
pub(crate) fn lock_known(tx: &mut dyn Tx, node_id: &str) -> Result<NodeRow> {
    lock(tx, node_id)?
        .ok_or_else(|| crate::damaged(format!("The node {node_id} is named, but is not there.")))
}

/// The hash of a secret, which is hexadecimal digits.
pub(crate) fn secret_hash(secret: &str) -> [u8; 32] {
    Sha256::digest(secret.to_ascii_lowercase().as_bytes()).into()
}

/// Notes the network of a node that has none yet.
pub fn set_network(tx: &mut dyn Tx, node_id: &str, network: &Network) -> Result<()> {
    tx.run("UPDATE nodes SET issued_network = $2 WHERE node_id = $1", params![node_id, network.as_str()])?;
    Ok(())
}

/// Gives a node a public key, or another one.
pub fn set_public_key(tx: &mut dyn Tx, node_id: &str, key: &[u8; 32]) -> Result<()> {
    tx.run("UPDATE nodes SET public_key = $2 WHERE node_id = $1", params![node_id, key])?;
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
    /// A name and what it is compared by; the first one sticks.
    pub name: Option<DisplayName>,
    /// The model it runs on.
    pub model: Option<String>,
    /// Who told it of this hub.
    pub referrer: Option<String>,
    /// The machine, as a keyed hash; the first one sticks.
    pub device_hash: Option<[u8; 32]>,
    /// Without what names the machine.
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
    let name = update.name.as_ref().map(|name| name.text.as_str());
    let device = update.device_hash.as_ref().map(|hash| hash.as_slice());
    tx.run(
        "UPDATE nodes SET name_key = CASE WHEN name IS NULL THEN CAST($10 AS TEXT) ELSE name_key END, name = COALESCE(name, $2),
            model = COALESCE($3, model), referrer = COALESCE(referrer, $4), device_hash = COALESCE(device_hash, $5),
            env_fingerprint = COALESCE($6, env_fingerprint), gene_count = COALESCE($7, gene_count),
            capsule_count = COALESCE($8, capsule_count),
            days_seen = days_seen + CASE WHEN last_seen_at / 86400000 < $9 / 86400000 THEN 1 ELSE 0 END, last_seen_at = $9
         WHERE node_id = $1",
        params![
            node_id,
            name,
            &update.model,
            &update.referrer,
            device,
            &update.env_fingerprint,
            update.gene_count,
            update.capsule_count,
            now,
            update.name.as_ref().map(|name| name.key.as_str())
        ],
    )?;
    Ok(())
}
