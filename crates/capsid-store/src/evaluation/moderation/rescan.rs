//! Scanning an asset again by newer rules.

use crate::assets::id::AssetId;
use crate::assets::{self, AssetRow, scans};
use crate::db::tx::Tx;
use crate::evaluation::lifecycle;
use crate::params;
use capsid_model::Object;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::assets::safety::{SCAN_VERSION, SafetyVerdict, scan_asset};
use capsid_rules::lifecycle::{AssetEvent, AssetStatus, AssetType};

/// Scans the texts of an asset by the present rules. What must not be given out is held back; what deserves a warning gets
/// one. May be repeated.
pub fn rescan(tx: &mut dyn Tx, id: &AssetId, now: Time) -> Result<bool> {
    let Some(asset) = assets::lock(tx, id)?.filter(|asset| asset.scan_version < SCAN_VERSION) else {
        return Ok(false);
    };
    let damaged = || crate::damaged(format!("The body of the asset {id} cannot be read."));
    let body = assets::body(tx, id)?.ok_or_else(damaged)?;
    let object: Object = serde_json::from_str(&body).map_err(|_| damaged())?;
    let verdict = scan_asset(&object).verdict();
    scans::set(tx, id, verdict, now)?;
    match verdict {
        SafetyVerdict::Clean => {}
        SafetyVerdict::Warn => {
            tx.run(
                "UPDATE assets SET safety = 'content_safety_warning' WHERE asset_id = $1 AND safety IS NULL",
                params![id],
            )?;
        }
        SafetyVerdict::Quarantine if asset.status != AssetStatus::Quarantined => {
            tx.run("UPDATE assets SET safety = 'content_safety' WHERE asset_id = $1", params![id])?;
            lifecycle::change(tx, id, AssetEvent::Quarantine, "hub", Some("content_safety"), now)?;
            hold_capsules(tx, &asset, now)?;
        }
        SafetyVerdict::Quarantine => {}
    }
    Ok(true)
}

/// A capsule is given out with its gene, so it is held back with it.
fn hold_capsules(tx: &mut dyn Tx, gene: &AssetRow, now: Time) -> Result<()> {
    if gene.asset_type != AssetType::Gene {
        return Ok(());
    }
    let capsules = tx.query_all::<AssetId>(
        "SELECT b.capsule_id FROM bundles b JOIN assets c ON c.asset_id = b.capsule_id
         WHERE b.gene_id = $1 AND c.status IN ('candidate', 'promoted', 'stale') ORDER BY b.bundle_id",
        params![&gene.asset_id],
    )?;
    for capsule in capsules {
        lifecycle::change(tx, &capsule, AssetEvent::Quarantine, "hub", Some("content_safety"), now)?;
    }
    Ok(())
}
