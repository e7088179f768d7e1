//! `/admin/assets/*` and `/admin/promote-now`: an admin decides on assets, and has the jobs done at once.

use crate::auth::account::require_admin;
use crate::auth::credentials::Credentials;
use crate::error::{ApiError, ApiResult};
use crate::http::envelope::JsonReply;
use crate::http::json::OptionalJsonBody;
use crate::http::query::PathId;
use crate::jobs;
use crate::ops::evaluation::decide::{ReasonBody, apply_decision};
use crate::state::SharedHub;
use axum::extract::State;
use capsid_rules::lifecycle::AssetEvent;
use capsid_store::assets::id::AssetId;
use serde_json::json;

/// Does at once what the hub otherwise does from time to time: promotions above all.
#[utoipa::path(post, path = "/admin/promote-now", tag = "admin",
    responses((status = 200, body = crate::http::openapi::hub::JobsDone), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn promote_now(State(hub): State<SharedHub>, credentials: Credentials) -> ApiResult<JsonReply> {
    let now = hub.now();
    hub.store.read::<_, ApiError, _>(move |tx| require_admin(tx, &credentials, now)).await?;
    let done = jobs::run_now(&hub).await?;
    Ok(JsonReply::json(&json!({ "status": "done", "done": done })))
}

/// Promotes a candidate, whatever its score and the reports on it.
#[utoipa::path(post, path = "/admin/assets/{asset_id}/promote", tag = "admin", params(("asset_id" = String, Path)),
    request_body = Option<ReasonBody>,
    responses((status = 200, body = crate::http::openapi::assets::AssetDecided), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn promote(
    hub: State<SharedHub>,
    credentials: Credentials,
    id: PathId,
    why: OptionalJsonBody<ReasonBody>,
) -> ApiResult<JsonReply> {
    change(hub, credentials, id, why, AssetEvent::Promote).await
}

/// Rejects an asset for good.
#[utoipa::path(post, path = "/admin/assets/{asset_id}/reject", tag = "admin", params(("asset_id" = String, Path)),
    request_body = Option<ReasonBody>,
    responses((status = 200, body = crate::http::openapi::assets::AssetDecided), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn reject(
    hub: State<SharedHub>,
    credentials: Credentials,
    id: PathId,
    why: OptionalJsonBody<ReasonBody>,
) -> ApiResult<JsonReply> {
    change(hub, credentials, id, why, AssetEvent::Reject).await
}

/// Holds an asset back.
#[utoipa::path(post, path = "/admin/assets/{asset_id}/quarantine", tag = "admin",
    params(("asset_id" = String, Path)), request_body = Option<ReasonBody>,
    responses((status = 200, body = crate::http::openapi::assets::AssetDecided), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn quarantine(
    hub: State<SharedHub>,
    credentials: Credentials,
    id: PathId,
    why: OptionalJsonBody<ReasonBody>,
) -> ApiResult<JsonReply> {
    change(hub, credentials, id, why, AssetEvent::Quarantine).await
}

/// Lets an asset that was held back go on as a candidate.
#[utoipa::path(post, path = "/admin/assets/{asset_id}/release", tag = "admin", params(("asset_id" = String, Path)),
    request_body = Option<ReasonBody>,
    responses((status = 200, body = crate::http::openapi::assets::AssetDecided), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn release(
    hub: State<SharedHub>,
    credentials: Credentials,
    id: PathId,
    why: OptionalJsonBody<ReasonBody>,
) -> ApiResult<JsonReply> {
    change(hub, credentials, id, why, AssetEvent::Release).await
}

async fn change(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    OptionalJsonBody(why): OptionalJsonBody<ReasonBody>,
    change: AssetEvent,
) -> ApiResult<JsonReply> {
    let id = AssetId::parse(&id)
        .ok_or_else(|| ApiError::field("asset_id", "`sha256:` and 64 hexadecimal digits", "another text"))?;
    let (reason, rewards, now) = (why.checked()?, hub.config.rewards(), hub.now());
    let status = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let admin = require_admin(tx, &credentials, now)?;
            let actor = format!("user:{}", admin.user_id);
            apply_decision(tx, &id, change, &actor, reason.as_deref(), &rewards, now)
        })
        .await?;
    Ok(JsonReply::json(&json!({ "status": "applied", "asset_id": id, "asset_status": status })))
}
