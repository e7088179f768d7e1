//! Scores as they are stored.

use crate::clip01;

/// A score as it is stored: whole hundredths, 0 to 10000.
pub fn hundredths(score: f64) -> i64 {
    (100.0 * 100.0 * clip01(score / 100.0)).round() as i64
}

/// How sure a lower bound is: one-sided 95 %.
const Z: f64 = 1.645;

/// The lower end of the Wilson interval of a share; zero without data.
pub(crate) fn wilson(hits: f64, total: f64) -> f64 {
    if total <= 0.0 {
        return 0.0;
    }
    let share = clip01(hits / total);
    let z2 = Z * Z / total;
    let middle = share + z2 / 2.0;
    let spread = (z2 * (share * (1.0 - share) + z2 / 4.0)).sqrt();
    clip01((middle - spread) / (1.0 + z2))
}
