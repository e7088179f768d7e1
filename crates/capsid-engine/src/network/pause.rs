//! How long to wait before something is tried again that failed: twice as long each time, up to a bound.

use std::time::Duration;

/// More doublings than any pause here needs.
const MAX_DOUBLINGS: u64 = 20;

/// The pause after so many failures in a row.
pub(super) fn after(failures: u64, first: Duration, longest: Duration) -> Duration {
    let doublings = failures.saturating_sub(1).min(MAX_DOUBLINGS);
    first.saturating_mul(1 << doublings).min(longest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pauses_double_up_to_a_bound() {
        let (first, longest) = (Duration::from_secs(1), Duration::from_secs(10));
        let seconds = |failures| after(failures, first, longest).as_secs();
        assert_eq!([0, 1, 2, 3, 4, 5, u64::MAX].map(seconds), [1, 1, 2, 4, 8, 10, 10]);
        assert_eq!(after(u64::MAX, Duration::MAX, longest), longest);
    }
}
