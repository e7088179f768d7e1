//! What stands between a candidate and its promotion, and when a promoted asset grows old.

use super::evidence_grade::EvidenceGrade;
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
    /// How many nodes of other owners reported that it passed.
    pub passes_by_others: u32,
    /// Weight of the reports that it passed.
    pub passes: f64,
    /// Weight of the reports that it failed.
    pub fails: f64,
    /// What an arbiter reported, if one did.
    pub arbiter: Option<bool>,
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
    /// Whether a node of another owner must have reported that it passed.
    pub require_report: bool,
    /// The lowest grade of reports that count.
    pub lowest_grade: EvidenceGrade,
    /// How many owners must have seen an asset fail before it is demoted, or rejected as a candidate.
    pub demote_owners: u32,
    /// Whether an arbiter decides where reports disagree, instead of the majority.
    pub asks_arbiter: bool,
}

impl Default for PromotionRule {
    fn default() -> Self {
        Self {
            min_gdi: 25.0,
            min_intrinsic: 0.4,
            min_confidence: 0.5,
            min_streak: 1,
            min_reputation: 30.0,
            require_report: true,
            lowest_grade: EvidenceGrade::Fetched,
            demote_owners: 2,
            asks_arbiter: false,
        }
    }
}

/// One thing that stands in the way of a promotion.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema), schema(as = Obstacle))]
pub struct PromotionObstacle {
    pub code: &'static str,
    pub text: String,
    pub have: f64,
    pub need: f64,
}

