//! Reports: what nodes say after they ran an asset's validation. A node has one report on an asset; a later one takes
//! the place of the earlier, unless the hub had asked for that.

use crate::assets::id::AssetId;
use crate::assets::{self, AssetRow};
use crate::audit::{self, AuditChange};
use crate::db::tx::Tx;
use crate::evaluation::assignments;
use crate::evaluation::assignments::AssignmentTicket;
use crate::evaluation::scoring;
use crate::nodes::{self, NodeRow};
use crate::{graph, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::consensus::{ConsensusTally, ReportSource, ReportVote, weight};
use capsid_rules::lifecycle::AssetStatus;

/// What a node says.
#[derive(Debug, Clone)]
pub struct NewReport {
    /// The sender's own id for it, kept where no other report has it.
    pub wanted_id: Option<String>,
    /// The id it gets otherwise.
    pub fresh_id: String,
    pub overall_ok: bool,
    /// Where it ran, such as `linux_x64`.
    pub env_fingerprint_key: Option<String>,
    pub commands_passed: Option<i64>,
    /// How many commands there were.
    pub commands_total: Option<i64>,
    /// 0 to 1.
    pub reproduction_score: Option<f64>,
    /// What kind of failure it was.
    pub failure_class: Option<String>,
    /// Whether the sender could not run the validation at all, which says nothing about the asset.
    pub inconclusive: bool,
    /// All that was sent, as JSON.
    pub body: String,
}

/// What a report is about.
#[derive(Debug, Clone)]
pub enum ReportTarget {
    /// An asset that the sender chose.
    Asset(AssetId),
    /// An asset that the hub asked the sender about.
    Assigned(AssignmentTicket),
}

/// What became of a report.
#[derive(Debug, Clone, PartialEq)]
pub enum ReportOutcome {
    Kept(StoredReport),
    /// There is no such asset.
    AssetNotFound,
    /// There is no open assignment with this task id and nonce for the node.
    AssignmentNotOpen,
    /// The assignment is about another asset than the report.
    AnotherAsset(AssetId),
    /// The node's report that the hub had asked for stands.
    AssignedStands,
}

/// A report that is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredReport {
    pub report_id: String,
    pub asset_id: AssetId,
    pub weight: f64,
    pub label: &'static str,
    /// What all reports and votes say now.
    pub tally: ConsensusTally,
    pub status: AssetStatus,
}

/// Keeps a report, and scores the asset anew.
pub fn record(
    tx: &mut dyn Tx,
    node: &NodeRow,
    target: &ReportTarget,
    report: &NewReport,
    now: Time,
) -> Result<ReportOutcome> {
    let (id, ticket) = match target {
        ReportTarget::Asset(id) => (*id, None),
        ReportTarget::Assigned(ticket) => match assignments::redeem(tx, &node.node_id, ticket, now)? {
            None => return Ok(ReportOutcome::AssignmentNotOpen),
            Some(id) if ticket.asset_id.is_some_and(|named| named != id) => {
                return Ok(ReportOutcome::AnotherAsset(id));
            }
            Some(id) => (id, Some(ticket)),
        },
    };
    let Some(asset) = assets::lock(tx, &id)? else { return Ok(ReportOutcome::AssetNotFound) };
    let source = match ticket {
        _ if is_own(tx, &asset, node)? => ReportSource::Own,
        Some(_) => ReportSource::Assigned,
        None => ReportSource::Unsolicited,
    };
    let earlier = earlier(tx, &node.node_id, &id)?;
    if ticket.is_none() && earlier.as_ref().is_some_and(|earlier| earlier.assigned) {
        return Ok(ReportOutcome::AssignedStands);
    }
    let weight = if report.inconclusive { 0.0 } else { weight(source, node.reputation) };
    let label = label(source);
    let said = match &earlier {
        Some(_) => graph::membership::reported(tx, &asset, &node.node_id)?,
        None => None,
    };
    let report_id = match earlier {
        Some(earlier) => replace(tx, node, &id, earlier, report, (weight, label), now)?,
        None => add(tx, node, &id, report, (weight, label), now)?,
    };
    let says = graph::membership::reported(tx, &asset, &node.node_id)?;
    graph::membership::replace(tx, said.as_ref(), says.as_ref())?;
    scoring::rescore(tx, &id, now)?;
    let tally = scoring::consensus(tx, &id)?;
    Ok(ReportOutcome::Kept(StoredReport {
        report_id,
        asset_id: id,
        weight,
        label,
        tally,
        status: asset.status,
    }))
}

