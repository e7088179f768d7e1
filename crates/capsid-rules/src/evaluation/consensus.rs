//! What reports of several nodes say together.

use crate::{amount, clip01};
use serde::Serialize;
use std::collections::{HashMap, HashSet};

/// How many reports make it possible to stand apart from the others.
pub const OUTLIERS_FROM: usize = 3;

/// How a report came to be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ReportSource {
    /// By the publisher or its owner.
    Own,
    /// By a staked node that the hub chose.
    Assigned,
    /// By any other node of another owner.
    Unsolicited,
}

/// How much a report weighs.
pub fn weight(source: ReportSource, reputation: f64) -> f64 {
    match source {
        ReportSource::Own => 0.0,
        ReportSource::Assigned => 1.0,
        ReportSource::Unsolicited => clip01(reputation / 100.0),
    }
}

/// One report, oldest first in a list.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReportVote {
    /// What [`weight`] says.
    pub weight: f64,
    pub ok: bool,
    /// Whether the hub had asked for it.
    pub assigned: bool,
    /// Who is behind it: the account that owns the node, or the node itself.
    pub owner: String,
}

/// Where the reports of others point to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Verdict))]
#[serde(rename_all = "snake_case")]
pub enum ConsensusVerdict {
    Pending,
    Passed,
    Failed,
}

/// All reports together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ConsensusTally {
    /// Weight of those that passed.
    pub passes: f64,
    /// Weight of those that failed.
    pub fails: f64,
    pub total: f64,
    pub counted: usize,
    /// How many of them passed.
    pub passed: usize,
    pub verdict: ConsensusVerdict,
}

impl ConsensusTally {
    /// How many of the reports that counted failed.
    pub fn failed(&self) -> usize {
        self.counted - self.passed
    }
}

/// Adds up the reports that count.
pub fn tally(reports: &[ReportVote]) -> ConsensusTally {
    let counted = counted(reports);
    let sum = |ok: bool| -> f64 {
        counted.iter().map(|&(_, report)| report).filter(|r| r.ok == ok).map(|r| amount(r.weight)).sum()
    };
    // An empty sum of floats is -0.
    let (passes, fails) = (sum(true) + 0.0, sum(false) + 0.0);
    let verdict = if counted.is_empty() {
        ConsensusVerdict::Pending
    } else if fails >= passes {
        ConsensusVerdict::Failed
    } else {
        ConsensusVerdict::Passed
    };
    let passed = counted.iter().filter(|(_, report)| report.ok).count();
    ConsensusTally { passes, fails, total: passes + fails, counted: counted.len(), passed, verdict }
}

/// The places of the reports that go against a clear majority of at least three.
pub fn outliers(reports: &[ReportVote]) -> Vec<usize> {
    let tally = tally(reports);
    if tally.counted < OUTLIERS_FROM || tally.passes == tally.fails {
        return Vec::new();
    }
    let passed = tally.passes > tally.fails;
    counted(reports).into_iter().filter(|(_, report)| report.ok != passed).map(|(at, _)| at).collect()
}

/// How many owners have a report among those that count that passed, or failed.
pub fn count_owners(reports: &[ReportVote], ok: bool) -> usize {
    let owners = counted(reports).into_iter().filter(|(_, report)| report.ok == ok);
    owners.map(|(_, report)| report.owner.as_str()).collect::<HashSet<_>>().len()
}

/// The reports that count, with their places: every assigned one, and of the others the newest of each owner that has no assigned one.
pub fn counted(reports: &[ReportVote]) -> Vec<(usize, &ReportVote)> {
    let weighty = || reports.iter().enumerate().filter(|(_, report)| amount(report.weight) > 0.0);
    // The later of two entries stays, so an owner's assigned report is put in last.
    let unasked = weighty().filter(|(_, report)| !report.assigned);
    let asked = weighty().filter(|(_, report)| report.assigned);
    let voice: HashMap<&str, usize> =
        unasked.chain(asked).map(|(at, report)| (report.owner.as_str(), at)).collect();
    weighty().filter(|(at, report)| report.assigned || voice.get(report.owner.as_str()) == Some(at)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn report(owner: &str, ok: bool, weight: f64) -> ReportVote {
        ReportVote { weight, ok, assigned: false, owner: owner.to_owned() }
    }

    fn assigned(owner: &str, ok: bool) -> ReportVote {
        ReportVote { weight: 1.0, ok, assigned: true, owner: owner.to_owned() }
    }

    #[test]
    fn weights_follow_the_source() {
        assert_eq!(weight(ReportSource::Own, 100.0), 0.0);
        assert_eq!(weight(ReportSource::Assigned, 0.0), 1.0);
        assert_eq!(weight(ReportSource::Unsolicited, 50.0), 0.5);
        assert_eq!(weight(ReportSource::Unsolicited, f64::NAN), 0.0);
    }

    #[test]
    fn nothing_and_own_reports_are_pending() {
        assert_eq!(tally(&[]).verdict, ConsensusVerdict::Pending);
        assert_eq!(tally(&[report("me", true, 0.0)]).verdict, ConsensusVerdict::Pending);
        assert_eq!(serde_json::to_string(&tally(&[]).passes).unwrap(), "0.0");
    }

    #[test]
    fn one_voice_for_each_owner() {
        let many = [report("a", true, 0.5), report("a", true, 0.5), report("a", false, 0.5)];
        let tally = tally(&many);
        assert_eq!((tally.passes, tally.fails, tally.counted), (0.0, 0.5, 1));
    }

    #[test]
    fn an_assigned_report_replaces_what_its_owner_said_unasked() {
        let tally = tally(&[report("a", true, 0.9), assigned("a", false)]);
        assert_eq!((tally.passes, tally.fails), (0.0, 1.0));
    }

    #[test]
    fn half_failing_blocks() {
        assert_eq!(tally(&[assigned("a", true), assigned("b", false)]).verdict, ConsensusVerdict::Failed);
        let two_to_one = [assigned("a", true), assigned("b", false), assigned("c", true)];
        assert_eq!(tally(&two_to_one).verdict, ConsensusVerdict::Passed);
    }

    #[test]
    fn outliers_need_three_reports_and_a_majority() {
        assert_eq!(outliers(&[assigned("a", true), assigned("b", false)]), [0_usize; 0]);
        assert_eq!(outliers(&[assigned("a", true), assigned("b", false), assigned("c", true)]), [1]);
        let tie = [assigned("a", true), assigned("b", false), assigned("c", true), assigned("d", false)];
        assert_eq!(outliers(&tie), [0_usize; 0]);
    }

    proptest! {
        #[test]
        fn a_further_pass_by_someone_new_never_turns_a_pass_into_a_failure(
            given in prop::collection::vec((0_u8..6, any::<bool>(), any::<bool>(), 0.0..1.0_f64), 0..12),
        ) {
            let mut reports: Vec<ReportVote> = given
                .into_iter()
                .map(|(owner, ok, assigned, weight)| ReportVote { weight, ok, assigned, owner: owner.to_string() })
                .collect();
            let before = tally(&reports);
            prop_assert!(before.counted <= reports.len());
            reports.push(assigned("new", true));
            let after = tally(&reports);
            prop_assert!(after.passes > before.passes && after.fails == before.fails);
            prop_assert!(!(before.verdict == ConsensusVerdict::Passed && after.verdict == ConsensusVerdict::Failed));
        }
    }
}
