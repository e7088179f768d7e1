use super::*;

fn ids<'a>(exact: &'a str, message: &'a str, site: &'a str, template: &'a str) -> ProblemIds<'a> {
    ProblemIds { exact: Some(exact), message: Some(message), site: Some(site), template: Some(template) }
}

fn offered(level: MatchLevel, patch: PatchTrial, is_similar: bool, grade: ProofGrade) -> OfferedCapsule {
    OfferedCapsule { level, patch, is_similar, grade }
}

#[test]
fn the_best_equal_id_decides_the_level() {
    let problem = ids("e", "m", "s", "t");
    let level = |capsule: ProblemIds<'_>| MatchLevel::find(&problem, &capsule);
    assert_eq!(level(ids("e", "m", "s", "t")), Some(MatchLevel::Exact));
    assert_eq!(level(ids("x", "m", "s", "t")), Some(MatchLevel::Message));
    assert_eq!(level(ids("x", "x", "s", "t")), Some(MatchLevel::Site));
    assert_eq!(level(ids("x", "x", "x", "t")), Some(MatchLevel::Template));
    assert_eq!(level(ids("x", "x", "x", "x")), None);
}

#[test]
fn an_id_that_is_absent_or_empty_equals_nothing() {
    assert_eq!(MatchLevel::find(&ProblemIds::default(), &ProblemIds::default()), None);
    assert_eq!(MatchLevel::find(&ids("", "", "", ""), &ids("", "", "", "")), None);
    let old_capsule = ProblemIds { message: Some("m"), ..ProblemIds::default() };
    assert_eq!(MatchLevel::find(&ids("e", "m", "s", "t"), &old_capsule), Some(MatchLevel::Message));
}

#[test]
fn only_exact_and_message_try_the_patch() {
    let tried = |files_exist| MatchLevel::ALL.map(|level| level.can_try_patch(files_exist));
    assert_eq!(tried(true), [true, true, false, false]);
    assert_eq!(tried(false), [true, false, false, false]);
    assert_eq!(
        MatchLevel::ALL.map(MatchLevel::reference_use),
        [ReferenceUse::IfNotApplied, ReferenceUse::Full, ReferenceUse::Full, ReferenceUse::Hint]
    );
}

#[test]
fn capsules_are_ordered_by_level_grade_streak_and_age() {
    let rank = |level, grade, streak, at| CapsuleRank { level, grade, streak, created_at: Time(at) };
    let best_first = [
        rank(MatchLevel::Exact, ProofGrade::None, 0, 0),
        rank(MatchLevel::Message, ProofGrade::FailToPassReverts, 0, 0),
        rank(MatchLevel::Message, ProofGrade::FailToPass, 9, 2),
        rank(MatchLevel::Message, ProofGrade::FailToPass, 5, 1),
        rank(MatchLevel::Message, ProofGrade::FailToPass, 4, 9),
        rank(MatchLevel::Template, ProofGrade::FailToPassReverts, 9, 9),
    ];
    let mut sorted: Vec<CapsuleRank> = best_first.iter().rev().copied().collect();
    sorted.sort_by_key(CapsuleRank::sort_key);
    assert_eq!(sorted, best_first);
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
