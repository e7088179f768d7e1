//! Assets: what was published, byte for byte, and what the hub knows about it.

pub mod environments;
pub mod id;
pub mod lineage;
pub mod list;

use crate::assets::id::AssetId;
use crate::db::tx::{Row, Tx};
use crate::params;
use capsid_model::problem::Result;
pub use capsid_rules::assets::traits::AssetTraits;
use capsid_rules::evaluation::gdi::{Gdi, hundredths};
use capsid_rules::evaluation::proof::ProofLevel;
use capsid_rules::lifecycle::{AssetStatus, AssetType};

/// What the hub knows of an asset, without its body.
#[derive(Debug, Clone)]
pub struct AssetRow {
    /// Its place in the order of publication.
    pub seq: i64,
    /// The hash of its content.
    pub asset_id: AssetId,
    pub asset_type: AssetType,
    pub status: AssetStatus,
    /// featured, normal, observation or delisted.
    pub trust_tier: String,
    pub node_id: String,
    /// The first bundle it came in.
    pub bundle_id: String,
    pub created_at: i64,
    pub promoted_at: Option<i64>,
    /// When it was last of use.
    pub last_activity_at: i64,
    /// What can be learnt from the body alone.
    pub traits: AssetTraits,
    /// Why it is held or warned of.
    pub safety: Option<String>,
    /// What it is much like.
    pub similar_to: Option<AssetId>,
    /// How often others fetched it.
    pub call_count: i64,
    /// How many others fetched it.
    pub reuse_count: i64,
    /// How often somebody looked at it.
    pub view_count: i64,
    pub upvotes: i64,
    pub downvotes: i64,
    /// Its score in hundredths of a point.
    pub gdi: i64,
    pub gdi_mean: f64,
    /// The first dimension of the score.
    pub gdi_intrinsic: f64,
    pub gdi_usage: f64,
    pub gdi_social: f64,
    pub gdi_freshness: f64,
    pub scored_at: i64,
    /// The part of a listing that never changes, as JSON members without braces.
    pub card: String,
}

/// The columns that [`Asset::read`] reads, in its order.
macro_rules! asset_columns {
    () => {
        "a.seq, a.asset_id, a.asset_type, a.status, a.trust_tier, a.node_id, a.bundle_id, a.created_at,
                a.promoted_at, a.last_activity_at, a.local_id, a.category, a.chain_id, a.confidence,
                a.success_streak, a.blast_files, a.blast_lines, a.triggers, a.summary_chars, a.has_event,
                a.anti_pattern, a.proof, a.safety, a.similar_to, a.call_count, a.reuse_count, a.view_count,
                a.upvotes, a.downvotes, a.gdi, a.gdi_mean, a.gdi_intrinsic, a.gdi_usage, a.gdi_social,
                a.gdi_freshness, a.scored_at, a.card"
    };
}
pub(crate) use asset_columns;

macro_rules! columns {
    ($rest:literal) => {
        concat!("SELECT ", asset_columns!(), " FROM assets a ", $rest)
    };
}

impl AssetRow {
    /// Reads the columns that `columns!` selects.
    pub(crate) fn read(row: &dyn Row) -> Result<Self> {
        Ok(Self {
            seq: row.int(0)?,
            asset_id: AssetId::read(row, 1)?,
            asset_type: AssetType::parse(row.text(2)?).unwrap_or(AssetType::Capsule),
            status: AssetStatus::parse(row.text(3)?).unwrap_or(AssetStatus::Quarantined),
            trust_tier: row.string(4)?,
            node_id: row.string(5)?,
            bundle_id: row.string(6)?,
            created_at: row.int(7)?,
            promoted_at: row.int_or(8)?,
            last_activity_at: row.int(9)?,
            traits: AssetTraits {
                local_id: row.string_or(10)?,
                category: row.string_or(11)?,
                chain_id: row.string_or(12)?,
                confidence: row.real(13)?,
                success_streak: row.int(14)?,
                blast_files: row.int(15)?,
                blast_lines: row.int(16)?,
                triggers: row.int(17)?,
                summary_chars: row.int(18)?,
                has_event: row.flag(19)?,
                anti_pattern: row.flag(20)?,
                proof: ProofLevel::parse(row.text(21)?).unwrap_or_default(),
            },
            safety: row.string_or(22)?,
            similar_to: AssetId::read_or(row, 23)?,
            call_count: row.int(24)?,
            reuse_count: row.int(25)?,
            view_count: row.int(26)?,
            upvotes: row.int(27)?,
            downvotes: row.int(28)?,
            gdi: row.int(29)?,
            gdi_mean: row.real(30)?,
            gdi_intrinsic: row.real(31)?,
            gdi_usage: row.real(32)?,
            gdi_social: row.real(33)?,
            gdi_freshness: row.real(34)?,
            scored_at: row.int(35)?,
            card: row.string(36)?,
        })
    }
}

/// Finds an asset.
pub fn get(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<AssetRow>> {
    tx.first(columns!("WHERE a.asset_id = $1"), params![id], AssetRow::read)
}

/// Finds an asset and keeps others from changing it meanwhile.
pub fn lock(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<AssetRow>> {
    tx.first(columns!("WHERE a.asset_id = $1 FOR UPDATE"), params![id], AssetRow::read)
}

/// The assets after a place in the order of publication.
pub(crate) fn page(tx: &mut dyn Tx, after: i64, limit: i64) -> Result<Vec<AssetRow>> {
    tx.all(
        columns!("WHERE a.seq > $1 AND length(a.asset_id) = 32 ORDER BY a.seq LIMIT $2"),
        params![after, limit],
        AssetRow::read,
    )
}

/// An asset's body, byte for byte.
pub fn body(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<String>> {
    tx.first("SELECT body FROM assets WHERE asset_id = $1", params![id], |row| row.string(0))
}

/// The newest asset that a node published under an id of its own.
pub fn by_local_id(tx: &mut dyn Tx, node_id: &str, local_id: &str) -> Result<Option<AssetId>> {
    tx.first(
        "SELECT asset_id FROM assets WHERE local_id = $1 ORDER BY CASE WHEN node_id = $2 THEN 0 ELSE 1 END, seq DESC
         LIMIT 1",
        params![local_id, node_id],
        |row| AssetId::read(row, 0),
    )
}

/// Sets an asset's score.
pub(crate) fn set_score(tx: &mut dyn Tx, id: &AssetId, gdi: &Gdi, now: i64) -> Result<()> {
    tx.run(
        "UPDATE assets SET gdi = $2, gdi_mean = $3, gdi_intrinsic = $4, gdi_usage = $5, gdi_social = $6,
            gdi_freshness = $7, scored_at = $8 WHERE asset_id = $1",
        params![
            id,
            hundredths(gdi.score),
            gdi.mean,
            gdi.intrinsic,
            gdi.usage,
            gdi.social,
            gdi.freshness,
            now
        ],
    )?;
    Ok(())
}
