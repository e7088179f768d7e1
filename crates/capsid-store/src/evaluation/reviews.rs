//! Reviews: what nodes that fetched an asset say of it, one each.

use crate::assets::id::AssetId;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::evaluation::owners::{self, NodeOwnership, OWNERSHIP_COLUMNS};
use crate::evaluation::weighted_reports::WeightedReport;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::consensus::ReportVote;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade;

row! {
    /// What a node says of an asset.
    #[derive(Debug, Clone, PartialEq)]
    pub struct ReviewRow {
        pub review_id: String = "review_id",
        pub asset_id: AssetId = "asset_id",
        pub node_id: String = "node_id",
        /// 1 to 5.
        pub rating: i64 = "rating",
        pub content: String = "content",
        /// How much it weighs as a report of use.
        pub weight: f64 = "weight",
        /// When it was first said.
        pub created_at: i64 = "created_at",
        /// When it was last changed.
        pub updated_at: i64 = "updated_at",
    }
}

/// In which order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReviewSort {
    Newest,
    Oldest,
    RatingHigh,
    RatingLow,
}

macro_rules! reviews {
    ($rest:literal) => {
        select!(ReviewRow, concat!("FROM reviews ", $rest))
    };
}

/// Keeps a review, unless the node has reviewed the asset before.
pub fn add(tx: &mut dyn Tx, review: &ReviewRow) -> Result<bool> {
    let added = tx.run(
        "INSERT INTO reviews (review_id, asset_id, node_id, rating, content, weight, created_at, updated_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8) ON CONFLICT DO NOTHING",
        params![
            &review.review_id,
            &review.asset_id,
            &review.node_id,
            review.rating,
            &review.content,
            review.weight,
            review.created_at,
            review.updated_at
        ],
    )?;
    Ok(added == 1)
}

/// A review of an asset, kept from changing meanwhile.
pub fn lock(tx: &mut dyn Tx, id: &AssetId, review_id: &str) -> Result<Option<ReviewRow>> {
    tx.query_first(reviews!("WHERE review_id = $1 AND asset_id = $2 FOR UPDATE"), params![review_id, id])
}

/// Changes a review.
pub fn change(tx: &mut dyn Tx, review_id: &str, rating: i64, content: &str, now: Time) -> Result<()> {
    tx.run(
        "UPDATE reviews SET rating = $2, content = $3, updated_at = $4 WHERE review_id = $1",
        params![review_id, rating, content, now],
    )?;
    Ok(())
}

row! {
    /// A review that says whether the asset works.
    #[derive(Debug)]
    struct ReviewOfOther {
        at: i64 = "v.updated_at",
        weight: f64 = "v.weight",
        rating: i64 = "v.rating",
        is_current: bool = "CASE WHEN a.demoted_at IS NULL OR v.updated_at > a.demoted_at THEN 1 ELSE 0 END",
        node: NodeOwnership = OWNERSHIP_COLUMNS,
    }
}

/// The reviews of an asset as reports of use, oldest first: 4 and 5 say that it passed, 1 and 2 that it failed. A node that
/// reported has said more than its review, and the publisher's owner says nothing.
pub fn load_as_reports(tx: &mut dyn Tx, id: &AssetId) -> Result<Vec<WeightedReport>> {
    let policy = tx.trust().owners;
    let publisher = owners::find_publisher(tx, id)?;
    let reviews = tx.query_all::<ReviewOfOther>(
        select!(
            ReviewOfOther,
            "FROM reviews v JOIN nodes n ON n.node_id = v.node_id JOIN assets a ON a.asset_id = v.asset_id
             WHERE v.asset_id = $1 AND v.weight > 0 AND v.rating <> 3 AND v.node_id <> a.node_id
                AND NOT EXISTS (SELECT 1 FROM reports r WHERE r.asset_id = v.asset_id AND r.node_id = v.node_id)
             ORDER BY v.updated_at, v.review_id"
        ),
        params![id],
    )?;
    let reports = reviews.into_iter().map(|review| WeightedReport {
        seq: 0,
        at: review.at,
        outlier: false,
        reward: None,
        grade: EvidenceGrade::Used,
        environment: None,
        is_current: review.is_current,
        vote: ReportVote {
            weight: review.weight,
            ok: review.rating > 3,
            assigned: false,
            owner: review.node.owner_key(&policy),
        },
        node_id: review.node.node_id,
    });
    Ok(reports.filter(|report| Some(&report.vote.owner) != publisher.as_ref()).collect())
}

/// Takes a review back.
pub fn remove(tx: &mut dyn Tx, review_id: &str) -> Result<()> {
    tx.run("DELETE FROM reviews WHERE review_id = $1", params![review_id])?;
    Ok(())
}

/// The reviews of an asset.
pub fn list(
    tx: &mut dyn Tx,
    id: &AssetId,
    sort: ReviewSort,
    offset: i64,
    limit: usize,
) -> Result<Vec<ReviewRow>> {
    let sql = match sort {
        ReviewSort::Newest => {
            reviews!("WHERE asset_id = $1 ORDER BY created_at DESC, review_id LIMIT $2 OFFSET $3")
        }
        ReviewSort::Oldest => {
            reviews!("WHERE asset_id = $1 ORDER BY created_at, review_id LIMIT $2 OFFSET $3")
        }
        ReviewSort::RatingHigh => {
            reviews!(
                "WHERE asset_id = $1 ORDER BY rating DESC, created_at DESC, review_id LIMIT $2 OFFSET $3"
            )
        }
        ReviewSort::RatingLow => {
            reviews!("WHERE asset_id = $1 ORDER BY rating, created_at DESC, review_id LIMIT $2 OFFSET $3")
        }
    };
    tx.query_all(sql, params![id, limit as i64, offset])
}

/// How many reviews an asset has, and the sum of their ratings.
pub fn totals(tx: &mut dyn Tx, id: &AssetId) -> Result<(i64, i64)> {
    tx.query_one(
        "SELECT COUNT(*), CAST(COALESCE(SUM(rating), 0) AS BIGINT) FROM reviews WHERE asset_id = $1",
        params![id],
    )
}
