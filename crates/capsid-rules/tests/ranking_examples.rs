//! Ten example assets: what each scores, by the formula of the lower bound.

use capsid_rules::evaluation::gdi::{BeliefRule, GdiInputs, OwnerEvidence, gdi};
use capsid_rules::evaluation::proof::ProofLevel;

/// An example: the score that the design asks for, and all that is known of the asset.
struct RankedExample {
    score: f64,
    known: GdiInputs,
}

/// What a publisher declares: confidence, streak, triggers, characters of the summary.
fn declared(confidence: f64, success_streak: u32, triggers: u32, summary_chars: u32) -> GdiInputs {
    GdiInputs {
        confidence,
        success_streak,
        triggers,
        summary_chars,
        files: 1,
        has_event: true,
        validation: ProofLevel::Real,
        // The mean counts nodes and votes as they come; the examples are about the lower bound.
        fetches_30d: 1000,
        unique_fetchers_30d: 1000,
        successful_runs_90d: 1000,
        upvotes: 100,
        passes: 100.0,
        ..GdiInputs::default()
    }
}

fn reproduced(weight: f64, successes: u32) -> OwnerEvidence {
    OwnerEvidence { passes: weight, reproduced: weight, successes, ..OwnerEvidence::default() }
}

/// Uses, and fetches by so many owners.
fn used(of: OwnerEvidence, used: f64, by: u32, fetches_30d: f64, fetchers_30d: f64) -> OwnerEvidence {
    let runs_90d = f64::from(by);
    OwnerEvidence { used, successes: of.successes + by, runs_90d, fetches_30d, fetchers_30d, ..of }
}

fn examples() -> [RankedExample; 10] {
    let honest =
        GdiInputs { lines: 10, reputation: 55.0, days_since_activity: 2.0, ..declared(0.9, 5, 2, 75) };
    let new = GdiInputs { lines: 10, reputation: 50.0, ..declared(0.85, 3, 1, 57) };
    let junk = GdiInputs { lines: 1, reputation: 30.0, ..declared(1.0, 99, 5, 190) };
    let inflated = GdiInputs { lines: 1, reputation: 51.0, ..declared(1.0, 50, 5, 200) };
    let none = OwnerEvidence::default();
    let known = [
        GdiInputs {
            owners: OwnerEvidence { upvotes: 2.0, ..used(reproduced(4.44, 5), 3.6, 6, 24.0, 8.0) },
            ..honest
        },
        GdiInputs { owners: reproduced(2.09, 3), ..new },
        GdiInputs { owners: reproduced(3.0, 3), ..new },
        GdiInputs {
            files: 2,
            lines: 40,
            reputation: 58.0,
            days_since_activity: 45.0,
            has_event: false,
            owners: OwnerEvidence { upvotes: 1.0, ..used(reproduced(3.0, 3), 2.1, 3, 18.0, 6.0) },
            ..declared(0.7, 1, 1, 80)
        },
        GdiInputs {
            lines: 20,
            reputation: 52.0,
            days_since_activity: 3.0,
            validation: ProofLevel::Vacuous,
            owners: OwnerEvidence { upvotes: 1.5, ..used(none, 3.25, 5, 32.0, 12.0) },
            ..declared(0.85, 3, 2, 90)
        },
        junk,
        GdiInputs { owners: OwnerEvidence { fetches_30d: 1.0, fetchers_30d: 1.0, ..none }, ..junk },
        GdiInputs { validation: ProofLevel::Weak, owners: used(none, 0.65, 1, 2.0, 2.0), ..inflated },
        GdiInputs { owners: reproduced(3.0, 3), ..inflated },
        GdiInputs {
            owners: OwnerEvidence {
                fails: 2.14,
                reproduced_failed: 2.14,
                upvotes: 2.0,
                ..used(reproduced(1.44, 2), 3.6, 6, 24.0, 8.0)
            },
            ..honest
        },
    ];
    let scores = [50.4, 27.7, 30.5, 34.5, 37.9, 11.4, 11.8, 20.5, 33.0, 34.0];
    std::array::from_fn(|at| RankedExample { score: scores[at], known: known[at] })
}

fn score(example: &RankedExample) -> f64 {
    gdi(&example.known, &BeliefRule::default()).score
}

#[test]
fn the_ten_examples_score_as_designed() {
    for (at, example) in examples().iter().enumerate() {
        let have = score(example);
        assert!((have - example.score).abs() <= 0.05, "example {}: {have} is not {}", at + 1, example.score);
    }
}

#[test]
fn the_documented_table_holds_the_scores_that_the_rules_give() {
    let page = include_str!("../../../docs/explanation/how-a-hub-judges.md");
    for (at, example) in examples().iter().enumerate() {
        let row = format!("| {} |", at + 1);
        let line = page.lines().find(|line| line.starts_with(&row)).unwrap_or_default();
        let score = format!("**{:.1}", score(example));
        assert!(
            line.contains(&score),
            "docs/explanation/how-a-hub-judges.md, row {}: {score} is not in `{line}`",
            at + 1
        );
    }
}
