//! Assets: what was published, byte for byte, and what the hub knows about it.

pub mod environments;
pub mod id;
pub mod lineage;
pub mod list;
pub mod new;
pub mod scans;

use crate::assets::id::AssetId;
use crate::db::row::{Attempt, FromRow, Json, RowReader, joined, row, select};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
pub use capsid_rules::assets::traits::AssetTraits;
use capsid_rules::evaluation::gdi::{Gdi, hundredths};
use capsid_rules::evaluation::trust_summary::TrustSummary;
use capsid_rules::lifecycle::{AssetStatus, AssetType};

row! {
    /// What the hub knows of an asset, without its body.
    #[derive(Debug, Clone)]
    pub struct AssetRow {
        /// Its place in the order of publication.
        pub seq: i64 = "a.seq",
        /// The hash of its content.
        pub asset_id: AssetId = "a.asset_id",
        pub asset_type: AssetType = "a.asset_type",
        pub status: AssetStatus = "a.status",
        /// featured, normal, observation or delisted.
        pub trust_tier: String = "a.trust_tier",
        pub node_id: String = "a.node_id",
        /// The first bundle it came in.
        pub bundle_id: String = "a.bundle_id",
        pub created_at: i64 = "a.created_at",
        pub promoted_at: Option<i64> = "a.promoted_at",
        /// When it was last of use.
        pub last_activity_at: i64 = "a.last_activity_at",
        /// What can be learnt from the body alone.
        pub traits: AssetTraits = TRAIT_COLUMNS,
        /// Why it is held or warned of.
        pub safety: Option<String> = "a.safety",
        /// By which rules its texts were scanned; 0 for none yet.
        pub scan_version: i64 = "a.scan_version",
        /// What it is much like.
        pub similar_to: Option<AssetId> = "a.similar_to",
        /// How often others fetched it.
        pub call_count: i64 = "a.call_count",
        /// How many others fetched it.
        pub reuse_count: i64 = "a.reuse_count",
        /// How often somebody looked at it.
        pub view_count: i64 = "a.view_count",
        pub upvotes: i64 = "a.upvotes",
        pub downvotes: i64 = "a.downvotes",
        /// Its score in hundredths of a point.
        pub gdi: i64 = "a.gdi",
        pub gdi_mean: f64 = "a.gdi_mean",
        /// The first dimension of the score.
        pub gdi_intrinsic: f64 = "a.gdi_intrinsic",
        pub gdi_usage: f64 = "a.gdi_usage",
        pub gdi_social: f64 = "a.gdi_social",
        pub gdi_freshness: f64 = "a.gdi_freshness",
        pub scored_at: i64 = "a.scored_at",
        /// Whether it is from before reports were graded, and waits for its evaluation.
        pub is_unproven: bool = "a.unproven",
        /// How far what its publisher declares is borne out, 0 to 1; nothing until it is scored again.
        pub belief: Option<f64> = "a.belief",
        /// How many successes are borne out.
        pub successes: i64 = "a.successes",
        /// Why it can be trusted; nothing while nobody else reported.
        pub trust: Option<Json<TrustSummary>> = "a.trust",
        /// The part of a listing that never changes, as JSON members without braces.
        pub card: String = "a.card",
    }
}

/// The columns of the traits, in the order in which they are read.
const TRAIT_COLUMNS: &str = "a.local_id, a.category, a.chain_id, a.confidence, a.success_streak, \
    a.blast_files, a.blast_lines, a.triggers, a.summary_chars, a.has_event, a.anti_pattern, a.proof";

impl FromRow for AssetTraits {
    fn from_row(row: &RowReader<'_>) -> Result<Self> {
        Ok(Self {
            local_id: row.read("local_id")?,
            category: row.read("category")?,
            chain_id: row.read("chain_id")?,
            confidence: row.read("confidence")?,
            success_streak: row.read("success_streak")?,
            blast_files: row.read("blast_files")?,
            blast_lines: row.read("blast_lines")?,
            triggers: row.read("triggers")?,
            summary_chars: row.read("summary_chars")?,
            has_event: row.read("has_event")?,
            anti_pattern: row.read("anti_pattern")?,
            proof: row.read("proof")?,
        })
    }
}

impl AssetRow {
    /// Whether its texts were ever scanned. What was not is served to nobody.
    pub fn is_scanned(&self) -> bool {
        self.scan_version > 0
    }
}

/// Whether the hub has any asset.
pub fn is_any(tx: &mut dyn Tx) -> Result<bool> {
    tx.exists("SELECT 1 FROM assets LIMIT 1", params![])
}

/// Finds an asset.
pub fn get(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<AssetRow>> {
    tx.query_first(select!(AssetRow, "FROM assets a WHERE a.asset_id = $1"), params![id])
}

/// Finds an asset and keeps others from changing it meanwhile.
pub fn lock(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<AssetRow>> {
    tx.query_first(select!(AssetRow, "FROM assets a WHERE a.asset_id = $1 FOR UPDATE"), params![id])
}

/// The assets after a place in the order of publication, each with its place and its id, for checks that have to go on
/// where one cannot be read.
pub(crate) fn page(
    tx: &mut dyn Tx,
    after: i64,
    limit: i64,
) -> Result<Vec<(i64, AssetId, Attempt<AssetRow>)>> {
    tx.query_all(
        joined!(
            " ",
            "SELECT a.seq, a.asset_id,",
            AssetRow::COLUMNS,
            "FROM assets a WHERE a.seq > $1 AND length(a.asset_id) = 32 ORDER BY a.seq LIMIT $2"
        ),
        params![after, limit],
    )
}

/// An asset's body, byte for byte.
pub fn body(tx: &mut dyn Tx, id: &AssetId) -> Result<Option<String>> {
    tx.query_first::<String>("SELECT body FROM assets WHERE asset_id = $1", params![id])
}

/// The newest asset that a node published under an id of its own.
pub fn by_local_id(tx: &mut dyn Tx, node_id: &str, local_id: &str) -> Result<Option<AssetId>> {
    tx.query_first::<AssetId>("SELECT asset_id FROM assets WHERE local_id = $1 ORDER BY CASE WHEN node_id = $2 THEN 0 ELSE 1 END, seq DESC
         LIMIT 1", params![local_id, node_id])
}

/// Sets an asset's score, and what rows tell of the evidence: the successes that others bear out, and why it can be
/// trusted, as JSON.
pub(crate) fn set_score(
    tx: &mut dyn Tx,
    id: &AssetId,
    gdi: &Gdi,
    (successes, trust): (u32, &str),
    now: i64,
) -> Result<()> {
    tx.run(
        "UPDATE assets SET gdi = $2, gdi_mean = $3, gdi_intrinsic = $4, gdi_usage = $5, gdi_social = $6,
            gdi_freshness = $7, scored_at = $8, belief = $9, successes = $10, trust = $11 WHERE asset_id = $1",
        params![
            id,
            hundredths(gdi.score),
            gdi.mean,
            gdi.intrinsic,
            gdi.usage,
            gdi.social,
            gdi.freshness,
            now,
            gdi.beliefs.validated,
            i64::from(successes),
            trust
        ],
    )?;
    Ok(())
}
