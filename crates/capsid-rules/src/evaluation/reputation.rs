//! The reputation of a node, 0 to 100: what became of what it published.

use crate::{amount, clip01};
use serde::Serialize;

/// Where a node begins.
pub const START: f64 = 50.0;
/// From here on work is paid in full, and assets may be promoted.
pub const FULL_PAY: f64 = 30.0;
/// From here on a node may aggregate, and its decisions count as votes.
pub const SENIOR: f64 = 60.0;
/// What a report costs that goes against the outcome.
pub const OUTLIER_PENALTY: f64 = 5.0;
/// The most that penalties add up to.
pub const PENALTY_CAP: f64 = 100.0;

/// The points that promotions give at most.
const PROMOTIONS: f64 = 25.0;
/// The points that the confidence of reused assets gives at most.
const CONFIDENCE: f64 = 12.0;
/// The points that the average score gives at most.
const AVERAGE_GDI: f64 = 13.0;
/// From so many reused assets on their confidence counts in full.
const FULL_EVIDENCE: f64 = 5.0;
/// What it costs at most that assets were rejected.
const REJECTIONS: f64 = 20.0;
/// What it costs at most that assets were revoked.
const REVOCATIONS: f64 = 25.0;

/// How many published assets make a full record.
const FULL_RECORD: f64 = 30.0;
/// How many make a newcomer, who pays half for mistakes.
const NEWCOMER: u32 = 5;
const DAILY_DECAY: f64 = 0.97;
const FORGOTTEN_BELOW: f64 = 0.5;
const HOUR_MS: i64 = 3_600_000;
const DAY_MS: i64 = 24 * HOUR_MS;

/// What a node did.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct NodeRecord {
    /// Everything it published, candidates too.
    pub published: u32,
    pub promoted: u32,
    pub rejected: u32,
    pub revoked: u32,
    /// The mean confidence of its promoted assets that others fetched, 0 to 1.
    pub validated_confidence: f64,
    /// How many of its assets others reused.
    pub reused_by_others: u32,
    /// The mean score of its promoted assets, 0 to 100.
    pub average_gdi: f64,
    /// Its penalty points, decayed to now.
    pub penalty: f64,
}

impl NodeRecord {
    fn is_newcomers(&self) -> bool {
        self.published <= NEWCOMER
    }

    /// What rejections and revocations cost at most.
    fn costs(&self) -> (f64, f64) {
        let part = if self.is_newcomers() { 0.5 } else { 1.0 };
        (part * REJECTIONS, part * REVOCATIONS)
    }
}

/// One term of a reputation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ReputationPart {
    pub name: &'static str,
    /// The points it adds; negative when it takes some.
    pub points: f64,
    /// What it comes from, in words.
    pub why: String,
}

/// A reputation and where it comes from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Reputation {
    /// 0 to 100.
    pub score: f64,
    /// Points above the start, at most 50.
    pub positive: f64,
    pub negative: f64,
    pub parts: Vec<ReputationPart>,
}

/// The reputation that follows from a record.
pub fn reputation(record: &NodeRecord) -> Reputation {
    let settled = f64::from(record.promoted) + f64::from(record.rejected) + f64::from(record.revoked);
    let rate = |count: u32| if settled > 0.0 { clip01(f64::from(count) / settled) } else { 0.0 };
    let evidence = clip01(f64::from(record.reused_by_others) / FULL_EVIDENCE);
    let experience = clip01(f64::from(record.published) / FULL_RECORD);
    let (reject_cost, revoke_cost) = record.costs();
    let points = |name, points, why| ReputationPart { name, points, why };
    let gains = [
        points(
            "promotions",
            PROMOTIONS * rate(record.promoted) * experience,
            format!("{} of {settled:.0} settled assets promoted", record.promoted),
        ),
        points(
            "validated_confidence",
            CONFIDENCE * clip01(record.validated_confidence) * evidence * experience,
            format!("{} assets reused by others", record.reused_by_others),
        ),
        points(
            "average_gdi",
            AVERAGE_GDI * clip01(record.average_gdi / 100.0) * experience,
            format!("promoted assets score {:.1} on average", 100.0 * clip01(record.average_gdi / 100.0)),
        ),
    ];
    let costs = [
        points("rejections", reject_cost * rate(record.rejected), format!("{} rejected", record.rejected)),
        points("revocations", revoke_cost * rate(record.revoked), format!("{} revoked", record.revoked)),
        points("penalty", amount(record.penalty).min(PENALTY_CAP), "strikes and outlying reports".to_owned()),
    ];
    let positive = gains.iter().map(|part| part.points).sum::<f64>().min(50.0);
    let negative = costs.iter().map(|part| part.points).sum::<f64>();
    let costs = costs.into_iter().map(|part| ReputationPart { points: 0.0 - part.points, ..part });
    Reputation {
        score: (START + positive - negative).clamp(0.0, 100.0),
        positive,
        negative,
        parts: gains.into_iter().chain(costs).collect(),
    }
}

