//! The hub in numbers, and what is in demand.

use super::health::uptime_s;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::cursor;
use crate::http::envelope::{PROTOCOL, VERSION};
use crate::http::query;
use crate::ops::assets::view::{AssetView, rounded_or_zero};
use crate::state::{Hub, SharedHub};
use capsid_model::time::Time;
use capsid_rules::assets::trending::{TrendingEntry, WINDOW_MS, order, trend};
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list;
use capsid_store::assets::list::ListedAsset;
use capsid_store::db::tx::Tx;
use capsid_store::system::stats;
use capsid_store::system::stats::HubStats;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use tokio::time::Instant;
use utoipa::{IntoParams, ToSchema};

/// Up to so many assets and nodes, counting is quicker than anybody notices. A number and not a duration: a busy
/// machine must not change what is answered.
const SMALL: i64 = 10_000;
/// Figures are kept so many times as long as they took.
const KEPT: u32 = 50;

/// The hub in numbers. The market's numbers count capsules.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, ToSchema)]
#[schema(as = HubStats)]
pub struct StatsResponse {
    status: &'static str,
    hub_version: &'static str,
    protocol: &'static str,
    protocol_version: &'static str,
    pub(super) uptime_s: i64,
    total_nodes: i64,
    /// Nodes that were heard of within a day.
    active_24h: i64,
    total_assets: i64,
    total_all_types: i64,
    total_capsules: i64,
    promoted_assets: i64,
    candidate_assets: i64,
    total_calls: i64,
    today_calls: i64,
    total_reuses: i64,
    total_views: i64,
    open_tasks: i64,
    open_bounties: i64,
}

impl StatsResponse {
    /// The numbers of a hub that has run so long.
    pub(super) fn new(stats: &HubStats, uptime_s: i64) -> Self {
        let of =
            |status: &str| stats.capsules.iter().find(|(s, _)| s == status).map_or(0, |(_, count)| *count);
        let capsules: i64 = stats.capsules.iter().map(|(_, count)| count).sum();
        Self {
            status: "ok",
            hub_version: env!("CARGO_PKG_VERSION"),
            protocol: PROTOCOL,
            protocol_version: VERSION,
            uptime_s,
            total_nodes: stats.nodes,
            active_24h: stats.active_nodes,
            total_assets: capsules,
            total_all_types: stats.assets,
            total_capsules: capsules,
            promoted_assets: of("promoted"),
            candidate_assets: of("candidate"),
            total_calls: stats.calls,
            today_calls: stats.calls_today,
            total_reuses: stats.reuses,
            total_views: stats.views,
            open_tasks: stats.open_tasks,
            open_bounties: stats.open_bounties,
        }
    }
}

/// Counts the hub.
#[tracing::instrument(skip_all)]
pub async fn show_stats(hub: &Hub) -> ApiResult<StatsResponse> {
    Ok(StatsResponse::new(&load_stats(hub).await?, uptime_s(hub, hub.now())))
}

/// The numbers, kept for a while where counting them takes one. Small hubs are looked at closely; what was fetched a
/// moment ago should show.
pub(super) async fn load_stats(hub: &Hub) -> ApiResult<HubStats> {
    let count = async {
        let (now, begun) = (hub.now(), Instant::now());
        let stats = hub.store.read_replica::<_, ApiError, _>(move |tx| Ok(stats::figures(tx, now)?)).await?;
        let keep = (stats.assets + stats.nodes > SMALL).then(|| begun.elapsed() * KEPT);
        Ok((stats, keep))
    };
    hub.stats.get_or_load(count).await
}

/// How many, and of which time.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct TrendingParams {
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// How many to skip: 0 to 1000.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 1000)]
    offset: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
    /// How far back: 7d (the default), or fewer days or hours such as 24h.
    window: Option<String>,
}

/// An asset that is in demand.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TrendingAsset)]
pub struct TrendingAssetView {
    #[serde(flatten)]
    asset: AssetView,
    trend_score: f64,
    calls_window: i64,
    unique_fetchers_window: i64,
}

