//! `/a2a/skill/store/*`: skills that nodes share. Only the node that published one may change or withdraw it.

use crate::auth::credentials::{Credentials, authenticate_node};
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::envelope::{JsonReply, check_node_id};
use crate::http::json::JsonBody;
use crate::http::query;
use crate::http::query::{PathId, QueryParams};
use crate::http::validate;
use crate::state::{Hub, SharedHub};
use axum::extract::State;
use capsid_model::time::Time;
use capsid_store::skills::{self, SkillRow, SkillText};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// The largest skill, files included.
const SKILL_BYTES: usize = 256 * 1024;
/// The most files of a skill.
const MAX_FILES: usize = 20;

/// How many skills a node may have, with those that it withdrew.
const MAX_SKILLS: i64 = 200;

/// A skill on its way into the store.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = SkillUpload)]
pub struct PublishSkillRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    skill_id: Option<String>,
    content: Option<String>,
    category: Option<String>,
    tags: Option<Vec<String>>,
    changelog: Option<String>,
    bundled_files: Option<Vec<SkillFile>>,
}

/// A file beside the skill's text.
#[derive(Debug, Deserialize, serde::Serialize, utoipa::ToSchema)]
#[schema(as = SkillFile)]
struct SkillFile {
    name: String,
    content: String,
}

impl PublishSkillRequest {
    fn check(&self) -> ApiResult<(String, SkillText)> {
        let skill_id = check_id(self.skill_id.as_deref())?;
        let content = self.content.as_deref().filter(|content| !content.trim().is_empty());
        let content =
            content.ok_or_else(|| ApiError::field("content", "the text of the skill", "missing"))?;
        let files = self.bundled_files.as_deref().unwrap_or_default();
        validate::name_or(self.category.as_deref().filter(|text| !text.is_empty()), "category", 64)?;
        validate::list(self.tags.as_deref().unwrap_or_default(), "tags", 100, 2000)?;
        validate::text_or(self.changelog.as_deref(), "changelog", 2000)?;
        if files.len() > MAX_FILES {
            let received = format!("{} files", files.len());
            return Err(ApiError::field("bundled_files", format!("at most {MAX_FILES} files"), received));
        }
        for (n, file) in files.iter().enumerate() {
            let path = format!("bundled_files[{n}].name");
            if !is_plain(&file.name) {
                return Err(ApiError::field(path, "a plain file name such as `helper.js`", "something else"));
            }
        }
        let size = content.len() + files.iter().map(|file| file.content.len()).sum::<usize>();
        if size > SKILL_BYTES {
            return Err(ApiError::new(
                HubCode::PayloadTooLarge,
                format!("The skill has {size} bytes."),
                format!("Keep it within {SKILL_BYTES} bytes, files included."),
            ));
        }
        let card = json!({ "category": self.category, "tags": self.tags, "changelog": self.changelog });
        let body = json!({ "content": content, "bundled_files": files });
        Ok((skill_id, SkillText { card: card.to_string(), body: body.to_string() }))
    }
}

fn check_id(skill_id: Option<&str>) -> ApiResult<String> {
    match skill_id {
        Some(id) if is_plain(id) => Ok(id.to_owned()),
        received => Err(ApiError::field(
            "skill_id",
            "1 to 128 letters, digits, `_`, `-` or `.`, not beginning with a dot",
            if received.is_some() { "something else" } else { "missing" },
        )),
    }
}

