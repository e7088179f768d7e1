//! The Global Desirability Index: how much an asset deserves to be found, from 0 to 100.
//!
//! Two tracks. The lower bound is what the evidence supports at least; it ranks and promotes, and is the score. The mean
//! is what one would expect; the four dimensions show it. So an asset without any votes has a social mean of 0.5 and a
//! lower bound of almost nothing.
//!
//! Evidence comes before what a publisher says of itself: confidence and streak count half until other owners used the
//! asset, and passing reports count only when the validation they ran could have failed.

pub use super::score::hundredths;
use crate::evaluation::proof::ProofLevel;
use crate::{amount, clip01};
use serde::Serialize;

const INTRINSIC_WEIGHT: f64 = 0.35;
const USAGE_WEIGHT: f64 = 0.30;
const SOCIAL_WEIGHT: f64 = 0.20;
const FRESHNESS_WEIGHT: f64 = 0.15;

/// How sure the lower bound is: one-sided 95 %.
const Z: f64 = 1.645;
/// What the mean takes reproducibility for while nobody tried.
const UNTRIED_REPRODUCIBILITY: f64 = 0.25;
/// What a bundle without an EvolutionEvent keeps of its bundle term: a loss of 0.0667 in the social dimension.
const BUNDLE_WITHOUT_EVENT: f64 = 1.0 / 3.0;
/// How many days take freshness down to 1/e.
const FRESHNESS_DAYS: f64 = 90.0;
/// How many other owners make what a publisher says count fully.
const OWNERS_TO_BELIEVE: f64 = 3.0;

/// All that is known of an asset.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GdiInputs {
    /// The publisher's own confidence, 0 to 1.
    pub confidence: f64,
    /// How often in a row it worked, by the publisher's own count.
    pub success_streak: u32,
    pub files: u32,
    pub lines: u32,
    /// How many signals trigger it.
    pub triggers: u32,
    /// The length of its summary in characters.
    pub summary_chars: u32,
    /// The publisher's reputation, 0 to 100.
    pub reputation: f64,
    /// Fetches by others within 30 days.
    pub fetches_30d: u32,
    pub unique_fetchers_30d: u32,
    /// Successful uses within 90 days.
    pub successful_runs_90d: u32,
    pub upvotes: u32,
    pub downvotes: u32,
    /// Weight of the reports that it passed.
    pub passes: f64,
    /// Weight of the reports that it failed.
    pub fails: f64,
    /// How well others reproduced it, 0 to 1; nothing when nobody tried.
    pub reproducibility: Option<f64>,
    /// Whether its bundle tells how it came about.
    pub has_event: bool,
    pub days_since_activity: f64,
    /// How many other owners fetched, reused or reported it.
    pub other_owners: u32,
    /// Whether a report by another owner says that it passed.
    pub passed_by_other: bool,
    /// Whether its validation proves anything.
    pub validation: ProofLevel,
}

impl Default for GdiInputs {
    /// An asset of which nothing is known, by a publisher of whom nothing is known.
    fn default() -> Self {
        Self {
            confidence: 0.0,
            success_streak: 0,
            files: 0,
            lines: 0,
            triggers: 0,
            summary_chars: 0,
            reputation: crate::evaluation::reputation::START,
            fetches_30d: 0,
            unique_fetchers_30d: 0,
            successful_runs_90d: 0,
            upvotes: 0,
            downvotes: 0,
            passes: 0.0,
            fails: 0.0,
            reproducibility: None,
            has_event: false,
            days_since_activity: 0.0,
            other_owners: 0,
            passed_by_other: false,
            validation: ProofLevel::Absent,
        }
    }
}

/// One term of a score.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct GdiPart {
    /// Such as `social.votes`: the dimension, then the term.
    pub name: &'static str,
    /// 0 to 1.
    pub value: f64,
    /// The lower bound, 0 to 1.
    pub lower: f64,
    /// How much it weighs in its dimension, or the dimension in the score.
    pub weight: f64,
    /// What it comes from, in words.
    pub why: String,
}

