//! What admins do: moderate assets, have the jobs run at once, ban accounts and read the audit.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::{JsonBody, OptionalJsonBody};
use crate::http::openapi::ErrorBody;
use crate::http::query::{PathId, QueryParams};
use crate::jobs::{self, RunJobsResponse};
use crate::ops::accounts::admin::{self, ListUsersParams, ListUsersResponse};
use crate::ops::accounts::view::AccountView;
use crate::ops::audit::{self, ListAuditParams, ListAuditResponse};
use crate::ops::evaluation::moderate::{self, ModerateResponse, ReasonBody};
use crate::ops::evaluation::moderation_queue::{
    self, AppealRequest, DecideCaseRequest, ListCasesParams, ListCasesResponse, ModerationCaseView,
};
use crate::ops::starter;
use crate::runtime::starter::view::StarterPackView;
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
    Ok(Json(jobs::run_jobs_now(&hub, credentials).await?))
}

/// The starter pack: the programs that it runs, its entries, and how far its loading is.
#[utoipa::path(get, path = "/admin/starter-pack", tag = "admin",
    responses((status = 200, body = StarterPackView), (status = "4XX", body = ErrorBody)))]
pub async fn show_starter_pack(
    State(hub): State<SharedHub>,
    credentials: Credentials,
) -> ApiResult<Json<StarterPackView>> {
    Ok(Json(starter::show(&hub, credentials).await?))
}

/// Begins to load the starter pack.
///
/// This permits its commands, in the sandbox of the hub's machine. The response comes at once; the same path tells how far it is.
#[utoipa::path(post, path = "/admin/starter-pack", tag = "admin",
    responses((status = 200, body = StarterPackView), (status = "4XX", body = ErrorBody)))]
pub async fn load_starter_pack(
    State(hub): State<SharedHub>,
    credentials: Credentials,
) -> ApiResult<Json<StarterPackView>> {
    Ok(Json(starter::start(&hub, credentials).await?))
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

/// Lists the accounts.
#[utoipa::path(get, path = "/admin/users", tag = "admin", params(ListUsersParams),
    responses((status = 200, body = ListUsersResponse), (status = "4XX", body = ErrorBody)))]
pub async fn list_users(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(page): QueryParams<ListUsersParams>,
) -> ApiResult<Json<ListUsersResponse>> {
    Ok(Json(admin::list_users(&hub, credentials, page).await?))
}

/// Bans an account: it can do nothing on this hub until it is let back.
#[utoipa::path(post, path = "/admin/users/{user_id}/ban", tag = "admin", request_body = Option<ReasonBody>,
    params(("user_id" = String, Path, description = "The account.")),
    responses((status = 200, body = AccountView), (status = "4XX", body = ErrorBody)))]
pub async fn ban_user(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(user_id): PathId,
    OptionalJsonBody(why): OptionalJsonBody<ReasonBody>,
) -> ApiResult<Json<AccountView>> {
    Ok(Json(admin::set_user_banned(&hub, credentials, user_id, why, true).await?))
}

/// Lets a banned account back.
#[utoipa::path(post, path = "/admin/users/{user_id}/unban", tag = "admin", request_body = Option<ReasonBody>,
    params(("user_id" = String, Path, description = "The account.")),
    responses((status = 200, body = AccountView), (status = "4XX", body = ErrorBody)))]
pub async fn unban_user(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(user_id): PathId,
    OptionalJsonBody(why): OptionalJsonBody<ReasonBody>,
) -> ApiResult<Json<AccountView>> {
    Ok(Json(admin::set_user_banned(&hub, credentials, user_id, why, false).await?))
}

/// Lists changes of state, by whom and why, newest first; only for admins.
#[utoipa::path(get, path = "/admin/audit", tag = "admin", params(ListAuditParams),
    responses((status = 200, body = ListAuditResponse), (status = "4XX", body = ErrorBody)))]
pub async fn list_audit(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListAuditParams>,
) -> ApiResult<Json<ListAuditResponse>> {
    Ok(Json(audit::list_audit(&hub, credentials, params).await?))
}

/// Lists what waits for a moderator: assets with warnings, new publishers and disputes.
#[utoipa::path(get, path = "/admin/moderation", tag = "admin", params(ListCasesParams),
    responses((status = 200, body = ListCasesResponse)))]
pub async fn moderation_cases(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    QueryParams(params): QueryParams<ListCasesParams>,
) -> ApiResult<Json<ListCasesResponse>> {
    Ok(Json(moderation_queue::list_cases(&hub, credentials, params).await?))
}

/// Decides a case; for admins and those whom the operator appointed.
#[utoipa::path(post, path = "/admin/moderation/{case_id}/decide", tag = "admin",
    params(("case_id" = String, Path, description = "The number of the case.")), request_body = DecideCaseRequest,
    responses((status = 200, body = ModerationCaseView)))]
pub async fn decide_case(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(case_id): PathId,
    JsonBody(request): JsonBody<DecideCaseRequest>,
) -> ApiResult<Json<ModerationCaseView>> {
    Ok(Json(moderation_queue::decide_case(&hub, credentials, &case_id, request).await?))
}

/// Appeals against the decision on a node's own asset, or on the node itself; once.
#[utoipa::path(post, path = "/a2a/moderation/{subject}/appeal", tag = "assets",
    params(("subject" = String, Path, description = "The asset, or the node.")), request_body = AppealRequest,
    responses((status = 200, body = ModerationCaseView)))]
pub async fn appeal(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(subject): PathId,
    JsonBody(request): JsonBody<AppealRequest>,
) -> ApiResult<Json<ModerationCaseView>> {
    Ok(Json(moderation_queue::appeal_case(&hub, credentials, subject, &request).await?))
}
