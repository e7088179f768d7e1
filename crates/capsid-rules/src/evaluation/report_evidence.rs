//! Which grade a report earns, by what its sender has shown.

use super::evidence_grade::{EvidenceGrade, GradeWeights};
use crate::learning::proof::ProofGrade;

/// How long a sender must have had an asset before it can have used it.
pub const USED_AFTER_MS: i64 = 60_000;

/// Whether a sender has shown that it read the asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ReadProof {
    #[default]
    Missing,
    Right,
    /// It was made over other bytes, or with a nonce that the sender was not given.
    Wrong,
}

/// What the commands did without the change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ControlOutcome {
    /// They were not run in both folders.
    #[default]
    Unknown,
    /// They fail in both folders, so they can tell the change from nothing.
    Fails,
    /// They pass in one of the folders: whatever they say with the change, they prove nothing.
    Passes,
}

impl ControlOutcome {
    /// What a report states: whether all commands passed beside a lone `package.json`, and with everything but the tests
    /// emptied.
    pub fn from_runs(bare: Option<bool>, base: Option<bool>) -> Self {
        match (bare, base) {
            (Some(true), _) | (_, Some(true)) => Self::Passes,
            (Some(false), Some(false)) => Self::Fails,
            _ => Self::Unknown,
        }
    }

    /// What several reports say together. One control that passes cannot be argued away.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Passes, _) | (_, Self::Passes) => Self::Passes,
            (Self::Fails, _) | (_, Self::Fails) => Self::Fails,
            _ => Self::Unknown,
        }
    }
}

/// What is known of a report and its sender.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ReportEvidence {
    /// Whether its sender belongs to the publisher's owner.
    pub is_own: bool,
    /// Whether the hub chose its sender.
    pub is_assigned: bool,
    pub read_proof: ReadProof,
    /// For how long its sender has had the asset, by a fetch or a trial.
    pub had_for_ms: Option<i64>,
    /// Whether its sender has an active stake.
    pub has_stake: bool,
    /// Whether it names platform and architecture.
    pub has_environment: bool,
    /// Whether it names the runtime too.
    pub has_runtime: bool,
    /// Whether it lists what was run.
    pub has_commands: bool,
    /// Whether it says of each command how it ended, how long it took and what its output hashes to.
    pub has_measurements: bool,
    /// The sender's own proof that the change solved the problem in its repository.
    pub own_proof: ProofGrade,
    pub control: ControlOutcome,
    /// Whether it ran on files created from scratch, or on the reproduction of the bundle.
    pub is_from_scratch: bool,
    /// Whether it says how the run was isolated.
    pub is_isolated: bool,
}

/// The grade that a report earns on a hub of this kind.
pub fn grade_report(evidence: &ReportEvidence, weights: GradeWeights) -> EvidenceGrade {
    let has_read = evidence.read_proof == ReadProof::Right;
    if evidence.is_own {
        return EvidenceGrade::Own;
    }
    if evidence.read_proof == ReadProof::Wrong {
        return EvidenceGrade::Unverified;
    }
    if evidence.is_assigned {
        let has_place = evidence.has_environment && evidence.has_runtime;
        let is_complete = has_read && has_place && evidence.has_commands && evidence.has_measurements;
        return match weights {
            GradeWeights::Public if !is_complete => EvidenceGrade::Unverified,
            _ if is_reproduction(evidence) => EvidenceGrade::Reproduced,
            _ => EvidenceGrade::Assigned,
        };
    }
    match evidence.had_for_ms {
        Some(_) if has_read && evidence.own_proof.is_proven() => EvidenceGrade::Applied,
        Some(had_for) if had_for >= USED_AFTER_MS && evidence.has_environment && evidence.has_commands => {
            EvidenceGrade::Used
        }
        Some(_) => EvidenceGrade::Fetched,
        // Whoever pledged credits means it, where everybody means well.
        None if evidence.has_stake && weights == GradeWeights::Private => EvidenceGrade::Fetched,
        None => EvidenceGrade::Unverified,
    }
}

fn is_reproduction(evidence: &ReportEvidence) -> bool {
    evidence.has_commands
        && evidence.is_from_scratch
        && evidence.is_isolated
        && evidence.control == ControlOutcome::Fails
}

/// Whether a report of a grade counts for a promotion where `lowest` is the lowest grade that does. A proof in one's own
/// repository shows as much as a run that the hub asked for.
pub fn counts_for_promotion(grade: EvidenceGrade, lowest: EvidenceGrade) -> bool {
    grade >= lowest.min(EvidenceGrade::Applied) && (grade >= lowest || lowest == EvidenceGrade::Assigned)
}

#[cfg(test)]
#[path = "report_evidence_tests.rs"]
mod tests;
