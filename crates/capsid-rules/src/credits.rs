//! Amounts of credits. All of them are whole milli-credits; only what is shown has a decimal point.

use capsid_model::text_enum;
use serde_json::Number;

/// One credit in milli-credits.
pub const CREDIT: i64 = 1_000;
/// What a new node gets.
pub const NODE_GRANT: i64 = 500 * CREDIT;
/// The least a validator locks up.
pub const VALIDATOR_STAKE: i64 = 100 * CREDIT;
/// What the publisher of a promoted bundle gets.
pub const PROMOTION_REWARD: i64 = 20 * CREDIT;
/// The most a publisher gets when another owner reuses an asset; see [`reuse_reward`].
pub const REUSE_REWARD_MAX: i64 = 12 * CREDIT;
/// The least a validator gets whose report agrees with the outcome.
pub const REPORT_REWARD_MIN: i64 = 10 * CREDIT;
/// The most a validator gets whose report agrees with the outcome.
pub const REPORT_REWARD_MAX: i64 = 30 * CREDIT;

/// Which credits of an account a payment uses: what the hub gave it to begin with, or what it earned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CreditSource {
    /// All of them, the granted ones first.
    GrantedFirst,
    Granted,
    Earned,
}

/// What an account holds, in milli-credits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct AccountBalances {
    pub total: i64,
    /// The part that was granted. The rest was earned.
    pub granted: i64,
}

impl AccountBalances {
    /// The part that was earned.
    pub fn earned(self) -> i64 {
        self.total - self.granted
    }

    /// What a payment from a source can use.
    pub fn available(self, source: CreditSource) -> i64 {
        match source {
            CreditSource::GrantedFirst => self.total,
            CreditSource::Granted => self.granted,
            CreditSource::Earned => self.earned(),
        }
    }

    /// How much of a payment is granted credits; nothing where the account does not hold enough.
    pub fn granted_part(self, source: CreditSource, amount: i64) -> Option<i64> {
        (self.available(source) >= amount).then(|| match source {
            CreditSource::GrantedFirst => self.granted.min(amount),
            CreditSource::Granted => amount,
            CreditSource::Earned => 0,
        })
    }
}

/// What granted credits can be used for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum GrantedUse {
    /// For everything.
    #[default]
    Any,
    /// For what the hub sells. They cannot be staked, transferred or offered as a bounty.
    Fees,
}

text_enum!(GrantedUse {
    Any = "any",
    Fees = "fees",
});

impl GrantedUse {
    /// Which credits can be given to others: transferred, or offered as a bounty.
    pub fn source(self) -> CreditSource {
        match self {
            Self::Any => CreditSource::GrantedFirst,
            Self::Fees => CreditSource::Earned,
        }
    }
}

/// Which credits a validator can stake.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum StakeSource {
    #[default]
    Any,
    Earned,
}

text_enum!(StakeSource {
    Any = "any",
    Earned = "earned",
});

impl StakeSource {
    /// The credits that a stake uses.
    pub fn source(self) -> CreditSource {
        match self {
            Self::Any => CreditSource::GrantedFirst,
            Self::Earned => CreditSource::Earned,
        }
    }
}

/// What a validator loses of its stake whose report contradicts the outcome, in whole milli-credits, rounded down.
pub fn slashed(stake: i64, percent: i64) -> i64 {
    let part = i128::from(stake.max(0)) * i128::from(percent.clamp(0, 100)) / 100;
    i64::try_from(part).unwrap_or(0)
}

/// What one reuse earns, by the asset's score from 0 to 100.
pub fn reuse_reward(gdi_score: f64, most: i64) -> i64 {
    (most.max(0) as f64 * crate::clip01(gdi_score / 100.0)).floor() as i64
}

/// What a report earns that agrees with the outcome, by how much of all weight agreed: from the least for a bare
/// majority to the most for all of it; nothing where it was no majority.
pub fn report_reward(agreed: f64, least: i64, most: i64) -> i64 {
    let share = crate::clip01(agreed);
    if share <= 0.5 {
        return 0;
    }
    let more = (most - least).max(0) as f64 * (share - 0.5) * 2.0;
    least.max(0) + more.floor() as i64
}

/// An amount as JSON shows it: `500`, not `500.0`, and `0.5`.
pub fn to_decimal(milli: i64) -> Number {
    if milli % CREDIT == 0 {
        return Number::from(milli / CREDIT);
    }
    Number::from_f64(milli as f64 / CREDIT as f64).unwrap_or_else(|| Number::from(milli / CREDIT))
}

/// An amount as text, exact for every value: `-0.5`.
pub fn text(milli: i64) -> String {
    let sign = if milli < 0 { "-" } else { "" };
    let size = milli.unsigned_abs();
    let (whole, part) = (size / CREDIT.unsigned_abs(), size % CREDIT.unsigned_abs());
    if part == 0 {
        return format!("{sign}{whole}");
    }
    format!("{sign}{whole}.{part:03}").trim_end_matches('0').to_owned()
}

/// How far from a whole milli-credit an amount may be, so that sums such as 0.1 + 0.2 are taken.
const TOLERANCE: f64 = 1e-6;

/// Milli-credits from a number in a request; nothing when it is not a number, too large, or finer than a milli-credit.
pub fn from_shown(credits: f64) -> Option<i64> {
    let milli = credits * CREDIT as f64;
    let whole = milli.round();
    // Large numbers lie further apart than the tolerance.
    let exact = (milli - whole).abs() <= TOLERANCE.max(2.0 * f64::EPSILON * milli.abs());
    let vanishes = whole == 0.0 && credits != 0.0;
    (exact && !vanishes && whole.abs() < 9e15).then_some(whole as i64)
}

#[cfg(test)]
#[path = "credits_tests.rs"]
mod tests;
