//! Noting that an asset's place in the search changed, in the transaction that changed it.

use super::ranked::{SearchClass, score_step};
use crate::assets::AssetRow;
use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::graph::changes::{Subject, append};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::lifecycle::AssetStatus;

/// An asset is given out, or no longer.
pub(crate) fn status_changed(tx: &mut dyn Tx, asset: &AssetRow, to: AssetStatus, now: Time) -> Result<()> {
    match SearchClass::of_status(asset.status) == SearchClass::of_status(to) {
        true => Ok(()),
        false => append(tx, &[Subject::ranked(&asset.asset_id)], now),
    }
}

/// An asset has another score. Most of them are too near the one before to move anything.
pub(crate) fn rescored(tx: &mut dyn Tx, asset: &AssetRow, gdi: i64, now: Time) -> Result<()> {
    match score_step(asset.gdi) == score_step(gdi) {
        true => Ok(()),
        false => append(tx, &[Subject::ranked(&asset.asset_id)], now),
    }
}

/// Has an asset indexed anew, whatever the index holds of it.
pub fn index_again(tx: &mut dyn Tx, id: &AssetId, now: Time) -> Result<()> {
    append(tx, &[Subject::asset(id)], now)
}
