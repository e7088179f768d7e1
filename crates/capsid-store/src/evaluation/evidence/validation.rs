//! What the validation of an asset proves. A row of an asset keeps what it proves by now (`proof`); for a capsule that may be
//! less than its gene's commands promise, because they passed without the change. It is worked out with every score.

use crate::assets::AssetRow;
use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::evaluation::weighted_reports::{WeightedReport, counted_reports, shown_validation};
use crate::params;
use capsid_model::problem::Result;
use capsid_rules::evaluation::proof::ProofLevel;
use capsid_rules::evaluation::report_evidence::ControlOutcome;
use capsid_rules::lifecycle::AssetType;

/// What the validation of an asset promises by its commands alone. A capsule is validated by its gene's.
pub fn load_declared(tx: &mut dyn Tx, asset: &AssetRow) -> Result<ProofLevel> {
    if asset.asset_type != AssetType::Capsule {
        return Ok(asset.traits.proof);
    }
    let of_gene = tx.query_first::<ProofLevel>(
        "SELECT g.proof FROM bundles b JOIN assets g ON g.asset_id = b.gene_id WHERE b.bundle_id = $1",
        params![&asset.bundle_id],
    )?;
    Ok(of_gene.unwrap_or(asset.traits.proof))
}

/// What the validation of an asset proves, by its commands and by what these did without the change.
pub fn load_proof(tx: &mut dyn Tx, asset: &AssetRow) -> Result<ProofLevel> {
    let declared = load_declared(tx, asset)?;
    let is_vacuous =
        declared > ProofLevel::Vacuous && load_control(tx, &asset.asset_id)? == ControlOutcome::Passes;
    Ok(if is_vacuous { ProofLevel::Vacuous } else { declared })
}

/// What the validation of an asset promises and what it proves.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Validation {
    /// By its commands alone.
    pub declared: ProofLevel,
    /// By all that was shown of it. Scores, the gates of a promotion and the line of trust go by this.
    pub shown: ProofLevel,
}

/// What the validation of an asset promises and what it proves, by the reports of others.
pub fn load_validation(tx: &mut dyn Tx, asset: &AssetRow, others: &[WeightedReport]) -> Result<Validation> {
    let proof = load_proof(tx, asset)?;
    let shown = shown_validation(proof, &counted_reports(others));
    Ok(Validation { declared: load_declared(tx, asset)?, shown })
}

/// What the commands of an asset did without the change, by all reports that count and by the hub's runner.
pub fn load_control(tx: &mut dyn Tx, id: &AssetId) -> Result<ControlOutcome> {
    let is_vacuous = tx.exists(
        "SELECT 1 FROM runner_jobs WHERE asset_id = $1 AND outcome IN ('vacuous_empty', 'vacuous_base')",
        params![id],
    )?;
    if is_vacuous {
        return Ok(ControlOutcome::Passes);
    }
    let runs = tx.query_all::<(Option<bool>, Option<bool>)>(
        "SELECT control_bare, control_base FROM reports
         WHERE asset_id = $1 AND weight > 0 AND (control_bare IS NOT NULL OR control_base IS NOT NULL)",
        params![id],
    )?;
    let outcomes = runs.into_iter().map(|(bare, base)| ControlOutcome::from_runs(bare, base));
    Ok(outcomes.fold(ControlOutcome::Unknown, ControlOutcome::and))
}

/// Keeps what the validation of a capsule proves by now. Gives the asset as it is then.
pub fn keep_proof(tx: &mut dyn Tx, mut asset: AssetRow) -> Result<AssetRow> {
    let proof = load_proof(tx, &asset)?;
    if proof != asset.traits.proof && asset.asset_type == AssetType::Capsule {
        tx.run("UPDATE assets SET proof = $2 WHERE asset_id = $1", params![&asset.asset_id, proof.as_str()])?;
        asset.traits.proof = proof;
    }
    Ok(asset)
}
