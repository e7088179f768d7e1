use super::*;
use capsid_model::json;
use proptest::prelude::*;

fn object(value: Value) -> Object {
    serde_json::from_value(value).unwrap()
}

fn capsule(more: Value) -> Object {
    let mut capsule = object(json!({
        "type": "Capsule", "id": "c", "gene": "g", "success_streak": 2,
        "outcome": {"status": "success", "score": 0.85}, "blast_radius": {"files": 1, "lines": 2},
        "proof": {"v": 1, "grade": "fail_to_pass", "command": "npm test", "runs": []},
    }));
    capsule.extend(object(more));
    capsule
}

fn check(more: Value) -> Result<(), SharingRefusal> {
    check_sharing(&SharingFacts::from_capsule(&capsule(more)))
}

#[test]
fn a_proven_capsule_is_shared() {
    assert_eq!(check(json!({})), Ok(()));
    let best = json!({"proof": {"grade": "fail_to_pass_reverts", "command": "npm test"}});
    assert_eq!(check(best), Ok(()));
}

#[test]
fn the_grade_of_the_proof_decides() {
    assert_eq!(check(json!({"proof": null})), Err(SharingRefusal::NoProof));
    assert_eq!(check(json!({"proof": {"grade": "excellent"}})), Err(SharingRefusal::NoProof));
    for grade in [ProofGrade::None, ProofGrade::Passes] {
        let proof = json!({"proof": {"grade": grade, "command": "npm test"}});
        assert_eq!(check(proof), Err(SharingRefusal::NotProven(grade)));
    }
}

#[test]
fn a_capsule_made_after_a_reference_is_shared_and_one_of_others_is_not() {
    let made = json!({"source_type": "reference", "a2a": {"source": "node_1"}, "parent": "sha256:aa"});
    assert_eq!(check(made), Ok(()));
    for came in [
        json!({"a2a": {"source": "node_1"}}),
        json!({"a2a": {"source": " "}}),
        json!({"source_type": "reference", "a2a": {"source": "node_1", "status": "promoted"}}),
        json!({"source_type": "reference", "a2a": {"source": "node_1", "received_asset_id": "sha256:aa"}}),
    ] {
        assert!(matches!(check(came.clone()), Err(SharingRefusal::FromOthers(_))), "{came}");
    }
    assert_eq!(check(json!({"source_type": "reused"})), Err(SharingRefusal::Reused));
    assert_eq!(check(json!({"visibility": "private"})), Err(SharingRefusal::Private));
}

#[test]
fn a_command_may_come_from_the_owner() {
    let capsule = capsule(json!({"proof": {"grade": "fail_to_pass"}}));
    let mut facts = SharingFacts::from_capsule(&capsule);
    assert_eq!(check_sharing(&facts), Err(SharingRefusal::NoCommand));
    facts.has_command = true;
    assert_eq!(check_sharing(&facts), Ok(()));
}

#[test]
fn reuses_by_others_support_what_a_capsule_states_and_do_not_make_it_shareable() {
    let capsule = capsule(json!({"success_streak": 5}));
    let mut facts = SharingFacts { streak: 2, reuses_by_others: 3, ..SharingFacts::from_capsule(&capsule) };
    assert_eq!(check_sharing(&facts), Ok(()));
    facts.reuses_by_others = 2;
    assert_eq!(check_sharing(&facts), Err(SharingRefusal::OverstatedStreak { stated: 5, counted: 4 }));
    (facts.streak, facts.reuses_by_others) = (1, 9);
    assert_eq!(check_sharing(&facts), Err(SharingRefusal::ShortStreak(1)));
}

#[test]
fn the_size_of_a_change_is_limited() {
    let defaults = SharingLimits::default();
    let custom = SharingLimits::from_env(&|name| match name {
        "A2A_MAX_FILES" => Some(" 9 ".to_owned()),
        _ => Some("many".to_owned()),
    });
    assert_eq!(custom, SharingLimits { files: 9, ..defaults });
    let capsule = capsule(json!({"blast_radius": {"files": 8, "lines": 3}}));
    let mut facts = SharingFacts::from_capsule(&capsule);
    assert_eq!(check_sharing(&facts), Err(SharingRefusal::TooManyFiles { files: 8, limit: 5 }));
    facts.limits = custom;
    assert_eq!(check_sharing(&facts), Ok(()));
}

proptest! {
    #[test]
    fn exactly_what_the_rule_says_is_offered(
        score in 0.0..1.0_f64, files in 0..9_u64, lines in 0..260_u64, stated in 0..5_u64, counted in 0..5_u64,
        others in 0..3_u64, grade in proptest::sample::select(ProofGrade::ALL.to_vec()), has_command: bool,
        has_gene: bool, is_log_intact: bool,
    ) {
        let capsule = capsule(json!({
            "outcome": {"status": "success", "score": score}, "blast_radius": {"files": files, "lines": lines},
            "success_streak": stated, "proof": {"grade": grade},
        }));
        let gene = if has_gene { GeneFacts::Present { has_id: true, has_strategy: true } } else { GeneFacts::Missing };
        let facts = SharingFacts {
            streak: counted, reuses_by_others: others, has_command, gene, is_log_intact,
            ..SharingFacts::from_capsule(&capsule)
        };
        let expected = score >= 0.7 && (1..=5).contains(&files) && (1..=200).contains(&lines) && counted >= 2
            && stated <= counted + others && grade.is_proven() && has_command && has_gene && is_log_intact;
        let decided = check_sharing(&facts);
        prop_assert_eq!(decided.is_ok(), expected, "{:?}", decided);
        if let Err(refusal) = decided {
            let sentence = refusal.to_string();
            prop_assert!(sentence.ends_with('.') && !sentence.contains(". "), "{}", sentence);
        }
    }

    #[test]
    fn no_document_makes_the_rule_fall(value in "\\PC{0,20}", number in any::<i64>()) {
        let leaves = [json!(value), json!(number), json!(null), json!([value]), json!({"status": value, "score": number})];
        for name in ["type", "outcome", "blast_radius", "proof", "a2a", "success_streak", "source_type", "visibility"] {
            for leaf in &leaves {
                let odd = capsule(json!({name: leaf}));
                let _decided = check_sharing(&SharingFacts::from_capsule(&odd)).map_err(|refusal| refusal.to_string());
            }
        }
    }
}
