//! Scores: each follows from the evidence as it was when the asset was scored.
//!
//! Whatever changes an asset's evidence scores it anew at once, so the evidence at `scored_at` is still there, but for
//! four things that move by themselves: the publisher's reputation (any from 0 to 100 will do), the moment of the last
//! activity when that came later, who owns the nodes that published, fetched or reported, and the levels of these owners.

use crate::assets::AssetRow;
use crate::db::tx::Tx;
use crate::evaluation::scoring;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use capsid_rules::evaluation::gdi::{GdiInputs, combine, gdi, hundredths};
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::evaluation::trust_policy::TrustPolicy;

const CLOSE: f64 = 1e-9;

/// What is wrong with an asset's score.
pub fn fault(tx: &mut dyn Tx, asset: &AssetRow, has_evidence: bool) -> Result<Option<String>> {
    if asset.is_unproven {
        return Ok(None);
    }
    let scored_at = Time(asset.scored_at);
    if !has_evidence {
        return Ok(fault_by(asset, &bounded(asset, scored_at), &tx.trust()));
    }
    if owners_changed(tx, asset)? {
        let shares = [asset.gdi_intrinsic, asset.gdi_usage, asset.gdi_social, asset.gdi_freshness];
        let possible =
            shares.iter().all(|share| (0.0..=1.0).contains(share)) && (0..=10_000).contains(&asset.gdi);
        return Ok((!possible).then(|| "The score is none that an asset can have.".to_owned()));
    }
    Ok(fault_by(asset, &scoring::evidence(tx, asset, scored_at)?, &tx.trust()))
}

/// The evidence of an asset that nobody fetched or reported.
fn bounded(asset: &AssetRow, scored_at: Time) -> GdiInputs {
    let small = |n: i64| u32::try_from(n.max(0)).unwrap_or(u32::MAX);
    let traits = &asset.traits;
    GdiInputs {
        confidence: traits.confidence,
        success_streak: small(traits.success_streak),
        files: small(traits.blast_files),
        lines: small(traits.blast_lines),
        triggers: small(traits.triggers),
        summary_chars: small(traits.summary_chars),
        upvotes: small(asset.upvotes),
        downvotes: small(asset.downvotes),
        has_event: traits.has_event,
        days_since_activity: scored_at.days_since(Time(asset.last_activity_at)).max(0.0),
        validation: traits.proof,
        ..GdiInputs::default()
    }
}

/// Whether a node that matters was claimed since, or in the same millisecond: reports of the publisher's owner do not count.
fn owners_changed(tx: &mut dyn Tx, asset: &AssetRow) -> Result<bool> {
    tx.exists(
        "SELECT 1 FROM nodes p WHERE p.node_id = $3 AND p.claimed_at >= $2
         UNION ALL
         SELECT 1 FROM reports r JOIN nodes n ON n.node_id = r.node_id WHERE r.asset_id = $1 AND n.claimed_at >= $2
         UNION ALL
         SELECT 1 FROM fetches f JOIN nodes n ON n.node_id = f.node_id WHERE f.asset_id = $1 AND n.claimed_at >= $2
         LIMIT 1",
        params![&asset.asset_id, asset.scored_at, &asset.node_id],
    )
}

fn fault_by(asset: &AssetRow, evidence: &GdiInputs, trust: &TrustPolicy) -> Option<String> {
    let least = gdi(&GdiInputs { reputation: 0.0, ..*evidence }, &trust.belief);
    let most = gdi(&GdiInputs { reputation: 100.0, ..*evidence }, &trust.belief);
    let wrong =
        |name: &str, stored: f64, due: f64| Some(format!("`{name}` is {stored} and should be {due}."));
    if asset.gdi_intrinsic < least.intrinsic - CLOSE || asset.gdi_intrinsic > most.intrinsic + CLOSE {
        return wrong("gdi_intrinsic", asset.gdi_intrinsic, least.intrinsic);
    }
    if differ(asset.gdi_usage, least.usage) {
        return wrong("gdi_usage", asset.gdi_usage, least.usage);
    }
    if differ(asset.gdi_social, least.social) {
        return wrong("gdi_social", asset.gdi_social, least.social);
    }
    let active_since = asset.last_activity_at > asset.scored_at && (0.0..=1.0).contains(&asset.gdi_freshness);
    if differ(asset.gdi_freshness, least.freshness) && !active_since {
        return wrong("gdi_freshness", asset.gdi_freshness, least.freshness);
    }
    let (intrinsic, freshness) = (asset.gdi_intrinsic, asset.gdi_freshness);
    let mean = combine(intrinsic, least.usage, least.social, freshness);
    if differ(asset.gdi_mean, mean) {
        return wrong("gdi_mean", asset.gdi_mean, mean);
    }
    // Levels are assessed daily, and what they change in a score cannot be told afterwards.
    if trust.owners.least_level == OwnerLevel::New {
        let possible = (0..=hundredths(mean) + 1).contains(&asset.gdi);
        return (!possible).then(|| "The score is none that the asset can have.".to_owned());
    }
    // The stored dimensions tell the reputation and the freshness that the score was made with.
    let fresh = (freshness - least.freshness) * least.beliefs.validated.max(least.beliefs.used);
    let moved = 35.0 * (intrinsic - least.intrinsic) + 15.0 * fresh;
    let due = hundredths(least.score + moved);
    // A stored dimension was rounded once more than the sum that the score was made of.
    ((asset.gdi - due).abs() > 1)
        .then(|| format!("The score is {} hundredths and should be {due}.", asset.gdi))
}

fn differ(a: f64, b: f64) -> bool {
    // What is not a number is near to nothing.
    (a - b).abs() > CLOSE || a.is_nan() || b.is_nan()
}
