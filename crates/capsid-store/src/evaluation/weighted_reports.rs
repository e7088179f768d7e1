//! Reports as the rules see them: whose they are, and how much each weighs.

use crate::assets::AssetRow;
use crate::assets::id::AssetId;
use crate::db::row::{row, select};
use crate::db::tx::Tx;
use crate::nodes::{self, NodeRow};
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::evaluation::consensus::{ReportSource, ReportVote};
use capsid_rules::evaluation::evidence_grade::EvidenceGrade;

/// The word that is stored and sent.
pub fn report_label(source: ReportSource) -> &'static str {
    match source {
        ReportSource::Own => "self",
        ReportSource::Assigned => "assigned",
        ReportSource::Unsolicited => "unsolicited",
    }
}

/// Whether a node speaks about its own asset: it published it, or its owner's other node did.
pub fn is_own(tx: &mut dyn Tx, asset: &AssetRow, node: &NodeRow) -> Result<bool> {
    if asset.node_id == node.node_id {
        return Ok(true);
    }
    let publisher = nodes::get(tx, &asset.node_id)?;
    Ok(node.owner.is_some() && publisher.is_some_and(|publisher| publisher.owner == node.owner))
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
    /// Whether it came after the asset was last demoted.
    pub is_current: bool,
    pub vote: ReportVote,
}

row! {
    /// A report of somebody else as it is stored.
    struct OtherReportRow {
        seq: i64 = "r.seq",
        at: i64 = "r.created_at",
        node_id: String = "r.node_id",
        outlier: bool = "r.outlier",
        reward: Option<i64> = "r.reward",
        grade: EvidenceGrade = "r.grade",
        is_current: bool = "CASE WHEN a.demoted_at IS NULL OR r.created_at > a.demoted_at THEN 1 ELSE 0 END",
        weight: f64 = "r.weight",
        ok: bool = "r.overall_ok",
        label: String = "r.label",
        owner: String = "COALESCE('user:' || n.owner, 'node:' || n.node_id)",
    }
}

/// The reports of others on an asset, oldest first. Nodes that have come to belong to the publisher's owner since are
/// others no more.
pub fn load_others(tx: &mut dyn Tx, id: &AssetId) -> Result<Vec<WeightedReport>> {
    let rows = tx.query_all::<OtherReportRow>(
        select!(
            OtherReportRow,
            "FROM reports r JOIN nodes n ON n.node_id = r.node_id JOIN assets a ON a.asset_id = r.asset_id
            JOIN nodes p ON p.node_id = a.node_id
         WHERE r.asset_id = $1 AND r.label <> 'self' AND r.node_id <> a.node_id
            AND (n.owner IS NULL OR p.owner IS NULL OR n.owner <> p.owner)
         ORDER BY r.created_at, r.seq"
        ),
        params![id],
    )?;
    let reports = rows.into_iter().map(|row| WeightedReport {
        seq: row.seq,
        at: row.at,
        node_id: row.node_id,
        outlier: row.outlier,
        reward: row.reward,
        grade: row.grade,
        is_current: row.is_current,
        vote: ReportVote {
            weight: row.weight,
            ok: row.ok,
            assigned: row.label == report_label(ReportSource::Assigned),
            owner: row.owner,
        },
    });
    Ok(reports.collect())
}
