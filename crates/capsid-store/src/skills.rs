//! The skill store: texts that teach an agent something, each owned by the node that published it.

use crate::db::tx::{Row, Tx};
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;

/// A skill as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SkillRow {
    pub skill_id: String,
    pub node_id: String,
    /// `1`, and one more with every change.
    pub version: String,
    /// Category, tags and what changed, as JSON.
    pub card: String,
    /// How often it was taken.
    pub downloads: i64,
    /// When it was first published.
    pub created_at: i64,
    /// When it was last changed.
    pub updated_at: i64,
    pub deleted_at: Option<i64>,
}

impl SkillRow {
    fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            skill_id: row.string(0)?,
            node_id: row.string(1)?,
            version: row.string(2)?,
            card: row.string(3)?,
            downloads: row.int(4)?,
            created_at: row.int(5)?,
            updated_at: row.int(6)?,
            deleted_at: row.int_or(7)?,
        })
    }
}

/// Finds a skill, withdrawn or not, and keeps others from changing it meanwhile.
pub fn lock(tx: &mut dyn Tx, skill_id: &str) -> Result<Option<SkillRow>> {
    tx.first(
        "SELECT skill_id, node_id, version, card, downloads, created_at, updated_at, deleted_at
         FROM skills WHERE skill_id = $1 FOR UPDATE",
        params![skill_id],
        SkillRow::read,
    )
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
    tx.number("SELECT COUNT(*) FROM skills WHERE node_id = $1", params![node_id])
}

/// Changes a skill, or brings back one that was withdrawn. Tells its new version.
pub fn change(tx: &mut dyn Tx, skill: &SkillRow, text: &SkillText, now: Time) -> Result<String> {
    let version = (skill.version.parse::<u32>().unwrap_or(0).saturating_add(1)).to_string();
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
    tx.first(
        "UPDATE skills SET downloads = downloads + 1 WHERE skill_id = $1 AND deleted_at IS NULL
         RETURNING skill_id, node_id, version, card, downloads, created_at, updated_at, deleted_at, body",
        params![skill_id],
        |row| Ok((SkillRow::read(row)?, row.string(8)?)),
    )
}

/// Skills after an id, in the order of their ids; of one node or of all.
pub fn list(tx: &mut dyn Tx, node_id: Option<&str>, after: &str, limit: i64) -> Result<Vec<SkillRow>> {
    tx.all(
        "SELECT skill_id, node_id, version, card, downloads, created_at, updated_at, deleted_at FROM skills
         WHERE deleted_at IS NULL AND skill_id > $1 AND ($2 IS NULL OR node_id = $2) ORDER BY skill_id LIMIT $3",
        params![after, node_id, limit],
        SkillRow::read,
    )
}
