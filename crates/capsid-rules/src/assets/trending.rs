//! What is in demand this week.

use capsid_model::time::Time;
use std::cmp::Ordering;
use std::collections::BTreeMap;

/// How far back is looked, in milliseconds.
pub const WINDOW_MS: i64 = 7 * 24 * HOUR_MS;
const HOUR_MS: i64 = 3_600_000;
/// A fetch counts half after so many hours.
const HALF_LIFE_HOURS: f64 = 24.0;
const VOTE_WEIGHT: f64 = 2.0;

/// How much an asset is in demand: the last fetch of each node within a week, less the older it is, and its votes.
///
/// `fetches` are nodes and times in any order.
pub fn trend<N: Ord>(fetches: impl IntoIterator<Item = (N, Time)>, net_votes: i64, now: Time) -> f64 {
    let mut latest: BTreeMap<N, i64> = BTreeMap::new();
    for (node, at) in fetches {
        // A clock of another machine may run ahead a little.
        let age = now.0.saturating_sub(at.0).max(0);
        if age < WINDOW_MS {
            latest.entry(node).and_modify(|known| *known = age.min(*known)).or_insert(age);
        }
    }
    let demand: f64 = latest.values().map(|&age| fetch_weight(age)).sum();
    demand + VOTE_WEIGHT * net_votes as f64
}

/// What a fetch of that age in milliseconds adds.
pub fn fetch_weight(age_ms: i64) -> f64 {
    (-(age_ms.max(0) as f64) / HOUR_MS as f64 / HALF_LIFE_HOURS).exp2()
}

/// An asset among those that trend.
#[derive(Debug, Clone, PartialEq, serde::Serialize)]
pub struct TrendingEntry {
    /// What [`trend`] says.
    pub trend: f64,
    pub gdi_hundredths: i64,
    /// When it was promoted, in milliseconds.
    pub promoted_at: i64,
    pub asset_id: String,
}

/// The order of entries, most in demand first; no two different assets are equal.
pub fn order(a: &TrendingEntry, b: &TrendingEntry) -> Ordering {
    b.trend
        .total_cmp(&a.trend)
        .then(b.gdi_hundredths.cmp(&a.gdi_hundredths))
        .then(b.promoted_at.cmp(&a.promoted_at))
        .then_with(|| a.asset_id.cmp(&b.asset_id))
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Time = Time(1_770_000_000_000);

    fn ago(hours: i64) -> Time {
        Time(NOW.0 - hours * HOUR_MS)
    }

    #[test]
    fn each_node_counts_once_by_its_last_fetch() {
        assert_eq!(trend([("a", ago(24)), ("a", ago(0)), ("a", ago(48))], 0, NOW), 1.0);
        assert_eq!(trend([("a", ago(0)), ("b", ago(24))], 0, NOW), 1.5);
    }

    #[test]
    fn a_week_is_the_limit_and_votes_count_double() {
        assert_eq!(trend([("a", ago(24 * 7))], 0, NOW), 0.0);
        assert_eq!(trend([("a", ago(-1))], 3, NOW), 7.0);
        assert_eq!(trend::<&str>([], -2, NOW), -4.0);
    }

    #[test]
    fn ties_are_settled() {
        let entry = |trend, gdi_hundredths, promoted_at, id: &str| TrendingEntry {
            trend,
            gdi_hundredths,
            promoted_at,
            asset_id: id.to_owned(),
        };
        let sorted = [
            entry(2.0, 1, 1, "z"),
            entry(1.0, 9, 1, "y"),
            entry(1.0, 5, 9, "x"),
            entry(1.0, 5, 5, "a"),
            entry(1.0, 5, 5, "b"),
        ];
        let mut shuffled = sorted.to_vec();
        shuffled.reverse();
        shuffled.sort_by(order);
        assert_eq!(shuffled, sorted);
    }
}
