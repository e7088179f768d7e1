use super::*;
use crate::files::inputs::Inputs;
use capsid_model::Time;
use capsid_model::event::EventOutcome;
use capsid_rules::diagnosis::diagnose;

fn observation(signals: &[&str]) -> Observation {
    Observation {
        inputs: Inputs::default(),
        diagnosis: Default::default(),
        is_explicit: false,
        decision: Default::default(),
        signals: signals.iter().map(|signal| (*signal).to_owned()).collect(),
        history: Vec::new(),
        scan_ms: 0,
    }
}

fn decide(seen: &Observation, permit: AttemptPermit, may_innovate: bool) -> Result<(), IdleReason> {
    let work = find_work(seen, &Sources::default());
    is_actionable(&ActionFacts { work: work.as_ref(), permit, is_resolved: false, may_innovate })
}

#[test]
fn a_plateau_is_nothing_to_do_unless_the_owner_wants_innovation() {
    for signals in [&["stable_success_plateau"][..], &["memory_missing", "user_missing"], &[]] {
        let seen = observation(signals);
        assert_eq!(decide(&seen, AttemptPermit::Allowed, false), Err(IdleReason::NothingSeen));
        assert_eq!(decide(&seen, AttemptPermit::Allowed, true), Ok(()));
    }
}

#[test]
fn a_live_problem_is_actionable_until_it_is_suspended() {
    let mut seen = observation(&["log_error"]);
    seen.diagnosis =
        diagnose("src/order.ts(7,3): error TS2322: Type 'string' is not assignable to type 'number'.\n");
    let message = seen.diagnosis.problem.as_ref().unwrap().ids().message;
    assert_eq!(find_work(&seen, &Sources::default()).unwrap().id, message);
    assert_eq!(decide(&seen, AttemptPermit::Allowed, false), Ok(()));
    for permit in [AttemptPermit::SuspendedUntil(Time(86_400_000)), AttemptPermit::SuspendedUntilResumed] {
        let reason = decide(&seen, permit, true).unwrap_err();
        assert!(!reason.is_clean());
        assert!(
            reason.describe().contains(&format!("capsid loop resume {message}")),
            "{}",
            reason.describe()
        );
    }
}

#[test]
fn an_error_that_only_signals_show_has_the_id_of_its_signature() {
    let seen = observation(&["log_error", "errsig:error: TypeError: x is not a function"]);
    let work = find_work(&seen, &Sources::default()).unwrap();
    assert_eq!(work.kind, WorkKind::Problem);
    let parsed = parse_errsig("errsig:error: TypeError: x is not a function").unwrap();
    assert_eq!(work.id, parsed.ids().message);
}

#[test]
fn a_request_is_actionable_until_a_success_answered_it() {
    let request = "user_feature_request:add a retry option";
    let mut seen = observation(&[request, "user_missing"]);
    assert_eq!(decide(&seen, AttemptPermit::Allowed, false), Ok(()));
    let event = |outcome| EvolutionEvent { signals: vec![request.to_owned()], outcome, ..Default::default() };
    seen.history = vec![event(EventOutcome::failed())];
    assert_eq!(decide(&seen, AttemptPermit::Allowed, false), Ok(()));
    seen.history.push(event(EventOutcome::success()));
    assert_eq!(decide(&seen, AttemptPermit::Allowed, false), Err(IdleReason::NothingSeen));
    seen.signals[0] = "user_feature_request:add a colour option".to_owned();
    assert_eq!(decide(&seen, AttemptPermit::Allowed, false), Ok(()));
}

#[test]
fn a_problem_that_is_resolved_is_left_alone() {
    let work = WorkItem { kind: WorkKind::Problem, id: "id".to_owned(), text: "x".to_owned() };
    let facts = ActionFacts {
        work: Some(&work),
        permit: AttemptPermit::Allowed,
        is_resolved: true,
        may_innovate: true,
    };
    assert_eq!(is_actionable(&facts), Err(IdleReason::AlreadyResolved("x".to_owned())));
}
