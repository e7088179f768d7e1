//! Who must have reported on a candidate before it is promoted.
//!
//! One report is no quorum where anybody may register: a number of owners, their weight together and, while few could be
//! asked, an arbiter. An asset without a test that could fail is promoted by use instead.

use super::promotion::{PromotionObstacle, short};
use capsid_model::text_enum;
use serde::Serialize;

/// How many owners make a draw among them one.
const FEW_OWNERS: u32 = 30;
/// How many assets of a publisher an arbiter looks at first.
const FIRST_ASSETS: u32 = 3;

/// When an arbiter must be among those that passed an asset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ArbiterRule {
    Off,
    /// While few owners could be asked, for a publisher's first assets, and after a failure.
    Small,
    Always,
}

text_enum!(ArbiterRule {
    Off = "off",
    Small = "small",
    Always = "always",
});

/// Who must have reported on a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct QuorumRule {
    /// How many owners must have passed it.
    pub min_owners: u32,
    /// How much their reports must weigh together.
    pub min_weight: f64,
    pub arbiter: ArbiterRule,
    /// How many owners must have used an asset that has no test that could fail; 0 asks for the same as for others.
    pub use_owners: u32,
    /// How long they must have had it, in hours.
    pub use_hours: f64,
}

impl QuorumRule {
    /// Where everybody who can reach the hub means well.
    pub const PRIVATE: Self =
        Self { min_owners: 1, min_weight: 0.5, arbiter: ArbiterRule::Off, use_owners: 0, use_hours: 24.0 };

    /// Where nobody is known.
    pub const PUBLIC: Self =
        Self { min_owners: 3, min_weight: 1.5, arbiter: ArbiterRule::Small, use_owners: 3, use_hours: 24.0 };
}

/// Who reported on a candidate. Reports without weight are in none of these numbers.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct QuorumFacts {
    /// Whether it has a test that could fail.
    pub is_testable: bool,
    /// How many other owners passed it.
    pub owners_passed: u32,
    /// For how many it failed.
    pub owners_failed: u32,
    /// Weight of the reports that it passed, decisions of validators included.
    pub passes: f64,
    /// Weight of those that it failed.
    pub fails: f64,
    /// Whether the hub's runner passed it.
    pub runner_passed: bool,
    /// Whether an arbiter passed it; the runner is one.
    pub arbiter_passed: bool,
    /// Whether an arbiter found that it fails, and none passed it since.
    pub arbiter_failed: bool,
    /// How many owners of level 1 and more used it for long enough, and it worked.
    pub users: u32,
    /// How many of them have level 2 or more.
    pub trusted_users: u32,
    /// How many other owners the hub could ask to validate it.
    pub assignable_owners: u32,
    /// How many assets of its publisher's owner were promoted before.
    pub promoted_before: u32,
}

/// What the reports on a candidate lack. `require_report` is off where the operator promotes without any.
pub fn quorum_obstacles(
    facts: &QuorumFacts,
    rule: &QuorumRule,
    require_report: bool,
) -> Vec<PromotionObstacle> {
    let mut found = Vec::new();
    let by_use = !facts.is_testable && rule.use_owners > 0;
    if require_report && !facts.runner_passed {
        found.extend(if by_use { use_obstacles(facts, rule) } else { report_obstacles(facts, rule) });
    }
    let total = facts.passes + facts.fails;
    if facts.fails > 0.0 && facts.fails * 2.0 >= total {
        found.push(PromotionObstacle {
            code: "reports_failed",
            rule: "promotion.min_weight",
            text: format!(
                "Half or more of the reports failed, by weight: {} of {}.",
                short(facts.fails),
                short(total)
            ),
            have: facts.fails,
            need: total / 2.0,
            help: "Other owners, if it works for them; otherwise the publisher, with a bundle that does.",
        });
    }
    if facts.arbiter_failed {
        found.push(PromotionObstacle {
            code: "arbiter_failed",
            rule: "promotion.arbiter",
            text: "An arbiter found that it does not work.".to_owned(),
            have: 0.0,
            need: 1.0,
            help: "The publisher, with a bundle that works; or an appeal, where a moderator decided.",
        });
    } else if require_report && !by_use {
        found.extend(arbiter_obstacle(facts, rule));
    }
    found
}

