use super::*;
use EvidenceGrade as Grade;
use GradeWeights::{Private, Public};

fn assigned() -> ReportEvidence {
    ReportEvidence {
        is_assigned: true,
        read_proof: ReadProof::Right,
        has_environment: true,
        has_runtime: true,
        has_commands: true,
        has_measurements: true,
        ..ReportEvidence::default()
    }
}

fn fetched(had_for_ms: i64) -> ReportEvidence {
    ReportEvidence { had_for_ms: Some(had_for_ms), ..ReportEvidence::default() }
}

#[test]
fn a_blind_report_is_unverified_on_every_hub() {
    let told = ReportEvidence { has_environment: true, has_commands: true, ..ReportEvidence::default() };
    let proven = ReportEvidence { own_proof: ProofGrade::FailToPassReverts, ..told };
    for evidence in [ReportEvidence::default(), told, proven] {
        assert_eq!(grade_report(&evidence, Private), Grade::Unverified, "{evidence:?}");
        assert_eq!(grade_report(&evidence, Public), Grade::Unverified, "{evidence:?}");
    }
}

#[test]
fn the_publishers_owner_never_counts() {
    let best = ReportEvidence {
        is_own: true,
        own_proof: ProofGrade::FailToPassReverts,
        had_for_ms: Some(i64::MAX),
        ..assigned()
    };
    assert_eq!(grade_report(&best, Private), Grade::Own);
}

#[test]
fn having_the_asset_comes_before_using_it() {
    assert_eq!(grade_report(&fetched(0), Private), Grade::Fetched);
    let told =
        |had_for_ms| ReportEvidence { has_environment: true, has_commands: true, ..fetched(had_for_ms) };
    assert_eq!(grade_report(&told(USED_AFTER_MS - 1), Private), Grade::Fetched);
    assert_eq!(grade_report(&told(USED_AFTER_MS), Public), Grade::Used);
    let nameless = ReportEvidence { has_environment: false, ..told(USED_AFTER_MS) };
    assert_eq!(grade_report(&nameless, Private), Grade::Fetched);
    let pledged = ReportEvidence { has_stake: true, ..ReportEvidence::default() };
    assert_eq!(grade_report(&pledged, Private), Grade::Fetched);
    assert_eq!(grade_report(&pledged, Public), Grade::Unverified);
}

#[test]
fn an_applied_report_needs_the_asset_its_bytes_and_a_proof() {
    let applied =
        ReportEvidence { read_proof: ReadProof::Right, own_proof: ProofGrade::FailToPass, ..fetched(0) };
    assert_eq!(grade_report(&applied, Private), Grade::Applied);
    let unread = ReportEvidence { read_proof: ReadProof::Missing, ..applied };
    assert_eq!(grade_report(&unread, Private), Grade::Fetched);
    let other_bytes = ReportEvidence { read_proof: ReadProof::Wrong, ..applied };
    assert_eq!(grade_report(&other_bytes, Private), Grade::Unverified);
    let passes = ReportEvidence { own_proof: ProofGrade::Passes, ..applied };
    assert_eq!(grade_report(&passes, Private), Grade::Fetched);
    let absent = ReportEvidence { had_for_ms: None, ..applied };
    assert_eq!(grade_report(&absent, Private), Grade::Unverified);
}

#[test]
fn a_public_hub_asks_its_validators_for_proof_that_they_read() {
    for (read_proof, private, public) in [
        (ReadProof::Right, Grade::Assigned, Grade::Assigned),
        (ReadProof::Missing, Grade::Assigned, Grade::Unverified),
        (ReadProof::Wrong, Grade::Unverified, Grade::Unverified),
    ] {
        let evidence = ReportEvidence { read_proof, ..assigned() };
        assert_eq!((grade_report(&evidence, Private), grade_report(&evidence, Public)), (private, public));
    }
    for incomplete in [
        ReportEvidence { has_commands: false, ..assigned() },
        ReportEvidence { has_environment: false, ..assigned() },
        ReportEvidence { has_runtime: false, ..assigned() },
        ReportEvidence { has_measurements: false, ..assigned() },
    ] {
        assert_eq!(grade_report(&incomplete, Private), Grade::Assigned);
        assert_eq!(grade_report(&incomplete, Public), Grade::Unverified, "{incomplete:?}");
    }
}

#[test]
fn a_reproduction_needs_a_control_that_fails() {
    let whole = ReportEvidence {
        is_from_scratch: true,
        is_isolated: true,
        control: ControlOutcome::Fails,
        ..assigned()
    };
    assert_eq!(grade_report(&whole, Public), Grade::Reproduced);
    for control in [ControlOutcome::Unknown, ControlOutcome::Passes] {
        assert_eq!(grade_report(&ReportEvidence { control, ..whole }, Public), Grade::Assigned);
    }
    assert_eq!(grade_report(&ReportEvidence { is_isolated: false, ..whole }, Public), Grade::Assigned);
    assert_eq!(grade_report(&ReportEvidence { is_from_scratch: false, ..whole }, Public), Grade::Assigned);
}

#[test]
fn a_control_that_passes_anywhere_cannot_be_argued_away() {
    use ControlOutcome::{Fails, Passes, Unknown};
    for (bare, base, outcome) in [
        (None, None, Unknown),
        (Some(false), None, Unknown),
        (Some(false), Some(false), Fails),
        (Some(true), Some(false), Passes),
        (Some(false), Some(true), Passes),
        (None, Some(true), Passes),
    ] {
        assert_eq!(ControlOutcome::from_runs(bare, base), outcome);
        assert_eq!(outcome.and(Passes), Passes);
        assert_eq!(Unknown.and(outcome), outcome);
    }
    assert_eq!(Passes.and(Fails), Passes);
}

#[test]
fn an_applied_report_counts_where_assigned_ones_do() {
    let counted = |lowest| -> Vec<&str> {
        Grade::ALL
            .into_iter()
            .filter(|grade| counts_for_promotion(*grade, lowest))
            .map(Grade::as_str)
            .collect()
    };
    assert_eq!(counted(Grade::Assigned), ["applied", "assigned", "reproduced", "hub"]);
    assert_eq!(counted(Grade::Fetched), ["fetched", "used", "applied", "assigned", "reproduced", "hub"]);
    assert_eq!(counted(Grade::Reproduced), ["reproduced", "hub"]);
}
