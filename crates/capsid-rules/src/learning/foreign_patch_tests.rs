use super::*;

fn check(patch: &ForeignPatch<'_>) -> Result<(), ForeignPatchRefusal> {
    check_foreign_patch(patch, &["npm test"])
}

#[test]
fn a_patch_of_others_needs_all_of_the_evidence() {
    let paths = ["src/a.js".to_owned()];
    let good = ForeignPatch {
        is_promoted: true,
        is_on_trial: false,
        grade: Some(ProofGrade::FailToPass),
        has_pass_of_others: true,
        is_isolated: true,
        paths: &paths,
        review_paths: &[],
    };
    assert_eq!(check(&good), Ok(()));
    assert_eq!(check(&ForeignPatch { is_promoted: false, ..good }), Err(ForeignPatchRefusal::NotPromoted));
    for grade in [None, Some(ProofGrade::Passes)] {
        assert_eq!(check(&ForeignPatch { grade, ..good }), Err(ForeignPatchRefusal::NotProven));
    }
    let alone = ForeignPatch { has_pass_of_others: false, ..good };
    assert_eq!(check(&alone), Err(ForeignPatchRefusal::NoPassOfOthers));
    assert_eq!(check(&ForeignPatch { is_isolated: false, ..good }), Err(ForeignPatchRefusal::NotIsolated));
    let candidate = ForeignPatch { is_promoted: false, is_on_trial: true, ..alone };
    assert_eq!(check(&candidate), Ok(()), "on trial nobody has to have passed it");
    let exposed = ForeignPatch { is_isolated: false, ..candidate };
    assert_eq!(check(&exposed), Err(ForeignPatchRefusal::NotIsolated), "but everything else holds");
    let review = ForeignPatch { review_paths: &paths, ..good };
    let refusal = check(&review).unwrap_err();
    assert_eq!(refusal.to_string(), "It touches `src/a.js`.");
    for path in ["package.json", "web/yarn.lock", "tests/a.js", ".github/workflows/ci.yml", "go.mod"] {
        let paths = ["src/a.js".to_owned(), path.to_owned()];
        let refusal = check(&ForeignPatch { paths: &paths, ..good });
        assert_eq!(refusal, Err(ForeignPatchRefusal::TouchesProtected(path.to_owned())));
    }
}
