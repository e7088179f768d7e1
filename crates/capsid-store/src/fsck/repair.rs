//! Works out anew what follows from something else. Bodies, the ledger and the audit are never touched.

use super::{FsckReport, assets, counters};
use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::evaluation::{owners, scoring};
use crate::store::Store;
use crate::{params, search};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use serde::Serialize;

/// How many things share a transaction, so that a hub that runs beside never waits long.
const TOGETHER: usize = 100;

/// What was mended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct RepairSummary {
    /// Assets whose counters, traits and score were worked out anew.
    pub assets: usize,
    /// Nodes whose totals and reputation were.
    pub nodes: usize,
    /// Accounts whose level and weight were.
    pub owners: usize,
}

/// Mends what a report says can be mended.
pub fn repair(store: &Store, report: &FsckReport, now: Time) -> Result<RepairSummary> {
    let ids: Vec<AssetId> = report.mendable_assets.iter().copied().collect();
    for some in ids.chunks(TOGETHER) {
        let some = some.to_vec();
        store.write_now(move |tx| some.iter().try_for_each(|id| repair_asset(tx, id, now)))?;
    }
    let nodes: Vec<String> = report.mendable_nodes.iter().cloned().collect();
    for some in nodes.chunks(TOGETHER) {
        let some = some.to_vec();
        store.write_now(move |tx| some.iter().try_for_each(|node_id| repair_node(tx, node_id, now)))?;
    }
    let users = report.mendable_owners.iter().filter_map(|owner| owner.strip_prefix("user:"));
    let users: Vec<String> = users.map(str::to_owned).collect();
    for some in users.chunks(TOGETHER) {
        let some = some.to_vec();
        store.write_now(move |tx| {
            some.iter().try_for_each(|user_id| owners::assess_account(tx, user_id, now).map(|_| ()))
        })?;
    }
    Ok(RepairSummary { assets: ids.len(), nodes: nodes.len(), owners: users.len() })
}

fn repair_asset(tx: &mut dyn Tx, id: &AssetId, now: Time) -> Result<()> {
    let Some(asset) = crate::assets::lock(tx, id)? else { return Ok(()) };
    tx.run(
        "UPDATE assets SET
            call_count = CAST(COALESCE((SELECT SUM(calls) FROM fetch_days WHERE asset_id = $1), 0) AS BIGINT),
            reuse_count = (SELECT COUNT(*) FROM fetches WHERE asset_id = $1 AND counts = 1),
            upvotes = (SELECT COUNT(*) FROM votes WHERE asset_id = $1 AND value > 0),
            downvotes = (SELECT COUNT(*) FROM votes WHERE asset_id = $1 AND value < 0)
         WHERE asset_id = $1",
        params![id],
    )?;
    if let Some((source, object)) = assets::sound_source(tx, &asset)? {
        let assets::DerivedAsset { card, traits, environment } = assets::derived(&asset, &source, &object);
        tx.run(
            "UPDATE assets SET card = $2, local_id = $3, category = $4, chain_id = $5, confidence = $6,
                success_streak = $7, blast_files = $8, blast_lines = $9, triggers = $10, summary_chars = $11,
                has_event = $12, anti_pattern = $13, proof = $14, environment = $15 WHERE asset_id = $1",
            params![
                id,
                &card,
                &traits.local_id,
                &traits.category,
                &traits.chain_id,
                traits.confidence,
                traits.success_streak,
                traits.blast_files,
                traits.blast_lines,
                traits.triggers,
                traits.summary_chars,
                traits.has_event,
                traits.anti_pattern,
                traits.proof.as_str(),
                &environment
            ],
        )?;
    }
    scoring::rescore(tx, id, now)?;
    tx.run("DELETE FROM unfilled_traits WHERE seq = $1", params![asset.seq])?;
    search::index_again(tx, id, now)
}

fn repair_node(tx: &mut dyn Tx, node_id: &str, now: Time) -> Result<()> {
    if crate::nodes::lock(tx, node_id)?.is_none() {
        return Ok(());
    }
    let Some(totals) = counters::totals(tx, node_id)? else { return Ok(()) };
    let [published, promoted, rejected, revoked] = totals.counted;
    tx.run(
        "UPDATE nodes SET total_published = $2, total_promoted = $3, total_rejected = $4, total_revoked = $5,
            penalty = CASE WHEN penalty >= 0 AND penalty <= 100 THEN penalty ELSE 0 END,
            issued_secret = NULL, issued_sealed = NULL WHERE node_id = $1",
        params![node_id, published, promoted, rejected, revoked],
    )?;
    scoring::reassess(tx, node_id, now)?;
    Ok(())
}
