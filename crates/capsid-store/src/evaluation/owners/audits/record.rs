//! What a node reports about an audit.

use super::ValidatorAuditRow;
use crate::db::tx::Tx;
use crate::evaluation::reports::{NewReport, ReportOutcome, StoredReport};
use crate::evaluation::{assignments, evidence::owner_factor, owners, stakes, weighted_reports};
use crate::nodes::NodeRow;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::consensus::{ReportSource, ReportVote, tally};
use capsid_rules::evaluation::evidence_grade::{EvidenceGrade, GradeWeights};
use capsid_rules::evaluation::report_evidence::{ReadProof, ReportEvidence, grade_report};
use capsid_rules::evaluation::stated_report::find_contradiction;
use capsid_rules::learning::proof::ProofGrade;
use capsid_rules::lifecycle::AssetStatus;
use subtle::ConstantTimeEq;

/// Keeps what a node reported about its audit, and answers as to any other report that was asked for.
pub(in crate::evaluation) fn record(
    tx: &mut dyn Tx,
    node: &NodeRow,
    audit: &ValidatorAuditRow,
    nonce: &str,
    report: &NewReport,
    weights: GradeWeights,
    now: Time,
) -> Result<ReportOutcome> {
    let asked = assignments::validation_of(tx, &audit.original)?;
    if let Some(contradiction) = find_contradiction(&report.stated, Some(&asked)) {
        return Ok(ReportOutcome::Contradictory(contradiction));
    }
    let expected = capsid_model::hash::hmac_sha256_hex(nonce.as_bytes(), audit.body.as_bytes());
    let read_proof = match &report.read_proof {
        None => ReadProof::Missing,
        Some(proof) if bool::from(expected.as_bytes().ct_eq(proof.to_ascii_lowercase().as_bytes())) => {
            ReadProof::Right
        }
        Some(_) => ReadProof::Wrong,
    };
    let stated = &report.stated;
    let evidence = ReportEvidence {
        is_own: false,
        is_assigned: true,
        read_proof,
        had_for_ms: (read_proof == ReadProof::Right).then_some(0),
        has_stake: stakes::is_validator(tx, &node.node_id)?,
        has_environment: stated.has_environment,
        has_runtime: stated.has_runtime,
        has_commands: stated.has_commands(),
        has_measurements: stated.has_measurements(),
        own_proof: ProofGrade::None,
        control: stated.control(),
        is_from_scratch: stated.is_from_scratch,
        is_isolated: stated.is_isolated,
    };
    let grade = grade_report(&evidence, weights);
    let says_nothing = report.inconclusive || report.keyless;
    let weight = if says_nothing { 0.0 } else { weights.weigh(grade) * owner_factor(tx, node)? };
    // What could not be run says nothing, and neither does what was not read.
    let kept = if says_nothing { EvidenceGrade::Unverified } else { grade };
    tx.run(
        "UPDATE audits SET overall_ok = $2, grade = $3, report = $4, reported_at = $5 WHERE audit_id = $1",
        params![&audit.audit_id, report.overall_ok, kept.as_str(), &report.body, now],
    )?;
    let vote =
        ReportVote { weight, ok: report.overall_ok, assigned: true, owner: owners::owner_of(tx, node)? };
    Ok(ReportOutcome::Kept(StoredReport {
        report_id: report.wanted_id.clone().unwrap_or_else(|| report.fresh_id.clone()),
        asset_id: audit.audit_id,
        weight,
        grade,
        label: weighted_reports::report_label(ReportSource::Assigned),
        tally: tally(&[vote]),
        status: AssetStatus::Candidate,
    }))
}
