//! The life of a bounty: every state ends, and each end pays or gives back.

use capsid_model::text_enum;
use serde::Serialize;

/// How a bounty stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum BountyStatus {
    Open,
    Claimed,
    /// Something was handed in, and the creator decides.
    Matched,
    /// The creator read what was handed in and rejected it; whoever did the task may open a dispute.
    Rejected,
    /// An arbiter decides whether the rejection stands.
    Disputed,
    Accepted,
    /// Its time was over, and it was given back.
    Expired,
    /// The creator took it back.
    Cancelled,
}

text_enum!(BountyStatus {
    Open = "open",
    Claimed = "claimed",
    Matched = "matched",
    Rejected = "rejected",
    Disputed = "disputed",
    Accepted = "accepted",
    Expired = "expired",
    Cancelled = "cancelled",
});

impl BountyStatus {
    /// Whether credits are still put aside for it.
    pub fn is_held(self) -> bool {
        matches!(self, Self::Open | Self::Claimed | Self::Matched | Self::Rejected | Self::Disputed)
    }
}

/// What happens to a bounty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BountyEvent {
    /// A node takes the task.
    Claim,
    /// The task is free again.
    Release,
    Match,
    /// The creator takes what was handed in.
    Accept,
    /// The creator does not, and somebody else may try; of a swarm, the merging is done again.
    Reject,
    /// The creator does not, after reading it: the credits stay aside until it is clear who gets them.
    RejectRead,
    /// Whoever did the task disputes the rejection.
    Dispute,
    /// The rejection stands: nobody disputed it in time, or the arbiter agreed with the creator.
    Uphold,
    Expire,
    /// The creator takes it back.
    Cancel,
    /// An admin ends it, whoever works on it.
    Withdraw,
}

/// The status after a step; nothing when the step cannot be taken. `in_parts` tells whether a swarm works on it.
pub fn step(status: BountyStatus, step: BountyEvent, in_parts: bool) -> Option<BountyStatus> {
    use BountyStatus::{Accepted, Cancelled, Claimed, Disputed, Expired, Matched, Open, Rejected};
    match (step, status) {
        (BountyEvent::Claim, Open) => Some(Claimed),
        (BountyEvent::Release, Claimed) => Some(Open),
        (BountyEvent::Match, Open | Claimed) => Some(Matched),
        (BountyEvent::Accept, Matched | Rejected | Disputed) => Some(Accepted),
        (BountyEvent::Reject, Matched) | (BountyEvent::Uphold, Rejected | Disputed) => {
            Some(if in_parts { Claimed } else { Open })
        }
        (BountyEvent::RejectRead, Matched) => Some(Rejected),
        (BountyEvent::Dispute, Rejected) => Some(Disputed),
        (BountyEvent::Expire, Open | Claimed | Matched) => Some(Expired),
        (BountyEvent::Cancel, Open) => Some(Cancelled),
        (BountyEvent::Withdraw, Open | Claimed | Matched) => Some(Cancelled),
        _ => None,
    }
}

/// Who decides on a bounty.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BountyActor {
    Creator,
    Owner,
    /// An admin in the creator's place.
    Admin,
    /// The operator in the creator's place.
    Operator,
}

impl BountyActor {
    /// How a bounty ended that was paid.
    pub fn accepted(self, reason: Option<&str>) -> String {
        self.ended("Paid", "accepted what was handed in", reason)
    }

    /// How a bounty ended that was taken back.
    pub fn cancelled(self, reason: Option<&str>) -> String {
        self.ended("Given back", "cancelled it", reason)
    }

    fn ended(self, end: &str, deed: &str, reason: Option<&str>) -> String {
        let who = match self {
            Self::Creator => "the creator",
            Self::Owner => "the owner of the node that asked",
            Self::Admin => "an admin",
            Self::Operator => "the operator",
        };
        match reason.map(str::trim).filter(|reason| !reason.is_empty()) {
            Some(reason) => format!("{end}: {who} {deed}. Reason: {reason}"),
            None => format!("{end}: {who} {deed}."),
        }
    }
}

/// How long an arbiter has to decide a dispute.
pub const ARBITER_MS: i64 = 7 * 24 * 3_600_000;

/// Who gets the credits of a disputed bounty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub enum DisputeDecision {
    /// Whoever did the task is paid in full.
    Solver,
    /// The rejection stands.
    Creator,
    /// Each side gets half.
    Split,
}

text_enum!(DisputeDecision {
    Solver = "solver",
    Creator = "creator",
    Split = "split",
});

/// How a dispute ends that no arbiter decided in time.
pub fn undecided_dispute(is_reproduced: bool) -> DisputeDecision {
    if is_reproduced { DisputeDecision::Solver } else { DisputeDecision::Split }
}

