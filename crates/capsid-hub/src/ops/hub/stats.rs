//! `GET /a2a/stats` and `GET /a2a/trending`: the hub in numbers, and what is in demand.

use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::cursor;
use crate::http::envelope::{JsonReply, PROTOCOL, VERSION};
use crate::http::query;
use crate::http::query::QueryParams;
use crate::ops::assets::view::{AssetView, shown};
use crate::state::SharedHub;
use axum::extract::State;
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
use serde_json::{Value, json};
use std::collections::BTreeMap;
use tokio::time::Instant;
use utoipa::{IntoParams, ToSchema};

/// The last figures, and until when they do. Counting a large hub takes a while, a small one is always counted anew.
#[derive(Debug, Default)]
pub struct StatsCache(tokio::sync::Mutex<Option<(HubStats, Instant)>>);

/// Up to so many assets and nodes, counting is quicker than anybody notices. A number and not a duration: a busy
/// machine must not change what is answered.
const SMALL: i64 = 10_000;
/// Figures are kept so many times as long as they took.
const KEPT: u32 = 50;

impl StatsCache {
    async fn get(&self, hub: &SharedHub) -> ApiResult<HubStats> {
        let mut last = self.0.lock().await;
        if let Some((figures, until)) = &*last
            && Instant::now() < *until
        {
            return Ok(figures.clone());
        }
        let (now, begun) = (hub.now(), Instant::now());
        let figures = hub.store.read::<_, ApiError, _>(move |tx| Ok(stats::figures(tx, now)?)).await?;
        let took = begun.elapsed();
        *last =
            (figures.assets + figures.nodes > SMALL).then(|| (figures.clone(), Instant::now() + took * KEPT));
        Ok(figures)
    }
}

/// The hub in numbers. The market's numbers count capsules.
#[utoipa::path(get, path = "/a2a/stats", tag = "hub",
    responses((status = 200, body = crate::http::openapi::hub::HubStats), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn stats(State(hub): State<SharedHub>) -> ApiResult<JsonReply> {
    Ok(JsonReply::json(&body(&hub).await?))
}

/// The hub in numbers, as JSON.
pub async fn body(hub: &SharedHub) -> ApiResult<Value> {
    // Small hubs are looked at closely; what was fetched a moment ago should show.
    let figures = hub.stats.get(hub).await?;
    let of = |status: &str| figures.capsules.iter().find(|(s, _)| s == status).map_or(0, |(_, count)| *count);
    let capsules: i64 = figures.capsules.iter().map(|(_, count)| count).sum();
    Ok(json!({
        "status": "ok", "hub_version": env!("CARGO_PKG_VERSION"), "protocol": PROTOCOL, "protocol_version": VERSION,
        "uptime_s": (hub.now().0 - hub.started.0).max(0) / 1000,
        "total_nodes": figures.nodes, "active_24h": figures.active_nodes,
        "total_assets": capsules, "total_all_types": figures.assets, "total_capsules": capsules,
        "promoted_assets": of("promoted"), "candidate_assets": of("candidate"),
        "total_calls": figures.calls, "today_calls": figures.calls_today, "total_reuses": figures.reuses,
        "total_views": figures.views, "open_tasks": figures.open_tasks,
        "open_bounties": figures.open_bounties,
    }))
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

/// What other nodes fetched most lately. A fetch counts half after a day; each vote counts two fetches.
#[utoipa::path(get, path = "/a2a/trending", tag = "hub", params(TrendingParams),
    responses((status = 200, body = TrendingResponse), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn trending(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<TrendingParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let (window_ms, now) = (window(asked.window.as_deref())?, hub.now());
    let limit = query::limit(asked.limit.as_deref(), 20, 100) as usize;
    let skip = cursor::skipped("trending", asked.cursor.as_deref(), asked.offset.as_deref())?;
    let (total, rows) = hub
        .store
        .read::<_, ApiError, _>(move |tx| in_demand(tx, Time(now.0 - window_ms), (skip, limit), now))
        .await?;
    let next = if total > skip + limit { cursor::after("trending", skip + limit) } else { None };
    let name = asked.window.as_deref().map(str::trim).filter(|text| !text.is_empty()).unwrap_or("7d");
    Ok(JsonReply::json(&TrendingResponse {
        count: rows.len() as i64,
        assets: rows,
        total: total as i64,
        has_more: next.is_some(),
        next_cursor: next,
        window: name.to_owned(),
    }))
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
            listed.asset.status == AssetStatus::Promoted && listed.asset.trust_tier != "delisted"
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
            trend_score: shown(entry.trend),
            calls_window: calls,
            unique_fetchers_window: fetchers as i64,
        });
    }
    Ok((total, rows))
}
