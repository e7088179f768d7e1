//! Votes: one for each account and asset, which can be changed and taken back.

use crate::assets::id::AssetId;
use crate::assets::{self, AssetRow};
use crate::db::tx::Tx;
use crate::evaluation::scoring;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// Sets the vote of an account: 1, -1, or 0 for none. Gives the asset as it is afterwards.
pub fn cast(
    tx: &mut dyn Tx,
    id: &AssetId,
    user_id: &str,
    node_id: Option<&str>,
    value: i64,
    now: Time,
) -> Result<Option<AssetRow>> {
    if assets::lock(tx, id)?.is_none() {
        return Ok(None);
    }
    match value {
        0 => tx.run("DELETE FROM votes WHERE asset_id = $1 AND user_id = $2", params![id, user_id])?,
        value => tx.run(
            "INSERT INTO votes (asset_id, user_id, node_id, value, created_at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (asset_id, user_id) DO UPDATE SET value = excluded.value, node_id = excluded.node_id,
                created_at = excluded.created_at",
            params![id, user_id, node_id, value, now],
        )?,
    };
    // Counted anew each time, so that the numbers cannot drift.
    tx.run(
        "UPDATE assets SET upvotes = (SELECT COUNT(*) FROM votes v WHERE v.asset_id = $1 AND v.value > 0),
            downvotes = (SELECT COUNT(*) FROM votes v WHERE v.asset_id = $1 AND v.value < 0) WHERE asset_id = $1",
        params![id],
    )?;
    scoring::rescore(tx, id, now)?;
    assets::get(tx, id)
}

/// The vote of an account: 1, -1, or 0 for none.
pub fn get_vote(tx: &mut dyn Tx, id: &AssetId, user_id: &str) -> Result<i64> {
    Ok(tx
        .query_first("SELECT value FROM votes WHERE asset_id = $1 AND user_id = $2", params![id, user_id])?
        .unwrap_or(0))
}
