//! One node: how it stands, and what it did lately.

use super::view::{NodeView, find_node};
use crate::error::{ApiError, ApiResult};
use crate::http::query;
use crate::http::traced_id;
use crate::ops::evaluation::list_reports::ReportLabel;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::lifecycle::{AssetStatus, AssetType};
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list as asset_list;
use capsid_store::assets::list::ListedAsset;
use capsid_store::db::tx::Tx;
use capsid_store::evaluation::list_reports;
use capsid_store::evaluation::list_reports::ReportRow;
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

/// One node: how it stands and what became of what it published.
#[tracing::instrument(skip_all, fields(node.id = traced_id(&id)))]
pub async fn node_detail(hub: &SharedHub, id: String) -> ApiResult<NodeView> {
    let now = hub.now();
    let found = hub.store.read::<_, ApiError, _>(move |tx| find_node(tx, &id)).await?;
    Ok(NodeView::new(found, now))
}

/// How many events.
#[derive(Debug, Default, Deserialize, IntoParams)]
#[into_params(parameter_in = Query)]
pub struct NodeActivityParams {
    /// How many: 1 to 100, usually 20.
    #[param(value_type = Option<i64>, minimum = 1, maximum = 100)]
    limit: Option<String>,
}

/// What a node did lately, newest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = NodeActivity)]
pub struct NodeActivityResponse {
    node_id: String,
    count: i64,
    activity: Vec<ActivityView>,
    /// The same as `activity`.
    events: Vec<ActivityView>,
}

/// What a node did.
#[derive(Debug, Clone, Copy, Serialize, ToSchema)]
#[serde(rename_all = "snake_case")]
pub enum ActivityKind {
    Publish,
    Report,
}

/// One thing that a node did.
#[derive(Debug, Clone, Serialize, ToSchema)]
#[schema(as = ActivityEntry)]
pub struct ActivityView {
    r#type: ActivityKind,
    #[schema(value_type = String)]
    asset_id: AssetId,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = AssetType, required = false)]
    asset_type: Option<AssetType>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = AssetStatus, required = false)]
    asset_status: Option<AssetStatus>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    bundle_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = String, required = false)]
    report_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = bool, required = false)]
    overall_ok: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = ReportLabel, required = false)]
    label: Option<String>,
    at: String,
}

impl ActivityView {
    fn publish(listed: ListedAsset) -> Self {
        let asset = listed.asset;
        Self {
            r#type: ActivityKind::Publish,
            asset_id: asset.asset_id,
            asset_type: Some(asset.asset_type),
            asset_status: Some(asset.status),
            bundle_id: Some(asset.bundle_id),
            report_id: None,
            overall_ok: None,
            label: None,
            at: Time(asset.created_at).iso(),
        }
    }

    fn report(report: ReportRow) -> Self {
        Self {
            r#type: ActivityKind::Report,
            asset_id: report.asset_id,
            asset_type: None,
            asset_status: None,
            bundle_id: None,
            report_id: Some(report.report_id),
            overall_ok: Some(report.overall_ok),
            label: Some(report.label),
            at: Time(report.created_at).iso(),
        }
    }
}

/// What a node did lately: what it published and what it reported, newest first.
#[tracing::instrument(skip_all, fields(node.id = traced_id(&id)))]
pub async fn node_activity(
    hub: &SharedHub,
    id: String,
    params: &NodeActivityParams,
) -> ApiResult<NodeActivityResponse> {
    let limit = query::limit(params.limit.as_deref(), 20, 100) as usize;
    let (node_id, events) = hub
        .store
        .read::<_, ApiError, _>(move |tx| {
            let node = find_node(tx, &id)?;
            Ok((node.node_id, recent(tx, &id, limit)?))
        })
        .await?;
    Ok(NodeActivityResponse { node_id, count: events.len() as i64, activity: events.clone(), events })
}

fn recent(tx: &mut dyn Tx, node_id: &str, limit: usize) -> ApiResult<Vec<ActivityView>> {
    let published = asset_list::published_by(tx, node_id, None, None, i64::MAX, limit)?;
    let reported = list_reports::list(tx, None, Some(node_id), i64::MAX, 0, limit)?;
    let published =
        published.into_iter().map(|listed| (listed.asset.created_at, ActivityView::publish(listed)));
    let reported = reported.into_iter().map(|report| (report.created_at, ActivityView::report(report)));
    let mut events: Vec<(i64, ActivityView)> = published.chain(reported).collect();
    events.sort_by_key(|(at, _)| std::cmp::Reverse(*at));
    events.truncate(limit);
    Ok(events.into_iter().map(|(_, event)| event).collect())
}