/// A score and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct Gdi {
    /// The lower bound, 0 to 100: ranks and promotes.
    pub score: f64,
    /// 0 to 100.
    pub mean: f64,
    /// What the asset is by itself, 0 to 1.
    pub intrinsic: f64,
    /// How much it is used, 0 to 1.
    pub usage: f64,
    /// What others say of it, 0 to 1.
    pub social: f64,
    /// How lately it was used, 0 to 1.
    pub freshness: f64,
    pub parts: Vec<GdiPart>,
}

/// The score of an asset.
pub fn gdi(evidence: &GdiInputs) -> Gdi {
    let intrinsic = intrinsic(evidence);
    let usage = usage(evidence);
    let social = social(evidence);
    let freshness = freshness(evidence.days_since_activity);
    let sum = |parts: &[GdiPart], of: fn(&GdiPart) -> f64| {
        clip01(parts.iter().map(|part| part.weight * of(part)).sum::<f64>())
    };
    let mean = |parts: &[GdiPart]| sum(parts, |part| part.value);
    let lower = |parts: &[GdiPart]| sum(parts, |part| part.lower);
    let days = amount(evidence.days_since_activity);
    let fresh = GdiPart {
        name: "freshness",
        value: freshness,
        lower: freshness,
        weight: FRESHNESS_WEIGHT,
        why: format!("last used {days:.0} days ago"),
    };
    let (i, u, s) = (mean(&intrinsic), mean(&usage), mean(&social));
    Gdi {
        score: combine(lower(&intrinsic), lower(&usage), lower(&social), freshness),
        mean: combine(i, u, s, freshness),
        intrinsic: i,
        usage: u,
        social: s,
        freshness,
        parts: intrinsic.into_iter().chain(usage).chain(social).chain([fresh]).collect(),
    }
}

/// The score of four dimensions, 0 to 100.
pub fn combine(intrinsic: f64, usage: f64, social: f64, freshness: f64) -> f64 {
    let sum = INTRINSIC_WEIGHT * clip01(intrinsic)
        + USAGE_WEIGHT * clip01(usage)
        + SOCIAL_WEIGHT * clip01(social)
        + FRESHNESS_WEIGHT * clip01(freshness);
    100.0 * clip01(sum)
}

/// How fresh an asset is that was last used so many days ago.
pub fn freshness(days_since_activity: f64) -> f64 {
    clip01((-amount(days_since_activity) / FRESHNESS_DAYS).exp())
}

/// How far the publisher's own words count: half while nobody else was involved.
fn belief(evidence: &GdiInputs) -> f64 {
    if evidence.passed_by_other {
        return 1.0;
    }
    0.5 + 0.5 * clip01(f64::from(evidence.other_owners) / OWNERS_TO_BELIEVE)
}

fn intrinsic(e: &GdiInputs) -> Vec<GdiPart> {
    let belief = belief(e);
    let counts = format!("counts {:.0} % by the evidence of others", belief * 100.0);
    let part = |name, value, why| GdiPart { name, value, lower: value, weight: 1.0 / 6.0, why };
    let blast = f64::from(e.files) * f64::from(e.lines);
    vec![
        part(
            "intrinsic.confidence",
            clip01(e.confidence) * belief,
            format!("confidence {:.2}, {counts}", clip01(e.confidence)),
        ),
        part(
            "intrinsic.streak",
            clip01(f64::from(e.success_streak) / 10.0) * belief,
            format!("{} successes in a row of 10, {counts}", e.success_streak),
        ),
        part(
            "intrinsic.blast_radius",
            clip01(1.0 - blast / 1000.0),
            format!("{} files and {} lines changed", e.files, e.lines),
        ),
        part(
            "intrinsic.triggers",
            clip01(f64::from(e.triggers) / 5.0),
            format!("{} triggers of 5", e.triggers),
        ),
        part(
            "intrinsic.summary",
            clip01(f64::from(e.summary_chars) / 200.0),
            format!("{} characters of summary of 200", e.summary_chars),
        ),
        part(
            "intrinsic.reputation",
            clip01(e.reputation / 100.0),
            format!("publisher's reputation {:.1}", 100.0 * clip01(e.reputation / 100.0)),
        ),
    ]
}

