//! What admins do: moderate assets, and have the jobs run at once.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::OptionalJsonBody;
use crate::http::query::PathId;
use crate::ops::evaluation::decide::ReasonBody;
use crate::ops::evaluation::moderate::{self, ModerateResponse, RunJobsResponse};
use crate::state::SharedHub;
use axum::Json;
use axum::extract::State;
use capsid_rules::lifecycle::AssetEvent;

/// Does at once what the hub otherwise does from time to time: promotions above all.
#[utoipa::path(post, path = "/admin/promote-now", tag = "admin",
    responses((status = 200, body = RunJobsResponse)))]
pub async fn promote_now(
    State(hub): State<SharedHub>,
    credentials: Credentials,
) -> ApiResult<Json<RunJobsResponse>> {
    Ok(Json(moderate::run_jobs_now(&hub, credentials).await?))
}

/// Promotes a candidate, whatever its score and the reports on it.
#[utoipa::path(post, path = "/admin/assets/{asset_id}/promote", tag = "admin", params(("asset_id" = String, Path)),
    request_body = Option<ReasonBody>,
    responses((status = 200, body = ModerateResponse)))]
pub async fn promote(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    OptionalJsonBody(reason): OptionalJsonBody<ReasonBody>,
) -> ApiResult<Json<ModerateResponse>> {
    Ok(Json(moderate::moderate(&hub, credentials, &id, AssetEvent::Promote, reason).await?))
}

/// Rejects an asset for good.
#[utoipa::path(post, path = "/admin/assets/{asset_id}/reject", tag = "admin", params(("asset_id" = String, Path)),
    request_body = Option<ReasonBody>,
    responses((status = 200, body = ModerateResponse)))]
pub async fn reject(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    OptionalJsonBody(reason): OptionalJsonBody<ReasonBody>,
) -> ApiResult<Json<ModerateResponse>> {
    Ok(Json(moderate::moderate(&hub, credentials, &id, AssetEvent::Reject, reason).await?))
}

/// Holds an asset back.
#[utoipa::path(post, path = "/admin/assets/{asset_id}/quarantine", tag = "admin",
    params(("asset_id" = String, Path)), request_body = Option<ReasonBody>,
    responses((status = 200, body = ModerateResponse)))]
pub async fn quarantine(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    OptionalJsonBody(reason): OptionalJsonBody<ReasonBody>,
) -> ApiResult<Json<ModerateResponse>> {
    Ok(Json(moderate::moderate(&hub, credentials, &id, AssetEvent::Quarantine, reason).await?))
}

/// Lets an asset that was held back go on as a candidate.
#[utoipa::path(post, path = "/admin/assets/{asset_id}/release", tag = "admin", params(("asset_id" = String, Path)),
    request_body = Option<ReasonBody>,
    responses((status = 200, body = ModerateResponse)))]
pub async fn release(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(id): PathId,
    OptionalJsonBody(reason): OptionalJsonBody<ReasonBody>,
) -> ApiResult<Json<ModerateResponse>> {
    Ok(Json(moderate::moderate(&hub, credentials, &id, AssetEvent::Release, reason).await?))
}
