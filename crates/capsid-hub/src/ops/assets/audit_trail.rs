//! Every change of an asset's state, by whom and why.

use super::id_in_path;
use super::revoke::not_found;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::state::SharedHub;
use capsid_model::time::Time;
use capsid_rules::lifecycle::AssetStatus;
use capsid_store::assets::id::AssetId;
use capsid_store::assets::list;
use capsid_store::assets::list::ListedAsset;
use capsid_store::audit::{self, AuditEntry};
use capsid_store::db::tx::Tx;
use serde::Serialize;
use utoipa::ToSchema;

/// How many changes are shown at most.
const MAX_CHANGES: i64 = 200;

/// A change of state.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = StateChange)]
pub struct StateChangeView {
    at: String,
    /// `node:…`, `user:…`, `operator` or `hub`.
    actor: String,
    action: String,
    #[schema(required)]
    before: Option<String>,
    #[schema(required)]
    after: Option<String>,
    #[schema(required)]
    reason: Option<String>,
}

/// Every change of an asset's state, oldest first.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AuditTrail)]
pub struct AuditTrailResponse {
    #[schema(value_type = String)]
    asset_id: AssetId,
    audit_trail: Vec<StateChangeView>,
    count: i64,
}

/// Every change of an asset's state, by whom and why.
#[tracing::instrument(skip_all, fields(asset.id = traced_id(id)))]
pub async fn asset_audit_trail(hub: &SharedHub, id: &str) -> ApiResult<AuditTrailResponse> {
    let id = id_in_path(id)?;
    let trail = hub
        .store
        .find_replicated::<_, ApiError, _>(move |tx| {
            let Some(listed) = list::by_id(tx, &[id])?.pop() else { return Ok(None) };
            Ok(Some(list_changes(tx, &listed, MAX_CHANGES)?))
        })
        .await?
        .ok_or_else(not_found)?;
    Ok(AuditTrailResponse { asset_id: id, count: trail.len() as i64, audit_trail: trail })
}

/// The latest changes of state, oldest first. That it was published is known from the asset itself.
pub(super) fn list_changes(
    tx: &mut dyn Tx,
    listed: &ListedAsset,
    most: i64,
) -> ApiResult<Vec<StateChangeView>> {
    let asset = &listed.asset;
    let mut entries = audit::newest(tx, "asset", &asset.asset_id.to_string(), most)?;
    if (entries.len() as i64) < most && !entries.iter().any(|entry| entry.action == "publish") {
        let published = AuditEntry {
            at: asset.created_at,
            actor: format!("node:{}", asset.node_id),
            action: "publish".to_owned(),
            before: None,
            after: Some(AssetStatus::Candidate.as_str().to_owned()),
            reason: None,
        };
        entries.insert(0, published);
    }
    Ok(entries.into_iter().map(StateChangeView::from).collect())
}

impl From<AuditEntry> for StateChangeView {
    fn from(entry: AuditEntry) -> Self {
        Self {
            at: Time(entry.at).iso(),
            actor: entry.actor,
            action: entry.action,
            before: entry.before,
            after: entry.after,
            reason: entry.reason,
        }
    }
}
