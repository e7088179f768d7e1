//! What the operator set that decides how evidence counts.

use super::evidence_grade::GradeWeights;
use super::gdi::BeliefRule;
use super::owners::OwnerPolicy;
use crate::credits;

/// How evidence counts on a hub. It is the same for all that a hub does.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrustPolicy {
    pub owners: OwnerPolicy,
    pub grades: GradeWeights,
    pub belief: BeliefRule,
    /// The least stake of a validator, in milli-credits.
    pub validator_stake: i64,
}

impl TrustPolicy {
    /// Where everybody who can reach the hub means well.
    pub const PRIVATE: Self = Self {
        owners: OwnerPolicy::PRIVATE,
        grades: GradeWeights::Private,
        belief: BeliefRule { floor: 0.2, half: 2.0 },
        validator_stake: credits::VALIDATOR_STAKE,
    };

    /// Where nobody is known.
    pub const PUBLIC: Self = Self {
        owners: OwnerPolicy::PUBLIC,
        grades: GradeWeights::Public,
        validator_stake: 50 * credits::CREDIT,
        ..Self::PRIVATE
    };
}

impl Default for TrustPolicy {
    fn default() -> Self {
        Self::PRIVATE
    }
}
