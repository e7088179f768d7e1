//! Numbers about the whole hub, and what is in demand.

use crate::assets::id::AssetId;
use crate::db::DAY_MS;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::lifecycle::AssetType;

/// How many assets are looked at for what is in demand.
const MAX_TRENDING: i64 = 200;
/// How many fetches are looked at.
const MAX_FETCHES: i64 = 100_000;

/// Numbers about the whole hub.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HubStats {
    pub nodes: i64,
    /// Those heard of within a day.
    pub active_nodes: i64,
    pub assets: i64,
    pub capsules: Vec<(String, i64)>,
    pub calls: i64,
    pub calls_today: i64,
    /// Different nodes that fetched, over all assets.
    pub reuses: i64,
    pub views: i64,
    /// Tasks that may be taken.
    pub open_tasks: i64,
    /// Bounties that nobody works for.
    pub open_bounties: i64,
}

/// Counts the whole hub. It takes a while over a million assets, so its outcome is kept for some time.
pub fn figures(tx: &mut dyn Tx, now: Time) -> Result<HubStats> {
    let by_kind = tx.query_all::<(String, AssetType, i64, i64)>(
        "SELECT status, asset_type, COUNT(*), CAST(COALESCE(SUM(call_count), 0) AS BIGINT)
         FROM assets GROUP BY status, asset_type ORDER BY status, asset_type",
        params![],
    )?;
    let capsules = || by_kind.iter().filter(|(_, kind, ..)| *kind == AssetType::Capsule);
    Ok(HubStats {
        nodes: tx.count("SELECT COUNT(*) FROM nodes", params![])?,
        active_nodes: tx
            .count("SELECT COUNT(*) FROM nodes WHERE last_seen_at > $1", params![now.0 - DAY_MS])?,
        assets: by_kind.iter().map(|(_, _, count, _)| count).sum(),
        capsules: capsules().map(|(status, _, count, _)| (status.clone(), *count)).collect(),
        calls: by_kind.iter().map(|(.., calls)| calls).sum(),
        calls_today: tx.count(
            "SELECT CAST(COALESCE(SUM(calls), 0) AS BIGINT) FROM fetch_days WHERE day = $1",
            params![now.0 / DAY_MS],
        )?,
        reuses: tx.count("SELECT COUNT(*) FROM fetches WHERE counts = 1", params![])?,
        views: tx
            .query_first("SELECT CAST(value AS BIGINT) FROM meta WHERE key = 'total_views'", params![])?
            .unwrap_or(0),
        open_tasks: tx
            .count("SELECT COUNT(*) FROM tasks WHERE status = 'open' AND expires_at > $1", params![now])?,
        open_bounties: tx
            .count("SELECT COUNT(*) FROM bounties WHERE status = 'open' AND expires_at > $1", params![now])?,
    })
}

row! {
    /// One node's last fetch of an asset.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct LastFetchRow {
        pub asset_id: AssetId = "f.asset_id",
        pub node_id: String = "f.node_id",
        pub at: Time = "f.last_at",
    }
}

/// The fetches since a moment of the assets that were fetched most since then.
pub fn fetches_since(tx: &mut dyn Tx, since: Time) -> Result<Vec<LastFetchRow>> {
    tx.query_all(
        select!(
            LastFetchRow,
            "FROM (
            SELECT asset_id, SUM(calls) AS calls FROM fetch_days WHERE day >= $1
            GROUP BY asset_id ORDER BY SUM(calls) DESC, asset_id LIMIT $3) d
         JOIN fetches f ON f.asset_id = d.asset_id
         WHERE f.counts = 1 AND f.last_at > $2 ORDER BY d.calls DESC, f.asset_id, f.node_id LIMIT $4"
        ),
        params![since.0 / DAY_MS, since, MAX_TRENDING, MAX_FETCHES],
    )
}

/// How often an asset was fetched by others since a day.
pub fn calls_since(tx: &mut dyn Tx, id: &AssetId, since: Time) -> Result<i64> {
    tx.count(
        "SELECT CAST(COALESCE(SUM(calls), 0) AS BIGINT) FROM fetch_days WHERE asset_id = $1 AND day >= $2",
        params![id, since.0 / DAY_MS],
    )
}
