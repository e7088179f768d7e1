//! Publishing, changing and withdrawing skills. Only the node that published one may change or withdraw it.

use super::view::{SkillBody, SkillCard, SkillFile};
use crate::auth::credentials::Credentials;
use crate::auth::sender::Sender;
use crate::error::{ApiError, ApiResult, HubCode};
use crate::http::traced_id;
use crate::http::validate;
use crate::state::Hub;
use capsid_rules::front_matter::FrontMatter;
use capsid_store::skills::{self, SkillRow, SkillText};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// The largest skill, files included.
const SKILL_BYTES: usize = 256 * 1024;
/// The most files of a skill.
const MAX_FILES: usize = 20;

/// How many skills a node may have, with those that it withdrew.
const MAX_SKILLS: i64 = 200;

/// A skill on its way into the store.
#[derive(Debug, Deserialize, ToSchema)]
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
        let front = FrontMatter::read(content);
        let tags = self.tags.clone().or_else(|| (!front.tags.is_empty()).then(|| front.tags.clone()));
        let listed: Vec<&str> =
            [Some(skill_id.as_str()), front.name.as_deref(), front.description.as_deref()]
                .into_iter()
                .flatten()
                .chain(tags.iter().flatten().map(String::as_str))
                .collect();
        let listed_text = listed.join("\n").to_lowercase();
        let card = SkillCard { category: self.category.clone(), tags, changelog: self.changelog.clone() };
        let body = SkillBody { content: content.to_owned(), bundled_files: files.to_vec() };
        let text = SkillText {
            card: stored_text(&card),
            body: stored_text(&body),
            name: front.name,
            description: front.description,
            size_bytes: size as i64,
            listed_text,
        };
        Ok((skill_id, text))
    }
}

fn stored_text(part: &impl Serialize) -> String {
    serde_json::to_string(part).unwrap_or_default()
}

/// Checks the id of a skill.
pub(super) fn check_id(skill_id: Option<&str>) -> ApiResult<String> {
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
pub(super) fn is_plain(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && !name.starts_with('.')
        && !name.ends_with('.')
        && !name.contains("..")
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

/// A skill that was published or changed.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SkillPublished)]
pub struct PublishSkillResponse {
    /// published or updated.
    status: &'static str,
    skill_id: String,
    version: String,
}

/// Publishes a skill. One that is there already is refused.
#[tracing::instrument(skip_all, fields(node.id, skill.id = upload.skill_id.as_deref().map(traced_id)))]
pub async fn publish_skill(
    hub: &Hub,
    credentials: Credentials,
    upload: PublishSkillRequest,
) -> ApiResult<PublishSkillResponse> {
    let node_id = validate::node(upload.sender_id.as_deref(), upload.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    let (skill_id, text) = upload.check()?;
    let sender = Sender::new(&node_id, credentials.or_secret(upload.node_secret.as_deref()));
    hub.limit_calls(&sender).await?;
    let (context, id) = (hub.context(), skill_id.clone());
    let version = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            sender.lock(tx, &context)?;
            if skills::add(tx, &id, &node_id, &text, context.now)? {
                return match skills::count(tx, &node_id)? {
                    0..=MAX_SKILLS => Ok("1".to_owned()),
                    _ => Err(too_many()),
                };
            }
            // A node may bring back what it withdrew.
            match skills::lock(tx, &id)? {
                Some(skill) if skill.deleted_at.is_some() && skill.node_id == node_id => {
                    Ok(skills::change(tx, &skill, &text, context.now)?)
                }
                _ => Err(exists(&id)),
            }
        })
        .await?;
    Ok(PublishSkillResponse { status: "published", skill_id, version })
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

/// The refusal of a skill that is not there.
pub(super) fn not_found() -> ApiError {
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
#[tracing::instrument(skip_all, fields(node.id, skill.id = upload.skill_id.as_deref().map(traced_id)))]
pub async fn update_skill(
    hub: &Hub,
    credentials: Credentials,
    upload: PublishSkillRequest,
) -> ApiResult<PublishSkillResponse> {
    let node_id = validate::node(upload.sender_id.as_deref(), upload.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    let (skill_id, text) = upload.check()?;
    let sender = Sender::new(&node_id, credentials.or_secret(upload.node_secret.as_deref()));
    hub.limit_calls(&sender).await?;
    let (context, id) = (hub.context(), skill_id.clone());
    let version = hub
        .store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            sender.lock(tx, &context)?;
            let skill = own(skills::lock(tx, &id)?, &node_id)?;
            if skill.deleted_at.is_some() {
                return Err(not_found());
            }
            Ok(skills::change(tx, &skill, &text, context.now)?)
        })
        .await?;
    Ok(PublishSkillResponse { status: "updated", skill_id, version })
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

/// Who withdraws.
#[derive(Debug, Deserialize, utoipa::IntoParams)]
#[into_params(parameter_in = Query)]
pub struct DeleteSkillParams {
    /// The node that published the skill.
    sender_id: Option<String>,
    /// The same under another name.
    node_id: Option<String>,
}

/// A skill that was withdrawn.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = SkillDeleted)]
pub struct WithdrawSkillResponse {
    status: &'static str,
    skill_id: String,
}

impl WithdrawSkillRequest {
    /// The same for a call that names the skill in its path.
    pub fn from_path(skill_id: String, params: DeleteSkillParams) -> Self {
        Self {
            sender_id: params.sender_id,
            node_id: params.node_id,
            node_secret: None,
            skill_id: Some(skill_id),
        }
    }
}

/// Withdraws a skill: it is shown to nobody any more.
#[tracing::instrument(skip_all, fields(node.id, skill.id = request.skill_id.as_deref().map(traced_id)))]
pub async fn withdraw_skill(
    hub: &Hub,
    credentials: Credentials,
    request: WithdrawSkillRequest,
) -> ApiResult<WithdrawSkillResponse> {
    let node_id = validate::node(request.sender_id.as_deref(), request.node_id.as_deref())?;
    tracing::Span::current().record("node.id", &node_id);
    let sender = Sender::new(&node_id, credentials.or_secret(request.node_secret.as_deref()));
    let skill_id = check_id(request.skill_id.as_deref())?;
    hub.limit_calls(&sender).await?;
    let (context, id) = (hub.context(), skill_id.clone());
    hub.store
        .write::<_, ApiError, _>(move |tx| {
            let context = context.begin();
            sender.lock(tx, &context)?;
            own(skills::lock(tx, &id)?, &node_id)?;
            Ok(skills::withdraw(tx, &id, context.now)?)
        })
        .await?;
    Ok(WithdrawSkillResponse { status: "deleted", skill_id })
}
