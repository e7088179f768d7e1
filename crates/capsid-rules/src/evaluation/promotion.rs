//! What stands between a candidate and its promotion, and when a promoted asset grows old.

use crate::evaluation::evidence_grade::EvidenceGrade;
use crate::evaluation::quorum::{QuorumFacts, QuorumRule, quorum_obstacles};
use crate::lifecycle::{AssetEvent, AssetStatus};
use serde::Serialize;

/// Below this freshness a promoted asset is stale.
pub const STALE_BELOW: f64 = 0.15;
/// Below this freshness a stale asset is archived.
pub const ARCHIVED_BELOW: f64 = 0.05;

/// What a promotion looks at.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PromotionFacts {
    pub status: AssetStatus,
    /// The lower bound of its score, 0 to 100.
    pub gdi_score: f64,
    /// Its intrinsic dimension, 0 to 1.
    pub intrinsic: f64,
    /// Its publisher's confidence, 0 to 1.
    pub confidence: f64,
    /// Its publisher's count of successes in a row.
    pub success_streak: u32,
    /// Its publisher's reputation, 0 to 100.
    pub reputation: f64,
    /// Who reported on it.
    pub quorum: QuorumFacts,
    /// Whether an administrator accepted it.
    pub admin_accepted: bool,
    /// Whether it shows what not to do; such assets are kept as warnings.
    pub is_anti_pattern: bool,
    /// Whether the safety scan found something grave.
    pub safety_held: bool,
    /// Whether its publisher is banned or held in quarantine.
    pub publisher_held: bool,
}

/// What a promotion asks for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PromotionRule {
    pub min_gdi: f64,
    pub min_intrinsic: f64,
    pub min_confidence: f64,
    pub min_streak: u32,
    /// The least reputation of the publisher.
    pub min_reputation: f64,
    /// Whether other owners must have reported that it passed.
    pub require_report: bool,
    /// Who must have reported that.
    pub quorum: QuorumRule,
    /// The lowest grade of reports that count.
    pub lowest_grade: EvidenceGrade,
    /// How many owners must have seen an asset fail before it is demoted, or rejected as a candidate.
    pub demote_owners: u32,
}

impl PromotionRule {
    /// Where nobody is known.
    pub fn public() -> Self {
        Self {
            min_gdi: 20.0,
            quorum: QuorumRule::PUBLIC,
            lowest_grade: EvidenceGrade::Assigned,
            ..Self::default()
        }
    }
}

impl Default for PromotionRule {
    fn default() -> Self {
        Self {
            min_gdi: 5.0,
            min_intrinsic: 0.4,
            min_confidence: 0.5,
            min_streak: 1,
            min_reputation: 30.0,
            require_report: true,
            quorum: QuorumRule::PRIVATE,
            lowest_grade: EvidenceGrade::Fetched,
            demote_owners: 2,
        }
    }
}

/// One thing that stands in the way of a promotion.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Obstacle))]
pub struct PromotionObstacle {
    pub code: &'static str,
    /// The rule that is not met: the setting that decides, or what the hub never promotes.
    pub rule: &'static str,
    pub text: String,
    pub have: f64,
    pub need: f64,
    /// Who could help, and how.
    pub help: &'static str,
}

/// All that stands in the way of a promotion; nothing means promote.
///
/// An administrator's word replaces the scores and the reports, never safety or the state the asset is in.
pub fn obstacles(standing: &PromotionFacts, rule: &PromotionRule) -> Vec<PromotionObstacle> {
    let mut found = remaining_obstacles(standing);
    if !standing.admin_accepted {
        found.extend(score_obstacles(standing, rule));
        found.extend(quorum_obstacles(&standing.quorum, &rule.quorum, rule.require_report));
    }
    found
}

/// The change that age brings to an asset, one step at a time.
pub fn ageing(status: AssetStatus, freshness: f64) -> Option<AssetEvent> {
    match status {
        AssetStatus::Promoted if freshness < STALE_BELOW => Some(AssetEvent::GrowStale),
        AssetStatus::Stale if freshness < ARCHIVED_BELOW => Some(AssetEvent::Archive),
        _ => None,
    }
}

