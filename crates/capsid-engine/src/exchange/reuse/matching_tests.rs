use super::*;
use capsid_model::json;
use capsid_rules::diagnosis::diagnose;

const LOG: &str = "src/order.ts(7,3): error TS2322: Type 'string' is not assignable to type 'number'.\n";

fn object(value: &Value) -> Object {
    value.as_object().cloned().unwrap()
}

fn wanted() -> WantedProblem {
    let diagnosis = diagnose(LOG);
    let problem = diagnosis.problem.as_ref().unwrap();
    let signals = ["log_error".to_owned(), problem.errsig(), "compile_error".to_owned()];
    WantedProblem::from_run(diagnosis.to_record().as_ref(), &signals).unwrap()
}

fn level(capsule: &Value) -> Option<MatchLevel> {
    wanted().match_capsule(&object(capsule))
}

#[test]
fn a_capsule_that_shares_only_log_error_is_not_offered() {
    for trigger in [json!(["log_error"]), json!(["log_error", "compile_error", "exception"]), json!([])] {
        let capsule = object(&json!({"trigger": trigger}));
        assert_eq!(wanted().match_capsule(&capsule), None, "{trigger}");
        assert_eq!(wanted().match_row(&capsule), None, "{trigger}");
    }
    assert!(WantedProblem::from_run(None, &["log_error".to_owned(), "exception".to_owned()]).is_none());
}

#[test]
fn the_best_equal_id_decides() {
    let record = diagnose(LOG).to_record().unwrap();
    assert_eq!(level(&json!({"trigger": ["log_error"], "problem": record})), Some(MatchLevel::Exact));
    let elsewhere = diagnose(&LOG.replace("order.ts", "cart.ts")).to_record().unwrap();
    assert_eq!(level(&json!({"problem": elsewhere})), Some(MatchLevel::Message));
    let other_values = diagnose(&LOG.replace("'number'", "'boolean'")).to_record().unwrap();
    assert_eq!(level(&json!({"problem": other_values})), Some(MatchLevel::Site));
    let other = diagnose("TypeError: x is not a function\n    at f (/a/b.js:1:1)\n").to_record().unwrap();
    assert_eq!(level(&json!({"problem": other})), None);
}

#[test]
fn a_signature_alone_matches_the_message() {
    let signature = diagnose(LOG).problem.unwrap().errsig();
    for capsule in [json!({"trigger": [signature]}), json!({"signals": [signature]})] {
        assert_eq!(wanted().match_row(&object(&capsule)), Some(MatchLevel::Message), "{capsule}");
    }
    assert_eq!(level(&json!({"trigger": ["log_error", signature]})), Some(MatchLevel::Message));
    let signals = ["errsig:error: TypeError: x is not a function".to_owned()];
    let wanted = WantedProblem::from_run(None, &signals).unwrap();
    assert_eq!(wanted.match_capsule(&object(&json!({"trigger": signals}))), Some(MatchLevel::Message));
    let other = json!({"trigger": ["errsig:error: ENOSPC: no space left on device"]});
    assert_eq!(wanted.match_capsule(&object(&other)), None);
    assert_eq!(wanted.match_row(&object(&other)), None);
    assert_eq!(
        wanted.match_row(&object(&json!({"asset_id": "a"}))),
        Some(MatchLevel::Template),
        "it does not say"
    );
}

#[test]
fn a_capsule_of_one_summary_line_is_not_reused() {
    let bare =
        json!({"summary": "Fixed it", "diff": " ", "content": "", "strategy": ["", 7], "code_snippet": null});
    assert!(!is_solution(&object(&bare)));
    for (name, value) in [("diff", json!("+x")), ("content", json!("Why")), ("strategy", json!(["Do it"]))] {
        let mut capsule = object(&bare);
        capsule.insert(name.to_owned(), value);
        assert!(is_solution(&capsule), "{name}");
    }
}

#[test]
fn a_patch_of_others_is_shown_until_a_hub_names_passes_of_other_owners() {
    let diff = "--- a/src/x.js\n+++ b/src/x.js\n@@ -1 +1 @@\n-a\n+b\n";
    let capsule = |grade: &str| object(&json!({"diff": diff, "proof": {"grade": grade}}));
    assert_eq!(check_patch(&capsule("passes")), Err(ForeignPatchRefusal::NotProven));
    assert_eq!(check_patch(&capsule("fail_to_pass")), Err(ForeignPatchRefusal::NoPassOfOthers));
    assert_eq!(check_trial_patch(&capsule("fail_to_pass"), true), Ok(()));
    assert_eq!(check_trial_patch(&capsule("passes"), true), Err(ForeignPatchRefusal::NotProven));
    assert_eq!(check_trial_patch(&capsule("fail_to_pass"), false), Err(ForeignPatchRefusal::NotIsolated));
}
