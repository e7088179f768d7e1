//! `/a2a/skill/store/*`: skills that nodes share.

use crate::auth::credentials::Credentials;
use crate::error::ApiResult;
use crate::http::json::JsonBody;
use crate::http::openapi::ErrorBody;
use crate::http::query::{PathId, QueryParams};
use crate::ops::skills::download::{self, DownloadSkillRequest, DownloadSkillResponse, FetchSkillParams};
use crate::ops::skills::list::{self, ListSkillsParams, ListSkillsResponse};
use crate::ops::skills::publish::{
    self, DeleteSkillParams, PublishSkillRequest, PublishSkillResponse, WithdrawSkillRequest,
    WithdrawSkillResponse,
};
use crate::state::SharedHub;
use axum::Json;
use axum::extract::State;
use axum::http::StatusCode;

/// Publishes a skill. One that is there already is refused with 409; change it with PUT …/update.
#[utoipa::path(post, path = "/a2a/skill/store/publish", tag = "skills", request_body = PublishSkillRequest,
    responses((status = 201, body = PublishSkillResponse), (status = "4XX", body = ErrorBody)))]
pub async fn publish(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(upload): JsonBody<PublishSkillRequest>,
) -> ApiResult<(StatusCode, Json<PublishSkillResponse>)> {
    Ok((StatusCode::CREATED, Json(publish::publish_skill(&hub, credentials, upload).await?)))
}

/// Changes a skill, which gets a new version.
#[utoipa::path(put, path = "/a2a/skill/store/update", tag = "skills", request_body = PublishSkillRequest,
    responses((status = 200, body = PublishSkillResponse), (status = "4XX", body = ErrorBody)))]
pub async fn update(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(upload): JsonBody<PublishSkillRequest>,
) -> ApiResult<Json<PublishSkillResponse>> {
    Ok(Json(publish::update_skill(&hub, credentials, upload).await?))
}

/// Withdraws a skill: it is shown to nobody any more.
#[utoipa::path(post, path = "/a2a/skill/store/delete", tag = "skills", request_body = WithdrawSkillRequest,
    responses((status = 200, body = WithdrawSkillResponse), (status = "4XX", body = ErrorBody)))]
pub async fn withdraw(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(request): JsonBody<WithdrawSkillRequest>,
) -> ApiResult<Json<WithdrawSkillResponse>> {
    Ok(Json(publish::withdraw_skill(&hub, credentials, request).await?))
}

/// Withdraws a skill: it is shown to nobody any more.
#[utoipa::path(delete, path = "/a2a/skill/store/{skill_id}", tag = "skills",
    params(("skill_id" = String, Path, description = "The skill."), DeleteSkillParams),
    responses((status = 200, body = WithdrawSkillResponse), (status = "4XX", body = ErrorBody)))]
pub async fn delete(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(skill_id): PathId,
    QueryParams(params): QueryParams<DeleteSkillParams>,
) -> ApiResult<Json<WithdrawSkillResponse>> {
    let request = WithdrawSkillRequest::from_path(skill_id, params);
    Ok(Json(publish::withdraw_skill(&hub, credentials, request).await?))
}

/// Gives a skill with all it holds.
#[utoipa::path(get, path = "/a2a/skill/store/{skill_id}/download", tag = "skills",
    params(("skill_id" = String, Path, description = "The skill.")),
    responses((status = 200, body = DownloadSkillResponse), (status = "4XX", body = ErrorBody)))]
pub async fn download(
    State(hub): State<SharedHub>,
    PathId(skill_id): PathId,
) -> ApiResult<Json<DownloadSkillResponse>> {
    Ok(Json(download::download_skill(&hub, &skill_id).await?))
}

/// Gives a skill with all it holds, to a node that says who it is.
#[utoipa::path(post, path = "/a2a/skill/store/{skill_id}/download", tag = "skills",
    params(("skill_id" = String, Path, description = "The skill.")), request_body = DownloadSkillRequest,
    responses((status = 200, body = DownloadSkillResponse), (status = "4XX", body = ErrorBody)))]
pub async fn download_as(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(skill_id): PathId,
    JsonBody(taker): JsonBody<DownloadSkillRequest>,
) -> ApiResult<Json<DownloadSkillResponse>> {
    Ok(Json(download::download_skill_as(&hub, &credentials, &skill_id, taker).await?))
}

/// Gives a skill by its id or by the name in its front matter.
#[utoipa::path(get, path = "/a2a/skill/store/fetch", tag = "skills", params(FetchSkillParams),
    responses((status = 200, body = DownloadSkillResponse), (status = "4XX", body = ErrorBody)))]
pub async fn fetch(
    State(hub): State<SharedHub>,
    QueryParams(params): QueryParams<FetchSkillParams>,
) -> ApiResult<Json<DownloadSkillResponse>> {
    Ok(Json(download::fetch_skill(&hub, params).await?))
}

/// Lists skills in the order of their ids.
#[utoipa::path(get, path = "/a2a/skill/store/list", tag = "skills", params(ListSkillsParams),
    responses((status = 200, body = ListSkillsResponse), (status = "4XX", body = ErrorBody)))]
pub async fn list(
    State(hub): State<SharedHub>,
    QueryParams(params): QueryParams<ListSkillsParams>,
) -> ApiResult<Json<ListSkillsResponse>> {
    Ok(Json(list::list_skills(&hub, params).await?))
}
