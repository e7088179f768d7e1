use super::*;
use capsid_model::json;
use capsid_rules::learning::match_level::MatchLevel;
use capsid_rules::learning::proof::ProofGrade;

fn offer(trial: PatchTrial, reason: &str) -> CapsuleOffer {
    CapsuleOffer {
        capsule_id: "capsule_1".to_owned(),
        asset_id: "sha256:1".to_owned(),
        level: MatchLevel::Message,
        grade: ProofGrade::FailToPass,
        streak: 3,
        title: String::new(),
        is_foreign: false,
        can_try: true,
        reason: reason.to_owned(),
        trial,
        patch: String::new(),
    }
}

#[test]
fn an_old_capsule_has_the_first_sentence_of_its_summary_as_title() {
    let document = json!({"summary": "Parse the id. It was a text.", "diff": "d"});
    let text = read_text(document.as_object().unwrap());
    assert_eq!((text.title.as_str(), text.diff.as_str()), ("Parse the id.", "d"));
    assert_eq!(text.explanation, "Parse the id. It was a text.");
}

#[test]
fn an_offer_says_what_became_of_its_patch() {
    let document = json!({"title": "T", "explanation": "E", "diff": "d"});
    let shown = |trial, reason: &str| describe_offer(&offer(trial, reason), document.as_object().unwrap());
    assert_eq!(shown(PatchTrial::NotTried, "").trial, None);
    assert_eq!(shown(PatchTrial::Rejected, "").trial.as_deref(), Some("it does not apply here"));
    assert_eq!(shown(PatchTrial::Failed, "`npm test` fails").trial.as_deref(), Some("`npm test` fails"));
    let solution = shown(PatchTrial::NotTried, "");
    assert_eq!((solution.title.as_str(), solution.streak), ("T", 3));
}