fn usage(e: &GdiInputs) -> Vec<GdiPart> {
    // Much use by few is less sure to last.
    let spread = 0.5 + 0.5 * clip01(f64::from(e.unique_fetchers_30d) / 5.0);
    let part = |name, count: u32, half: f64, weight, what| {
        let value = saturate(f64::from(count), half);
        GdiPart { name, value, lower: value * spread, weight, why: format!("{count} {what}") }
    };
    vec![
        part("usage.fetches", e.fetches_30d, 50.0, 0.40, "fetches in 30 days"),
        part("usage.fetchers", e.unique_fetchers_30d, 15.0, 0.30, "different nodes in 30 days"),
        part("usage.runs", e.successful_runs_90d, 20.0, 0.30, "successful runs in 90 days"),
    ]
}

fn social(e: &GdiInputs) -> Vec<GdiPart> {
    let (up, down) = (f64::from(e.upvotes), f64::from(e.downvotes));
    vec![
        GdiPart {
            name: "social.votes",
            value: (up + 1.0) / (up + down + 2.0),
            lower: wilson(up, up + down),
            weight: 0.35,
            why: format!("{} votes for, {} against", e.upvotes, e.downvotes),
        },
        validation(e),
        reproducibility(e),
        bundle(e),
    ]
}

/// Reports. One that a validation passed which cannot fail says nothing; one that it failed does.
fn validation(e: &GdiInputs) -> GdiPart {
    let passes = if e.validation == ProofLevel::Real { amount(e.passes) } else { 0.0 };
    let fails = amount(e.fails);
    let total = passes + fails;
    let why = match e.validation {
        ProofLevel::Real => format!("reports weighing {passes:.2} passed, {fails:.2} failed"),
        ProofLevel::Vacuous => "the validation proves nothing and counts as absent".to_owned(),
        ProofLevel::Absent => "there is no validation that a report could rest on".to_owned(),
    };
    GdiPart {
        name: "social.validation",
        value: if total > 0.0 { clip01(passes / total) } else { 0.5 },
        lower: wilson(passes, total),
        weight: 0.35,
        why,
    }
}

fn reproducibility(e: &GdiInputs) -> GdiPart {
    let tries = amount(e.passes) + amount(e.fails);
    let tried = e.reproducibility.filter(|_| e.validation == ProofLevel::Real && tries > 0.0).map(clip01);
    GdiPart {
        name: "social.reproducibility",
        value: tried.unwrap_or(UNTRIED_REPRODUCIBILITY),
        lower: tried.map_or(0.0, |rate| wilson(rate * tries, tries)),
        weight: 0.20,
        why: tried
            .map_or_else(|| "nobody tried".to_owned(), |rate| format!("reproduced to {:.0} %", rate * 100.0)),
    }
}

fn bundle(e: &GdiInputs) -> GdiPart {
    let (value, why) = if e.has_event {
        (1.0, "the bundle tells how it came about")
    } else {
        (BUNDLE_WITHOUT_EVENT, "the bundle has no EvolutionEvent")
    };
    GdiPart { name: "social.bundle", value, lower: value, weight: 0.10, why: why.to_owned() }
}

fn saturate(count: f64, half: f64) -> f64 {
    count / (count + half)
}

