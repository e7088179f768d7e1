//! `GET /a2a/assets/{asset_id}/usage`: how an asset was used, day by day.

use super::id_in_path;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::query::{PathId, QueryParams};
use crate::ops::assets::revoke::not_found;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_store::assets;
use capsid_store::registry::usage_days;
use capsid_store::registry::usage_days::DAY_MS;
use serde::Deserialize;
use serde_json::{Value, json};

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

/// How an asset was used, day by day. Only nodes of other owners count.
#[utoipa::path(get, path = "/a2a/assets/{asset_id}/usage", tag = "assets",
    params(("asset_id" = String, Path, description = "`sha256:` and 64 hexadecimal digits"), AssetUsageParams),
    responses((status = 200, body = crate::http::openapi::usage::AssetUsage),
        (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn usage(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    QueryParams(asked): QueryParams<AssetUsageParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let (id, days, today) = (id_in_path(&id)?, asked.days()?, hub.now().0.div_euclid(DAY_MS));
    let first = today - days + 1;
    let used = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            assets::get(tx, &id)?.ok_or_else(not_found)?;
            Ok(usage_days::since(tx, &id, first)?)
        })
        .await?;
    let rows: Vec<Value> = (first..=today)
        .map(|day| {
            let used = used.get(&day).copied().unwrap_or_default();
            json!({ "day": named(day), "fetches": used.fetches, "reuses": used.reuses,
                "reports_ok": used.reports_ok, "reports_failed": used.reports_failed })
        })
        .collect();
    Ok(JsonReply::json(&json!({ "asset_id": id, "days": rows })))
}

/// A day such as `2026-11-01`.
fn named(day: i64) -> String {
    Time(day.saturating_mul(DAY_MS)).iso().chars().take(10).collect()
}