fn remaining_obstacles(standing: &PromotionFacts) -> Vec<PromotionObstacle> {
    let flag = |code, rule, text: &str, help| PromotionObstacle {
        code,
        rule,
        text: text.to_owned(),
        have: 1.0,
        need: 0.0,
        help,
    };
    let mut found = Vec::new();
    if standing.status != AssetStatus::Candidate {
        let text = format!("Only a candidate is promoted; this asset is {}.", standing.status);
        found.push(PromotionObstacle {
            code: "not_a_candidate",
            rule: "status",
            text,
            have: 0.0,
            need: 1.0,
            help: "The audit of the asset says what happened to it.",
        });
    }
    if standing.is_anti_pattern {
        found.push(flag(
            "anti_pattern",
            "anti_pattern",
            "It shows what not to do and is kept as a warning only.",
            "Nobody; publish what to do instead as a bundle of its own.",
        ));
    }
    if standing.safety_held {
        found.push(flag(
            "safety",
            "safety",
            "The safety scan holds it; an administrator must release it.",
            "An administrator, after a look at what the scan found.",
        ));
    }
    if standing.publisher_held {
        found.push(flag(
            "publisher_held",
            "publisher_status",
            "Its publisher is banned or quarantined.",
            "An administrator, who can release the publisher.",
        ));
    }
    found
}

fn score_obstacles(standing: &PromotionFacts, rule: &PromotionRule) -> Vec<PromotionObstacle> {
    const PUBLISHER: &str =
        "The publisher, with a bundle that says more of what it does and how it was tried.";
    let least = [
        (
            "gdi_too_low",
            "promotion.min_gdi",
            "Its score (lower bound)",
            standing.gdi_score,
            rule.min_gdi,
            "Other owners, who use it or run its test and report the result.",
        ),
        (
            "intrinsic_too_low",
            "promotion.min_intrinsic",
            "Its intrinsic score",
            standing.intrinsic,
            rule.min_intrinsic,
            PUBLISHER,
        ),
        (
            "confidence_too_low",
            "promotion.min_confidence",
            "Its confidence",
            standing.confidence,
            rule.min_confidence,
            PUBLISHER,
        ),
        (
            "streak_too_short",
            "promotion.min_streak",
            "Its success streak",
            f64::from(standing.success_streak),
            f64::from(rule.min_streak),
            PUBLISHER,
        ),
        (
            "reputation_too_low",
            "promotion.min_reputation",
            "Its publisher's reputation",
            standing.reputation,
            rule.min_reputation,
            "The publisher, with assets that others promote and reuse; penalties fade by 3 % a day.",
        ),
    ];
    least
        .into_iter()
        // What is not a number reaches nothing.
        .filter(|(_, _, _, have, need, _)| have.partial_cmp(need).is_none_or(std::cmp::Ordering::is_lt))
        .map(|(code, rule, what, have, need, help)| {
            let have = if have.is_finite() { have } else { 0.0 };
            let text = format!("{what} is {}; it must be at least {}.", short(have), short(need));
            PromotionObstacle { code, rule, text, have, need, help }
        })
        .collect()
}