/// All that stands in the way of a promotion; nothing means promote.
///
/// An administrator's word replaces the scores and the reports, never safety or the state the asset is in.
pub fn obstacles(standing: &PromotionFacts, rule: &PromotionRule) -> Vec<PromotionObstacle> {
    let mut found = remaining_obstacles(standing);
    if !standing.admin_accepted {
        found.extend(score_obstacles(standing, rule));
        found.extend(report_obstacles(standing, rule));
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
    let flag = |code, text: &str| PromotionObstacle { code, text: text.to_owned(), have: 1.0, need: 0.0 };
    let mut found = Vec::new();
    if standing.status != AssetStatus::Candidate {
        let text = format!("Only a candidate is promoted; this asset is {}.", standing.status);
        found.push(PromotionObstacle { code: "not_a_candidate", text, have: 0.0, need: 1.0 });
    }
    if standing.is_anti_pattern {
        found.push(flag("anti_pattern", "It shows what not to do and is kept as a warning only."));
    }
    if standing.safety_held {
        found.push(flag("safety", "The safety scan holds it; an administrator must release it."));
    }
    if standing.publisher_held {
        found.push(flag("publisher_held", "Its publisher is banned or quarantined."));
    }
    found
}

fn score_obstacles(standing: &PromotionFacts, rule: &PromotionRule) -> Vec<PromotionObstacle> {
    let least = [
        ("gdi_too_low", "Its score (lower bound)", standing.gdi_score, rule.min_gdi),
        ("intrinsic_too_low", "Its intrinsic score", standing.intrinsic, rule.min_intrinsic),
        ("confidence_too_low", "Its confidence", standing.confidence, rule.min_confidence),
        (
            "streak_too_short",
            "Its success streak",
            f64::from(standing.success_streak),
            f64::from(rule.min_streak),
        ),
        ("reputation_too_low", "Its publisher's reputation", standing.reputation, rule.min_reputation),
    ];
    least
        .into_iter()
        // What is not a number reaches nothing.
        .filter(|(_, _, have, need)| have.partial_cmp(need).is_none_or(std::cmp::Ordering::is_lt))
        .map(|(code, what, have, need)| {
            let have = if have.is_finite() { have } else { 0.0 };
            let text = format!("{what} is {}; it must be at least {}.", short(have), short(need));
            PromotionObstacle { code, text, have, need }
        })
        .collect()
}

fn report_obstacles(standing: &PromotionFacts, rule: &PromotionRule) -> Vec<PromotionObstacle> {
    let mut found = Vec::new();
    if rule.require_report && standing.passes_by_others == 0 {
        found.push(PromotionObstacle {
            code: "no_report_by_others",
            text: "No node of another owner has reported yet that its validation passed.".to_owned(),
            have: 0.0,
            need: 1.0,
        });
    }
    let total = standing.passes + standing.fails;
    let is_disputed = standing.passes > 0.0 && standing.fails > 0.0;
    if rule.asks_arbiter && is_disputed && standing.arbiter != Some(true) {
        found.push(PromotionObstacle {
            code: "waiting_for_arbiter",
            text: format!(
                "The reports disagree ({} for it, {} against, by weight); an arbiter decides.",
                short(standing.passes),
                short(standing.fails)
            ),
            have: 0.0,
            need: 1.0,
        });
    } else if standing.fails > 0.0 && standing.fails * 2.0 >= total {
        let text = format!(
            "Half or more of the reports failed, by weight: {} of {}.",
            short(standing.fails),
            short(total)
        );
        found.push(PromotionObstacle {
            code: "reports_failed",
            text,
            have: standing.fails,
            need: total / 2.0,
        });
    }
    found
}

/// At most two decimals, rounded down so that 24.999 is not told as 25.
fn short(value: f64) -> String {
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
            passes_by_others: 1,
            passes: 0.5,
            fails: 0.0,
            arbiter: None,
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
        assert_eq!(codes(&PromotionFacts { gdi_score: 24.999, ..good() }), ["gdi_too_low"]);
        assert_eq!(codes(&PromotionFacts { intrinsic: 0.39, ..good() }), ["intrinsic_too_low"]);
        assert_eq!(codes(&PromotionFacts { confidence: 0.49, ..good() }), ["confidence_too_low"]);
        assert_eq!(codes(&PromotionFacts { success_streak: 0, ..good() }), ["streak_too_short"]);
        assert_eq!(codes(&PromotionFacts { reputation: 29.9, ..good() }), ["reputation_too_low"]);
        assert_eq!(codes(&PromotionFacts { passes_by_others: 0, ..good() }), ["no_report_by_others"]);
        assert_eq!(codes(&PromotionFacts { fails: 0.5, ..good() }), ["reports_failed"]);
        assert_eq!(codes(&PromotionFacts { is_anti_pattern: true, ..good() }), ["anti_pattern"]);
        assert_eq!(codes(&PromotionFacts { safety_held: true, ..good() }), ["safety"]);
        assert_eq!(codes(&PromotionFacts { publisher_held: true, ..good() }), ["publisher_held"]);
        assert_eq!(codes(&PromotionFacts { status: AssetStatus::Promoted, ..good() }), ["not_a_candidate"]);
        assert_eq!(codes(&PromotionFacts { confidence: f64::NAN, ..good() }), ["confidence_too_low"]);
    }

    #[test]
    fn what_only_just_fails_is_not_told_as_enough() {
        let found = obstacles(&PromotionFacts { gdi_score: 24.999, ..good() }, &PromotionRule::default());
        assert_eq!(found[0].text, "Its score (lower bound) is 24.99; it must be at least 25.");
        assert_eq!(short(0.29), "0.29");
    }

    #[test]
    fn the_exact_limits_suffice() {
        let just = PromotionFacts {
            gdi_score: 25.0,
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
            passes_by_others: 0,
            fails: 3.0,
            admin_accepted: true,
            ..good()
        };
        assert_eq!(codes(&poor), [""; 0]);
        assert_eq!(codes(&PromotionFacts { safety_held: true, ..poor }), ["safety"]);
    }

    #[test]
    fn reports_can_be_made_optional_but_failures_still_block() {
        let rule = PromotionRule { require_report: false, ..PromotionRule::default() };
        let unreported = PromotionFacts { passes_by_others: 0, passes: 0.0, ..good() };
        assert!(obstacles(&unreported, &rule).is_empty());
        assert_eq!(obstacles(&PromotionFacts { fails: 0.1, ..unreported }, &rule)[0].code, "reports_failed");
    }

    #[test]
    fn where_reports_disagree_an_arbiter_decides() {
        let rule = PromotionRule { asks_arbiter: true, ..PromotionRule::default() };
        let disputed = PromotionFacts { passes_by_others: 2, passes: 1.0, fails: 0.5, ..good() };
        let codes = |facts: &PromotionFacts, rule: &PromotionRule| -> Vec<&'static str> {
            obstacles(facts, rule).into_iter().map(|obstacle| obstacle.code).collect()
        };
        assert_eq!(codes(&disputed, &rule), ["waiting_for_arbiter"]);
        assert_eq!(codes(&PromotionFacts { arbiter: Some(true), ..disputed }, &rule), [""; 0]);
        assert_eq!(codes(&disputed, &PromotionRule::default()), [""; 0], "the majority decides");
        assert_eq!(codes(&PromotionFacts { fails: 0.0, ..disputed }, &rule), [""; 0]);
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