/// What becomes of a bounty that nobody decided on in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum UndecidedOutcome {
    /// The creator gets the credits back.
    #[default]
    Refund,
    /// Whoever handed something in is paid.
    Pay,
}

text_enum!(UndecidedOutcome {
    Refund = "refund",
    Pay = "pay",
});

/// Until when the creator decides: a full period after something was handed in, and never before the bounty's own end.
pub fn decide_by(matched_at: i64, period_ms: i64, expires_at: i64) -> i64 {
    matched_at.saturating_add(period_ms).max(expires_at)
}

/// What the hub keeps of an amount, in whole milli-credits, rounded down. The percentage is in thousandths.
pub fn commission(amount: i64, percent_milli: i64) -> i64 {
    let part = i128::from(amount.max(0)) * i128::from(percent_milli.clamp(0, 100_000)) / 100_000;
    i64::try_from(part).unwrap_or(0)
}

/// The reputation below which only half is paid, where the operator wants that.
pub const FULL_PAY_REPUTATION: f64 = 30.0;

/// What of an amount is paid to a node with this reputation. The rest goes back to whoever paid.
pub fn payout(amount: i64, reputation: f64, reduces: bool) -> i64 {
    if reduces && reputation < FULL_PAY_REPUTATION { amount / 2 } else { amount }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const STEPS: [BountyEvent; 10] = [
        BountyEvent::Claim,
        BountyEvent::Release,
        BountyEvent::Match,
        BountyEvent::Accept,
        BountyEvent::Reject,
        BountyEvent::RejectRead,
        BountyEvent::Dispute,
        BountyEvent::Uphold,
        BountyEvent::Expire,
        BountyEvent::Cancel,
    ];

    #[test]
    fn what_is_held_can_always_end_and_what_ended_stays() {
        for status in BountyStatus::ALL {
            let can_end = [BountyEvent::Expire, BountyEvent::Accept]
                .iter()
                .any(|what| step(status, *what, false).is_some_and(|after| !after.is_held()));
            assert_eq!(can_end, status.is_held(), "{status:?}");
            if !status.is_held() {
                assert!(STEPS.iter().all(|what| step(status, *what, false).is_none()), "{status:?}");
            }
        }
    }

    #[test]
    fn only_what_was_handed_in_is_paid() {
        for status in BountyStatus::ALL {
            let paid = step(status, BountyEvent::Accept, false) == Some(BountyStatus::Accepted);
            let is_handed_in =
                matches!(status, BountyStatus::Matched | BountyStatus::Rejected | BountyStatus::Disputed);
            assert_eq!(paid, is_handed_in);
        }
    }

    #[test]
    fn what_was_read_and_rejected_cannot_be_taken_back() {
        for status in [BountyStatus::Rejected, BountyStatus::Disputed] {
            for what in [BountyEvent::Cancel, BountyEvent::Withdraw, BountyEvent::Expire, BountyEvent::Reject]
            {
                assert_eq!(step(status, what, false), None, "{status:?} {what:?}");
            }
        }
        assert_eq!(step(BountyStatus::Rejected, BountyEvent::Uphold, false), Some(BountyStatus::Open));
        assert_eq!(step(BountyStatus::Disputed, BountyEvent::Uphold, true), Some(BountyStatus::Claimed));
    }

    #[test]
    fn a_dispute_that_nobody_decides_pays_what_was_reproduced() {
        assert_eq!(undecided_dispute(true), DisputeDecision::Solver);
        assert_eq!(undecided_dispute(false), DisputeDecision::Split);
    }

    #[test]
    fn a_rejected_swarm_merges_again() {
        assert_eq!(step(BountyStatus::Matched, BountyEvent::Reject, false), Some(BountyStatus::Open));
        assert_eq!(step(BountyStatus::Matched, BountyEvent::Reject, true), Some(BountyStatus::Claimed));
    }

    #[test]
    fn the_creator_has_time_to_decide() {
        assert_eq!(decide_by(1_000, 500, 1_100), 1_500);
        assert_eq!(decide_by(1_000, 500, 9_000), 9_000);
    }

    #[test]
    fn half_is_paid_below_thirty_where_the_operator_wants_that() {
        assert_eq!(payout(1_001, 29.9, true), 500);
        assert_eq!(payout(1_001, 30.0, true), 1_001);
        assert_eq!(payout(1_001, 0.0, false), 1_001);
    }

    proptest! {
        #[test]
        fn a_commission_is_a_part(amount in 0..i64::MAX, percent in -5..200_000_i64) {
            let part = commission(amount, percent);
            prop_assert!((0..=amount).contains(&part));
        }
    }
}