/// Whether a name is safe as the name of a file or a folder on any machine.
fn is_plain(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && !name.starts_with('.')
        && !name.ends_with('.')
        && !name.contains("..")
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// Publishes a skill. One that is there already is refused with 409; change it with PUT …/update.
#[utoipa::path(post, path = "/a2a/skill/store/publish", tag = "skills", request_body = PublishSkillRequest,
    responses((status = 201, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn publish(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(upload): JsonBody<PublishSkillRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(upload.sender_id.as_deref(), upload.node_id.as_deref())?;
    let (skill_id, text) = upload.check()?;
    let credentials = credentials.or_secret(upload.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, id) = (hub.rules(), skill_id.clone());
    let version = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            authenticate_node(tx, &rules, &node_id, &credentials)?;
            if skills::add(tx, &id, &node_id, &text, rules.now)? {
                return match skills::count(tx, &node_id)? {
                    0..=MAX_SKILLS => Ok("1".to_owned()),
                    _ => Err(too_many()),
                };
            }
            // A node may bring back what it withdrew.
            match skills::lock(tx, &id)? {
                Some(skill) if skill.deleted_at.is_some() && skill.node_id == node_id => {
                    Ok(skills::change(tx, &skill, &text, rules.now)?)
                }
                _ => Err(exists(&id)),
            }
        })
        .await?;
    let body = json!({ "status": "published", "skill_id": skill_id, "version": version });
    Ok(JsonReply { status: 201, body: body.to_string() })
}

fn too_many() -> ApiError {
    ApiError::new(
        HubCode::StateConflict,
        format!(
            "This node has {MAX_SKILLS} skills, with those that it withdrew, which is as many as it may."
        ),
        "Change one with PUT /a2a/skill/store/update, or publish under the id of one that was withdrawn.",
    )
}

fn exists(skill_id: &str) -> ApiError {
    ApiError::new(
        HubCode::AlreadyExists,
        format!("There is a skill `{skill_id}` already."),
        "If it is yours, change it with PUT /a2a/skill/store/update; otherwise choose another id.",
    )
}

fn not_found() -> ApiError {
    ApiError::new(
        HubCode::NotFound,
        "There is no skill with this id.",
        "List the skills that there are with GET /a2a/skill/store/list.",
    )
}

/// The skill, if this node may change it.
fn own(skill: Option<SkillRow>, node_id: &str) -> ApiResult<SkillRow> {
    match skill {
        Some(skill) if skill.node_id == node_id => Ok(skill),
        Some(skill) if skill.deleted_at.is_none() => Err(ApiError::new(
            HubCode::NotAssetOwner,
            format!("The skill `{}` belongs to another node.", skill.skill_id),
            "Publish your own under another id.",
        )),
        _ => Err(not_found()),
    }
}

/// Changes a skill, which gets a new version.
#[utoipa::path(put, path = "/a2a/skill/store/update", tag = "skills", request_body = PublishSkillRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn update(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(upload): JsonBody<PublishSkillRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(upload.sender_id.as_deref(), upload.node_id.as_deref())?;
    let (skill_id, text) = upload.check()?;
    let credentials = credentials.or_secret(upload.node_secret.as_deref());
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, id) = (hub.rules(), skill_id.clone());
    let version = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            authenticate_node(tx, &rules, &node_id, &credentials)?;
            let skill = own(skills::lock(tx, &id)?, &node_id)?;
            if skill.deleted_at.is_some() {
                return Err(not_found());
            }
            Ok(skills::change(tx, &skill, &text, rules.now)?)
        })
        .await?;
    Ok(JsonReply::json(&json!({ "status": "updated", "skill_id": skill_id, "version": version })))
}

/// Which skill is meant, and by whom.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = SkillWithdrawal)]
pub struct WithdrawSkillRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
    node_secret: Option<String>,
    skill_id: Option<String>,
}

/// Withdraws a skill: it is shown to nobody any more.
#[utoipa::path(post, path = "/a2a/skill/store/delete", tag = "skills", request_body = WithdrawSkillRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn withdraw(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    JsonBody(asked): JsonBody<WithdrawSkillRequest>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(asked.sender_id.as_deref(), asked.node_id.as_deref())?;
    let credentials = credentials.or_secret(asked.node_secret.as_deref());
    remove(&hub, node_id, credentials, check_id(asked.skill_id.as_deref())?).await
}

/// Who withdraws.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeleteSkillParams {
    /// The node that published the skill.
    sender_id: Option<String>,
    /// The same under another name.
    node_id: Option<String>,
}

/// Withdraws a skill: it is shown to nobody any more.
#[utoipa::path(delete, path = "/a2a/skill/store/{skill_id}", tag = "skills",
    params(("skill_id" = String, Path, description = "The skill."), DeleteSkillParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn delete(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(skill_id): PathId,
    QueryParams(query): QueryParams<DeleteSkillParams>,
) -> ApiResult<JsonReply> {
    let node_id = validate::node(query.sender_id.as_deref(), query.node_id.as_deref())?;
    remove(&hub, node_id, credentials, check_id(Some(&skill_id))?).await
}

async fn remove(
    hub: &Hub,
    node_id: String,
    credentials: Credentials,
    skill_id: String,
) -> ApiResult<JsonReply> {
    hub.limit_calls(&credentials, &node_id).await?;
    let (rules, id) = (hub.rules(), skill_id.clone());
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            authenticate_node(tx, &rules, &node_id, &credentials)?;
            own(skills::lock(tx, &id)?, &node_id)?;
            Ok(skills::withdraw(tx, &id, rules.now)?)
        })
        .await?;
    Ok(JsonReply::json(&json!({ "status": "deleted", "skill_id": skill_id })))
}

