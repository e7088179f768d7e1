//! What was found in a text: where a secret is, and up to where one must read to know it.

use std::ops::Range;

/// A secret in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Finding {
    pub(super) secret: Range<usize>,
    /// Without the text up to here the secret would not be known as one: `@` shows that a password stood before.
    pub(super) until: usize,
}

impl Finding {
    pub(super) fn new(secret: Range<usize>) -> Self {
        Self { until: secret.end, secret }
    }
}

/// The ranges in order; those that overlap or touch are one.
pub(super) fn merge(found: &[Finding]) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = found.iter().map(|found| found.secret.clone()).collect();
    ranges.sort_unstable_by_key(|range| (range.start, range.end));
    let mut merged: Vec<Range<usize>> = Vec::with_capacity(ranges.len());
    for range in ranges {
        match merged.last_mut() {
            Some(last) if range.start <= last.end => last.end = last.end.max(range.end),
            _ => merged.push(range),
        }
    }
    merged
}

/// Where to cut: at `at`, or before the secrets that are known only with what stands behind it.
pub(super) fn cut_before(found: &[Finding], at: usize) -> usize {
    let mut cut = at;
    while let Some(across) = found.iter().find(|found| found.secret.start < cut && cut < found.until) {
        cut = across.secret.start;
    }
    cut
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_overlap_or_touch_become_one() {
        let found: Vec<Finding> = [9..12, 1..3, 3..5, 2..4, 10..11].map(Finding::new).into();
        assert_eq!(merge(&found), [1..5, 9..12]);
    }

    #[test]
    fn a_cut_goes_back_past_every_secret_that_needs_what_follows() {
        let found = [Finding { secret: 2..5, until: 8 }, Finding { secret: 6..9, until: 9 }];
        assert_eq!([1, 2, 3, 7, 8, 9].map(|at| cut_before(&found, at)), [1, 2, 2, 2, 2, 9]);
    }
}
