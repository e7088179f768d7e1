use super::*;
use crate::evaluation::gdi::gdi as gdi_by_rule;
use proptest::prelude::*;

fn gdi(evidence: &GdiInputs) -> Gdi {
    gdi_by_rule(evidence, &BeliefRule::default())
}

fn days_for(freshness: f64) -> f64 {
    -FRESHNESS_DAYS * freshness.ln()
}

fn near(have: f64, need: f64) {
    assert!((have - need).abs() < 1e-9, "{have} is not {need}");
}

/// Published, never used: its dimensions are 0.57, 0, 0.50 and 0.99.
fn unused() -> GdiInputs {
    GdiInputs {
        confidence: 0.9,
        success_streak: 10,
        files: 1,
        lines: 100,
        triggers: 3,
        summary_chars: 100,
        reputation: 47.0,
        has_event: true,
        days_since_activity: days_for(0.99),
        ..GdiInputs::default()
    }
}

/// Much used: its dimensions are 0.76, 0.65, 0.50 and 0.92.
fn used() -> GdiInputs {
    GdiInputs {
        confidence: 0.9,
        success_streak: 10,
        files: 1,
        lines: 100,
        triggers: 3,
        summary_chars: 100,
        reputation: 66.0,
        fetches_30d: 150,
        unique_fetchers_30d: 15,
        successful_runs_90d: 40,
        other_owners: 15,
        has_event: true,
        days_since_activity: days_for(0.92),
        ..GdiInputs::default()
    }
}

#[test]
fn an_unused_asset_scores_as_known() {
    let gdi = gdi(&unused());
    near(gdi.intrinsic, 0.57);
    near(gdi.usage, 0.0);
    near(gdi.social, 0.50);
    near(gdi.freshness, 0.99);
    near(gdi.mean, 44.8);
    assert!(gdi.score < 15.0, "{}", gdi.score);
}

#[test]
fn a_much_used_asset_scores_as_known() {
    let gdi = gdi(&used());
    near(gdi.intrinsic, 0.76);
    near(gdi.usage, 0.65);
    near(gdi.social, 0.50);
    near(gdi.freshness, 0.92);
    near(gdi.mean, 69.9);
}

#[test]
fn a_bundle_without_an_event_loses_a_fifteenth_of_the_social_dimension() {
    let with = gdi(&used());
    let without = gdi(&GdiInputs { has_event: false, ..used() });
    near(with.social - without.social, 0.2 / 3.0);
    near(with.score - without.score, 4.0 / 3.0);
}

fn passed_by(successes: u32, weight: f64) -> OwnerEvidence {
    OwnerEvidence { passes: weight, successes, ..OwnerEvidence::default() }
}

#[test]
fn what_a_publisher_says_counts_half_in_the_mean_until_others_were_involved() {
    let alone = gdi(&unused()).intrinsic;
    let some = gdi(&GdiInputs { other_owners: 1, ..unused() }).intrinsic;
    let three = gdi(&GdiInputs { other_owners: 3, ..unused() }).intrinsic;
    let passed = gdi(&GdiInputs { other_owners: 1, owners: passed_by(1, 0.5), ..unused() }).intrinsic;
    near(three - alone, (0.45 + 0.5) / 6.0);
    near(some - alone, (0.45 + 0.5) / 18.0);
    near(passed, three);
}

#[test]
fn passing_a_validation_that_proves_nothing_adds_nothing() {
    let owners = OwnerEvidence { passes: 3.0, reproduced: 3.0, ..OwnerEvidence::default() };
    let reported = GdiInputs { passes: 3.0, owners, ..used() };
    let absent = gdi(&used());
    let real = gdi(&GdiInputs { validation: ProofLevel::Real, ..reported });
    assert!(real.score > absent.score + 5.0);
    for (validation, why) in [(ProofLevel::Vacuous, "proves nothing"), (ProofLevel::Weak, "nothing to run")] {
        let found = gdi(&GdiInputs { validation, ..reported });
        near(found.score, absent.score);
        near(found.social, absent.social);
        assert!(found.parts.iter().any(|part| part.why.contains(why)));
    }
}

