//! Use: who fetched what. Only a node of another owner makes a difference.

use crate::assets;
use crate::assets::id::AssetId;
use crate::db::DAY_MS;
use crate::db::tx::Tx;
use crate::evaluation::rewards;
use crate::evaluation::rewards::RewardRates;
use crate::evaluation::{lifecycle, scoring};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::lifecycle::{AssetEvent, AssetStatus};

/// Fetches of one asset by one node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchCount {
    pub node_id: String,
    pub asset_id: AssetId,
    pub calls: i64,
}

/// Counts fetches, scores what was fetched anew, revives what had grown stale, and rewards the publishers of what
/// another owner uses for the first time.
pub fn count(tx: &mut dyn Tx, fetches: &[FetchCount], rewards: &RewardRates, now: Time) -> Result<()> {
    let mut touched: Vec<AssetId> = Vec::new();
    let mut new: Vec<&FetchCount> = Vec::new();
    for fetch in fetches {
        let counted = count_one(tx, fetch, now)?;
        if counted != FetchKind::Nothing && !touched.contains(&fetch.asset_id) {
            touched.push(fetch.asset_id);
        }
        if counted == FetchKind::First {
            new.push(fetch);
        }
    }
    // In one order everywhere, so that two hubs do not wait for each other.
    touched.sort_unstable();
    for id in touched {
        revive(tx, &id, now)?;
        scoring::rescore(tx, &id, now)?;
    }
    for fetch in new {
        if let Some(asset) = assets::get(tx, &fetch.asset_id)? {
            rewards::reused(tx, rewards, &asset, &fetch.node_id, now)?;
        }
    }
    Ok(())
}

/// What a fetch counts as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum FetchKind {
    /// Nothing: the node is not known, or the asset is its owner's own.
    Nothing,
    /// Use by a node that had fetched the asset before.
    Again,
    /// Use by a node that had not.
    First,
}

/// Whether the fetch counts as use: the node is known, and is not of the publisher's owner.
fn counts(tx: &mut dyn Tx, fetch: &FetchCount) -> Result<Option<bool>> {
    tx.query_first("SELECT CASE WHEN f.node_id = p.node_id OR (f.owner IS NOT NULL AND f.owner = p.owner) THEN 0 ELSE 1 END
         FROM assets a JOIN nodes p ON p.node_id = a.node_id JOIN nodes f ON f.node_id = $2 WHERE a.asset_id = $1", params![&fetch.asset_id, &fetch.node_id])
}

fn count_one(tx: &mut dyn Tx, fetch: &FetchCount, now: Time) -> Result<FetchKind> {
    let Some(counts) = counts(tx, fetch)? else { return Ok(FetchKind::Nothing) };
    let first = tx.run(
        "INSERT INTO fetches (asset_id, node_id, counts, calls, first_at, last_at) VALUES ($1, $2, $3, 0, $4, $4)
         ON CONFLICT DO NOTHING",
        params![&fetch.asset_id, &fetch.node_id, counts, now],
    )? == 1;
    tx.run(
        "UPDATE fetches SET calls = calls + $3, last_at = $4 WHERE asset_id = $1 AND node_id = $2",
        params![&fetch.asset_id, &fetch.node_id, fetch.calls, now],
    )?;
    if !counts {
        return Ok(FetchKind::Nothing);
    }
    tx.run(
        "INSERT INTO fetch_days (asset_id, day, calls) VALUES ($1, $2, $3)
         ON CONFLICT (asset_id, day) DO UPDATE SET calls = fetch_days.calls + excluded.calls",
        params![&fetch.asset_id, now.0 / DAY_MS, fetch.calls],
    )?;
    tx.run(
        "UPDATE assets SET call_count = call_count + $2, reuse_count = reuse_count + $3, last_activity_at = $4
         WHERE asset_id = $1",
        params![&fetch.asset_id, fetch.calls, first, now],
    )?;
    Ok(if first { FetchKind::First } else { FetchKind::Again })
}

fn revive(tx: &mut dyn Tx, id: &AssetId, now: Time) -> Result<()> {
    let old = assets::get(tx, id)?
        .is_some_and(|asset| matches!(asset.status, AssetStatus::Stale | AssetStatus::Archived));
    if old {
        lifecycle::change(tx, id, AssetEvent::Revive, "hub", Some("fetched again"), now)?;
    }
    Ok(())
}

/// Whether a node has fetched an asset.
pub fn has_fetched(tx: &mut dyn Tx, node_id: &str, id: &AssetId) -> Result<bool> {
    tx.exists("SELECT 1 FROM fetches WHERE asset_id = $1 AND node_id = $2", params![id, node_id])
}

/// Counts looks at assets.
pub fn count_views(tx: &mut dyn Tx, views: &[(AssetId, i64)]) -> Result<()> {
    let mut total = 0;
    for (id, looks) in views {
        let seen = tx
            .run("UPDATE assets SET view_count = view_count + $2 WHERE asset_id = $1", params![id, *looks])?;
        total += if seen == 1 { *looks } else { 0 };
    }
    if total > 0 {
        // Added up here, because a sum over a million assets takes long.
        tx.run(
            "INSERT INTO meta (key, value) VALUES ('total_views', $1) ON CONFLICT (key) DO UPDATE
             SET value = CAST(CAST(meta.value AS BIGINT) + CAST(excluded.value AS BIGINT) AS TEXT)",
            params![&total.to_string()],
        )?;
    }
    Ok(())
}
