//! How often a check must pass after it failed only some of the time.
//!
//! A check that fails with probability p passes k times in a row by chance with probability (1 − p)^k. The rule asks
//! for the smallest k that makes this at most 5 %.

use serde::{Deserialize, Serialize};

/// The chance that is accepted of calling a flaky check repaired.
const ACCEPTED_CHANCE: f64 = 0.05;

/// A check that both failed and passed on the same files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlakyCheck {
    /// How many of the runs failed.
    pub failures: u32,
    /// How many runs there were.
    pub runs: u32,
}

impl FlakyCheck {
    /// The flaky check that these results show; none if all of them agree.
    pub fn from_results(results: impl IntoIterator<Item = bool>) -> Option<Self> {
        let (mut failures, mut runs) = (0_u32, 0_u32);
        for ok in results {
            runs = runs.saturating_add(1);
            failures = failures.saturating_add(u32::from(!ok));
        }
        (failures > 0 && failures < runs).then_some(Self { failures, runs })
    }

    /// How many passes in a row show that the failure is gone.
    pub fn passes_needed(self) -> u32 {
        passes_needed(self.failures, self.runs)
    }
}

/// How many passes in a row are needed after `failures` of `runs` runs failed. One pass is enough after a check that
/// always failed, and after one that never did, because it shows nothing.
pub fn passes_needed(failures: u32, runs: u32) -> u32 {
    if failures == 0 || failures >= runs {
        return 1;
    }
    let rate = f64::from(failures) / f64::from(runs);
    let passes = (ACCEPTED_CHANCE.ln() / (-rate).ln_1p()).ceil();
    // The cast saturates, so even one failure of four billion gives a number.
    (passes as u32).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn one_failure_of_three_needs_eight_passes_and_two_need_three() {
        assert_eq!(passes_needed(1, 3), 8);
        assert_eq!(passes_needed(2, 3), 3);
    }

    #[test]
    fn a_check_that_always_failed_needs_one_pass() {
        assert_eq!(passes_needed(3, 3), 1);
        assert_eq!(passes_needed(1, 1), 1);
        assert_eq!(passes_needed(0, 3), 1);
        assert_eq!(passes_needed(0, 0), 1);
    }

    #[test]
    fn equal_results_are_not_flaky() {
        assert_eq!(FlakyCheck::from_results([]), None);
        assert_eq!(FlakyCheck::from_results([false, false]), None);
        assert_eq!(FlakyCheck::from_results([true]), None);
        let flaky = FlakyCheck::from_results([false, true, true]).unwrap();
        assert_eq!(flaky, FlakyCheck { failures: 1, runs: 3 });
        assert_eq!(flaky.passes_needed(), 8);
    }

    proptest! {
        #[test]
        fn the_passes_make_chance_at_most_five_percent(runs in 2_u32..200, share in 0.0_f64..1.0) {
            let failures = ((f64::from(runs) * share) as u32).clamp(1, runs - 1);
            let passes = passes_needed(failures, runs);
            let chance = (1.0 - f64::from(failures) / f64::from(runs)).powi(i32::try_from(passes).unwrap());
            prop_assert!(chance <= 0.05 + 1e-12);
        }
    }
}
