//! Whether two changes are the same solution: shared token 3-grams of their added and of their removed lines.
//!
//! A 3-gram is three tokens that follow each other in the added, or in the removed, lines of one file. Added and
//! removed lines are counted apart: to add what another change removed is no reuse. What a line keeps when it is edited
//! is no part of the change: two fixes of one long line share it, and nothing else.

use std::collections::HashMap;

/// The share of the capsule's change that a reuse contains.
pub const MIN_CAPSULE_COVERAGE: f64 = 0.6;
/// The share of the result that a reuse owes to the capsule.
pub const MIN_RESULT_COVERAGE: f64 = 0.3;
/// Changes with fewer 3-grams than this must be equal.
pub const MIN_TRIGRAMS: usize = 8;

/// How much of two changes is shared, each from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ChangeCoverage {
    /// Shared 3-grams among those of the capsule's change.
    pub capsule: f64,
    /// Shared 3-grams among those of the result.
    pub result: f64,
}

/// Whether the result of a cycle counts as reuse of the capsule whose change was shown.
pub fn is_same_solution(capsule_diff: &str, result_diff: &str) -> bool {
    let (capsule, result) = (ChangeTokens::parse(capsule_diff), ChangeTokens::parse(result_diff));
    if capsule.is_empty() || result.is_empty() {
        return false;
    }
    let (capsule_grams, result_grams) = (capsule.trigrams(), result.trigrams());
    if capsule_grams.total < MIN_TRIGRAMS || result_grams.total < MIN_TRIGRAMS {
        return capsule.sorted() == result.sorted();
    }
    let coverage = capsule_grams.coverage(&result_grams);
    coverage.capsule >= MIN_CAPSULE_COVERAGE && coverage.result >= MIN_RESULT_COVERAGE
}

/// How much of a capsule's change a result contains, and how much of the result that is.
pub fn change_coverage(capsule_diff: &str, result_diff: &str) -> ChangeCoverage {
    let (capsule, result) = (ChangeTokens::parse(capsule_diff), ChangeTokens::parse(result_diff));
    capsule.trigrams().coverage(&result.trigrams())
}

/// The tokens of the added and of the removed lines, one list for each file and side.
#[derive(Default)]
struct ChangeTokens<'a> {
    added: Vec<Vec<&'a str>>,
    removed: Vec<Vec<&'a str>>,
}

/// The multiset of 3-grams of a change. The flag tells added from removed lines.
struct TrigramCounts<'a> {
    counts: HashMap<(bool, &'a [&'a str]), usize>,
    total: usize,
}

impl<'a> ChangeTokens<'a> {
    fn parse(diff: &'a str) -> Self {
        let mut tokens = Self::default();
        // Lines that the hunk header still announces, old and new.
        let (mut old_left, mut new_left) = (0_u64, 0_u64);
        tokens.start_file();
        for line in diff.lines() {
            let in_hunk = old_left > 0 || new_left > 0;
            match line.as_bytes().first() {
                Some(b'+') if in_hunk => {
                    new_left = new_left.saturating_sub(1);
                    push_tokens(tokens.added.last_mut(), &line[1..]);
                }
                Some(b'-') if in_hunk => {
                    old_left = old_left.saturating_sub(1);
                    push_tokens(tokens.removed.last_mut(), &line[1..]);
                }
                Some(b' ') | None if in_hunk => {
                    old_left = old_left.saturating_sub(1);
                    new_left = new_left.saturating_sub(1);
                }
                Some(b'@') => {
                    if let Some(lengths) = parse_hunk_lengths(line) {
                        (old_left, new_left) = lengths;
                    }
                }
                Some(b'd') if !in_hunk && line.starts_with("diff ") => tokens.start_file(),
                Some(b'-') if line.starts_with("--- ") => tokens.start_file(),
                _ => {}
            }
        }
        tokens
    }

    fn start_file(&mut self) {
        if self.added.last().is_none_or(|list| !list.is_empty()) {
            self.added.push(Vec::new());
        }
        if self.removed.last().is_none_or(|list| !list.is_empty()) {
            self.removed.push(Vec::new());
        }
    }

    fn is_empty(&self) -> bool {
        self.added.iter().chain(&self.removed).all(Vec::is_empty)
    }

    /// The same lists whatever the order of the files.
    fn sorted(&self) -> [Vec<&[&'a str]>; 2] {
        [&self.added, &self.removed].map(|lists| {
            let mut sorted: Vec<&[&str]> =
                lists.iter().map(Vec::as_slice).filter(|list| !list.is_empty()).collect();
            sorted.sort_unstable();
            sorted
        })
    }

    fn trigrams(&self) -> TrigramCounts<'_> {
        let mut grams = TrigramCounts { counts: HashMap::new(), total: 0 };
        for (is_added, lists) in [(true, &self.added), (false, &self.removed)] {
            for gram in lists.iter().flat_map(|list| list.windows(3)) {
                *grams.counts.entry((is_added, gram)).or_default() += 1;
            }
        }
        grams.leave_out_kept();
        grams
    }
}

impl TrigramCounts<'_> {
    /// Leaves out what is both removed and added.
    fn leave_out_kept(&mut self) {
        let kept: Vec<_> = self
            .counts
            .iter()
            .filter(|((is_added, _), _)| *is_added)
            .filter_map(|((_, gram), count)| {
                let removed = self.counts.get(&(false, *gram))?;
                Some((*gram, *count.min(removed)))
            })
            .collect();
        for (gram, count) in kept {
            for side in [true, false] {
                if let Some(left) = self.counts.get_mut(&(side, gram)) {
                    *left -= count;
                }
            }
        }
        self.counts.retain(|_, count| *count > 0);
        self.total = self.counts.values().sum();
    }

    /// The coverage of this change, a capsule's, by a result.
    fn coverage(&self, result: &TrigramCounts<'_>) -> ChangeCoverage {
        let shared: usize = self
            .counts
            .iter()
            .map(|(gram, count)| result.counts.get(gram).map_or(0, |c| *count.min(c)))
            .sum();
        let share = |total: usize| if total == 0 { 0.0 } else { shared as f64 / total as f64 };
        ChangeCoverage { capsule: share(self.total), result: share(result.total) }
    }
}

/// The lengths in `@@ -1,7 +1,9 @@ fn name`; a length that is left out is one line.
fn parse_hunk_lengths(line: &str) -> Option<(u64, u64)> {
    let mut ranges = line.strip_prefix("@@ -")?.splitn(3, ' ');
    let (old, new) = (ranges.next()?, ranges.next()?.strip_prefix('+')?);
    let length = |range: &str| range.split_once(',').map_or(Some(1), |(_, length)| length.parse().ok());
    Some((length(old)?, length(new)?))
}

/// Identifiers, runs of digits and single other characters; white space only separates.
fn push_tokens<'a>(list: Option<&mut Vec<&'a str>>, line: &'a str) {
    let Some(list) = list else { return };
    let is_word = |c: char| c.is_alphanumeric() || c == '_';
    let mut rest = line.trim_start();
    while let Some(first) = rest.chars().next() {
        let end = if first.is_numeric() {
            rest.find(|c: char| !c.is_numeric())
        } else if is_word(first) {
            rest.find(|c: char| !is_word(c))
        } else {
            Some(first.len_utf8())
        };
        let (token, after) = rest.split_at(end.unwrap_or(rest.len()));
        list.push(token);
        rest = after.trim_start();
    }
}

#[cfg(test)]
#[path = "similarity_tests.rs"]
mod tests;
