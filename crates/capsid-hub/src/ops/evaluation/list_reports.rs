//! `GET /a2a/validation-reports`: what validators reported.

use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::cursor;
use crate::http::envelope::{JsonReply, check_node_id};
use crate::http::query;
use crate::http::query::QueryParams;
use crate::ops::assets::fetch::asset_id;
use crate::ops::assets::page;
use crate::ops::assets::view::rounded;
use crate::state::SharedHub;
use axum::extract::State;
use capsid_model::time::Time;
use capsid_store::assets::list::ListPosition;
use capsid_store::evaluation::list_reports;
use capsid_store::evaluation::list_reports::ReportRow;
use serde::Deserialize;
use serde_json::json;
use utoipa::IntoParams;

const MAX_SKIPPED: i64 = 10_000;
const NAME: &str = "reports";

/// Which reports, and how many.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListReportsParams {
    /// Only reports on this asset.
    asset_id: Option<String>,
    /// Only reports of this node.
    node_id: Option<String>,
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
    /// How many to skip.
    #[param(value_type = Option<i64>, minimum = 0, maximum = 10000)]
    offset: Option<String>,
    /// `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists validation reports, newest first.
#[utoipa::path(get, path = "/a2a/validation-reports", tag = "assets", params(ListReportsParams),
    responses((status = 200, body = crate::http::openapi::assets::ReportPage), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(asked): QueryParams<ListReportsParams>,
) -> ApiResult<JsonReply> {
    hub.limit_reads(&credentials).await?;
    let asset = asked.asset_id.as_deref().filter(|id| !id.is_empty());
    let asset = asset.map(|id| asset_id(id, "asset_id")).transpose()?;
    let node = asked.node_id.clone().filter(|id| !id.is_empty());
    if let Some(node) = &node {
        check_node_id(node, "node_id")?;
    }
    let after = cursor::read(NAME, asked.cursor.as_deref())?;
    let skip = asked.offset.as_deref().and_then(|text| text.trim().parse::<i64>().ok()).unwrap_or(0);
    if skip > MAX_SKIPPED {
        let expected = format!("at most {MAX_SKIPPED}; use `cursor` to go further");
        return Err(ApiError::field("offset", expected, skip.to_string()));
    }
    let limit = query::limit(asked.limit.as_deref(), 20, 100) as usize;
    let (mut found, total) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let skip = skip.max(0) as usize;
            let found = list_reports::list(tx, asset.as_ref(), node.as_deref(), after.seq, skip, limit + 1)?;
            Ok((found, list_reports::total(tx, asset.as_ref(), node.as_deref())?))
        })
        .await?;
    let more = found.len() > limit;
    found.truncate(limit);
    let next = found.last().filter(|_| more);
    let next = next.map(|last| cursor::write(NAME, ListPosition { key: last.seq, seq: last.seq }));
    let rows: Vec<String> = found.iter().map(report_json).collect();
    Ok(JsonReply::ok(page("reports", &rows, Some(total), next)))
}

fn report_json(report: &ReportRow) -> String {
    json!({
        "report_id": report.report_id, "target_asset_id": report.asset_id, "validator_node_id": report.node_id,
        "overall_ok": report.overall_ok, "weight": rounded(report.weight), "label": report.label,
        "env_fingerprint_key": report.env_fingerprint_key, "commands_passed": report.commands_passed,
        "commands_total": report.commands_total, "reproduction_score": report.reproduction_score.map(rounded),
        "failure_class": report.failure_class, "created_at": Time(report.created_at).iso(),
    })
    .to_string()
}