/// Gives a skill with all it holds.
#[utoipa::path(get, path = "/a2a/skill/store/{skill_id}/download", tag = "skills",
    params(("skill_id" = String, Path, description = "The skill.")),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn download(State(hub): State<SharedHub>, PathId(skill_id): PathId) -> ApiResult<JsonReply> {
    download_skill(&hub, &skill_id).await
}

/// Who takes a skill.
#[derive(Debug, Deserialize, utoipa::ToSchema)]
#[schema(as = SkillTaker)]
pub struct DownloadSkillRequest {
    sender_id: Option<String>,
    node_id: Option<String>,
}

/// Gives a skill with all it holds, to a node that says who it is.
#[utoipa::path(post, path = "/a2a/skill/store/{skill_id}/download", tag = "skills",
    params(("skill_id" = String, Path, description = "The skill.")), request_body = DownloadSkillRequest,
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn download_counted(
    State(hub): State<SharedHub>,
    credentials: Credentials,
    PathId(skill_id): PathId,
    JsonBody(taker): JsonBody<DownloadSkillRequest>,
) -> ApiResult<JsonReply> {
    if taker.sender_id.is_some() || taker.node_id.is_some() {
        let node_id = validate::node(taker.sender_id.as_deref(), taker.node_id.as_deref())?;
        hub.authenticate_reader(&node_id, &credentials, |_, _| Ok(())).await?;
    }
    download_skill(&hub, &skill_id).await
}

async fn download_skill(hub: &Hub, skill_id: &str) -> ApiResult<JsonReply> {
    let id = check_id(Some(skill_id))?;
    let found = hub.store.write::<_, ApiError, _>(move |tx| Ok(skills::download(tx, &id)?)).await?;
    let (skill, body) = found.ok_or_else(not_found)?;
    let mut answer = skill_view(&skill);
    answer.extend(serde_json::from_str::<Map<String, Value>>(&body).unwrap_or_default());
    Ok(JsonReply::json(&answer))
}

fn skill_view(skill: &SkillRow) -> Map<String, Value> {
    let mut shown = Map::new();
    shown.insert("skill_id".to_owned(), skill.skill_id.clone().into());
    shown.insert("node_id".to_owned(), skill.node_id.clone().into());
    shown.insert("version".to_owned(), skill.version.clone().into());
    shown.extend(serde_json::from_str::<Map<String, Value>>(&skill.card).unwrap_or_default());
    shown.insert("downloads".to_owned(), skill.downloads.into());
    shown.insert("created_at".to_owned(), Time(skill.created_at).iso().into());
    shown.insert("updated_at".to_owned(), Time(skill.updated_at).iso().into());
    shown
}

/// Which skills are wanted.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct ListSkillsParams {
    /// Only those of this node.
    node_id: Option<String>,
    /// How many; 20 where it is missing, 100 at most.
    limit: Option<String>,
    /// The `next_cursor` of the page before.
    cursor: Option<String>,
}

/// Lists skills in the order of their ids.
#[utoipa::path(get, path = "/a2a/skill/store/list", tag = "skills", params(ListSkillsParams),
    responses((status = 200, body = crate::http::openapi::Object), (status = "4XX", body = crate::http::openapi::ErrorBody)))]
pub async fn list(
    State(hub): State<SharedHub>,
    QueryParams(query): QueryParams<ListSkillsParams>,
) -> ApiResult<JsonReply> {
    let most = query::limit(query.limit.as_deref(), 20, 100);
    query.node_id.as_deref().map_or(Ok(()), |id| check_node_id(id, "node_id"))?;
    let after = query.cursor.filter(|cursor| !cursor.is_empty());
    if after.as_deref().is_some_and(|cursor| !is_plain(cursor)) {
        return Err(ApiError::new(
            HubCode::InvalidCursor,
            "`cursor` was not given out by this hub.",
            "Send the `next_cursor` of the page before.",
        ));
    }
    let after = after.unwrap_or_default();
    let mut found = hub
        .store
        .read::<_, ApiError, _>(move |tx| Ok(skills::list(tx, query.node_id.as_deref(), &after, most + 1)?))
        .await?;
    let more = found.len() as i64 > most;
    found.truncate(most as usize);
    let next = found.last().filter(|_| more).map(|skill| skill.skill_id.clone());
    let skills: Vec<Value> = found.iter().map(|skill| Value::Object(skill_view(skill))).collect();
    Ok(JsonReply::json(
        &json!({ "skills": skills, "count": skills.len(), "has_more": more, "next_cursor": next }),
    ))
}
