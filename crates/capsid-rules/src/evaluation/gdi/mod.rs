//! The Global Desirability Index: how much an asset deserves to be found, from 0 to 100.
//!
//! Two tracks. The lower bound is what the evidence supports at least; it ranks and promotes, and is the score. The mean
//! is what one would expect; the four dimensions show it. So an asset without any votes has a social mean of 0.5 and a
//! lower bound of almost nothing.
//!
//! Evidence comes before what a publisher says of itself. In the lower bound, each declared value counts as far as
//! others bear it out ([`BeliefRule`]), and passing reports count only when the validation they ran could have failed.

mod belief;
mod terms;
#[cfg(test)]
mod tests;

pub use super::score::hundredths;
pub use belief::{BeliefRule, Beliefs};

use crate::evaluation::proof::ProofLevel;
use crate::{amount, clip01};
use serde::Serialize;
use terms::{intrinsic, social, usage};

const INTRINSIC_WEIGHT: f64 = 0.35;
const USAGE_WEIGHT: f64 = 0.30;
const SOCIAL_WEIGHT: f64 = 0.20;
const FRESHNESS_WEIGHT: f64 = 0.15;

/// How many days take freshness down to 1/e.
const FRESHNESS_DAYS: f64 = 90.0;
/// All that is known of an asset.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct GdiInputs {
    /// The publisher's own confidence, 0 to 1.
    pub confidence: f64,
    /// How often in a row it worked, by the publisher's own count.
    pub success_streak: u32,
    /// How many files it changes: as declared, or as its diff shows where that is more.
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
    /// Whether its bundle tells how it came about.
    pub has_event: bool,
    pub days_since_activity: f64,
    /// How many other owners fetched, reused or reported it.
    pub other_owners: u32,
    /// Whether its validation proves anything.
    pub validation: ProofLevel,
    /// What independent owners show, for the lower bound.
    pub owners: OwnerEvidence,
}

/// What independent owners show. Each owner has one voice, however many nodes it has.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct OwnerEvidence {
    /// Weight of the passing reports that are not about use.
    pub passes: f64,
    /// Weight of the failing ones.
    pub fails: f64,
    /// Weight of the passing reports whose commands fail without the change.
    pub reproduced: f64,
    /// Weight of the failing ones among these.
    pub reproduced_failed: f64,
    /// Weight of the owners that used it and reported back that it worked.
    pub used: f64,
    /// Weight of those for whom it failed.
    pub used_failed: f64,
    /// How many owners it passed for. The hub's runner counts as three.
    pub successes: u32,
    /// Fetches within 30 days, at most three of each owner.
    pub fetches_30d: f64,
    /// Owners that fetched it within 30 days. New ones count little, and all of them together as one at most.
    pub fetchers_30d: f64,
    /// How many owners used it within 90 days.
    pub runs_90d: f64,
    /// Votes of owners that fetched it, by their levels.
    pub upvotes: f64,
    pub downvotes: f64,
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
            has_event: false,
            days_since_activity: 0.0,
            other_owners: 0,
            validation: ProofLevel::Absent,
            owners: OwnerEvidence::default(),
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
    /// How far what its publisher declares is borne out.
    pub beliefs: Beliefs,
    pub parts: Vec<GdiPart>,
}

/// The score of an asset.
pub fn gdi(evidence: &GdiInputs, rule: &BeliefRule) -> Gdi {
    let beliefs = rule.beliefs(evidence);
    let intrinsic = intrinsic(evidence, &beliefs);
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
        lower: freshness * beliefs.validated.max(beliefs.used),
        weight: FRESHNESS_WEIGHT,
        why: format!("last used {days:.0} days ago"),
    };
    let (i, u, s) = (mean(&intrinsic), mean(&usage), mean(&social));
    Gdi {
        score: combine(lower(&intrinsic), lower(&usage), lower(&social), fresh.lower),
        mean: combine(i, u, s, freshness),
        intrinsic: i,
        usage: u,
        social: s,
        freshness,
        beliefs,
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