/// The word that is stored and sent.
fn label(source: ReportSource) -> &'static str {
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

struct PreviousReport {
    report_id: String,
    ok: bool,
    assigned: bool,
}

fn earlier(tx: &mut dyn Tx, node_id: &str, id: &AssetId) -> Result<Option<PreviousReport>> {
    let found = tx.query_first::<(String, bool, String)>(
        "SELECT report_id, overall_ok, label FROM reports WHERE node_id = $1 AND asset_id = $2",
        params![node_id, id],
    )?;
    Ok(found.map(|(report_id, ok, label)| PreviousReport {
        report_id,
        ok,
        assigned: label == assigned_label(),
    }))
}

fn assigned_label() -> &'static str {
    label(ReportSource::Assigned)
}

fn add(
    tx: &mut dyn Tx,
    node: &NodeRow,
    id: &AssetId,
    report: &NewReport,
    (weight, label): (f64, &str),
    now: Time,
) -> Result<String> {
    let report_id = match &report.wanted_id {
        Some(wanted) if !tx.exists("SELECT 1 FROM reports WHERE report_id = $1", params![wanted])? => wanted,
        _ => &report.fresh_id,
    };
    let sql =
        "INSERT INTO reports (report_id, asset_id, node_id, overall_ok, weight, label, env_fingerprint_key,
            commands_passed, commands_total, reproduction_score, failure_class, body, created_at)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13) ON CONFLICT (report_id) DO NOTHING";
    // Two hubs may see the same id as free: the later one takes its own.
    for report_id in [report_id, &report.fresh_id] {
        let added = tx.run(
            sql,
            params![
                report_id,
                id,
                &node.node_id,
                report.overall_ok,
                weight,
                label,
                &report.env_fingerprint_key,
                report.commands_passed,
                report.commands_total,
                report.reproduction_score,
                &report.failure_class,
                &report.body,
                now
            ],
        )?;
        if added == 1 {
            return Ok(report_id.clone());
        }
    }
    Err(crate::damaged(format!("The report {} is there before it was made.", report.fresh_id)))
}

/// The row stays, so that whoever named the report still finds it; what it said before is in the audit, where a node
/// cannot fill it by changing its mind all the time.
fn replace(
    tx: &mut dyn Tx,
    node: &NodeRow,
    id: &AssetId,
    earlier: PreviousReport,
    report: &NewReport,
    (weight, label): (f64, &str),
    now: Time,
) -> Result<String> {
    tx.run(
        "UPDATE reports SET overall_ok = $3, weight = $4, label = $5, env_fingerprint_key = $6, commands_passed = $7,
            commands_total = $8, reproduction_score = $9, failure_class = $10, body = $11, created_at = $12
         WHERE node_id = $1 AND asset_id = $2",
        params![
            &node.node_id,
            id,
            report.overall_ok,
            weight,
            label,
            &report.env_fingerprint_key,
            report.commands_passed,
            report.commands_total,
            report.reproduction_score,
            &report.failure_class,
            &report.body,
            now
        ],
    )?;
    let said = |ok: bool| if ok { "passed" } else { "failed" };
    let change = AuditChange {
        kind: "asset",
        subject: &id.to_string(),
        action: "report_replaced",
        before: Some(said(earlier.ok)),
        after: Some(said(report.overall_ok)),
        reason: Some(&earlier.report_id),
    };
    audit::add_hourly(tx, &format!("node:{}", node.node_id), change, now)?;
    Ok(earlier.report_id)
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
    pub report: ReportVote,
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
        let report = ReportVote { weight, ok, assigned: label == assigned_label(), owner };
        WeightedReport { seq, at, node_id, outlier, reward, report }
    });
    Ok(reports.collect())
}
