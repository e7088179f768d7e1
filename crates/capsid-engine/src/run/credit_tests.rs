use super::*;

const DIFF: &str = "--- a/x.js\n+++ b/x.js\n@@ -1 +1 @@\n-return items.length - 1 + offset;\n+return items.length + offset;\n";
const OTHER: &str = "--- a/y.js\n+++ b/y.js\n@@ -1 +1 @@\n-const port = config.port;\n+const port = Number(config.port) || 8080;\n";

fn offer(trial: PatchTrial) -> CapsuleOffer {
    CapsuleOffer {
        capsule_id: "capsule_1".into(),
        asset_id: "sha256:1".into(),
        level: MatchLevel::Exact,
        grade: ProofGrade::FailToPass,
        streak: 1,
        title: String::new(),
        is_foreign: false,
        can_try: true,
        reason: String::new(),
        trial,
        patch: DIFF.into(),
    }
}

fn credit(offers: &[CapsuleOffer], is_kept: bool, grade: ProofGrade, diff: &str) -> Vec<ReuseOutcome> {
    let input = CreditInput { offers, is_kept, grade, diff };
    CycleCredit::assign(&input).outcomes
}

#[test]
fn a_capsule_that_was_only_shown_earns_nothing_for_another_solution() {
    let shown = [offer(PatchTrial::NotTried)];
    assert_eq!(credit(&shown, true, ProofGrade::FailToPass, OTHER), [ReuseOutcome::Alternative]);
    assert_eq!(credit(&shown, true, ProofGrade::FailToPass, DIFF), [ReuseOutcome::Reused]);
    assert_eq!(credit(&shown, true, ProofGrade::Passes, DIFF), [ReuseOutcome::Unchanged]);
    assert_eq!(credit(&shown, false, ProofGrade::FailToPass, DIFF), [ReuseOutcome::Unchanged]);
}

#[test]
fn an_applied_patch_is_reuse_and_one_that_failed_ends_the_streak() {
    let applied = [offer(PatchTrial::Failed), offer(PatchTrial::Applied)];
    let outcomes = credit(&applied, true, ProofGrade::FailToPassReverts, DIFF);
    assert_eq!(outcomes, [ReuseOutcome::Failed, ReuseOutcome::Reused]);
    let rejected = [offer(PatchTrial::Rejected)];
    assert_eq!(credit(&rejected, false, ProofGrade::None, OTHER), [ReuseOutcome::Unchanged]);
}

#[test]
fn a_change_that_waits_for_a_review_gives_no_credit() {
    assert_eq!(
        credit(&[offer(PatchTrial::Applied)], false, ProofGrade::FailToPass, DIFF),
        [ReuseOutcome::Unchanged]
    );
}
