//! The skill store: texts that teach an agent something, each owned by the node that published it.

use crate::db::row::{row, select, unreadable};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

row! {
    /// A skill as it is kept.
    #[derive(Debug, Clone, PartialEq, Eq)]
    pub struct SkillRow {
        pub skill_id: String = "skill_id",
        pub node_id: String = "node_id",
        /// `1`, and one more with every change.
        pub version: String = "version",
        /// Category, tags and what changed, as JSON.
        pub card: String = "card",
        /// What its front matter calls it.
        pub name: Option<String> = "name",
        pub description: Option<String> = "description",
        /// How long its text and its files are together.
        pub size_bytes: Option<i64> = "size_bytes",
        /// How often it was taken.
        pub downloads: i64 = "downloads",
        /// When it was first published.
        pub created_at: i64 = "created_at",
        /// When it was last changed.
        pub updated_at: i64 = "updated_at",
        pub deleted_at: Option<i64> = "deleted_at",
    }
}

/// Finds a skill, withdrawn or not, and keeps others from changing it meanwhile.
pub fn lock(tx: &mut dyn Tx, skill_id: &str) -> Result<Option<SkillRow>> {
    tx.query_first(select!(SkillRow, "FROM skills WHERE skill_id = $1 FOR UPDATE"), params![skill_id])
}

/// What a skill says.
#[derive(Debug, Clone, Default)]
pub struct SkillText {
    /// Category, tags and what changed, as JSON.
    pub card: String,
    /// Content and files, as JSON.
    pub body: String,
    /// What its front matter calls it.
    pub name: Option<String>,
    pub description: Option<String>,
    /// How long content and files are together.
    pub size_bytes: i64,
    /// What a list is filtered by, in lower case.
    pub listed_text: String,
}

/// Adds a skill. False when there is one with this id.
pub fn add(tx: &mut dyn Tx, skill_id: &str, node_id: &str, text: &SkillText, now: Time) -> Result<bool> {
    let added = tx.run(
        "INSERT INTO skills (skill_id, node_id, version, card, body, created_at, updated_at, name, description,
            size_bytes, listed_text)
         VALUES ($1, $2, '1', $3, $4, $5, $5, $6, $7, $8, $9) ON CONFLICT DO NOTHING",
        params![
            skill_id,
            node_id,
            &text.card,
            &text.body,
            now,
            &text.name,
            &text.description,
            text.size_bytes,
            &text.listed_text
        ],
    )?;
    Ok(added == 1)
}

/// How many skills a node has, with those that it withdrew.
pub fn count(tx: &mut dyn Tx, node_id: &str) -> Result<i64> {
    tx.count("SELECT COUNT(*) FROM skills WHERE node_id = $1", params![node_id])
}

/// Changes a skill, or brings back one that was withdrawn. Tells its new version.
pub fn change(tx: &mut dyn Tx, skill: &SkillRow, text: &SkillText, now: Time) -> Result<String> {
    let version: u32 = skill.version.parse().map_err(|_| unreadable("version", &skill.version))?;
    let version = version.saturating_add(1).to_string();
    tx.run(
        "UPDATE skills SET version = $2, card = $3, body = $4, updated_at = $5, deleted_at = NULL, name = $6,
            description = $7, size_bytes = $8, listed_text = $9 WHERE skill_id = $1",
        params![
            &skill.skill_id,
            &version,
            &text.card,
            &text.body,
            now,
            &text.name,
            &text.description,
            text.size_bytes,
            &text.listed_text
        ],
    )?;
    Ok(version)
}

/// Withdraws a skill: it is kept, and shown to nobody.
pub fn withdraw(tx: &mut dyn Tx, skill_id: &str, now: Time) -> Result<()> {
    tx.run(
        "UPDATE skills SET deleted_at = COALESCE(deleted_at, $2) WHERE skill_id = $1",
        params![skill_id, now],
    )?;
    Ok(())
}

/// Takes a skill with its body, and counts that it was taken.
pub fn download(tx: &mut dyn Tx, skill_id: &str) -> Result<Option<(SkillRow, String)>> {
    tx.query_first(
        "UPDATE skills SET downloads = downloads + 1 WHERE skill_id = $1 AND deleted_at IS NULL
         RETURNING skill_id, node_id, version, card, name, description, size_bytes, downloads, created_at, updated_at,
            deleted_at, body",
        params![skill_id],
    )
}

/// The id of the skill that has this id or, failing that, this name; of several with the same name the oldest, so that
/// nobody takes the name of another one's skill.
pub fn find_id(tx: &mut dyn Tx, name: &str) -> Result<Option<String>> {
    tx.query_first(
        "SELECT skill_id FROM skills WHERE deleted_at IS NULL AND (skill_id = $1 OR name = $1)
         ORDER BY CASE WHEN skill_id = $1 THEN 0 ELSE 1 END, created_at, skill_id LIMIT 1",
        params![name],
    )
}

/// Which skills are listed.
#[derive(Debug, Clone, Default)]
pub struct SkillFilter {
    /// Only those of this node.
    pub node_id: Option<String>,
    /// Only those whose id, name, description or tags hold this, in lower case.
    pub text: Option<String>,
}

/// Skills after an id, in the order of their ids.
pub fn list(tx: &mut dyn Tx, filter: &SkillFilter, after: &str, limit: i64) -> Result<Vec<SkillRow>> {
    // What stands for other characters in a pattern stands for itself.
    let pattern = filter.text.as_ref().map(|text| {
        let plain = text.replace('!', "!!").replace('%', "!%").replace('_', "!_");
        format!("%{plain}%")
    });
    tx.query_all(
        select!(
            SkillRow,
            "FROM skills
         WHERE deleted_at IS NULL AND skill_id > $1 AND ($2 IS NULL OR node_id = $2)
            AND ($4 IS NULL OR listed_text LIKE $4 ESCAPE '!') ORDER BY skill_id LIMIT $3"
        ),
        params![after, &filter.node_id, limit, &pattern],
    )
}
