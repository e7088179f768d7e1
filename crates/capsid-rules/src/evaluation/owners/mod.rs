//! Owners: the parties behind nodes. How far an owner is trusted, and how much its reports weigh.
//!
//! Nodes are free, so decisions count owners. Trust begins at arbiters only: what strangers decide among themselves
//! raises nobody's weight.

mod level;
mod stored;
mod weight;

pub use level::{LevelCondition, OwnerAssessment, OwnerFacts, OwnerLevel, assess};
pub use stored::{AssessedOwner, stored_fault};
pub use weight::{AGREEMENT_DAYS, owner_weight};

use capsid_model::text_enum;

/// Who owns a node that no account claimed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnclaimedOwners {
    /// The node itself.
    Node,
    /// All unclaimed nodes of a network together.
    Network,
}

text_enum!(UnclaimedOwners {
    Node = "node",
    Network = "network",
});

/// What the hub asks of owners.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct OwnerPolicy {
    pub unclaimed: UnclaimedOwners,
    /// The level that every owner has at least: where everybody is known, nobody has to earn the first one.
    pub least_level: OwnerLevel,
    /// How old an account of level 1 is.
    pub min_age_days: f64,
    /// On how many days one of its nodes was active.
    pub min_days_seen: u32,
    /// How old an account of level 2 is.
    pub level2_days: f64,
    /// How many of its reports were settled.
    pub level2_settled: u32,
    /// The least weight of its reports.
    pub level2_weight: f64,
    /// How many settled reports an owner needs before its reports weigh anything; 0 gives every owner a weight of 1.
    pub settled_for_weight: u32,
    /// Whether reputation counts at most 30, 60 and 100 in scores, by level.
    pub reputation_caps: bool,
}

impl OwnerPolicy {
    /// Where everybody who can reach the hub means well.
    pub const PRIVATE: Self = Self {
        unclaimed: UnclaimedOwners::Node,
        least_level: OwnerLevel::Known,
        min_age_days: 0.0,
        min_days_seen: 0,
        level2_days: 30.0,
        level2_settled: 20,
        level2_weight: 0.75,
        settled_for_weight: 0,
        reputation_caps: false,
    };

    /// Where nobody is known.
    pub const PUBLIC: Self = Self {
        unclaimed: UnclaimedOwners::Network,
        least_level: OwnerLevel::New,
        min_age_days: 7.0,
        min_days_seen: 3,
        settled_for_weight: 5,
        reputation_caps: true,
        ..Self::PRIVATE
    };

    /// A reputation as scores count it.
    pub fn capped_reputation(&self, reputation: f64, level: OwnerLevel) -> f64 {
        match (self.reputation_caps, level) {
            (false, _) | (true, OwnerLevel::Trusted | OwnerLevel::Appointed) => reputation,
            (true, OwnerLevel::Known) => reputation.min(60.0),
            (true, OwnerLevel::New) => reputation.min(30.0),
        }
    }
}

impl Default for OwnerPolicy {
    fn default() -> Self {
        Self::PRIVATE
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reputation_counts_as_far_as_the_level_goes() {
        let capped = |level| OwnerPolicy::PUBLIC.capped_reputation(90.0, level);
        assert_eq!(OwnerLevel::ALL.map(capped), [30.0, 60.0, 90.0, 90.0]);
        assert_eq!(OwnerPolicy::PRIVATE.capped_reputation(90.0, OwnerLevel::New), 90.0);
        assert_eq!(OwnerPolicy::PUBLIC.capped_reputation(12.0, OwnerLevel::New), 12.0);
    }
}
