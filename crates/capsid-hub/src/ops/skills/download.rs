//! A skill with all it holds.

use super::publish::{check_id, not_found};
use super::view::{SkillBody, SkillView};
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::json::read_stored;
use crate::http::traced_id;
use crate::http::validate;
use crate::state::Hub;
use capsid_store::skills;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// Who takes a skill.
#[derive(Debug, Deserialize, ToSchema)]
#[schema(as = SkillTaker)]
pub struct DownloadSkillRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
}

/// A skill with all it holds.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = WholeSkill)]
pub struct DownloadSkillResponse {
    #[serde(flatten)]
    skill: SkillView,
    #[serde(flatten)]
    body: SkillBody,
}

/// Gives a skill to whoever asks.
#[tracing::instrument(skip_all, fields(skill.id = traced_id(skill_id)))]
pub async fn download_skill(hub: &Hub, skill_id: &str) -> ApiResult<DownloadSkillResponse> {
    let id = check_id(Some(skill_id))?;
    let found = hub.store.write::<_, ApiError, _>(move |tx| Ok(skills::download(tx, &id)?)).await?;
    let (skill, body) = found.ok_or_else(not_found)?;
    Ok(DownloadSkillResponse { skill: SkillView::from_row(skill)?, body: read_stored(&body)? })
}

/// Gives a skill to a node that says who it is.
#[tracing::instrument(skip_all, fields(skill.id = traced_id(skill_id)))]
pub async fn download_skill_as(
    hub: &Hub,
    credentials: &Credentials,
    skill_id: &str,
    taker: DownloadSkillRequest,
) -> ApiResult<DownloadSkillResponse> {
    if taker.sender_id.is_some() || taker.node_id.is_some() {
        let node_id = validate::node(taker.sender_id.as_deref(), taker.node_id.as_deref())?;
        Sender::new(node_id, credentials.clone()).verify(hub).await?;
    }
    download_skill(hub, skill_id).await
}

/// Which skill is wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct FetchSkillParams {
    /// The id of a skill, or the name in its front matter.
    name: Option<String>,
    /// The version; the newest where it is missing.
    version: Option<String>,
}

/// Gives a skill by its id or by the name in its front matter. Only the newest version is kept.
#[tracing::instrument(skip_all)]
pub async fn fetch_skill(hub: &Hub, params: FetchSkillParams) -> ApiResult<DownloadSkillResponse> {
    let name = params.name.filter(|name| !name.trim().is_empty());
    let name = name.ok_or_else(|| ApiError::field("name", "the id or the name of a skill", "missing"))?;
    validate::name(&name, "name", 500)?;
    let found = hub.store.read::<_, ApiError, _>(move |tx| Ok(skills::find_id(tx, &name)?)).await?;
    let found = download_skill(hub, &found.ok_or_else(not_found)?).await?;
    match params.version.filter(|version| !version.is_empty()) {
        Some(version) if version != found.skill.version() => Err(ApiError::new(
            HubCode::NotFound,
            "This hub keeps the newest version of a skill only.",
            format!("Leave `version` out to get version {}.", found.skill.version()),
        )),
        _ => Ok(found),
    }
}
