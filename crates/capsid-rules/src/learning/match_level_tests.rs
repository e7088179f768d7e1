use super::*;

fn ids<'a>(exact: &'a str, message: &'a str, site: &'a str, template: &'a str) -> ProblemIds<'a> {
    ProblemIds { exact: Some(exact), message: Some(message), site: Some(site), template: Some(template) }
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
