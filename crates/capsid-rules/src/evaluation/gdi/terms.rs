//! The terms of each dimension: what is expected, and what the evidence supports at least.

use super::{Beliefs, GdiInputs, GdiPart};
use crate::evaluation::proof::ProofLevel;
use crate::evaluation::score::wilson;
use crate::{amount, clip01};

/// What the mean takes reproducibility for while nobody tried.
const UNTRIED_REPRODUCIBILITY: f64 = 0.25;
/// What a bundle without an EvolutionEvent keeps of its bundle term: a loss of 0.0667 in the social dimension.
const BUNDLE_WITHOUT_EVENT: f64 = 1.0 / 3.0;
/// How many other owners make what a publisher says count fully.
const OWNERS_TO_BELIEVE: f64 = 3.0;

/// How far the publisher's own words count in the mean: half while nobody else was involved.
fn belief(evidence: &GdiInputs) -> f64 {
    if evidence.owners.successes > 0 {
        return 1.0;
    }
    0.5 + 0.5 * clip01(f64::from(evidence.other_owners) / OWNERS_TO_BELIEVE)
}

/// What the asset is by itself, and how far the lower bound believes it.
pub fn intrinsic(e: &GdiInputs, beliefs: &Beliefs) -> Vec<GdiPart> {
    let belief = belief(e);
    let believed = |share: f64| format!("{:.0} % is borne out by others", share * 100.0);
    let (validated, used) = (believed(beliefs.validated), believed(beliefs.used));
    let part = |name, value: f64, lower: f64, why| GdiPart {
        name,
        value,
        lower: lower.min(value),
        weight: 1.0 / 6.0,
        why,
    };
    let (confidence, triggers, summary) = (
        clip01(e.confidence),
        clip01(f64::from(e.triggers) / 5.0),
        clip01(f64::from(e.summary_chars) / 200.0),
    );
    let small = clip01(1.0 - f64::from(e.files) * f64::from(e.lines) / 1000.0);
    let streak = |count: u32| clip01(f64::from(count) / 10.0);
    let reputation = clip01(e.reputation / 100.0);
    vec![
        part(
            "intrinsic.confidence",
            confidence * belief,
            confidence * beliefs.validated,
            format!("confidence {confidence:.2}; {validated}"),
        ),
        part(
            "intrinsic.streak",
            streak(e.success_streak) * belief,
            streak(beliefs.streak),
            format!("{} successes in a row of 10; {} borne out by others", e.success_streak, beliefs.streak),
        ),
        part(
            "intrinsic.blast_radius",
            small,
            small * beliefs.validated,
            format!("{} files and {} lines changed; {validated}", e.files, e.lines),
        ),
        part(
            "intrinsic.triggers",
            triggers,
            triggers * beliefs.used,
            format!("{} triggers of 5; {used}", e.triggers),
        ),
        part(
            "intrinsic.summary",
            summary,
            summary * beliefs.used,
            format!("{} characters of summary of 200; {used}", e.summary_chars),
        ),
        part(
            "intrinsic.reputation",
            reputation,
            reputation,
            format!("publisher's reputation {:.1}", 100.0 * reputation),
        ),
    ]
}

/// How much the asset is used: by nodes in the mean, by owners in the lower bound.
pub fn usage(e: &GdiInputs) -> Vec<GdiPart> {
    let owners = &e.owners;
    // Much use by few is less sure to last.
    let spread = 0.5 + 0.5 * clip01(amount(owners.fetchers_30d) / 5.0);
    let part = |name, count: u32, counted: f64, half: f64, weight, what| {
        let value = saturate(f64::from(count), half);
        let lower = (saturate(amount(counted), half) * spread).min(value);
        GdiPart {
            name,
            value,
            lower,
            weight,
            why: format!("{count} {what}, {counted:.1} by owners that count"),
        }
    };
    vec![
        part("usage.fetches", e.fetches_30d, owners.fetches_30d, 50.0, 0.40, "fetches in 30 days"),
        part(
            "usage.fetchers",
            e.unique_fetchers_30d,
            owners.fetchers_30d,
            15.0,
            0.30,
            "different nodes in 30 days",
        ),
        part("usage.runs", e.successful_runs_90d, owners.runs_90d, 20.0, 0.30, "successful runs in 90 days"),
    ]
}

/// What others say of the asset.
pub fn social(e: &GdiInputs) -> Vec<GdiPart> {
    let (up, down) = (f64::from(e.upvotes), f64::from(e.downvotes));
    let (counted_up, counted_down) = (amount(e.owners.upvotes), amount(e.owners.downvotes));
    let value = (up + 1.0) / (up + down + 2.0);
    vec![
        GdiPart {
            name: "social.votes",
            value,
            lower: wilson(counted_up, counted_up + counted_down).min(value),
            weight: 0.35,
            why: format!(
                "{} votes for, {} against; {counted_up:.1} and {counted_down:.1} by owners that fetched it",
                e.upvotes, e.downvotes
            ),
        },
        validation(e),
        reproducibility(e),
        bundle(e),
    ]
}

/// Reports. One that a validation passed which cannot fail says nothing; one that it failed lowers the mean.
fn validation(e: &GdiInputs) -> GdiPart {
    let is_real = e.validation == ProofLevel::Real;
    let real = |weight: f64| if is_real { amount(weight) } else { 0.0 };
    let (passes, fails) = (real(e.passes), amount(e.fails));
    let total = passes + fails;
    let (counted, failed) = (real(e.owners.passes), real(e.owners.fails));
    let value = if total > 0.0 { clip01(passes / total) } else { 0.5 };
    let why = match e.validation {
        ProofLevel::Real => format!("reports weighing {counted:.2} passed, {failed:.2} failed"),
        ProofLevel::Weak => {
            "the validation passes where there is nothing to run, and counts as absent".to_owned()
        }
        ProofLevel::Vacuous => "the validation proves nothing and counts as absent".to_owned(),
        ProofLevel::Absent => "there is no validation that a report could rest on".to_owned(),
    };
    GdiPart {
        name: "social.validation",
        value,
        lower: wilson(counted, counted + failed).min(value),
        weight: 0.35,
        why,
    }
}

fn reproducibility(e: &GdiInputs) -> GdiPart {
    let is_real = e.validation == ProofLevel::Real;
    let real = |weight: f64| if is_real { amount(weight) } else { 0.0 };
    let (reproduced, failed) = (real(e.owners.reproduced), real(e.owners.reproduced_failed));
    let tries = reproduced + failed;
    let (value, why) = match tries > 0.0 {
        true => (
            clip01(reproduced / tries),
            format!("reproduced with a weight of {reproduced:.2}, not reproduced with {failed:.2}"),
        ),
        false => (UNTRIED_REPRODUCIBILITY, "nobody reproduced it".to_owned()),
    };
    GdiPart { name: "social.reproducibility", value, lower: wilson(reproduced, tries), weight: 0.20, why }
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
