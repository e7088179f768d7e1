//! What a report rests on: gathered here and handed to the rules.

pub mod validation;

use crate::assets::AssetRow;
use crate::db::tx::Tx;
use crate::evaluation::reports::NewReport;
use crate::evaluation::{owners, stakes, trials, weighted_reports};
use crate::nodes::NodeRow;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::evidence_grade::{EvidenceGrade, GradeWeights};
use capsid_rules::evaluation::report_evidence::{ReadProof, ReportEvidence, grade_report};
use capsid_rules::learning::proof::ProofGrade;
use subtle::ConstantTimeEq;

/// The grade of a report and what it weighs. `nonce` is that of the assignment, if the hub had asked for it.
pub fn grade(
    tx: &mut dyn Tx,
    asset: &AssetRow,
    node: &NodeRow,
    report: &NewReport,
    nonce: Option<&str>,
    weights: GradeWeights,
    now: Time,
) -> Result<(EvidenceGrade, f64)> {
    let had_since = trials::had_since(tx, &node.node_id, &asset.asset_id)?;
    let stated = &report.stated;
    let evidence = ReportEvidence {
        is_own: weighted_reports::is_own(tx, asset, node)?,
        is_assigned: nonce.is_some(),
        read_proof: check_read_proof(tx, asset, node, report.read_proof.as_deref(), nonce, now)?,
        had_for_ms: had_since.map(|since| now.0.saturating_sub(since)),
        has_stake: stakes::is_validator(tx, &node.node_id)?,
        has_environment: stated.has_environment,
        has_runtime: stated.has_runtime,
        has_commands: stated.has_commands(),
        has_measurements: stated.has_measurements(),
        own_proof: stated.proof.as_ref().map_or(ProofGrade::None, |proof| proof.grade),
        control: stated.control(),
        is_from_scratch: stated.is_from_scratch,
        is_isolated: stated.is_isolated,
    };
    let grade = grade_report(&evidence, weights);
    let says_nothing = report.inconclusive || report.keyless;
    let weight = if says_nothing { 0.0 } else { weights.weigh(grade) * owner_factor(tx, node)? };
    Ok((grade, weight))
}

/// What the weight of a grade is multiplied with, by who is behind the node. A node without any reputation left weighs
/// nothing.
pub fn owner_factor(tx: &mut dyn Tx, node: &NodeRow) -> Result<f64> {
    if node.reputation <= 0.0 {
        return Ok(0.0);
    }
    let owner = owners::owner_of(tx, node)?;
    Ok(owners::load_standing(tx, &owner)?.weight)
}

/// Whether a sender has shown that it read the asset: by an HMAC over the bytes that are served, with a nonce that only
/// this sender was given. A proof that nothing valid belongs to shows nothing.
fn check_read_proof(
    tx: &mut dyn Tx,
    asset: &AssetRow,
    node: &NodeRow,
    proof: Option<&str>,
    assigned: Option<&str>,
    now: Time,
) -> Result<ReadProof> {
    let Some(proof) = proof else { return Ok(ReadProof::Missing) };
    let nonce = match assigned {
        Some(nonce) => Some(nonce.to_owned()),
        None => trials::find_nonce(tx, &node.node_id, &asset.asset_id, now)?,
    };
    let Some(nonce) = nonce else { return Ok(ReadProof::Missing) };
    let body: String =
        tx.query_one("SELECT body FROM assets WHERE asset_id = $1", params![&asset.asset_id])?;
    let expected = capsid_model::hash::hmac_sha256_hex(nonce.as_bytes(), body.as_bytes());
    let is_right = bool::from(expected.as_bytes().ct_eq(proof.to_ascii_lowercase().as_bytes()));
    Ok(if is_right { ReadProof::Right } else { ReadProof::Wrong })
}
