//! A skill as everybody sees it, and the parts of it that are kept as text.

use crate::error::ApiResult;
use crate::http::json::read_stored;
use capsid_model::time::Time;
use capsid_store::skills::SkillRow;
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// A skill without its text.
#[derive(Debug, Serialize, ToSchema)]
#[schema(as = Skill)]
pub struct SkillView {
    skill_id: String,
    /// What its front matter calls it, or else its id.
    name: String,
    #[schema(required)]
    description: Option<String>,
    /// The node that published it.
    node_id: String,
    version: String,
    /// How long its text and its files are together.
    #[serde(rename = "sizeBytes")]
    #[schema(required)]
    size_bytes: Option<i64>,
    #[serde(flatten)]
    card: SkillCard,
    downloads: i64,
    created_at: String,
    updated_at: String,
}

/// What its publisher says about a skill.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct SkillCard {
    #[schema(required)]
    pub category: Option<String>,
    #[schema(required)]
    pub tags: Option<Vec<String>>,
    #[schema(required)]
    pub changelog: Option<String>,
}

/// What a skill holds.
#[derive(Debug, Serialize, Deserialize, ToSchema)]
pub(super) struct SkillBody {
    pub content: String,
    pub bundled_files: Vec<SkillFile>,
}

/// A file beside the skill's text.
#[derive(Debug, Clone, Deserialize, Serialize, ToSchema)]
#[schema(as = SkillFile)]
pub struct SkillFile {
    pub(super) name: String,
    pub(super) content: String,
}

impl SkillView {
    pub(super) fn version(&self) -> &str {
        &self.version
    }

    pub(super) fn from_row(skill: SkillRow) -> ApiResult<Self> {
        Ok(Self {
            name: skill.name.unwrap_or_else(|| skill.skill_id.clone()),
            description: skill.description,
            size_bytes: skill.size_bytes,
            skill_id: skill.skill_id,
            node_id: skill.node_id,
            version: skill.version,
            card: read_stored(&skill.card)?,
            downloads: skill.downloads,
            created_at: Time(skill.created_at).iso(),
            updated_at: Time(skill.updated_at).iso(),
        })
    }
}