/// What is in demand.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = TrendingPage)]
pub struct TrendingResponse {
    assets: Vec<TrendingAssetView>,
    count: i64,
    total: i64,
    has_more: bool,
    #[schema(required)]
    next_cursor: Option<String>,
    /// Of which time, such as `7d`.
    window: String,
}

/// The time that a word such as `7d` or `24h` names, up to a week.
fn window(text: Option<&str>) -> ApiResult<i64> {
    const HOUR_MS: i64 = 3_600_000;
    let text = text.map(str::trim).filter(|text| !text.is_empty()).unwrap_or("7d");
    let read = |unit: char, ms: i64| {
        text.strip_suffix(unit).and_then(|n| n.parse::<i64>().ok()).and_then(|n| n.checked_mul(ms))
    };
    read('d', 24 * HOUR_MS)
        .or_else(|| read('h', HOUR_MS))
        .filter(|ms| (HOUR_MS..=WINDOW_MS).contains(ms))
        .ok_or_else(|| ApiError::field("window", "1h to 168h or 1d to 7d", "something else"))
}

/// Lists what other nodes fetched most lately.
#[tracing::instrument(skip_all)]
pub async fn list_trending(
    hub: &SharedHub,
    credentials: Credentials,
    asked: TrendingParams,
) -> ApiResult<TrendingResponse> {
    hub.limit_reads(&credentials).await?;
    let (window_ms, now) = (window(asked.window.as_deref())?, hub.now());
    let limit = query::limit(asked.limit.as_deref(), 20, 100) as usize;
    let skip = cursor::skipped("trending", asked.cursor.as_deref(), asked.offset.as_deref())?;
    let (total, rows) = hub
        .store
        .read_replica::<_, ApiError, _>(move |tx| in_demand(tx, Time(now.0 - window_ms), (skip, limit), now))
        .await?;
    let next = if total > skip + limit { cursor::after("trending", skip + limit) } else { None };
    let name = asked.window.as_deref().map(str::trim).filter(|text| !text.is_empty()).unwrap_or("7d");
    Ok(TrendingResponse {
        count: rows.len() as i64,
        assets: rows,
        total: total as i64,
        has_more: next.is_some(),
        next_cursor: next,
        window: name.to_owned(),
    })
}

fn in_demand(
    tx: &mut dyn Tx,
    since: Time,
    (skip, limit): (usize, usize),
    now: Time,
) -> ApiResult<(usize, Vec<TrendingAssetView>)> {
    let mut fetches: BTreeMap<AssetId, Vec<(String, Time)>> = BTreeMap::new();
    for fetched in stats::fetches_since(tx, since)? {
        fetches.entry(fetched.asset_id).or_default().push((fetched.node_id, fetched.at));
    }
    let ids: Vec<AssetId> = fetches.keys().copied().collect();
    let mut found: Vec<(TrendingEntry, ListedAsset, usize)> = list::by_id(tx, &ids)?
        .into_iter()
        .filter(|listed| {
            let asset = &listed.asset;
            asset.status == AssetStatus::Promoted && asset.trust_tier != "delisted" && asset.is_scanned()
        })
        .map(|listed| {
            let asset = &listed.asset;
            let by = fetches.remove(&asset.asset_id).unwrap_or_default();
            let fetchers = by.len();
            let entry = TrendingEntry {
                trend: trend(by, asset.upvotes - asset.downvotes, now),
                gdi_hundredths: asset.gdi,
                promoted_at: asset.promoted_at.unwrap_or_default(),
                asset_id: asset.asset_id.to_string(),
            };
            (entry, listed, fetchers)
        })
        .collect();
    found.sort_by(|(a, ..), (b, ..)| order(a, b));
    let total = found.len();
    let mut rows = Vec::new();
    for (entry, listed, fetchers) in found.into_iter().skip(skip).take(limit) {
        let calls = stats::calls_since(tx, &listed.asset.asset_id, since)?;
        rows.push(TrendingAssetView {
            asset: AssetView::new(&listed),
            trend_score: rounded_or_zero(entry.trend),
            calls_window: calls,
            unique_fetchers_window: fetchers as i64,
        });
    }
    Ok((total, rows))
}
