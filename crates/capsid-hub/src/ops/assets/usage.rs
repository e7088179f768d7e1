//! How an asset was used, day by day.

use super::id_in_path;
use super::revoke::not_found;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_store::assets;
use capsid_store::assets::id::AssetId;
use capsid_store::db::DAY_MS;
use capsid_store::registry::usage_days;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

const DEFAULT_DAYS: i64 = 90;
const MAX_DAYS: i64 = 366;

/// How far back.
#[derive(Debug, Default, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct AssetUsageParams {
    /// How many days up to today: 1 to 366, usually 90.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 366)]
    days: Option<String>,
}

impl AssetUsageParams {
    fn days(&self) -> ApiResult<i64> {
        let text = self.days.as_deref().map(str::trim).filter(|text| !text.is_empty());
        let Some(text) = text else { return Ok(DEFAULT_DAYS) };
        text.parse().ok().filter(|days| (1..=MAX_DAYS).contains(days)).ok_or_else(|| {
            ApiError::field("days", format!("a whole number from 1 to {MAX_DAYS}"), "something else")
        })
    }
}

/// How an asset was used, day by day, the oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AssetUsage)]
pub struct AssetUsageResponse {
    #[schema(value_type = String)]
    asset_id: AssetId,
    days: Vec<UsageDayView>,
}

/// One day in UTC. Only nodes of other owners count.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = UsageDay)]
pub struct UsageDayView {
    /// Such as `2026-11-01`.
    day: String,
    fetches: i64,
    /// Nodes that fetched it for the first time.
    reuses: i64,
    reports_ok: i64,
    reports_failed: i64,
}

/// How an asset was used, day by day. Only nodes of other owners count.
#[tracing::instrument(skip_all, fields(asset.id = traced_id(id)))]
pub async fn asset_usage(
    hub: &SharedHub,
    credentials: &Credentials,
    id: &str,
    params: &AssetUsageParams,
) -> ApiResult<AssetUsageResponse> {
    hub.limit_reads(credentials).await?;
    let (id, days, today) = (id_in_path(id)?, params.days()?, hub.now().0.div_euclid(DAY_MS));
    let first = today - days + 1;
    let used = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            assets::get(tx, &id)?.ok_or_else(not_found)?;
            Ok(usage_days::since(tx, &id, first)?)
        })
        .await?;
    let days = (first..=today).map(|day| {
        let used = used.get(&day).copied().unwrap_or_default();
        UsageDayView {
            day: day_name(day),
            fetches: used.fetches,
            reuses: used.reuses,
            reports_ok: used.reports_ok,
            reports_failed: used.reports_failed,
        }
    });
    Ok(AssetUsageResponse { asset_id: id, days: days.collect() })
}

/// A day such as `2026-11-01`.
fn day_name(day: i64) -> String {
    Time(day.saturating_mul(DAY_MS)).iso().chars().take(10).collect()
}
