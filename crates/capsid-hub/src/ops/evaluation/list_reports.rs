//! What validators reported.

use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::cursor;
use crate::http::envelope::check_node_id;
use crate::http::query;
use crate::http::traced_id;
use crate::ops::assets::list::cut;
use crate::ops::assets::parse_asset_id;
use crate::ops::assets::view::{page_response, rounded};
use crate::state::SharedHub;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use capsid_model::time::Time;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list::ListPosition;
use capsid_store::evaluation::list_reports;
use capsid_store::evaluation::list_reports::ReportRow;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

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

/// Whether a report is its publisher's own, was asked for, or came by itself.
#[derive(Debug, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ReportLabel {
    #[serde(rename = "self")]
    Own,
    Assigned,
    Unsolicited,
}

/// What a validator reported.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = ValidationReport)]
pub struct ReportView {
    report_id: String,
    #[schema(value_type = String)]
    target_asset_id: AssetId,
    validator_node_id: String,
    overall_ok: bool,
    weight: f64,
    #[schema(value_type = ReportLabel)]
    label: String,
    /// What it rests on: self, unverified, probe, fetched, used, applied, assigned, reproduced or hub.
    grade: &'static str,
    /// Whether the commands passed without the change, where that was tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ReportControl, required = false)]
    control: Option<ReportControl>,
    #[schema(required)]
    env_fingerprint_key: Option<String>,
    #[schema(required)]
    commands_passed: Option<i64>,
    #[schema(required)]
    commands_total: Option<i64>,
    /// 0 to 1.
    #[schema(required)]
    reproduction_score: Option<f64>,
    #[schema(required)]
    failure_class: Option<String>,
    /// The public key that signed it, as base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    signed_by: Option<String>,
    created_at: String,
}

/// Whether the commands passed without the change.
#[derive(Debug, Serialize, ToSchema)]
pub struct ReportControl {
    /// Beside a lone `package.json`.
    #[schema(required)]
    bare: Option<bool>,
    /// With every file of the change emptied that is no test.
    #[schema(required)]
    base: Option<bool>,
}

page_response! {
    /// A page of reports.
    ReportPageResponse as ReportPage { reports: ReportView as ReportView }
}

/// Lists validation reports, newest first.
#[tracing::instrument(skip_all, fields(node.id = params.node_id.as_deref().map(traced_id), asset.id = params.asset_id.as_deref().map(traced_id)))]
pub async fn list_reports(
    hub: &SharedHub,
    credentials: &Credentials,
    params: &ListReportsParams,
) -> ApiResult<ReportPageResponse> {
    hub.limit_reads(credentials).await?;
    let asset = params.asset_id.as_deref().filter(|id| !id.is_empty());
    let asset = asset.map(|id| parse_asset_id(id, "asset_id")).transpose()?;
    let node = params.node_id.clone().filter(|id| !id.is_empty());
    if let Some(node) = &node {
        check_node_id(node, "node_id")?;
    }
    let after = cursor::read(NAME, params.cursor.as_deref())?;
    let skip = params.offset.as_deref().and_then(|text| text.trim().parse::<i64>().ok()).unwrap_or(0);
    if skip > MAX_SKIPPED {
        let expected = format!("at most {MAX_SKIPPED}; use `cursor` to go further");
        return Err(ApiError::field("offset", expected, skip.to_string()));
    }
    let limit = query::limit(params.limit.as_deref(), 20, 100) as usize;
    let (mut found, total) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let skip = skip.max(0) as usize;
            let found = list_reports::list(tx, asset.as_ref(), node.as_deref(), after.seq, skip, limit + 1)?;
            Ok((found, list_reports::total(tx, asset.as_ref(), node.as_deref())?))
        })
        .await?;
    let next =
        cut(&mut found, limit, |last| cursor::write(NAME, ListPosition { key: last.seq, seq: last.seq }));
    Ok(ReportPageResponse::new(found.into_iter().map(ReportView::from).collect(), total, next))
}

impl From<ReportRow> for ReportView {
    fn from(report: ReportRow) -> Self {
        Self {
            report_id: report.report_id,
            target_asset_id: report.asset_id,
            validator_node_id: report.node_id,
            overall_ok: report.overall_ok,
            weight: rounded(report.weight),
            label: report.label,
            grade: report.grade.as_str(),
            control: (report.control_bare.is_some() || report.control_base.is_some())
                .then_some(ReportControl { bare: report.control_bare, base: report.control_base }),
            env_fingerprint_key: report.env_fingerprint_key,
            commands_passed: report.commands_passed,
            commands_total: report.commands_total,
            reproduction_score: report.reproduction_score.map(rounded),
            failure_class: report.failure_class,
            signed_by: report.signed_by.map(|key| STANDARD.encode(key)),
            created_at: Time(report.created_at).iso(),
        }
    }
}