/// The finding: self-declared confidence, streak, triggers and summary length count fully after one friendly pass.
#[test]
fn self_declared_values_do_not_count_fully_after_one_friendly_pass() {
    let honest = GdiInputs {
        confidence: 0.7,
        success_streak: 1,
        files: 1,
        lines: 20,
        triggers: 1,
        summary_chars: 60,
        has_event: true,
        validation: ProofLevel::Real,
        ..GdiInputs::default()
    };
    let inflated = GdiInputs {
        confidence: 1.0,
        success_streak: 50,
        files: 1,
        lines: 1,
        triggers: 5,
        summary_chars: 200,
        ..honest
    };
    let passed_once =
        |validation| GdiInputs { passes: 0.5, owners: passed_by(1, 0.5), validation, ..inflated };
    let proven = GdiInputs { passes: 3.0, owners: passed_by(3, 3.0), ..honest };
    for validation in [ProofLevel::Real, ProofLevel::Vacuous] {
        let friendly = gdi(&passed_once(validation));
        assert!(friendly.score < gdi(&proven).score, "{} and {}", friendly.score, gdi(&proven).score);
        assert!(friendly.score - gdi(&inflated).score < 6.0, "{}", friendly.score);
    }
}

#[test]
fn the_parts_add_up() {
    let gdi = gdi(&GdiInputs { validation: ProofLevel::Real, passes: 2.0, fails: 1.0, upvotes: 4, ..used() });
    let social: f64 = gdi
        .parts
        .iter()
        .filter(|part| part.name.starts_with("social."))
        .map(|part| part.value * part.weight)
        .sum();
    near(social, gdi.social);
    assert_eq!(gdi.parts.len(), 14);
}

#[test]
fn stored_scores_stay_in_range() {
    for (score, stored) in [(36.8, 3680), (100.0, 10_000), (1e300, 10_000), (-1.0, 0), (f64::NAN, 0)] {
        assert_eq!(hundredths(score), stored);
    }
}

fn number() -> impl Strategy<Value = f64> {
    prop_oneof![prop::num::f64::ANY, -1.0..200.0_f64, 0.0..=1.0_f64]
}

prop_compose! {
    fn owner_evidence()(weights in prop::array::uniform10(number()), successes in 0..20_u32, runs in number()) -> OwnerEvidence {
        let [passes, fails, reproduced, reproduced_failed, used, used_failed, fetches, fetchers, up, down] = weights;
        OwnerEvidence {
            passes,
            fails,
            reproduced,
            reproduced_failed,
            used,
            used_failed,
            successes,
            fetches_30d: fetches,
            fetchers_30d: fetchers,
            runs_90d: runs,
            upvotes: up,
            downvotes: down,
        }
    }
}

prop_compose! {
    fn evidence()(
        numbers in prop::array::uniform5(number()),
        counts in prop::array::uniform10(prop_oneof![any::<u32>(), 0..30_u32]),
        has_event: bool,
        other_owners in 0..6_u32,
        proof in 0..ProofLevel::ALL.len(),
        owners in owner_evidence(),
    ) -> GdiInputs {
        let [confidence, reputation, passes, fails, days_since_activity] = numbers;
        GdiInputs {
            confidence,
            success_streak: counts[0],
            files: counts[1],
            lines: counts[2],
            triggers: counts[3],
            summary_chars: counts[4],
            reputation,
            fetches_30d: counts[5],
            unique_fetchers_30d: counts[6],
            successful_runs_90d: counts[7],
            upvotes: counts[8],
            downvotes: counts[9],
            passes,
            fails,
            has_event,
            days_since_activity,
            other_owners,
            validation: ProofLevel::ALL[proof],
            owners,
        }
    }
}

/// Rounding may move a score by less than what is stored of it.
const ROUNDING: f64 = 1e-9;

