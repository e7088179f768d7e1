//! Reports as the rules see them: whose they are, and how much each weighs.

use crate::assets::AssetRow;
use crate::assets::id::AssetId;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::evaluation::owners::{self, NodeOwnership, OWNERSHIP_COLUMNS};
use crate::evaluation::reviews;
use crate::nodes::NodeRow;
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::evaluation::consensus::{ReportSource, ReportVote, counted};
use capsid_rules::evaluation::evidence_grade::EvidenceGrade;
use capsid_rules::evaluation::proof::ProofLevel;

/// The word that is stored and sent.
pub fn report_label(source: ReportSource) -> &'static str {
    match source {
        ReportSource::Own => "self",
        ReportSource::Assigned => "assigned",
        ReportSource::Unsolicited => "unsolicited",
    }
}

/// Whether a node speaks about its own asset: it published it, or another node of its owner did.
pub fn is_own(tx: &mut dyn Tx, asset: &AssetRow, node: &NodeRow) -> Result<bool> {
    if asset.node_id == node.node_id {
        return Ok(true);
    }
    let speaker = owners::owner_of(tx, node)?;
    let policy = tx.trust().owners;
    let publisher = owners::find_ownership(tx, &asset.node_id)?;
    Ok(publisher.is_some_and(|publisher| publisher.owner_key(&policy) == speaker))
}

/// A report as the rules see it, and where it is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct WeightedReport {
    pub seq: i64,
    /// When it was given, or last replaced.
    pub at: i64,
    pub node_id: String,
    /// Whether its sender was penalised for it.
    pub outlier: bool,
    /// What it earned, once that is settled.
    pub reward: Option<i64>,
    /// What it rests on.
    pub grade: EvidenceGrade,
    /// Where it ran, such as `linux_x64`.
    pub environment: Option<String>,
    /// Whether it came after the asset was last demoted.
    pub is_current: bool,
    pub vote: ReportVote,
}

row! {
    /// A report by a node that did not publish the asset.
    #[derive(Debug)]
    struct ReportOfOther {
        seq: i64 = "r.seq",
        at: i64 = "r.created_at",
        outlier: bool = "r.outlier",
        reward: Option<i64> = "r.reward",
        weight: f64 = "r.weight",
        ok: bool = "r.overall_ok",
        label: String = "r.label",
        grade: EvidenceGrade = "r.grade",
        environment: Option<String> = "r.env_fingerprint_key",
        is_current: bool = "CASE WHEN a.demoted_at IS NULL OR r.created_at > a.demoted_at THEN 1 ELSE 0 END",
        sender: NodeOwnership = OWNERSHIP_COLUMNS,
    }
}

/// The reports of others on an asset, oldest first. Nodes that have come to belong to the publisher's owner since are
/// others no more.
pub fn load_others(tx: &mut dyn Tx, id: &AssetId) -> Result<Vec<WeightedReport>> {
    let policy = tx.trust().owners;
    let Some(publisher) = owners::find_publisher(tx, id)? else {
        return Ok(Vec::new());
    };
    let rows = tx.query_all::<ReportOfOther>(
        select!(
            ReportOfOther,
            "FROM reports r JOIN nodes n ON n.node_id = r.node_id JOIN assets a ON a.asset_id = r.asset_id
             WHERE r.asset_id = $1 AND r.label <> 'self' AND r.node_id <> a.node_id ORDER BY r.created_at, r.seq"
        ),
        params![id],
    )?;
    let reports = rows.into_iter().map(|row| {
        let assigned = row.label == report_label(ReportSource::Assigned);
        let vote =
            ReportVote { weight: row.weight, ok: row.ok, assigned, owner: row.sender.owner_key(&policy) };
        WeightedReport {
            seq: row.seq,
            at: row.at,
            node_id: row.sender.node_id,
            outlier: row.outlier,
            reward: row.reward,
            grade: row.grade,
            environment: row.environment,
            is_current: row.is_current,
            vote,
        }
    });
    Ok(reports.filter(|report| report.vote.owner != publisher).collect())
}

/// The reports of others with their reviews, which are reports of use, oldest first. An owner that reported has said more than in
/// a review.
pub fn add_reviews(tx: &mut dyn Tx, id: &AssetId, others: &[WeightedReport]) -> Result<Vec<WeightedReport>> {
    let mut reports = others.to_vec();
    let has_reported =
        |owner: &str| others.iter().any(|report| report.vote.owner == owner && report.vote.weight > 0.0);
    let reviews = reviews::load_as_reports(tx, id)?;
    reports.extend(reviews.into_iter().filter(|review| !has_reported(&review.vote.owner)));
    reports.sort_by_key(|report| report.at);
    Ok(reports)
}

/// The reports that count among these: those with a weight, and one voice for each owner.
pub fn counted_reports(reports: &[WeightedReport]) -> Vec<&WeightedReport> {
    let votes: Vec<ReportVote> = reports.iter().map(|report| report.vote.clone()).collect();
    counted(&votes).into_iter().filter_map(|(at, _)| reports.get(at)).collect()
}

/// What the validation of an asset is worth. A weak one is real once somebody showed that it fails without the change.
pub fn shown_validation(declared: ProofLevel, reports: &[&WeightedReport]) -> ProofLevel {
    let is_controlled =
        |report: &&WeightedReport| matches!(report.grade, EvidenceGrade::Reproduced | EvidenceGrade::Hub);
    match declared {
        ProofLevel::Weak if reports.iter().any(is_controlled) => ProofLevel::Real,
        declared => declared,
    }
}
