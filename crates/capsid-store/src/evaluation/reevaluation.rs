//! Evaluates assets again that were published before reports were graded. An upgrade demotes nothing: these assets are
//! marked, served as before, and evaluated a few at a time within a week.

use crate::assets::{self, AssetRow, id::AssetId};
use crate::db::DAY_MS;
use crate::db::tx::Tx;
use crate::evaluation::scoring;
use crate::params;
use crate::system::meta;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::assets::traits::{blast_radius, strings};
use capsid_rules::evaluation::proof::{ProofLevel, proof};
use capsid_rules::lifecycle::AssetType;
use serde_json::{Map, Value};

const WEEK_MS: i64 = 7 * DAY_MS;
const MINUTE_MS: i64 = 60_000;
const ENDS: &str = "reevaluation_ends";

/// Whether assets wait for their evaluation.
pub fn has_unproven(tx: &mut dyn Tx) -> Result<bool> {
    tx.exists("SELECT 1 FROM assets WHERE unproven = 1 LIMIT 1", params![])
}

/// Evaluates as many assets as are due, so that all are done within a week when it is called every minute. At most
/// `limit` in one call.
pub fn reevaluate_due(tx: &mut dyn Tx, limit: i64, now: Time) -> Result<u64> {
    let waiting = tx.count("SELECT COUNT(*) FROM assets WHERE unproven = 1", params![])?;
    if waiting == 0 {
        return Ok(0);
    }
    let ends = meta::get_or_set(tx, ENDS, &(now.0 + WEEK_MS).to_string())?;
    let ends: i64 = ends.parse().unwrap_or(now.0);
    let calls_left = ((ends - now.0) / MINUTE_MS).max(1);
    let due = (waiting + calls_left - 1) / calls_left;
    // Genes come before the capsules that use them, because they were published before or with them.
    let ids = tx.query_all::<AssetId>(
        "SELECT asset_id FROM assets WHERE unproven = 1
         ORDER BY CASE WHEN asset_type = 'Gene' THEN 0 ELSE 1 END, seq LIMIT $1",
        params![due.min(limit)],
    )?;
    for id in &ids {
        reevaluate(tx, id, now)?;
    }
    Ok(ids.len() as u64)
}

/// Works out anew what an asset's validation proves and how large its change is, and scores it.
fn reevaluate(tx: &mut dyn Tx, id: &AssetId, now: Time) -> Result<()> {
    let Some(asset) = assets::lock(tx, id)? else { return Ok(()) };
    let body = assets::body(tx, id)?.unwrap_or_default();
    if let Ok(Value::Object(object)) = serde_json::from_str::<Value>(&body) {
        let level = proof_level(tx, &asset, &object)?;
        let (files, lines) = blast_radius(&object);
        tx.run(
            "UPDATE assets SET proof = $2, blast_files = $3, blast_lines = $4 WHERE asset_id = $1",
            params![id, level.as_str(), files, lines],
        )?;
    }
    tx.run("UPDATE assets SET unproven = 0 WHERE asset_id = $1", params![id])?;
    scoring::rescore(tx, id, now)?;
    Ok(())
}

fn proof_level(tx: &mut dyn Tx, asset: &AssetRow, object: &Map<String, Value>) -> Result<ProofLevel> {
    Ok(match asset.asset_type {
        AssetType::Gene => proof(&strings(object, "validation")).0,
        // A capsule is validated by its gene's commands.
        AssetType::Capsule => tx
            .query_first::<ProofLevel>(
                "SELECT g.proof FROM bundles b JOIN assets g ON g.asset_id = b.gene_id
                 WHERE b.bundle_id = $1 AND b.capsule_id = $2",
                params![&asset.bundle_id, &asset.asset_id],
            )?
            .unwrap_or(asset.traits.proof),
        AssetType::EvolutionEvent => asset.traits.proof,
    })
}