/// At most two decimals, rounded down so that 4.999 is not told as 5.
pub(super) fn short(value: f64) -> String {
    let cut = (value * 100.0).floor() / 100.0;
    // 0.29 * 100 is 28.999…: a value of two decimals stays what it is.
    let near = (value * 100.0).round() / 100.0;
    format!("{}", if (near - value).abs() < 1e-9 { near } else { cut })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lifecycle::step;
    use proptest::prelude::*;

    fn good() -> PromotionFacts {
        PromotionFacts {
            status: AssetStatus::Candidate,
            gdi_score: 36.8,
            intrinsic: 0.57,
            confidence: 0.85,
            success_streak: 3,
            reputation: 50.0,
            quorum: QuorumFacts {
                is_testable: true,
                owners_passed: 1,
                passes: 0.5,
                ..QuorumFacts::default()
            },
            admin_accepted: false,
            is_anti_pattern: false,
            safety_held: false,
            publisher_held: false,
        }
    }

    fn codes(standing: &PromotionFacts) -> Vec<&'static str> {
        obstacles(standing, &PromotionRule::default()).into_iter().map(|obstacle| obstacle.code).collect()
    }

    #[test]
    fn a_good_candidate_with_a_report_is_promoted() {
        assert_eq!(codes(&good()), [""; 0]);
    }

    #[test]
    fn each_gate_has_its_own_obstacle() {
        assert_eq!(codes(&PromotionFacts { gdi_score: 4.999, ..good() }), ["gdi_too_low"]);
        assert_eq!(codes(&PromotionFacts { intrinsic: 0.39, ..good() }), ["intrinsic_too_low"]);
        assert_eq!(codes(&PromotionFacts { confidence: 0.49, ..good() }), ["confidence_too_low"]);
        assert_eq!(codes(&PromotionFacts { success_streak: 0, ..good() }), ["streak_too_short"]);
        assert_eq!(codes(&PromotionFacts { reputation: 29.9, ..good() }), ["reputation_too_low"]);
        let silent = QuorumFacts { owners_passed: 0, passes: 0.0, ..good().quorum };
        assert_eq!(codes(&PromotionFacts { quorum: silent, ..good() }), ["no_report_by_others"]);
        let failing = QuorumFacts { fails: 0.5, owners_failed: 1, ..good().quorum };
        assert_eq!(codes(&PromotionFacts { quorum: failing, ..good() }), ["reports_failed"]);
        assert_eq!(codes(&PromotionFacts { is_anti_pattern: true, ..good() }), ["anti_pattern"]);
        assert_eq!(codes(&PromotionFacts { safety_held: true, ..good() }), ["safety"]);
        assert_eq!(codes(&PromotionFacts { publisher_held: true, ..good() }), ["publisher_held"]);
        assert_eq!(codes(&PromotionFacts { status: AssetStatus::Promoted, ..good() }), ["not_a_candidate"]);
        assert_eq!(codes(&PromotionFacts { confidence: f64::NAN, ..good() }), ["confidence_too_low"]);
    }

    #[test]
    fn what_only_just_fails_is_not_told_as_enough() {
        let found = obstacles(&PromotionFacts { gdi_score: 4.999, ..good() }, &PromotionRule::default());
        assert_eq!(found[0].text, "Its score (lower bound) is 4.99; it must be at least 5.");
        assert_eq!(short(0.29), "0.29");
    }

    #[test]
    fn the_exact_limits_suffice() {
        let just = PromotionFacts {
            gdi_score: 5.0,
            intrinsic: 0.4,
            confidence: 0.5,
            success_streak: 1,
            reputation: 30.0,
            ..good()
        };
        assert_eq!(codes(&just), [""; 0]);
    }

    #[test]
    fn an_administrator_replaces_scores_but_not_safety() {
        let poor = PromotionFacts {
            gdi_score: 0.0,
            quorum: QuorumFacts { fails: 3.0, ..QuorumFacts::default() },
            admin_accepted: true,
            ..good()
        };
        assert_eq!(codes(&poor), [""; 0]);
        assert_eq!(codes(&PromotionFacts { safety_held: true, ..poor }), ["safety"]);
    }

    #[test]
    fn reports_can_be_made_optional_but_failures_still_block() {
        let rule = PromotionRule { require_report: false, ..PromotionRule::default() };
        let unreported = PromotionFacts { quorum: QuorumFacts::default(), ..good() };
        assert!(obstacles(&unreported, &rule).is_empty());
        let failed = QuorumFacts { fails: 0.1, ..QuorumFacts::default() };
        assert_eq!(
            obstacles(&PromotionFacts { quorum: failed, ..unreported }, &rule)[0].code,
            "reports_failed"
        );
    }

    #[test]
    fn assets_age_step_by_step() {
        assert_eq!(ageing(AssetStatus::Promoted, 0.15), None);
        assert_eq!(ageing(AssetStatus::Promoted, 0.01), Some(AssetEvent::GrowStale));
        assert_eq!(ageing(AssetStatus::Stale, 0.05), None);
        assert_eq!(ageing(AssetStatus::Stale, 0.049), Some(AssetEvent::Archive));
        assert_eq!(ageing(AssetStatus::Candidate, 0.0), None);
        for status in AssetStatus::ALL {
            if let Some(change) = ageing(status, 0.0) {
                assert!(step(status, change).is_ok());
            }
        }
    }

    proptest! {
        #[test]
        fn only_a_candidate_is_ever_promoted(
            gdi_score in prop::num::f64::ANY,
            which in 0..AssetStatus::ALL.len(),
            admin_accepted: bool,
        ) {
            let standing = PromotionFacts { status: AssetStatus::ALL[which], gdi_score, admin_accepted, ..good() };
            if obstacles(&standing, &PromotionRule::default()).is_empty() {
                prop_assert!(step(standing.status, AssetEvent::Promote).is_ok());
            }
        }
    }
}
