//! What a finished cycle means for the stored solutions that it was offered. Pure: credit follows what was applied.

use super::offer::CapsuleOffer;
use capsid_rules::learning::proof::ProofGrade;
use capsid_rules::learning::reuse_outcome::{OfferedCapsule, PatchTrial, ReuseOutcome};
use capsid_rules::learning::similarity::is_same_solution;

/// How a cycle ended, as far as credit depends on it.
#[derive(Debug, Clone, Copy)]
pub struct CreditInput<'a> {
    pub offers: &'a [CapsuleOffer],
    /// Whether the change is proven and in the tree.
    pub is_kept: bool,
    pub grade: ProofGrade,
    /// The change as text.
    pub diff: &'a str,
}

/// What each offer earned, in the order of the offers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct CycleCredit {
    pub outcomes: Vec<ReuseOutcome>,
}

impl CycleCredit {
    /// Decides what each offer earned. Only the best one was shown to the agent, so only that one can have been
    /// followed.
    pub fn assign(input: &CreditInput<'_>) -> Self {
        let grade = if input.is_kept { input.grade } else { ProofGrade::None };
        let is_solved_by_patch = input.offers.iter().any(|offer| offer.trial == PatchTrial::Applied);
        let outcomes = input.offers.iter().enumerate().map(|(at, offer)| {
            let may_be_similar = at == 0 && !is_solved_by_patch && grade.is_proven();
            let is_similar = may_be_similar && is_same_solution(&offer.patch, input.diff);
            let counts = offer.trial != PatchTrial::NotTried || may_be_similar;
            let outcome = ReuseOutcome::from_cycle(&OfferedCapsule {
                level: offer.level,
                patch: offer.trial,
                is_similar,
                grade,
            });
            match outcome {
                // Of several offers only the first is the model of another solution.
                ReuseOutcome::Alternative if at > 0 || is_solved_by_patch => ReuseOutcome::Unchanged,
                _ if !counts => ReuseOutcome::Unchanged,
                outcome => outcome,
            }
        });
        Self { outcomes: outcomes.collect() }
    }

    /// The offer that solved the problem.
    pub fn find_reused<'a>(&self, offers: &'a [CapsuleOffer]) -> Option<&'a CapsuleOffer> {
        self.find(offers, ReuseOutcome::Reused)
    }

    /// The offer whose solution was replaced by another one.
    pub fn find_parent<'a>(&self, offers: &'a [CapsuleOffer]) -> Option<&'a CapsuleOffer> {
        self.find(offers, ReuseOutcome::Alternative)
    }

    fn find<'a>(&self, offers: &'a [CapsuleOffer], wanted: ReuseOutcome) -> Option<&'a CapsuleOffer> {
        offers.iter().zip(&self.outcomes).find(|(_, outcome)| **outcome == wanted).map(|(offer, _)| offer)
    }

    /// What the solution of a hub that the run was shown earned.
    pub fn foreign_outcome(&self, offers: &[CapsuleOffer]) -> ReuseOutcome {
        let foreign = offers.iter().zip(&self.outcomes).find(|(offer, _)| offer.is_foreign);
        foreign.map_or(ReuseOutcome::Unchanged, |(_, outcome)| *outcome)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use capsid_rules::learning::match_level::MatchLevel;

    const DIFF: &str = "--- a/x.js\n+++ b/x.js\n@@ -1 +1 @@\n-return items.length - 1 + offset;\n+return items.length + offset;\n";
    const OTHER: &str = "--- a/y.js\n+++ b/y.js\n@@ -1 +1 @@\n-const port = config.port;\n+const port = Number(config.port) || 8080;\n";

    fn offer(trial: PatchTrial) -> CapsuleOffer {
        CapsuleOffer {
            capsule_id: "capsule_1".into(),
            asset_id: "sha256:1".into(),
            level: MatchLevel::Exact,
            grade: ProofGrade::FailToPass,
            streak: 1,
            title: String::new(),
            is_foreign: false,
            can_try: true,
            reason: String::new(),
            trial,
            patch: DIFF.into(),
        }
    }

    fn credit(offers: &[CapsuleOffer], is_kept: bool, grade: ProofGrade, diff: &str) -> Vec<ReuseOutcome> {
        let input = CreditInput { offers, is_kept, grade, diff };
        CycleCredit::assign(&input).outcomes
    }

    #[test]
    fn a_capsule_that_was_only_shown_earns_nothing_for_another_solution() {
        let shown = [offer(PatchTrial::NotTried)];
        assert_eq!(credit(&shown, true, ProofGrade::FailToPass, OTHER), [ReuseOutcome::Alternative]);
        assert_eq!(credit(&shown, true, ProofGrade::FailToPass, DIFF), [ReuseOutcome::Reused]);
        assert_eq!(credit(&shown, true, ProofGrade::Passes, DIFF), [ReuseOutcome::Unchanged]);
        assert_eq!(credit(&shown, false, ProofGrade::FailToPass, DIFF), [ReuseOutcome::Unchanged]);
    }

    #[test]
    fn an_applied_patch_is_reuse_and_one_that_failed_ends_the_streak() {
        let applied = [offer(PatchTrial::Failed), offer(PatchTrial::Applied)];
        let outcomes = credit(&applied, true, ProofGrade::FailToPassReverts, DIFF);
        assert_eq!(outcomes, [ReuseOutcome::Failed, ReuseOutcome::Reused]);
        let rejected = [offer(PatchTrial::Rejected)];
        assert_eq!(credit(&rejected, false, ProofGrade::None, OTHER), [ReuseOutcome::Unchanged]);
    }

    #[test]
    fn a_change_that_waits_for_a_review_gives_no_credit() {
        assert_eq!(
            credit(&[offer(PatchTrial::Applied)], false, ProofGrade::FailToPass, DIFF),
            [ReuseOutcome::Unchanged]
        );
    }
}
