//! An admin decides on assets, and has the jobs done at once.

use crate::auth::account::require_admin;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::traced_id;
use crate::jobs;
use crate::ops::evaluation::decide::{ReasonBody, apply_decision};
use crate::state::SharedHub;
use capsid_rules::lifecycle::{AssetEvent, AssetStatus};
use capsid_store::assets::id::AssetId;
use serde::Serialize;
use serde_json::{Map, Value};
use utoipa::ToSchema;

/// What the jobs did.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = JobsDone)]
pub struct RunJobsResponse {
    status: &'static str,
    /// How much each did.
    #[schema(value_type = BTreeMap<String, i64>)]
    done: Map<String, Value>,
}

/// What became of an admin's decision.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = AssetDecided)]
pub struct ModerateResponse {
    status: &'static str,
    #[schema(value_type = String)]
    asset_id: AssetId,
    asset_status: AssetStatus,
}

/// Does at once what the hub otherwise does from time to time: promotions above all.
#[tracing::instrument(skip_all)]
pub async fn run_jobs_now(hub: &SharedHub, credentials: Credentials) -> ApiResult<RunJobsResponse> {
    let now = hub.now();
    hub.store.read::<_, ApiError, _>(move |tx| require_admin(tx, &credentials, now)).await?;
    Ok(RunJobsResponse { status: "done", done: jobs::run_now(hub).await? })
}

/// Changes the state of an asset as an admin wants it.
#[tracing::instrument(skip_all, fields(asset.id = traced_id(id), change = change.as_str()))]
pub async fn moderate(
    hub: &SharedHub,
    credentials: Credentials,
    id: &str,
    change: AssetEvent,
    reason: ReasonBody,
) -> ApiResult<ModerateResponse> {
    let id = AssetId::parse(id)
        .ok_or_else(|| ApiError::field("asset_id", "`sha256:` and 64 hexadecimal digits", "another text"))?;
    let (reason, rewards, now) = (reason.checked()?, hub.config.rewards(), hub.now());
    let asset_status = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let admin = require_admin(tx, &credentials, now)?;
            let actor = format!("user:{}", admin.user_id);
            apply_decision(tx, &id, change, &actor, reason.as_deref(), &rewards, now)
        })
        .await?;
    Ok(ModerateResponse { status: "applied", asset_id: id, asset_status })
}
