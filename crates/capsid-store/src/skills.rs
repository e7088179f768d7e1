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
#[derive(Debug, Clone)]
pub struct SkillText {
    /// Category, tags and what changed, as JSON.
    pub card: String,
    /// Content and files, as JSON.
    pub body: String,
}

/// Adds a skill. False when there is one with this id.
pub fn add(tx: &mut dyn Tx, skill_id: &str, node_id: &str, text: &SkillText, now: Time) -> Result<bool> {
    let added = tx.run(
        "INSERT INTO skills (skill_id, node_id, version, card, body, created_at, updated_at)
         VALUES ($1, $2, '1', $3, $4, $5, $5) ON CONFLICT DO NOTHING",
        params![skill_id, node_id, &text.card, &text.body, now],
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
        "UPDATE skills SET version = $2, card = $3, body = $4, updated_at = $5, deleted_at = NULL WHERE skill_id = $1",
        params![&skill.skill_id, &version, &text.card, &text.body, now],
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
         RETURNING skill_id, node_id, version, card, downloads, created_at, updated_at, deleted_at, body",
        params![skill_id],
    )
}

/// Skills after an id, in the order of their ids; of one node or of all.
pub fn list(tx: &mut dyn Tx, node_id: Option<&str>, after: &str, limit: i64) -> Result<Vec<SkillRow>> {
    tx.query_all(select!(SkillRow, "FROM skills
         WHERE deleted_at IS NULL AND skill_id > $1 AND ($2 IS NULL OR node_id = $2) ORDER BY skill_id LIMIT $3"), params![after, node_id, limit])
}
