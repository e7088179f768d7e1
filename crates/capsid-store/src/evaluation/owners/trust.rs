//! Why an asset can be trusted, from the reports that count.

use crate::assets::AssetRow;
use crate::db::tx::Tx;
use crate::evaluation::evidence::validation::load_validation;
use crate::evaluation::weighted_reports::{add_reviews, counted_reports, load_others};
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::evidence_grade::EvidenceGrade as Grade;
use capsid_rules::evaluation::proof::ProofLevel;
use capsid_rules::evaluation::trust_summary::{TrustFacts, TrustSummary, summarize_trust};
use std::collections::BTreeSet;

/// Says in one line why an asset can be trusted.
pub fn load_trust(tx: &mut dyn Tx, asset: &AssetRow) -> Result<TrustSummary> {
    let mut reports = load_others(tx, &asset.asset_id)?;
    let validation = load_validation(tx, asset, &reports)?.shown;
    if validation != ProofLevel::Real {
        // What can only be used is reviewed by those who used it. Where there is a test, a review does not say that it passed.
        reports = add_reviews(tx, &asset.asset_id, &reports)?;
    }
    let counted = counted_reports(&reports);
    let weight = |ok: bool| {
        counted.iter().filter(|report| report.vote.ok == ok).map(|report| report.vote.weight).sum()
    };
    let owners = |ok: bool| {
        let of = counted.iter().filter(|report| report.vote.ok == ok);
        u32::try_from(of.map(|report| &report.vote.owner).collect::<BTreeSet<_>>().len()).unwrap_or(u32::MAX)
    };
    // Whoever applied it had the problem before and has it no more; whoever reproduced it saw the test fail without it.
    let proves = |grade| matches!(grade, Grade::Applied | Grade::Reproduced | Grade::Hub);
    let reproduced: BTreeSet<&String> = counted
        .iter()
        .filter(|report| report.vote.ok && proves(report.grade))
        .map(|report| &report.vote.owner)
        .collect();
    let passing = counted.iter().filter(|report| report.vote.ok);
    Ok(summarize_trust(&TrustFacts {
        validation,
        passes: weight(true),
        fails: weight(false),
        owners_passed: owners(true),
        owners_failed: owners(false),
        owners_reproduced: u32::try_from(reproduced.len()).unwrap_or(u32::MAX),
        last_at: counted.iter().map(|report| report.at).max().map(Time),
        environments: passing.filter_map(|report| report.environment.clone()).collect(),
        is_unproven: asset.is_unproven,
    }))
}
