//! When a call that failed is made again, and when it is given up.

/// How calls are repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackoffPolicy {
    pub first_ms: i64,
    pub longest_ms: i64,
    /// For how long it is tried.
    pub give_up_ms: i64,
}

/// What comes after a call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    Again(i64),
    /// Nothing: it is given up.
    GiveUp,
}

/// How many calls in a row are given up before the receiver is no longer called at all.
pub const MAX_DEATHS: i64 = 20;

impl BackoffPolicy {
    /// The pause after so many failures, by chance: each time twice as long, and never shorter than the first nor longer
    /// than the longest. Chance keeps calls that failed together from coming back together.
    pub fn pause(&self, failures: i64, chance: u64) -> i64 {
        let first = self.first_ms.max(1);
        let longest = self.longest_ms.max(first);
        let doublings = failures.saturating_sub(1).clamp(0, 62) as u32;
        let doubled = first.saturating_mul(1_i64 << doublings);
        let low = doubled.min(longest / 2).max(first);
        let high = low.saturating_mul(2).min(longest);
        let room = (high - low) as u64 + 1;
        low + (chance % room) as i64
    }

    /// What comes after a failure. The last try is made when the time is over, so none is given up early.
    pub fn next(&self, since: i64, failures: i64, chance: u64, now: i64) -> RetryDecision {
        let end = since.saturating_add(self.give_up_ms);
        if now >= end {
            return RetryDecision::GiveUp;
        }
        let soonest = now.saturating_add(self.first_ms.max(1));
        let at = now.saturating_add(self.pause(failures, chance));
        RetryDecision::Again(at.min(end).max(soonest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: i64 = 3_600_000;
    const DEFAULT: BackoffPolicy =
        BackoffPolicy { first_ms: 10_000, longest_ms: 6 * HOUR, give_up_ms: 72 * HOUR };

    #[test]
    fn pauses_double_up_to_the_longest() {
        let shortest = |failures| DEFAULT.pause(failures, 0);
        assert_eq!([1, 2, 3, 4].map(shortest), [10_000, 20_000, 40_000, 80_000]);
        assert_eq!(DEFAULT.pause(1, 10_000), 20_000);
        for failures in [12, 20, 62, 63, 64, 1000, i64::MAX] {
            assert_eq!(DEFAULT.pause(failures, 0), 3 * HOUR, "{failures}");
            assert_eq!(DEFAULT.pause(failures, 3 * HOUR as u64), 6 * HOUR, "{failures}");
        }
    }

    #[test]
    fn what_fails_for_three_days_is_given_up() {
        let (mut now, mut failures) = (0, 0);
        while let RetryDecision::Again(at) = {
            failures += 1;
            DEFAULT.next(0, failures, now as u64, now)
        } {
            assert!(at >= now + DEFAULT.first_ms && at <= now + DEFAULT.longest_ms);
            now = at;
        }
        assert!((72 * HOUR..=72 * HOUR + DEFAULT.first_ms).contains(&now), "{now}");
        assert!((20..40).contains(&failures), "{failures}");
    }

    proptest! {
        #[test]
        fn a_pause_is_never_shorter_than_the_first_nor_longer_than_the_longest(
            first in 1..10_000_000_i64, more in 0..1_000_000_000_i64, failures in 0..i64::MAX, chance: u64
        ) {
            let rule = BackoffPolicy { first_ms: first, longest_ms: first + more, give_up_ms: 0 };
            let pause = rule.pause(failures, chance);
            prop_assert!((first..=first + more).contains(&pause), "{pause}");
        }

        #[test]
        fn settings_that_make_no_sense_do_no_harm(first: i64, longest: i64, failures: i64, chance: u64, now: i64) {
            let rule = BackoffPolicy { first_ms: first, longest_ms: longest, give_up_ms: longest };
            prop_assert!(rule.pause(failures.max(1), chance) >= 1);
            let _any = rule.next(now, failures.max(1), chance, now);
        }
    }
}
