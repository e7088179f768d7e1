//! Trials: a node takes a candidate to try it, with a nonce by which it can prove later that it read the asset.

use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use sha2::{Digest, Sha256};

/// How long the nonce of a trial is valid.
pub const VALID_MS: i64 = 3_600_000;

/// What a node gets with an asset on trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TrialTicket {
    pub asset_id: AssetId,
    /// The key of the proof that the asset was read.
    pub nonce: String,
    pub expires_at: i64,
}

/// Gives a node a ticket for an asset. A ticket that is still valid is given again, so that whoever asks twice can use
/// either answer. `chance` is what nonces are made of: nobody else may know it.
pub fn open(
    tx: &mut dyn Tx,
    node_id: &str,
    asset_id: &AssetId,
    chance: &[u8; 32],
    now: Time,
) -> Result<TrialTicket> {
    if let Some(nonce) = find_nonce(tx, node_id, asset_id, now)? {
        let expires_at = now.0.saturating_add(VALID_MS);
        tx.run(
            "UPDATE trials SET expires_at = $3 WHERE asset_id = $1 AND node_id = $2",
            params![asset_id, node_id, expires_at],
        )?;
        return Ok(TrialTicket { asset_id: *asset_id, nonce, expires_at });
    }
    let mut hash = Sha256::new();
    hash.update(chance);
    hash.update(b"trial");
    hash.update(asset_id.0);
    hash.update(node_id.as_bytes());
    let digits = capsid_model::hash::hex(&hash.finalize());
    let nonce = digits.get(..32).unwrap_or(&digits).to_owned();
    let expires_at = now.0.saturating_add(VALID_MS);
    tx.run(
        "INSERT INTO trials (asset_id, node_id, nonce, first_at, expires_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (asset_id, node_id) DO UPDATE SET nonce = excluded.nonce, expires_at = excluded.expires_at",
        params![asset_id, node_id, &nonce, now, expires_at],
    )?;
    Ok(TrialTicket { asset_id: *asset_id, nonce, expires_at })
}

/// The nonce of a node's valid ticket for an asset.
pub fn find_nonce(tx: &mut dyn Tx, node_id: &str, asset_id: &AssetId, now: Time) -> Result<Option<String>> {
    tx.query_first(
        "SELECT nonce FROM trials WHERE asset_id = $1 AND node_id = $2 AND expires_at > $3",
        params![asset_id, node_id, now],
    )
}

/// Since when a node has had an asset, by a fetch or a trial.
pub fn had_since(tx: &mut dyn Tx, node_id: &str, asset_id: &AssetId) -> Result<Option<i64>> {
    let since = tx.query_all::<i64>(
        "SELECT first_at FROM fetches WHERE asset_id = $1 AND node_id = $2
         UNION ALL SELECT first_at FROM trials WHERE asset_id = $1 AND node_id = $2",
        params![asset_id, node_id],
    )?;
    Ok(since.into_iter().min())
}
