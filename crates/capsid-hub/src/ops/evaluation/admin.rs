//! `/admin/assets/*` and `/admin/promote-now`: an admin decides on assets, and has the jobs done at once.

use crate::auth::access::Credentials;
use crate::auth::accounts::require_admin;
use crate::error::{ApiError, Result};
use crate::http::envelope::Reply;
use crate::http::json::JsonOrNothing;
use crate::http::query::PathId;
use crate::jobs;
use crate::ops::evaluation::decision::{Why, carry_out};
use crate::state::Shared;
use axum::extract::State;
use capsid_rules::lifecycle::Change;
use capsid_store::assets::id::AssetId;
use serde_json::json;

/// Does at once what the hub otherwise does from time to time: promotions above all.
#[utoipa::path(post, path = "/admin/promote-now", tag = "admin",
    responses((status = 200, body = crate::http::openapi::hub::JobsDone), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn promote_now(State(hub): State<Shared>, credentials: Credentials) -> Result<Reply> {
    let now = hub.now();
    hub.store.read::<_, ApiError, _>(move |tx| require_admin(tx, &credentials, now)).await?;
    let done = jobs::run_now(&hub).await?;
    Ok(Reply::json(&json!({ "status": "done", "done": done })))
}

/// Promotes a candidate, whatever its score and the reports on it.
#[utoipa::path(post, path = "/admin/assets/{asset_id}/promote", tag = "admin", params(("asset_id" = String, Path)),
    request_body = Option<Why>,
    responses((status = 200, body = crate::http::openapi::assets::AssetDecided), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn promote(
    hub: State<Shared>,
    credentials: Credentials,
    id: PathId,
    why: JsonOrNothing<Why>,
) -> Result<Reply> {
    change(hub, credentials, id, why, Change::Promote).await
}

/// Rejects an asset for good.
#[utoipa::path(post, path = "/admin/assets/{asset_id}/reject", tag = "admin", params(("asset_id" = String, Path)),
    request_body = Option<Why>,
    responses((status = 200, body = crate::http::openapi::assets::AssetDecided), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn reject(
    hub: State<Shared>,
    credentials: Credentials,
    id: PathId,
    why: JsonOrNothing<Why>,
) -> Result<Reply> {
    change(hub, credentials, id, why, Change::Reject).await
}

/// Holds an asset back.
#[utoipa::path(post, path = "/admin/assets/{asset_id}/quarantine", tag = "admin",
    params(("asset_id" = String, Path)), request_body = Option<Why>,
    responses((status = 200, body = crate::http::openapi::assets::AssetDecided), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn quarantine(
    hub: State<Shared>,
    credentials: Credentials,
    id: PathId,
    why: JsonOrNothing<Why>,
) -> Result<Reply> {
    change(hub, credentials, id, why, Change::Quarantine).await
}

/// Lets an asset that was held back go on as a candidate.
#[utoipa::path(post, path = "/admin/assets/{asset_id}/release", tag = "admin", params(("asset_id" = String, Path)),
    request_body = Option<Why>,
    responses((status = 200, body = crate::http::openapi::assets::AssetDecided), (status = "4XX", body = crate::http::openapi::Problem)))]
pub async fn release(
    hub: State<Shared>,
    credentials: Credentials,
    id: PathId,
    why: JsonOrNothing<Why>,
) -> Result<Reply> {
    change(hub, credentials, id, why, Change::Release).await
}

async fn change(
    State(hub): State<Shared>,
    credentials: Credentials,
    PathId(id): PathId,
    JsonOrNothing(why): JsonOrNothing<Why>,
    change: Change,
) -> Result<Reply> {
    let id = AssetId::parse(&id)
        .ok_or_else(|| ApiError::field("asset_id", "`sha256:` and 64 hexadecimal digits", "another text"))?;
    let (reason, rewards, now) = (why.checked()?, hub.config.rewards(), hub.now());
    let status = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let admin = require_admin(tx, &credentials, now)?;
            let actor = format!("user:{}", admin.user_id);
            carry_out(tx, &id, change, &actor, reason.as_deref(), &rewards, now)
        })
        .await?;
    Ok(Reply::json(&json!({ "status": "applied", "asset_id": id, "asset_status": status })))
}
