use super::super::repro_command::CommandSource;
use super::*;
use proptest::prelude::*;

const ID: &str = "00ff00ff00ff00ff";

fn run(step: ProofStep, ok: bool, problem: Option<&str>) -> ProofRun {
    let problem = problem.map(str::to_owned);
    ProofRun { run: step, ok, exit_code: Some(i32::from(!ok)), duration_ms: 5, problem, tests: None }
}

fn evidence(runs: &[ProofRun]) -> ProofEvidence<'_> {
    ProofEvidence {
        problem: Some(ID),
        runs,
        has_check_changes: false,
        is_vacuous: false,
        is_weakened: false,
        has_new_failing_test: false,
    }
}

fn before() -> ProofRun {
    run(ProofStep::Before, false, Some(ID))
}

fn after() -> ProofRun {
    run(ProofStep::After, true, None)
}

#[test]
fn the_grade_follows_the_runs() {
    let full = [before(), after(), run(ProofStep::WithoutSource, false, Some(ID))];
    assert_eq!(grade(&evidence(&full)), ProofGrade::FailToPassReverts);
    assert_eq!(grade(&evidence(&full[..2])), ProofGrade::FailToPass);
    assert_eq!(grade(&evidence(&full[1..2])), ProofGrade::Passes);
    assert_eq!(grade(&evidence(&full[..1])), ProofGrade::None);
    assert_eq!(grade(&evidence(&[])), ProofGrade::None);
}

#[test]
fn weakened_tests_and_vacuous_commands_prove_nothing() {
    let runs = [before(), after()];
    assert_eq!(grade(&ProofEvidence { is_weakened: true, ..evidence(&runs) }), ProofGrade::None);
    assert_eq!(grade(&ProofEvidence { is_vacuous: true, ..evidence(&runs) }), ProofGrade::None);
}

#[test]
fn a_pass_that_still_shows_the_problem_or_a_failed_test_is_no_pass() {
    let runs = [before(), run(ProofStep::After, true, Some(ID))];
    assert_eq!(grade(&evidence(&runs)), ProofGrade::None);
    let tests = Some(TestCounts { ran: 3, failed: 1, skipped: 0 });
    let runs = [before(), ProofRun { tests, ..after() }];
    assert_eq!(grade(&evidence(&runs)), ProofGrade::None);
}

#[test]
fn before_must_fail_with_the_same_problem() {
    let runs = [run(ProofStep::Before, false, Some("other")), after()];
    assert_eq!(grade(&evidence(&runs)), ProofGrade::Passes);
    let runs = [run(ProofStep::Before, true, None), after()];
    assert_eq!(grade(&evidence(&runs)), ProofGrade::Passes);
}

#[test]
fn changed_check_files_need_the_old_checks() {
    let runs = [before(), after()];
    let changed = ProofEvidence { has_check_changes: true, ..evidence(&runs) };
    assert_eq!(grade(&changed), ProofGrade::Passes);
    let runs = [before(), after(), run(ProofStep::OldChecks, true, None)];
    assert_eq!(grade(&ProofEvidence { runs: &runs, ..changed }), ProofGrade::FailToPass);
    let runs = [before(), after(), run(ProofStep::OldChecks, false, Some(ID))];
    assert_eq!(grade(&ProofEvidence { runs: &runs, ..changed }), ProofGrade::Passes);
}

#[test]
fn without_source_must_fail_for_the_same_reason() {
    let last = |ok, problem| [before(), after(), run(ProofStep::WithoutSource, ok, problem)];
    let passes_again = ProofEvidence { has_check_changes: true, ..evidence(&[]) };
    let mut runs = last(true, None).to_vec();
    assert_eq!(grade(&evidence(&runs)), ProofGrade::None, "the same files failed and passed: flaky");
    runs.push(run(ProofStep::OldChecks, true, None));
    assert_eq!(grade(&ProofEvidence { runs: &runs, ..passes_again }), ProofGrade::FailToPass);
    assert_eq!(grade(&evidence(&last(false, Some("other")))), ProofGrade::FailToPass);
    let runs = last(false, Some("other"));
    let in_new_test = ProofEvidence { has_new_failing_test: true, ..evidence(&runs) };
    assert_eq!(grade(&in_new_test), ProofGrade::FailToPassReverts);
}

