//! What failing reports do to an asset.

use super::consensus::ConsensusVerdict;
use crate::lifecycle::{AssetStatus, TrustTier};

/// The demotion that is a rejection.
pub const FINAL_DEMOTION: u32 = 3;

/// What is known of an asset that failed for somebody.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FailureFacts {
    pub status: AssetStatus,
    pub tier: TrustTier,
    /// Where the counted reports since the last demotion point to, without failures that an arbiter's pass settled.
    pub verdict: ConsensusVerdict,
    /// How many owners reported that it failed, without those, and how many that it passed.
    pub failed_owners: u32,
    pub passed_owners: u32,
    /// What an arbiter says, if one spoke.
    pub arbiter: Option<bool>,
    /// How often it was demoted.
    pub demotions: u32,
    /// Whether somebody whom the hub asked has not answered yet.
    pub is_waiting: bool,
}

/// What follows from failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureStep {
    /// It is shown as under observation.
    Observe,
    /// It is a candidate again.
    Demote,
    /// It failed for the last time.
    Reject,
}

/// What follows from the reports that an asset failed. `demote_owners` owners decide, or an arbiter.
pub fn failure_step(facts: &FailureFacts, demote_owners: u32) -> Option<FailureStep> {
    let is_failed_by_owners =
        facts.verdict == ConsensusVerdict::Failed && facts.failed_owners >= demote_owners.max(1);
    let is_failed = facts.arbiter == Some(false) || is_failed_by_owners;
    match facts.status {
        AssetStatus::Promoted | AssetStatus::Stale if is_failed => {
            let is_final = facts.demotions.saturating_add(1) >= FINAL_DEMOTION;
            Some(if is_final { FailureStep::Reject } else { FailureStep::Demote })
        }
        AssetStatus::Promoted | AssetStatus::Stale
            if facts.failed_owners > 0 && matches!(facts.tier, TrustTier::Normal | TrustTier::Featured) =>
        {
            Some(FailureStep::Observe)
        }
        // A rejection is final, so whoever was asked is heard first.
        AssetStatus::Candidate
            if is_failed
                && facts.passed_owners == 0
                && (!facts.is_waiting || facts.arbiter == Some(false)) =>
        {
            Some(FailureStep::Reject)
        }
        _ => None,
    }
}

#[cfg(test)]
#[path = "demotion_tests.rs"]
mod tests;