/// The lower end of the Wilson interval of a share; zero without data.
fn wilson(hits: f64, total: f64) -> f64 {
    if total <= 0.0 {
        return 0.0;
    }
    let share = clip01(hits / total);
    let z2 = Z * Z / total;
    let middle = share + z2 / 2.0;
    let spread = (z2 * (share * (1.0 - share) + z2 / 4.0)).sqrt();
    clip01((middle - spread) / (1.0 + z2))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn days_for(freshness: f64) -> f64 {
        -FRESHNESS_DAYS * freshness.ln()
    }

    fn near(have: f64, need: f64) {
        assert!((have - need).abs() < 1e-9, "{have} is not {need}");
    }

    /// Published, never used: dimensions 0.57, 0, 0.50 and 0.99 go with 36.8.
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

    /// Much used: dimensions 0.76, 0.65, 0.50 and 0.92 go with 61.9.
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
        near(gdi.score, 36.8);
        assert_eq!(hundredths(gdi.score), 3680);
    }

    #[test]
    fn a_much_used_asset_scores_as_known() {
        let gdi = gdi(&used());
        near(gdi.intrinsic, 0.76);
        near(gdi.usage, 0.65);
        near(gdi.social, 0.50);
        near(gdi.freshness, 0.92);
        near(gdi.score, 61.9);
    }

    #[test]
    fn a_bundle_without_an_event_loses_a_fifteenth_of_the_social_dimension() {
        let with = gdi(&used());
        let without = gdi(&GdiInputs { has_event: false, ..used() });
        near(with.social - without.social, 0.2 / 3.0);
        near(with.score - without.score, 4.0 / 3.0);
    }

    #[test]
    fn what_a_publisher_says_counts_half_until_others_were_involved() {
        let alone = gdi(&unused()).intrinsic;
        let some = gdi(&GdiInputs { other_owners: 1, ..unused() }).intrinsic;
        let three = gdi(&GdiInputs { other_owners: 3, ..unused() }).intrinsic;
        let passed = gdi(&GdiInputs { other_owners: 1, passed_by_other: true, ..unused() }).intrinsic;
        near(three - alone, (0.45 + 0.5) / 6.0);
        near(some - alone, (0.45 + 0.5) / 18.0);
        near(passed, three);
    }

    #[test]
    fn passing_a_validation_that_proves_nothing_adds_nothing() {
        let reported = GdiInputs { passes: 3.0, reproducibility: Some(1.0), ..used() };
        let absent = gdi(&used());
        let vacuous = gdi(&GdiInputs { validation: ProofLevel::Vacuous, ..reported });
        let real = gdi(&GdiInputs { validation: ProofLevel::Real, ..reported });
        near(vacuous.score, absent.score);
        near(vacuous.social, absent.social);
        assert!(real.score > absent.score + 5.0);
        assert!(vacuous.parts.iter().any(|part| part.why.contains("proves nothing")));
    }

    #[test]
    fn the_parts_add_up() {
        let gdi =
            gdi(&GdiInputs { validation: ProofLevel::Real, passes: 2.0, fails: 1.0, upvotes: 4, ..used() });
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
        fn evidence()(
            numbers in prop::array::uniform6(number()),
            counts in prop::array::uniform10(prop_oneof![any::<u32>(), 0..30_u32]),
            reproducibility in prop::option::of(number()),
            flags in any::<(bool, bool)>(),
            other_owners in 0..6_u32,
            proof in 0..3_usize,
        ) -> GdiInputs {
            let [confidence, reputation, passes, fails, days_since_activity, _] = numbers;
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
                reproducibility,
                has_event: flags.0,
                days_since_activity,
                other_owners,
                passed_by_other: flags.1,
                validation: [ProofLevel::Absent, ProofLevel::Vacuous, ProofLevel::Real][proof],
            }
        }
    }

    /// Rounding may move a score by less than what is stored of it.
    const ROUNDING: f64 = 1e-9;

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
        fn more_good_never_lowers_the_score(evidence in evidence(), more in 0.0..50.0_f64, count in 1..50_u32) {
            let before = gdi(&evidence).score;
            let passes = amount(evidence.passes);
            let better = [
                GdiInputs { passes: passes + more, ..evidence },
                GdiInputs { upvotes: evidence.upvotes.saturating_add(count), ..evidence },
                GdiInputs { fetches_30d: evidence.fetches_30d.saturating_add(count), ..evidence },
                GdiInputs { unique_fetchers_30d: evidence.unique_fetchers_30d.saturating_add(count), ..evidence },
                GdiInputs { other_owners: evidence.other_owners + count, ..evidence },
                GdiInputs { passed_by_other: true, ..evidence },
                GdiInputs { has_event: true, ..evidence },
            ];
            for better in better {
                prop_assert!(gdi(&better).score >= before - ROUNDING, "{better:?}");
            }
        }
    }
}