fn report_obstacles(facts: &QuorumFacts, rule: &QuorumRule) -> Vec<PromotionObstacle> {
    const REPORTERS: &str =
        "Other owners: take it on trial or fetch it, run its test, and report the result.";
    let mut found = Vec::new();
    let (have, need) = (f64::from(facts.owners_passed), f64::from(rule.min_owners.max(1)));
    let few = |code, text| PromotionObstacle {
        code,
        rule: "promotion.min_owners",
        text,
        have,
        need,
        help: REPORTERS,
    };
    if facts.owners_passed == 0 {
        let text = "No other owner has reported yet, with a report that counts, that it works.";
        found.push(few("no_report_by_others", text.to_owned()));
    } else if have < need {
        let text = format!("{have} of the {need} owners that it takes reported that it works.");
        found.push(few("too_few_owners", text));
    }
    if facts.owners_passed > 0 && facts.passes + 1e-9 < rule.min_weight {
        found.push(PromotionObstacle {
            code: "weight_too_low",
            rule: "promotion.min_weight",
            text: format!(
                "The passing reports weigh {} together; it takes {}.",
                short(facts.passes),
                short(rule.min_weight)
            ),
            have: facts.passes,
            need: rule.min_weight,
            help: "Validators that the hub asks, and owners that reproduce it: their reports weigh most.",
        });
    }
    found
}

/// What use lacks, for an asset that has no test that could fail.
fn use_obstacles(facts: &QuorumFacts, rule: &QuorumRule) -> Vec<PromotionObstacle> {
    let mut found = Vec::new();
    let hours = short(rule.use_hours);
    if facts.users < rule.use_owners {
        found.push(PromotionObstacle {
            code: "too_few_users",
            rule: "promotion.use_owners",
            text: format!(
                "It has no test that could fail. {} of {} owners of level 1 used it for {hours} hours and reported that it works.",
                facts.users, rule.use_owners
            ),
            have: f64::from(facts.users),
            need: f64::from(rule.use_owners),
            help: "Owners of level 1 that use it and report; or the publisher, with a test that fails without the change.",
        });
    }
    if facts.trusted_users == 0 {
        found.push(PromotionObstacle {
            code: "no_trusted_user",
            rule: "promotion.use_owners",
            text: "It has no test that could fail, and no owner of level 2 used it.".to_owned(),
            have: 0.0,
            need: 1.0,
            help: "An owner of level 2 that uses it and reports.",
        });
    }
    if facts.owners_failed > 0 {
        found.push(PromotionObstacle {
            code: "use_failed",
            rule: "promotion.use_owners",
            text: format!(
                "It has no test that could fail, and it failed for {} of its users.",
                facts.owners_failed
            ),
            have: f64::from(facts.owners_failed),
            need: 0.0,
            help: "The publisher, with a bundle that works for them; or an administrator.",
        });
    }
    found
}