/// One term of a reputation.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = ReputationPart))]
pub struct ReputationShare {
    pub name: &'static str,
    /// 0 to 1.
    pub value: f64,
    /// The points that it gives at most; below zero where it takes some.
    pub weight: f64,
    pub points: f64,
    /// In one sentence.
    pub explained: String,
}

impl ReputationShare {
    fn new(name: &'static str, weight: f64, points: f64, explained: String) -> Self {
        let value = if weight == 0.0 { 0.0 } else { clip01(points / weight) };
        Self { name, value, weight, points, explained }
    }

    /// Points that are no part of the record.
    fn correction(name: &'static str, points: f64, explained: &str) -> Self {
        Self { name, value: 1.0, weight: points, points, explained: explained.to_owned() }
    }
}

/// Less than this is rounding.
const NO_DIFFERENCE: f64 = 0.005;

/// Where a reputation comes from that is `stored` as it was last worked out, or was `set` by an operator. The points of
/// all shares add up to the one that holds, but for rounding.
pub fn shares(record: &NodeRecord, stored: f64, set: Option<f64>) -> Vec<ReputationShare> {
    let now = reputation(record);
    let points = |name: &str| now.parts.iter().find(|part| part.name == name).map_or(0.0, |part| part.points);
    let (reject_cost, revoke_cost) = record.costs();
    let settled = u64::from(record.promoted) + u64::from(record.rejected) + u64::from(record.revoked);
    let halved = if record.is_newcomers() { " A newcomer pays half." } else { "" };
    let mut shares = vec![
        ReputationShare::new("start", START, START, format!("Every node begins with {START:.0} points.")),
        ReputationShare::new(
            "promotions",
            PROMOTIONS,
            points("promotions"),
            format!(
                "{} of {settled} settled assets were promoted; it counts in full from {FULL_RECORD:.0} published assets on.",
                record.promoted
            ),
        ),
        ReputationShare::new(
            "validated_confidence",
            CONFIDENCE,
            points("validated_confidence"),
            format!(
                "{} of its promoted assets were reused by others; their confidence counts in full from {FULL_EVIDENCE:.0} on.",
                record.reused_by_others
            ),
        ),
        ReputationShare::new(
            "average_gdi",
            AVERAGE_GDI,
            points("average_gdi"),
            format!(
                "Its promoted assets score {:.1} of 100 on average.",
                100.0 * clip01(record.average_gdi / 100.0)
            ),
        ),
        ReputationShare::new(
            "rejections",
            0.0 - reject_cost,
            points("rejections"),
            format!("{} of {settled} settled assets were rejected.{halved}", record.rejected),
        ),
        ReputationShare::new(
            "revocations",
            0.0 - revoke_cost,
            points("revocations"),
            format!("{} of {settled} settled assets were withdrawn again.{halved}", record.revoked),
        ),
        ReputationShare::new(
            "penalty",
            0.0 - PENALTY_CAP,
            points("penalty"),
            "Strikes for quarantined bundles and reports against the outcome; they fade day by day."
                .to_owned(),
        ),
    ];
    let sum: f64 = shares.iter().map(|share| share.points).sum();
    let corrections = [
        ("bounds", now.score - sum, "A reputation stays between 0 and 100."),
        ("later", stored - now.score, "What happened since the hub last worked it out counts the next time."),
        (
            "operator",
            set.map_or(0.0, |set| set - stored),
            "The operator of this hub has set this reputation.",
        ),
    ];
    let corrections = corrections.into_iter().filter(|(_, points, _)| points.abs() >= NO_DIFFERENCE);
    shares.extend(corrections.map(|(name, points, why)| ReputationShare::correction(name, points, why)));
    shares
}

/// A reputation as it is stored: whole hundredths, 0 to 10000.
pub fn hundredths(score: f64) -> i64 {
    super::score::hundredths(score)
}

