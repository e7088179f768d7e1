use super::*;
use FolderRun::{Failed, NotRun, Passed};

fn outcome(bare: FolderRun, base: FolderRun, change: [FolderRun; 2], is_same_output: bool) -> RunnerOutcome {
    RunnerOutcome::from_runs(&BundleRuns { bare, base, change, is_same_output })
}

#[test]
fn each_row_of_the_table() {
    assert_eq!(outcome(Passed, Failed, [Passed; 2], true), RunnerOutcome::VacuousEmpty);
    assert_eq!(outcome(Failed, Passed, [Passed; 2], true), RunnerOutcome::VacuousBase);
    assert_eq!(outcome(Failed, Failed, [Passed; 2], true), RunnerOutcome::Reproduced);
    assert_eq!(outcome(Failed, Failed, [Failed; 2], true), RunnerOutcome::Failed);
    assert_eq!(outcome(Failed, Passed, [Failed; 2], true), RunnerOutcome::Failed);
    assert_eq!(outcome(Failed, Failed, [Passed, Failed], false), RunnerOutcome::Flaky);
    assert_eq!(outcome(Failed, Failed, [Passed; 2], false), RunnerOutcome::Flaky);
    assert_eq!(outcome(Failed, Failed, [NotRun; 2], true), RunnerOutcome::Inconclusive);
    assert_eq!(outcome(NotRun, Failed, [Passed; 2], true), RunnerOutcome::Inconclusive);
}

#[test]
fn only_a_failing_control_makes_a_pass_a_proof() {
    let each = [Passed, Failed, NotRun];
    for (bare, base) in each.iter().flat_map(|bare| each.iter().map(move |base| (*bare, *base))) {
        for (first, second) in each.iter().flat_map(|a| each.iter().map(move |b| (*a, *b))) {
            if outcome(bare, base, [first, second], true) == RunnerOutcome::Reproduced {
                assert_eq!((bare, base, first, second), (Failed, Failed, Passed, Passed));
            }
        }
    }
}
