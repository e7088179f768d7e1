//! The levels of owners, and why an owner has the one it has.

use super::{OwnerPolicy, owner_weight};
use serde::{Deserialize, Serialize};

/// How many days after a strike an owner has no level.
const STRIKE_DAYS: f64 = 30.0;

/// How far an owner is trusted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub enum OwnerLevel {
    /// Level 0.
    #[default]
    New,
    /// Level 1: it has been there for a while.
    Known,
    /// Level 2: arbiters agreed with most of its reports.
    Trusted,
    /// Level 3: an operator appointed it.
    Appointed,
}

impl OwnerLevel {
    /// Every level, lowest first.
    pub const ALL: [Self; 4] = [Self::New, Self::Known, Self::Trusted, Self::Appointed];

    /// The level as it is stored and sent.
    pub fn number(self) -> i64 {
        match self {
            Self::New => 0,
            Self::Known => 1,
            Self::Trusted => 2,
            Self::Appointed => 3,
        }
    }

    /// The level of a number.
    pub fn from_number(number: i64) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.number() == number)
    }

    /// How much a vote of such an owner counts.
    pub fn vote_weight(self) -> f64 {
        match self {
            Self::New => 0.0,
            Self::Known => 0.5,
            Self::Trusted | Self::Appointed => 1.0,
        }
    }
}

/// What is known of an owner.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct OwnerFacts {
    /// Whether it is an account; an unclaimed node is none.
    pub is_account: bool,
    pub age_days: f64,
    /// On how many days its most active bound node was seen.
    pub days_seen: u32,
    /// How long ago one of its nodes had a strike.
    pub days_since_strike: Option<f64>,
    /// How many of its reports an arbiter's outcome settled, within 180 days.
    pub settled: u32,
    /// How many of these agreed with the outcome.
    pub agreed: u32,
    pub is_appointed: bool,
}

/// One condition of a level.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct LevelCondition {
    /// The level that asks for it.
    pub level: i64,
    pub text: String,
    pub have: f64,
    pub need: f64,
    pub is_met: bool,
}

/// The level and the weight of an owner, and why.
#[derive(Debug, Clone, PartialEq)]
pub struct OwnerAssessment {
    pub level: OwnerLevel,
    pub weight: f64,
    pub conditions: Vec<LevelCondition>,
}

/// Works out the level of an owner. It is lost as soon as one of its conditions fails.
pub fn assess(facts: &OwnerFacts, policy: &OwnerPolicy) -> OwnerAssessment {
    let weight = owner_weight(facts.agreed, facts.settled, policy.settled_for_weight);
    let conditions = conditions(facts, policy, weight);
    let earned = earned_level(&conditions);
    let level = if facts.is_appointed { OwnerLevel::Appointed } else { earned };
    OwnerAssessment { level: level.max(policy.least_level), weight, conditions }
}

/// The level whose conditions are all met, with those of the levels below.
pub(super) fn earned_level(conditions: &[LevelCondition]) -> OwnerLevel {
    let reaches = |level: &OwnerLevel| {
        let mut asked = conditions.iter().filter(|condition| condition.level <= level.number()).peekable();
        asked.peek().is_some() && asked.all(|condition| condition.is_met)
    };
    [OwnerLevel::Trusted, OwnerLevel::Known].into_iter().find(reaches).unwrap_or_default()
}

fn conditions(facts: &OwnerFacts, policy: &OwnerPolicy, weight: f64) -> Vec<LevelCondition> {
    let least = |level: OwnerLevel, have: f64, need: f64, text: String| LevelCondition {
        level: level.number(),
        is_met: have >= need,
        text,
        have,
        need,
    };
    let days = |need: f64| format!("The account is at least {need} days old.");
    let (one, two) = (OwnerLevel::Known, OwnerLevel::Trusted);
    vec![
        least(one, f64::from(u8::from(facts.is_account)), 1.0, "An account claimed its nodes.".to_owned()),
        least(one, whole(facts.age_days), policy.min_age_days, days(policy.min_age_days)),
        least(
            one,
            f64::from(facts.days_seen),
            f64::from(policy.min_days_seen),
            format!("A claimed node that shows its secret was active on {} days.", policy.min_days_seen),
        ),
        least(
            one,
            facts.days_since_strike.map_or(STRIKE_DAYS, whole).min(STRIKE_DAYS),
            STRIKE_DAYS,
            format!("None of its nodes had a strike within {STRIKE_DAYS} days."),
        ),
        least(two, whole(facts.age_days), policy.level2_days, days(policy.level2_days)),
        least(
            two,
            f64::from(facts.settled),
            f64::from(policy.level2_settled),
            format!("{} of its reports were settled by an arbiter.", policy.level2_settled),
        ),
        least(
            two,
            (weight * 100.0).floor() / 100.0,
            policy.level2_weight,
            format!("Its reports weigh at least {}.", policy.level2_weight),
        ),
    ]
}

/// Whole days that have passed; what is not a number has not begun.
fn whole(days: f64) -> f64 {
    if days.is_finite() { days.floor().max(0.0) } else { 0.0 }
}

#[cfg(test)]
#[path = "level_tests.rs"]
mod tests;
