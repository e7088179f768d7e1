//! How long to wait before something that failed is tried again: longer each time, up to a bound.

use std::time::Duration;

/// How a call that fails is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BackoffPolicy {
    /// The pause after the first failure.
    pub first_ms: i64,
    /// The longest pause.
    pub longest_ms: i64,
    /// What each pause is multiplied by to get the next one.
    pub factor: i64,
    /// For how long it is tried at all.
    pub give_up_ms: i64,
}

/// What comes after a call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryDecision {
    /// It is made again at this time.
    Again(i64),
    /// It is not made again.
    GiveUp,
}

impl BackoffPolicy {
    /// Pauses that double and never end.
    pub const fn doubling(first_ms: i64, longest_ms: i64) -> Self {
        Self { first_ms, longest_ms, factor: 2, give_up_ms: i64::MAX }
    }

    fn grown_ms(&self, failures: i64) -> i64 {
        let steps = failures.saturating_sub(1).clamp(0, 62) as u32;
        self.first_ms.max(1).saturating_mul(self.factor.saturating_pow(steps))
    }

    /// The pause in milliseconds after so many failures in a row.
    pub fn pause_ms(&self, failures: i64) -> i64 {
        self.grown_ms(failures).min(self.longest_ms).max(0)
    }

    /// The pause after so many failures in a row.
    pub fn pause(&self, failures: u64) -> Duration {
        let failures = i64::try_from(failures).unwrap_or(i64::MAX);
        Duration::from_millis(self.pause_ms(failures).unsigned_abs())
    }

    /// The pause after so many failures, by chance: between the pause that is due and twice as long, and never shorter
    /// than the first nor longer than the longest. Chance keeps calls that failed together from coming back together.
    pub fn random_pause_ms(&self, failures: i64, chance: u64) -> i64 {
        let first = self.first_ms.max(1);
        let longest = self.longest_ms.max(first);
        let low = self.grown_ms(failures).min(longest / 2).max(first);
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
        let at = now.saturating_add(self.random_pause_ms(failures, chance));
        RetryDecision::Again(at.min(end).max(soonest))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const HOUR: i64 = 3_600_000;
    const DEFAULT: BackoffPolicy =
        BackoffPolicy { give_up_ms: 72 * HOUR, ..BackoffPolicy::doubling(10_000, 6 * HOUR) };

    #[test]
    fn pauses_double_up_to_the_longest() {
        let policy = BackoffPolicy::doubling(1_000, 10_000);
        let seconds = |failures| policy.pause(failures).as_secs();
        assert_eq!([0, 1, 2, 3, 4, 5, u64::MAX].map(seconds), [1, 1, 2, 4, 8, 10, 10]);
        assert_eq!(BackoffPolicy::doubling(i64::MAX, 10_000).pause_ms(i64::MAX), 10_000);
        let tripling = BackoffPolicy { factor: 3, ..BackoffPolicy::doubling(300, i64::MAX) };
        assert_eq!([1, 2, 3].map(|failures| tripling.pause_ms(failures)), [300, 900, 2_700]);
    }

    #[test]
    fn random_pauses_double_up_to_the_longest() {
        let shortest = |failures| DEFAULT.random_pause_ms(failures, 0);
        assert_eq!([1, 2, 3, 4].map(shortest), [10_000, 20_000, 40_000, 80_000]);
        assert_eq!(DEFAULT.random_pause_ms(1, 10_000), 20_000);
        for failures in [12, 20, 62, 63, 64, 1000, i64::MAX] {
            assert_eq!(DEFAULT.random_pause_ms(failures, 0), 3 * HOUR, "{failures}");
            assert_eq!(DEFAULT.random_pause_ms(failures, 3 * HOUR as u64), 6 * HOUR, "{failures}");
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
            let policy = BackoffPolicy::doubling(first, first + more);
            let pause = policy.random_pause_ms(failures, chance);
            prop_assert!((first..=first + more).contains(&pause), "{pause}");
        }

        #[test]
        fn settings_that_make_no_sense_do_no_harm(
            first: i64, longest: i64, factor: i64, failures: i64, chance: u64, now: i64
        ) {
            let policy = BackoffPolicy { first_ms: first, longest_ms: longest, factor, give_up_ms: longest };
            prop_assert!(policy.random_pause_ms(failures, chance) >= 1);
            prop_assert!(policy.pause_ms(failures) >= 0);
            let _any = policy.next(now, failures, chance, now);
        }
    }
}
