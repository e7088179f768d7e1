use super::*;

fn offered(level: MatchLevel, patch: PatchTrial, is_similar: bool, grade: ProofGrade) -> OfferedCapsule {
    OfferedCapsule { level, patch, is_similar, grade }
}

#[test]
fn an_applied_or_similar_and_proven_capsule_is_reused() {
    for (patch, is_similar) in [(PatchTrial::Applied, false), (PatchTrial::NotTried, true)] {
        let cycle = offered(MatchLevel::Message, patch, is_similar, ProofGrade::FailToPass);
        let outcome = ReuseOutcome::from_cycle(&cycle);
        assert_eq!(outcome, ReuseOutcome::Reused);
        assert_eq!(outcome.streak_change(), StreakChange::Increment);
        assert_eq!((outcome.report_kind(), outcome.reproduction_score()), (Some("reused"), Some(1.0)));
        assert_eq!(cycle.lineage(), None);
    }
}

#[test]
fn another_proven_solution_is_an_alternative() {
    let cycle = offered(MatchLevel::Exact, PatchTrial::Rejected, false, ProofGrade::FailToPassReverts);
    let outcome = ReuseOutcome::from_cycle(&cycle);
    assert_eq!(outcome, ReuseOutcome::Alternative);
    assert_eq!(outcome.streak_change(), StreakChange::Unchanged);
    assert_eq!((outcome.report_kind(), outcome.reproduction_score()), (Some("reference"), None));
    assert_eq!(cycle.lineage(), Some("alternative"));
}

#[test]
fn a_clean_patch_that_fails_resets_the_streak_at_the_exact_level_only() {
    let outcome = |level, grade| ReuseOutcome::from_cycle(&offered(level, PatchTrial::Failed, false, grade));
    assert_eq!(outcome(MatchLevel::Exact, ProofGrade::None), ReuseOutcome::Failed);
    assert_eq!(ReuseOutcome::Failed.streak_change(), StreakChange::Reset);
    assert_eq!(ReuseOutcome::Failed.failure_class(), Some("validation"));
    assert_eq!(outcome(MatchLevel::Message, ProofGrade::None), ReuseOutcome::Unchanged);
    assert_eq!(outcome(MatchLevel::Exact, ProofGrade::FailToPass), ReuseOutcome::Failed);
    let replaced = offered(MatchLevel::Exact, PatchTrial::Failed, false, ProofGrade::FailToPass);
    assert_eq!(replaced.lineage(), Some("alternative"), "the agent's own solution is a new capsule");
}

#[test]
fn an_unproven_change_teaches_nothing_about_a_capsule() {
    for grade in [ProofGrade::None, ProofGrade::Passes] {
        for patch in [PatchTrial::NotTried, PatchTrial::Rejected, PatchTrial::Applied] {
            let cycle = offered(MatchLevel::Exact, patch, true, grade);
            assert_eq!(ReuseOutcome::from_cycle(&cycle), ReuseOutcome::Unchanged);
            assert_eq!(cycle.lineage(), None);
        }
    }
    assert_eq!(ReuseOutcome::Unchanged.report_kind(), None);
}