/// Penalty points after whole days; what is left below half a point is forgotten.
pub fn decayed(points: f64, days: u32) -> f64 {
    let days = i32::try_from(days).unwrap_or(i32::MAX);
    let left = amount(points).min(PENALTY_CAP) * DAILY_DECAY.powi(days);
    if left < FORGOTTEN_BELOW { 0.0 } else { left }
}

/// Penalty points at `now` and the moment they stand for, which moves by whole days only.
pub fn decayed_until(points: f64, since_ms: i64, now_ms: i64) -> (f64, i64) {
    let days = now_ms.saturating_sub(since_ms).max(0) / DAY_MS;
    let left = decayed(points, u32::try_from(days).unwrap_or(u32::MAX));
    (left, since_ms.saturating_add(days.saturating_mul(DAY_MS)))
}

/// Penalty points with more added, up to the cap.
pub fn penalised(points: f64, more: f64) -> f64 {
    (amount(points) + amount(more)).min(PENALTY_CAP)
}

/// A strike for a quarantined bundle.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Strike {
    /// The first, second or third in its window.
    pub number: u32,
    /// The penalty points it costs.
    pub points: f64,
}

/// The strike that follows earlier ones; nothing within an hour of the last, which is one mistake made twice.
pub fn strike(earlier_ms: &[i64], now_ms: i64) -> Option<Strike> {
    let within = |window: i64| {
        earlier_ms.iter().filter(|&&at| at <= now_ms && now_ms.saturating_sub(at) < window).count()
    };
    if within(HOUR_MS) > 0 {
        None
    } else if within(90 * DAY_MS) >= 2 {
        Some(Strike { number: 3, points: 30.0 })
    } else if within(30 * DAY_MS) >= 1 {
        Some(Strike { number: 2, points: 15.0 })
    } else {
        Some(Strike { number: 1, points: 5.0 })
    }
}

