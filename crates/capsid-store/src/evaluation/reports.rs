//! Reports: what nodes say after they ran an asset's validation. A node has one report on an asset; a later one takes
//! the place of the earlier, unless the hub had asked for that.

use crate::assets;
use crate::assets::id::AssetId;
use crate::audit::{self, AuditChange};
use crate::db::tx::Tx;
use crate::evaluation::assignments;
use crate::evaluation::assignments::AssignmentTicket;
use crate::evaluation::evidence;
use crate::evaluation::owners::{audits, outcomes};
use crate::evaluation::scoring;
use crate::evaluation::weighted_reports;
use crate::nodes::NodeRow;
use crate::{graph, params};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::consensus::{ConsensusTally, ReportSource};
use capsid_rules::evaluation::evidence_grade::{EvidenceGrade, GradeWeights};
use capsid_rules::evaluation::stated_report::{ReportContradiction, StatedReport, find_contradiction};
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
    /// Whether its sender never showed a secret, on a hub that does not count such reports.
    pub keyless: bool,
    /// Whether the sender could not run the validation at all, which says nothing about the asset.
    pub inconclusive: bool,
    /// What it says of commands, control and proof.
    pub stated: StatedReport,
    /// The proof that its sender read the asset, as 64 hexadecimal digits.
    pub read_proof: Option<String>,
    /// The public key that signed it, if one did.
    pub signed_by: Option<Vec<u8>>,
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
    /// The report says two things that cannot both be true.
    Contradictory(ReportContradiction),
}

/// A report that is kept.
#[derive(Debug, Clone, PartialEq)]
pub struct StoredReport {
    pub report_id: String,
    pub asset_id: AssetId,
    pub weight: f64,
    pub grade: EvidenceGrade,
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
    weights: GradeWeights,
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
    if let Some(ticket) = ticket
        && let Some(audit) = audits::find(tx, &id)?
    {
        return audits::record(tx, node, &audit, &ticket.nonce, report, weights, now);
    }
    let Some(asset) = assets::lock(tx, &id)? else { return Ok(ReportOutcome::AssetNotFound) };
    let source = match ticket {
        _ if weighted_reports::is_own(tx, &asset, node)? => ReportSource::Own,
        Some(_) => ReportSource::Assigned,
        None => ReportSource::Unsolicited,
    };
    let earlier = earlier(tx, &node.node_id, &id)?;
    if ticket.is_none() && earlier.as_ref().is_some_and(|earlier| earlier.assigned) {
        return Ok(ReportOutcome::AssignedStands);
    }
    let asked = match ticket {
        Some(_) => Some(assignments::validation_of(tx, &id)?),
        None => None,
    };
    if let Some(contradiction) = find_contradiction(&report.stated, asked.as_deref()) {
        return Ok(ReportOutcome::Contradictory(contradiction));
    }
    let nonce = ticket.map(|ticket| ticket.nonce.as_str());
    let (grade, weight) = evidence::grade(tx, &asset, node, report, nonce, weights, now)?;
    let label = weighted_reports::report_label(source);
    let standing = ReportStanding { weight, label, grade };
    let report_id = match earlier {
        Some(earlier) => {
            graph::membership::report_changed(tx, &id, &node.node_id, now)?;
            replace(tx, node, &id, earlier, report, standing, now)?
        }
        None => add(tx, node, &id, report, standing, now)?,
    };
    scoring::rescore(tx, &id, now)?;
    let tally = scoring::consensus(tx, &id)?;
    Ok(ReportOutcome::Kept(StoredReport {
        report_id,
        asset_id: id,
        weight,
        grade,
        label,
        tally,
        status: asset.status,
    }))
}

/// How a report stands.
#[derive(Clone, Copy)]
struct ReportStanding {
    weight: f64,
    label: &'static str,
    grade: EvidenceGrade,
}

struct PreviousReport {
    report_id: String,
    ok: bool,
    assigned: bool,
}

fn earlier(tx: &mut dyn Tx, node_id: &str, id: &AssetId) -> Result<Option<PreviousReport>> {
    let report = tx.query_first::<(String, bool, String)>(
        "SELECT report_id, overall_ok, label FROM reports WHERE node_id = $1 AND asset_id = $2",
        params![node_id, id],
    )?;
    Ok(report.map(|(report_id, ok, label)| PreviousReport {
        report_id,
        ok,
        assigned: label == weighted_reports::report_label(ReportSource::Assigned),
    }))
}

fn add(
    tx: &mut dyn Tx,
    node: &NodeRow,
    id: &AssetId,
    report: &NewReport,
    standing: ReportStanding,
    now: Time,
) -> Result<String> {
    let report_id = match &report.wanted_id {
        Some(wanted) if !tx.exists("SELECT 1 FROM reports WHERE report_id = $1", params![wanted])? => wanted,
        _ => &report.fresh_id,
    };
    let sql =
        "INSERT INTO reports (report_id, asset_id, node_id, overall_ok, weight, label, env_fingerprint_key,
            commands_passed, commands_total, reproduction_score, failure_class, body, created_at, grade, control_bare,
            control_base, signed_by)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, $14, $15, $16, $17) ON CONFLICT (report_id) DO NOTHING";
    // Two hubs may see the same id as free: the later one takes its own.
    for report_id in [report_id, &report.fresh_id] {
        let added = tx.run(
            sql,
            params![
                report_id,
                id,
                &node.node_id,
                report.overall_ok,
                standing.weight,
                standing.label,
                &report.env_fingerprint_key,
                report.commands_passed,
                report.commands_total,
                report.reproduction_score,
                &report.failure_class,
                &report.body,
                now,
                standing.grade.as_str(),
                report.stated.control_bare.map(i64::from),
                report.stated.control_base.map(i64::from),
                report.signed_by.as_deref()
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
    standing: ReportStanding,
    now: Time,
) -> Result<String> {
    outcomes::keep_settled(tx, &node.node_id, id)?;
    tx.run(
        "UPDATE reports SET overall_ok = $3, weight = $4, label = $5, env_fingerprint_key = $6, commands_passed = $7,
            commands_total = $8, reproduction_score = $9, failure_class = $10, body = $11, created_at = $12,
            grade = $13, control_bare = $14, control_base = $15, signed_by = $16
         WHERE node_id = $1 AND asset_id = $2",
        params![
            &node.node_id,
            id,
            report.overall_ok,
            standing.weight,
            standing.label,
            &report.env_fingerprint_key,
            report.commands_passed,
            report.commands_total,
            report.reproduction_score,
            &report.failure_class,
            &report.body,
            now,
            standing.grade.as_str(),
            report.stated.control_bare.map(i64::from),
            report.stated.control_base.map(i64::from),
            report.signed_by.as_deref()
        ],
    )?;
    let word = |ok: bool| if ok { "passed" } else { "failed" };
    let change = AuditChange {
        kind: "asset",
        subject: &id.to_string(),
        action: "report_replaced",
        before: Some(word(earlier.ok)),
        after: Some(word(report.overall_ok)),
        reason: Some(&earlier.report_id),
    };
    audit::add_hourly(tx, &format!("node:{}", node.node_id), change, now)?;
    Ok(earlier.report_id)
}
