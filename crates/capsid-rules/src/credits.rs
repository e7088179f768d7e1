//! Amounts of credits. All of them are whole milli-credits; only what is shown has a decimal point.

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