#[test]
fn a_feature_is_proven_by_new_tests_that_fail_without_the_source() {
    let runs = [after(), run(ProofStep::OldChecks, true, None), run(ProofStep::WithoutSource, false, None)];
    let feature = ProofEvidence {
        problem: None,
        has_check_changes: true,
        has_new_failing_test: true,
        ..evidence(&runs)
    };
    assert_eq!(grade(&feature), ProofGrade::FailToPassReverts);
    let no_new_test = ProofEvidence { has_new_failing_test: false, ..feature };
    assert_eq!(grade(&no_new_test), ProofGrade::Passes);
    assert_eq!(grade(&ProofEvidence { runs: &runs[..2], ..feature }), ProofGrade::Passes);
}

#[test]
fn a_flaky_check_needs_more_passes() {
    let passed_before = run(ProofStep::Before, true, None);
    let mut runs = vec![before(), before(), passed_before];
    runs.extend([after(), after()]);
    assert_eq!(grade(&evidence(&runs)), ProofGrade::None);
    let missing = missing_for_next_grade(&evidence(&runs)).unwrap();
    assert_eq!(missing, "The check is flaky; it needs 3 passes in a row and has 2.");
    runs.push(after());
    assert_eq!(grade(&evidence(&runs)), ProofGrade::FailToPass);
    runs.push(run(ProofStep::After, false, Some(ID)));
    assert_eq!(grade(&evidence(&runs)), ProofGrade::None);
}

#[test]
fn both_results_on_the_same_files_are_flaky() {
    let without = run(ProofStep::WithoutSource, true, None);
    let runs = [before(), after(), without];
    assert_eq!(find_flaky_check(&runs, false), Some(FlakyCheck { failures: 1, runs: 2 }));
    assert_eq!(find_flaky_check(&runs, true), None);
    let runs = [before(), after(), run(ProofStep::After, false, None)];
    assert!(find_flaky_check(&runs, true).is_some());
}

#[test]
fn each_grade_has_its_consequences() {
    let confidence = ProofGrade::ALL.map(ProofGrade::initial_confidence);
    assert_eq!(confidence, [0.5, 0.65, 0.8, 0.85]);
    assert_eq!(ProofGrade::ALL.map(ProofGrade::counts_for_streak), [false, false, true, true]);
    assert_eq!(ProofGrade::ALL.map(ProofGrade::can_be_offered), [false, false, true, true]);
    assert_eq!(ProofGrade::ALL.map(ProofGrade::memory_weight), [0.0, 0.5, 1.0, 1.0]);
    assert_eq!(ProofGrade::Passes.resolution_status(), "inconclusive");
    assert_eq!(ProofGrade::FailToPass.resolution_status(), "resolved_by_evidence");
    assert!(ProofGrade::None < ProofGrade::Passes && ProofGrade::FailToPass < ProofGrade::FailToPassReverts);
    assert_eq!(serde_json::to_string(&ProofGrade::FailToPassReverts).unwrap(), "\"fail_to_pass_reverts\"");
}

#[test]
fn a_record_holds_the_grade_and_the_command() {
    let runs = [before(), after()];
    let command = ReproCommand { command: "npm test".to_owned(), source: CommandSource::Log };
    let record = ProofRecord::from_evidence(&evidence(&runs), Some(&command), Vec::new(), None);
    assert_eq!((record.v, record.grade, record.flaky), (1, ProofGrade::FailToPass, None));
    assert_eq!(
        record.success_reason(),
        "`npm test` failed with this problem before the change and passes with it."
    );
}

fn any_run() -> impl Strategy<Value = ProofRun> {
    (0..ProofStep::ALL.len(), any::<bool>(), prop::option::of(prop_oneof![Just(ID), Just("other")]))
        .prop_map(|(step, ok, problem)| run(ProofStep::ALL[step], ok, problem))
}

proptest! {
    #[test]
    fn a_proven_change_always_passed_and_the_highest_grade_lacks_nothing(
        runs in prop::collection::vec(any_run(), 0..8),
        flags in any::<[bool; 4]>(),
        has_problem in any::<bool>(),
    ) {
        let evidence = ProofEvidence {
            problem: has_problem.then_some(ID),
            runs: &runs,
            has_check_changes: flags[0],
            is_vacuous: flags[1],
            is_weakened: flags[2],
            has_new_failing_test: flags[3],
        };
        let grade = grade(&evidence);
        let missing = missing_for_next_grade(&evidence);
        prop_assert_eq!(missing.is_none(), grade == ProofGrade::FailToPassReverts);
        if grade > ProofGrade::None {
            prop_assert!(!flags[1] && !flags[2]);
            prop_assert!(runs.iter().filter(|run| run.run == ProofStep::After).all(|run| run.ok));
        }
    }
}