fn arbiter_obstacle(facts: &QuorumFacts, rule: &QuorumRule) -> Option<PromotionObstacle> {
    if facts.arbiter_passed {
        return None;
    }
    let why = match rule.arbiter {
        ArbiterRule::Off => return None,
        ArbiterRule::Always => "this hub wants one for every asset".to_owned(),
        ArbiterRule::Small if facts.owners_failed > 0 => "it failed for an owner".to_owned(),
        ArbiterRule::Small if facts.promoted_before < FIRST_ASSETS => {
            format!("it is one of its publisher's first {FIRST_ASSETS} assets")
        }
        ArbiterRule::Small if facts.assignable_owners < FEW_OWNERS => {
            format!(
                "only {} owners could be asked to validate it; {FEW_OWNERS} make a fair draw",
                facts.assignable_owners
            )
        }
        ArbiterRule::Small => return None,
    };
    Some(PromotionObstacle {
        code: "waiting_for_arbiter",
        rule: "promotion.arbiter",
        text: format!("An arbiter must be among those that passed it: {why}."),
        have: 0.0,
        need: 1.0,
        help: "The hub's runner, an administrator, or somebody whom an operator appointed.",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(facts: &QuorumFacts, rule: &QuorumRule) -> Vec<&'static str> {
        quorum_obstacles(facts, rule, true).into_iter().map(|obstacle| obstacle.code).collect()
    }

    /// Passed by three owners on a large hub, by a publisher that is known.
    fn passed() -> QuorumFacts {
        QuorumFacts {
            is_testable: true,
            owners_passed: 3,
            passes: 1.5,
            assignable_owners: 30,
            promoted_before: 3,
            ..QuorumFacts::default()
        }
    }

    #[test]
    fn enough_owners_of_enough_weight_promote() {
        let rule = QuorumRule::PUBLIC;
        assert_eq!(codes(&passed(), &rule), [""; 0]);
        assert_eq!(codes(&QuorumFacts { owners_passed: 2, ..passed() }, &rule), ["too_few_owners"]);
        assert_eq!(codes(&QuorumFacts { passes: 1.49, ..passed() }, &rule), ["weight_too_low"]);
        assert_eq!(
            codes(&QuorumFacts { owners_passed: 0, passes: 0.0, ..passed() }, &rule),
            ["no_report_by_others"]
        );
        let half_failed = QuorumFacts { fails: 1.5, owners_failed: 3, ..passed() };
        assert_eq!(codes(&half_failed, &rule), ["reports_failed", "waiting_for_arbiter"]);
        let one = QuorumFacts { owners_passed: 1, passes: 0.5, ..QuorumFacts::default() };
        assert_eq!(codes(&one, &QuorumRule::PRIVATE), [""; 0]);
        assert_eq!(codes(&QuorumFacts { passes: 0.49, ..one }, &QuorumRule::PRIVATE), ["weight_too_low"]);
    }

    #[test]
    fn the_runner_alone_is_enough() {
        let runner = QuorumFacts {
            is_testable: true,
            owners_passed: 1,
            passes: 3.0,
            runner_passed: true,
            arbiter_passed: true,
            ..QuorumFacts::default()
        };
        assert_eq!(codes(&runner, &QuorumRule::PUBLIC), [""; 0]);
        assert_eq!(
            codes(&QuorumFacts { fails: 3.0, owners_failed: 3, ..runner }, &QuorumRule::PUBLIC),
            ["reports_failed"]
        );
    }

    #[test]
    fn passes_from_unknown_owners_wait_for_an_arbiter() {
        let small = QuorumRule::PUBLIC;
        for waiting in [
            QuorumFacts { assignable_owners: 29, ..passed() },
            QuorumFacts { promoted_before: 2, ..passed() },
            QuorumFacts { owners_failed: 1, fails: 0.5, ..passed() },
        ] {
            assert_eq!(codes(&waiting, &small), ["waiting_for_arbiter"], "{waiting:?}");
            assert_eq!(codes(&QuorumFacts { arbiter_passed: true, ..waiting }, &small), [""; 0]);
            assert_eq!(codes(&waiting, &QuorumRule { arbiter: ArbiterRule::Off, ..small }), [""; 0]);
        }
        let always = QuorumRule { arbiter: ArbiterRule::Always, ..small };
        assert_eq!(codes(&passed(), &always), ["waiting_for_arbiter"]);
    }

    #[test]
    fn what_an_arbiter_failed_is_not_promoted_whatever_others_say() {
        let failed = QuorumFacts { arbiter_failed: true, ..passed() };
        for rule in [QuorumRule::PUBLIC, QuorumRule::PRIVATE] {
            assert_eq!(codes(&failed, &rule), ["arbiter_failed"]);
        }
    }

    #[test]
    fn what_has_no_test_that_could_fail_is_promoted_by_use() {
        let used = QuorumFacts {
            owners_passed: 3,
            passes: 0.5,
            users: 3,
            trusted_users: 1,
            ..QuorumFacts::default()
        };
        let rule = QuorumRule::PUBLIC;
        assert_eq!(codes(&used, &rule), [""; 0]);
        assert_eq!(codes(&QuorumFacts { users: 2, ..used }, &rule), ["too_few_users"]);
        assert_eq!(codes(&QuorumFacts { trusted_users: 0, ..used }, &rule), ["no_trusted_user"]);
        assert_eq!(codes(&QuorumFacts { owners_failed: 1, fails: 0.1, ..used }, &rule), ["use_failed"]);
        assert_eq!(codes(&used, &QuorumRule::PRIVATE), [""; 0]);
    }

    #[test]
    fn without_reports_nothing_but_failures_stands_in_the_way() {
        let none = QuorumFacts::default();
        assert!(quorum_obstacles(&none, &QuorumRule::PUBLIC, false).is_empty());
    }
}
