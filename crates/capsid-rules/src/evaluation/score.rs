//! Scores as they are stored.

use crate::clip01;

/// A score as it is stored: whole hundredths, 0 to 10000.
pub fn hundredths(score: f64) -> i64 {
    (100.0 * 100.0 * clip01(score / 100.0)).round() as i64
}
