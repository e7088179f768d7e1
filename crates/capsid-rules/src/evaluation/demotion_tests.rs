use super::*;
use proptest::prelude::*;

fn failed_twice() -> FailureFacts {
    FailureFacts {
        status: AssetStatus::Promoted,
        tier: TrustTier::Normal,
        verdict: ConsensusVerdict::Failed,
        failed_owners: 2,
        passed_owners: 1,
        arbiter: None,
        demotions: 0,
        is_waiting: false,
    }
}

#[test]
fn two_owners_or_an_arbiter_demote_and_one_owner_does_not() {
    let step = |facts: FailureFacts| failure_step(&facts, 2);
    assert_eq!(step(failed_twice()), Some(FailureStep::Demote));
    assert_eq!(
        step(FailureFacts { status: AssetStatus::Stale, ..failed_twice() }),
        Some(FailureStep::Demote)
    );
    let one = FailureFacts { failed_owners: 1, ..failed_twice() };
    assert_eq!(step(one), Some(FailureStep::Observe));
    assert_eq!(step(FailureFacts { tier: TrustTier::Observation, ..one }), None);
    assert_eq!(step(FailureFacts { arbiter: Some(false), ..one }), Some(FailureStep::Demote));
    let outvoted = FailureFacts { verdict: ConsensusVerdict::Passed, ..failed_twice() };
    assert_eq!(step(outvoted), Some(FailureStep::Observe));
    assert_eq!(
        step(FailureFacts { arbiter: Some(true), ..failed_twice() }),
        Some(FailureStep::Demote),
        "what an arbiter passed can fail for owners afterwards"
    );
}

#[test]
fn the_third_demotion_is_a_rejection() {
    let step = |demotions| failure_step(&FailureFacts { demotions, ..failed_twice() }, 2);
    assert_eq!(
        [step(0), step(1), step(2)],
        [Some(FailureStep::Demote), Some(FailureStep::Demote), Some(FailureStep::Reject)]
    );
}

#[test]
fn a_candidate_that_nobody_passed_is_rejected_once_everybody_has_answered() {
    let failed = FailureFacts { status: AssetStatus::Candidate, passed_owners: 0, ..failed_twice() };
    assert_eq!(failure_step(&failed, 2), Some(FailureStep::Reject));
    assert_eq!(failure_step(&FailureFacts { is_waiting: true, ..failed }, 2), None);
    assert_eq!(failure_step(&FailureFacts { passed_owners: 1, ..failed }, 2), None);
    assert_eq!(failure_step(&FailureFacts { failed_owners: 1, ..failed }, 2), None);
    let decided = FailureFacts { arbiter: Some(false), is_waiting: true, failed_owners: 1, ..failed };
    assert_eq!(failure_step(&decided, 2), Some(FailureStep::Reject));
}

proptest! {
    #[test]
    fn what_nobody_failed_stays_where_it_is(
        status in prop::sample::select(AssetStatus::ALL.to_vec()),
        tier in prop::sample::select(TrustTier::ALL.to_vec()),
        passed_owners in 0..5_u32,
        demotions in 0..5_u32,
    ) {
        let verdict =
            if passed_owners == 0 { ConsensusVerdict::Pending } else { ConsensusVerdict::Passed };
        let facts = FailureFacts {
            status, tier, verdict, failed_owners: 0, passed_owners, arbiter: None, demotions, is_waiting: false,
        };
        prop_assert_eq!(failure_step(&facts, 2), None);
    }
}
