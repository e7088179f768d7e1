//! Who says what of an asset since it was last demoted: reports, decisions of validators, and reviews of nodes that used
//! it. An owner has one voice: the last.

use crate::assets::id::AssetId;
use crate::db::tx::Tx;
use crate::evaluation::owners::{self, outcomes};
use crate::evaluation::weighted_reports::{self, WeightedReport};
use crate::evaluation::{decisions, reviews};
use capsid_model::problem::Result;
use capsid_rules::evaluation::consensus::{ConsensusTally, ReportVote, count_owners, tally};
use capsid_rules::evaluation::evidence_grade::EvidenceGrade;
use capsid_rules::evaluation::owners::OwnerLevel;
use capsid_rules::evaluation::report_evidence::counts_for_promotion;

/// What is said of an asset.
#[derive(Debug, Clone, Default)]
pub struct AssetVoices {
    /// Oldest first.
    voices: Vec<AssetVoice>,
    /// What an arbiter said last, if one spoke.
    pub arbiter: Option<ArbiterVoice>,
}

/// What an arbiter said of an asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ArbiterVoice {
    pub passed: bool,
    pub at: i64,
}

#[derive(Debug, Clone)]
struct AssetVoice {
    at: i64,
    /// What it rests on; none for a decision, which counts beside the reports.
    grade: Option<EvidenceGrade>,
    vote: ReportVote,
}

/// Loads what is said of an asset since it was last demoted.
pub fn load(tx: &mut dyn Tx, id: &AssetId) -> Result<AssetVoices> {
    let mut voices = Vec::new();
    let mut arbiter = None;
    for report in weighted_reports::load_others(tx, id)? {
        if !report.is_current {
            continue;
        }
        if is_by_arbiter(tx, &report)? {
            arbiter = Some(ArbiterVoice { passed: report.vote.ok, at: report.at });
        }
        voices.push(AssetVoice { at: report.at, grade: Some(report.grade), vote: report.vote });
    }
    for (at, vote) in decisions::votes(tx, id)? {
        voices.push(AssetVoice { at, grade: None, vote });
    }
    for review in reviews::load_as_reports(tx, id)?.into_iter().filter(|review| review.is_current) {
        voices.push(AssetVoice { at: review.at, grade: Some(review.grade), vote: review.vote });
    }
    voices.sort_by_key(|voice| voice.at);
    let decided = outcomes::find_current_outcome(tx, id)?;
    let decided = decided.map(|outcome| ArbiterVoice { passed: outcome.passed, at: outcome.at });
    // Reports come oldest first, so the last of them is at hand; whichever is later counts.
    let arbiter = arbiter.into_iter().chain(decided).max_by_key(|voice| voice.at);
    Ok(AssetVoices { voices, arbiter })
}

/// Whether a report is that of an arbiter who ran the asset: the hub's runner, or an owner whom the operator appointed.
fn is_by_arbiter(tx: &mut dyn Tx, report: &WeightedReport) -> Result<bool> {
    if report.vote.weight <= 0.0 || report.grade < EvidenceGrade::Applied {
        return Ok(false);
    }
    Ok(report.grade == EvidenceGrade::Hub
        || owners::load_standing(tx, &report.vote.owner)?.level == OwnerLevel::Appointed)
}

/// Whether a report of a grade counts for a promotion. Below `fetched` only reports from before there were grades have a
/// weight, and they go on counting.
fn counts(grade: EvidenceGrade, lowest: EvidenceGrade) -> bool {
    grade < EvidenceGrade::Fetched || counts_for_promotion(grade, lowest)
}

impl AssetVoices {
    /// All of them together.
    pub fn tally(&self) -> ConsensusTally {
        tally(&self.votes(|_| true))
    }

    /// Whether some say that it works and others that it does not, and no arbiter has spoken.
    pub fn is_disputed(&self) -> bool {
        let tally = self.tally();
        self.arbiter.is_none() && tally.passed > 0 && tally.failed() > 0
    }

    /// What speaks for and against an asset that is given out. A failure from before an arbiter passed it is settled; against
    /// a later one the runner's own pass does not count, for it would outweigh whatever owners find afterwards.
    pub fn unsettled(&self) -> Vec<ReportVote> {
        let settled_until = self.arbiter.filter(|arbiter| arbiter.passed).map(|arbiter| arbiter.at);
        let is_unsettled = |voice: &&AssetVoice| match voice.vote.ok {
            true => voice.grade != Some(EvidenceGrade::Hub),
            false => settled_until.is_none_or(|until| voice.at > until),
        };
        self.voices.iter().filter(is_unsettled).map(|voice| voice.vote.clone()).collect()
    }

    /// Those that count for a promotion, and the decisions.
    pub fn tally_for_promotion(&self, lowest: EvidenceGrade) -> ConsensusTally {
        tally(&self.votes(|grade| grade.is_none_or(|grade| counts(grade, lowest))))
    }

    /// How many owners say that it passed, or failed.
    pub fn count_owners(&self, ok: bool) -> u32 {
        let owners = count_owners(&self.votes(|_| true), ok);
        u32::try_from(owners).unwrap_or(u32::MAX)
    }

    /// How many owners reported a pass that counts for a promotion.
    pub fn count_passed(&self, lowest: EvidenceGrade) -> u32 {
        let reports = self.votes(|grade| grade.is_some_and(|grade| counts(grade, lowest)));
        let mut owners: Vec<&str> = reports
            .iter()
            .filter(|report| report.ok && report.weight > 0.0)
            .map(|report| report.owner.as_str())
            .collect();
        owners.sort_unstable();
        owners.dedup();
        u32::try_from(owners.len()).unwrap_or(u32::MAX)
    }

    fn votes(&self, is_counted: impl Fn(Option<EvidenceGrade>) -> bool) -> Vec<ReportVote> {
        self.voices.iter().filter(|voice| is_counted(voice.grade)).map(|voice| voice.vote.clone()).collect()
    }
}