/// The level a node shows in its profile, 1 to 3.
pub fn level(score: f64) -> u8 {
    if score >= SENIOR {
        3
    } else if score >= FULL_PAY {
        2
    } else {
        1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn near(have: f64, need: f64, tolerance: f64) {
        assert!((have - need).abs() <= tolerance, "{have} is not {need}");
    }

    #[test]
    fn a_new_node_has_fifty() {
        assert_eq!(reputation(&NodeRecord::default()).score, 50.0);
    }

    #[test]
    fn two_promoted_assets_of_a_newcomer() {
        let record = NodeRecord { published: 2, promoted: 2, ..NodeRecord::default() };
        near(reputation(&record).score, 51.7, 0.05);
    }

    #[test]
    fn ten_promoted_assets() {
        let record = NodeRecord {
            published: 10,
            promoted: 10,
            validated_confidence: 0.9,
            reused_by_others: 5,
            average_gdi: 60.0,
            ..NodeRecord::default()
        };
        near(reputation(&record).score, 64.533, 0.001);
    }

    #[test]
    fn a_long_and_good_record() {
        let record = NodeRecord {
            published: 40,
            promoted: 38,
            rejected: 2,
            validated_confidence: 0.9,
            reused_by_others: 1,
            average_gdi: 85.0,
            ..NodeRecord::default()
        };
        let result = reputation(&record);
        near(result.score, 85.96, 0.001);
        near(result.parts.iter().map(|part| part.points).sum::<f64>() + START, result.score, 1e-9);
    }

    #[test]
    fn shares_tell_why() {
        let record =
            NodeRecord { published: 40, promoted: 30, rejected: 10, penalty: 12.0, ..NodeRecord::default() };
        let stored = reputation(&record).score;
        let told = shares(&record, stored, None);
        assert_eq!(told.len(), 7);
        assert!(told.iter().all(|share| share.explained.ends_with('.')));
        let rejected = told.iter().find(|share| share.name == "rejections").unwrap();
        assert_eq!((rejected.value, rejected.weight, rejected.points), (0.25, -20.0, -5.0));
        let set = shares(&record, stored + 1.0, Some(90.0));
        let names: Vec<_> = set.iter().skip(7).map(|share| share.name).collect();
        assert_eq!(names, ["later", "operator"]);
    }

    #[test]
    fn newcomers_pay_half_for_mistakes() {
        let newcomer = NodeRecord { published: 5, rejected: 5, ..NodeRecord::default() };
        let settled = NodeRecord { published: 6, rejected: 6, ..NodeRecord::default() };
        assert_eq!(reputation(&newcomer).score, 40.0);
        assert_eq!(reputation(&settled).score, 30.0);
        let revoked = NodeRecord { published: 4, revoked: 4, ..NodeRecord::default() };
        assert_eq!(reputation(&revoked).score, 37.5);
    }

    #[test]
    fn penalties_fade() {
        near(decayed(10.0, 1), 9.7, 1e-9);
        assert_eq!(decayed(0.51, 1), 0.0);
        assert_eq!(decayed(30.0, u32::MAX), 0.0);
        let (left, since) = decayed_until(10.0, 1_000, 1_000 + DAY_MS * 2 + 5);
        near(left, 10.0 * 0.97 * 0.97, 1e-9);
        assert_eq!(since, 1_000 + DAY_MS * 2);
        assert_eq!(decayed_until(10.0, 5, 0), (10.0, 5));
        assert_eq!(penalised(95.0, 30.0), 100.0);
    }

    #[test]
    fn strikes_grow_within_their_windows() {
        let now = 1_000 * DAY_MS;
        let points = |earlier: &[i64]| {
            let times: Vec<i64> = earlier.iter().map(|days| now - days * DAY_MS).collect();
            strike(&times, now).map(|strike| strike.points)
        };
        assert_eq!(points(&[]), Some(5.0));
        assert_eq!(points(&[29]), Some(15.0));
        assert_eq!(points(&[31]), Some(5.0));
        assert_eq!(points(&[89, 40]), Some(30.0));
        assert_eq!(points(&[91, 40]), Some(5.0));
        assert_eq!(strike(&[now - HOUR_MS + 1], now), None);
        assert!(strike(&[now - HOUR_MS], now).is_some());
    }

    #[test]
    fn a_level_begins_at_30_and_60() {
        assert_eq!([0.0, 29.9, 30.0, 59.9, 60.0].map(level), [1, 1, 2, 2, 3]);
    }

    proptest! {
        #[test]
        fn always_in_range(
            counts in prop::array::uniform5(any::<u32>()),
            confidence in prop::num::f64::ANY,
            gdi in prop::num::f64::ANY,
            penalty in prop::num::f64::ANY,
        ) {
            let [published, promoted, rejected, revoked, reused_by_others] = counts;
            let result = reputation(&NodeRecord {
                published, promoted, rejected, revoked, reused_by_others,
                validated_confidence: confidence, average_gdi: gdi, penalty,
            });
            prop_assert!((0.0..=100.0).contains(&result.score));
            prop_assert!((0.0..=50.0).contains(&result.positive) && result.negative.is_finite());
        }

        #[test]
        fn shares_add_up(
            counts in prop::array::uniform5(0_u32..200),
            confidence in prop::num::f64::ANY,
            gdi in prop::num::f64::ANY,
            penalty in prop::num::f64::ANY,
            drift in -1.0..1.0_f64,
            set in prop::option::of(0.0..100.0_f64),
        ) {
            let [published, promoted, rejected, revoked, reused_by_others] = counts;
            let record = NodeRecord {
                published, promoted, rejected, revoked, reused_by_others,
                validated_confidence: confidence, average_gdi: gdi, penalty,
            };
            let stored = (hundredths(reputation(&record).score) as f64 / 100.0 + drift).clamp(0.0, 100.0);
            let shares = shares(&record, stored, set);
            let sum: f64 = shares.iter().map(|share| share.points).sum();
            prop_assert!((sum - set.unwrap_or(stored)).abs() < 0.02, "{sum} {stored} {set:?} {shares:?}");
            for share in &shares {
                prop_assert!((0.0..=1.0).contains(&share.value));
                prop_assert!((share.value * share.weight - share.points).abs() < 1e-6, "{share:?}");
            }
        }

        #[test]
        fn a_rejection_in_place_of_a_promotion_never_helps(published in 6_u32..60, rejected in 0_u32..60) {
            let rejected = rejected.min(published - 1);
            let of = |rejected| NodeRecord { published, promoted: published - rejected, rejected, ..NodeRecord::default() };
            prop_assert!(reputation(&of(rejected + 1)).score <= reputation(&of(rejected)).score);
        }

        #[test]
        fn fading_in_steps_is_fading_at_once(points in 0.0..100.0_f64, first in 0_u32..100, then in 0_u32..100) {
            let stepped = decayed(decayed(points, first), then);
            prop_assert!((stepped - decayed(points, first + then)).abs() < 1e-9);
        }
    }
}
