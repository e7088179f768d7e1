//! What a finished cycle means for the stored solutions that it was offered. Pure: credit follows what was applied.

use super::offer::CapsuleOffer;
use capsid_rules::learning::match_level::MatchLevel;
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
            let is_same_problem = offer.level <= MatchLevel::Message;
            let may_follow = at == 0 && !is_solved_by_patch && grade.is_proven();
            let is_similar = may_follow
                && is_same_problem
                && share_a_file(&offer.patch, input.diff)
                && is_same_solution(&offer.patch, input.diff);
            let counts = offer.trial != PatchTrial::NotTried || may_follow;
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

/// Whether two changes touch a file of the same name. The same edit elsewhere is a solution of its own.
fn share_a_file(one: &str, other: &str) -> bool {
    let files = |diff: &str| -> Vec<String> {
        diff.lines()
            .filter_map(|line| line.strip_prefix("+++ b/"))
            .map(|path| path.trim_end().to_owned())
            .collect()
    };
    let known = files(one);
    files(other).iter().any(|path| known.contains(path))
}

#[cfg(test)]
#[path = "credit_tests.rs"]
mod tests;
