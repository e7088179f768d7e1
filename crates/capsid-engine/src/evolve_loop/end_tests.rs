use super::*;
use crate::cycle::evolve::EvolveRequest;

fn options() -> LoopOptions {
    LoopOptions {
        request: EvolveRequest::default(),
        agent: Vec::new(),
        agent_timeout: None,
        commit: false,
        retries: None,
        max_cycles: None,
        until_clean: false,
        exit_on_budget: false,
        stop: Default::default(),
        link: None,
    }
}

const IDLE: PassKind = PassKind::Idle { is_clean: true };
const NEVER: (Duration, u64) = (Duration::ZERO, 0);

fn host_failure() -> PassKind {
    PassKind::HostFailure { is_cycle: true, message: "the agent ended with status 3".to_owned() }
}

#[test]
fn five_host_failures_in_a_row_end_the_loop_with_advice() {
    let mut progress = LoopProgress::default();
    for kind in [host_failure(), host_failure(), PassKind::Failed, host_failure()] {
        progress.count(&kind);
    }
    for _ in 0..3 {
        progress.count(&host_failure());
        progress.count(&IDLE);
        assert!(progress.find_end(&options(), &IDLE, None, NEVER).is_none());
    }
    progress.count(&host_failure());
    let end = progress.find_end(&options(), &host_failure(), None, NEVER).unwrap();
    let problem = end.problem().unwrap();
    assert!(problem.message.contains("status 3") && problem.fix.is_some(), "{problem:?}");
    assert_eq!(progress.cycles, 8);
}

#[test]
fn a_clean_repository_ends_a_loop_that_was_asked_to() {
    let asked = LoopOptions { until_clean: true, ..options() };
    let progress = LoopProgress::default();
    assert!(matches!(progress.find_end(&asked, &IDLE, None, NEVER), Some(EndReason::Clean)));
    let live = PassKind::Idle { is_clean: false };
    assert!(progress.find_end(&asked, &live, None, NEVER).is_none());
    assert!(progress.find_end(&options(), &IDLE, None, NEVER).is_none());
}

#[test]
fn a_used_up_budget_ends_a_loop_that_was_asked_to() {
    let limit = Problem::new(Code::BudgetUsedUp, "Used up.");
    let asked = LoopOptions { exit_on_budget: true, ..options() };
    let progress = LoopProgress::default();
    let end = progress.find_end(&asked, &IDLE, Some(&limit), NEVER).unwrap();
    assert_eq!(end.problem().unwrap().code, Code::BudgetUsedUp);
    assert!(progress.find_end(&options(), &IDLE, Some(&limit), NEVER).is_none());
}

#[test]
fn an_idle_loop_ends_after_the_minutes_that_were_set() {
    let progress = LoopProgress::default();
    let minutes = |count: u64| Duration::from_secs(count * 60);
    assert!(progress.find_end(&options(), &IDLE, None, (minutes(500), 0)).is_none());
    assert!(progress.find_end(&options(), &IDLE, None, (minutes(4), 5)).is_none());
    assert!(matches!(progress.find_end(&options(), &IDLE, None, (minutes(5), 5)), Some(EndReason::Idle)));
    assert!(progress.find_end(&options(), &PassKind::Failed, None, (minutes(5), 5)).is_none());
}
