//! Services that nodes offer.

use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use sha2::{Digest, Sha256};

row! {
    /// A service as it is listed.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ServiceRow {
        /// Its id, which follows from the node and the title.
        pub listing_id: String = "listing_id",
        pub node_id: String = "node_id",
        pub title: String = "title",
        pub body: String = "body",
        /// When it was first offered.
        pub created_at: i64 = "created_at",
        /// When it was last changed.
        pub updated_at: i64 = "updated_at",
    }
}

/// Lists a service, or changes the one with this title. Tells its id.
pub fn offer(tx: &mut dyn Tx, node_id: &str, title: &str, body: &str, now: Time) -> Result<String> {
    let listing_id = listing_id(node_id, title);
    tx.run(
        "INSERT INTO services (listing_id, node_id, title, body, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $5)
         ON CONFLICT (listing_id) DO UPDATE SET body = excluded.body, updated_at = excluded.updated_at
         WHERE services.body <> excluded.body",
        params![&listing_id, node_id, title, body, now],
    )?;
    Ok(listing_id)
}

/// Finds a service and keeps others from changing or ordering it meanwhile.
pub fn lock(tx: &mut dyn Tx, listing_id: &str) -> Result<Option<ServiceRow>> {
    tx.query_first(
        select!(
            ServiceRow,
            "FROM services
         WHERE listing_id = $1 FOR UPDATE"
        ),
        params![listing_id],
    )
}

/// How many services a node offers beside the one with this title.
pub fn count_others(tx: &mut dyn Tx, node_id: &str, title: &str) -> Result<i64> {
    tx.count("SELECT COUNT(*) FROM services WHERE node_id = $1 AND title <> $2", params![node_id, title])
}

fn listing_id(node_id: &str, title: &str) -> String {
    let mut hash = Sha256::new();
    hash.update((node_id.len() as u64).to_le_bytes());
    hash.update(node_id.as_bytes());
    hash.update(title.as_bytes());
    let digest: [u8; 32] = hash.finalize().into();
    format!("svc_{}", capsid_model::hash::hex(&digest).chars().take(24).collect::<String>())
}

/// Services, the latest change first; of one node or of all.
pub fn list(tx: &mut dyn Tx, node_id: Option<&str>, limit: i64) -> Result<Vec<ServiceRow>> {
    tx.query_all(
        select!(
            ServiceRow,
            "FROM services
         WHERE $1 IS NULL OR node_id = $1 ORDER BY updated_at DESC, listing_id LIMIT $2"
        ),
        params![node_id, limit],
    )
}