/// The same evidence with more of one kind.
fn more(of: OwnerEvidence, weight: f64) -> [OwnerEvidence; 9] {
    let add = |value: f64| amount(value) + weight;
    [
        OwnerEvidence { passes: add(of.passes), ..of },
        OwnerEvidence { reproduced: add(of.reproduced), ..of },
        OwnerEvidence { used: add(of.used), ..of },
        OwnerEvidence { successes: of.successes + 1, ..of },
        OwnerEvidence { fetches_30d: add(of.fetches_30d), ..of },
        OwnerEvidence { fetchers_30d: add(of.fetchers_30d), ..of },
        OwnerEvidence { runs_90d: add(of.runs_90d), ..of },
        OwnerEvidence { upvotes: add(of.upvotes), ..of },
        // A node that passes it anew moves several of them at once.
        OwnerEvidence {
            passes: add(of.passes),
            reproduced: add(of.reproduced),
            successes: of.successes + 1,
            ..of
        },
    ]
}

proptest! {
    #[test]
    fn every_number_is_in_range(evidence in evidence()) {
        let gdi = gdi(&evidence);
        for score in [gdi.score, gdi.mean] {
            prop_assert!((0.0..=100.0).contains(&score));
            prop_assert!((0..=10_000).contains(&hundredths(score)));
        }
        for value in [gdi.intrinsic, gdi.usage, gdi.social, gdi.freshness] {
            prop_assert!((0.0..=1.0).contains(&value));
        }
        for part in gdi.parts {
            prop_assert!((0.0..=1.0).contains(&part.value) && (0.0..=1.0).contains(&part.lower));
        }
        prop_assert!(gdi.score <= gdi.mean + ROUNDING);
    }

    #[test]
    fn more_evidence_never_lowers_the_score(evidence in evidence(), weight in 0.0..50.0_f64, count in 1..50_u32) {
        let before = gdi(&evidence).score;
        let by_owners = more(evidence.owners, weight).map(|owners| GdiInputs { owners, ..evidence });
        let by_nodes = [
            GdiInputs { passes: amount(evidence.passes) + weight, ..evidence },
            GdiInputs { upvotes: evidence.upvotes.saturating_add(count), ..evidence },
            GdiInputs { fetches_30d: evidence.fetches_30d.saturating_add(count), ..evidence },
            GdiInputs { other_owners: evidence.other_owners + count, ..evidence },
            GdiInputs { has_event: true, ..evidence },
        ];
        for better in by_owners.into_iter().chain(by_nodes) {
            prop_assert!(gdi(&better).score >= before - ROUNDING, "{better:?}");
        }
    }

    #[test]
    fn a_failure_never_raises_the_score(evidence in evidence(), weight in 0.0..50.0_f64) {
        let before = gdi(&evidence).score;
        let add = |value: f64| amount(value) + weight;
        let of = evidence.owners;
        let worse = [
            OwnerEvidence { fails: add(of.fails), ..of },
            OwnerEvidence { reproduced_failed: add(of.reproduced_failed), ..of },
            OwnerEvidence { used_failed: add(of.used_failed), ..of },
            OwnerEvidence { downvotes: add(of.downvotes), ..of },
        ];
        let by_owners = worse.map(|owners| GdiInputs { owners, ..evidence });
        let by_nodes = GdiInputs { fails: amount(evidence.fails) + weight, ..evidence };
        for worse in by_owners.into_iter().chain([by_nodes]) {
            prop_assert!(gdi(&worse).score <= before + ROUNDING, "{worse:?}");
        }
    }

    #[test]
    fn without_evidence_all_declared_numbers_together_change_the_score_by_at_most_4_7(
        evidence in evidence(),
        declared in evidence(),
    ) {
        let silent = OwnerEvidence { passes: 0.0, used: 0.0, ..evidence.owners };
        let nothing = GdiInputs {
            confidence: 0.0,
            success_streak: 0,
            files: u32::MAX,
            lines: u32::MAX,
            triggers: 0,
            summary_chars: 0,
            owners: silent,
            ..evidence
        };
        let declaring = GdiInputs {
            confidence: declared.confidence,
            success_streak: declared.success_streak,
            files: declared.files,
            lines: declared.lines,
            triggers: declared.triggers,
            summary_chars: declared.summary_chars,
            ..nothing
        };
        let gained = gdi(&declaring).score - gdi(&nothing).score;
        prop_assert!((-ROUNDING..=4.7).contains(&gained), "{gained}");
    }
}
