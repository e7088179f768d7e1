//! Reports as the rules see them: whose they are, and how much each weighs.

use crate::assets::AssetRow;
use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::nodes::{self, NodeRow};
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::evaluation::consensus::{ReportSource, ReportVote};

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
    pub vote: ReportVote,
}

/// The reports of others on an asset, oldest first. Nodes that have come to belong to the publisher's owner since are
/// others no more.
pub fn load_others(tx: &mut dyn Tx, id: &AssetId) -> Result<Vec<WeightedReport>> {
    type Vote = (f64, bool, String, String);
    let rows = tx.query_all::<(i64, i64, String, bool, Option<i64>, Vote)>(
        "SELECT r.seq, r.created_at, r.node_id, r.outlier, r.reward, r.weight, r.overall_ok, r.label,
            COALESCE('user:' || n.owner, 'node:' || n.node_id)
         FROM reports r JOIN nodes n ON n.node_id = r.node_id JOIN assets a ON a.asset_id = r.asset_id
            JOIN nodes p ON p.node_id = a.node_id
         WHERE r.asset_id = $1 AND r.label <> 'self' AND r.node_id <> a.node_id
            AND (n.owner IS NULL OR p.owner IS NULL OR n.owner <> p.owner)
         ORDER BY r.created_at, r.seq",
        params![id],
    )?;
    let reports = rows.into_iter().map(|(seq, at, node_id, outlier, reward, (weight, ok, label, owner))| {
        let vote = ReportVote { weight, ok, assigned: label == report_label(ReportSource::Assigned), owner };
        WeightedReport { seq, at, node_id, outlier, reward, vote }
    });
    Ok(reports.collect())
}
