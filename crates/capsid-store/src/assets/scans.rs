//! By which rules an asset was scanned, when, and what followed.

use crate::assets::id::AssetId;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::assets::safety::{SCAN_VERSION, SafetyVerdict};
use capsid_rules::lifecycle::AssetStatus;

row! {
    /// The last scan of an asset.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct ScanRow {
        /// The number of the rules.
        pub version: i64 = "a.scan_version",
        pub at: i64 = "a.scan_at",
        /// clean, warn or quarantine.
        pub verdict: String = "a.scan_verdict",
    }
}

/// The last scan of an asset; nothing where it was never scanned.
pub fn get(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<ScanRow>> {
    tx.query_first(
        select!(ScanRow, "FROM assets a WHERE a.asset_id = $1 AND a.scan_version > 0"),
        params![id],
    )
}

/// Notes what a scan by the present rules found.
pub fn set(tx: &mut dyn Tx, id: &AssetId, verdict: SafetyVerdict, now: Time) -> Result<()> {
    tx.run(
        "UPDATE assets SET scan_version = $2, scan_at = $3, scan_verdict = $4 WHERE asset_id = $1",
        params![id, SCAN_VERSION, now, verdict.as_str()],
    )?;
    Ok(())
}

/// In which order assets are scanned again: those first that most people get.
const ORDER: [AssetStatus; 5] = [
    AssetStatus::Promoted,
    AssetStatus::Stale,
    AssetStatus::Candidate,
    AssetStatus::Archived,
    AssetStatus::Quarantined,
];

/// Finds assets that were scanned by older rules, promoted ones first. Only reads.
pub fn find_outdated(tx: &mut dyn Tx, limit: i64) -> Result<Vec<AssetId>> {
    for status in ORDER {
        let found = tx.query_all::<AssetId>(
            "SELECT asset_id FROM assets WHERE scan_version < $1 AND status = $2 ORDER BY seq LIMIT $3",
            params![SCAN_VERSION, status.as_str(), limit],
        )?;
        if !found.is_empty() {
            return Ok(found);
        }
    }
    Ok(Vec::new())
}
