//! How long a node rests after a hub has refused it a new secret. Asking again at once would only count against it.

use capsid_model::Time;

/// After the first refusal.
const FIRST_MS: i64 = 2 * 60 * 1000;
/// At most.
const MAX_MS: i64 = 4 * 60 * 60 * 1000;

/// When a hub may be asked again that has refused so many times in a row.
pub(crate) fn next_attempt_at(now: Time, refusals: u32) -> Time {
    let doublings = refusals.saturating_sub(1).min(16);
    Time(now.0.saturating_add((FIRST_MS << doublings).min(MAX_MS)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rests_double_from_two_minutes_to_four_hours() {
        let minutes = |refusals| next_attempt_at(Time(0), refusals).0 / 60_000;
        assert_eq!([1, 2, 3, 7, 8, 9, u32::MAX].map(minutes), [2, 4, 8, 128, 240, 240, 240]);
    }
}
