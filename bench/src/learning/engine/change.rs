//! Comparing the change of a cycle with the change of a capsule, by rules of the bench's own.

use crate::learning::corpus::FileTree;
use std::collections::BTreeMap;

/// Added and removed lines, each with how often it occurs; lines that only moved cancel out.
pub type LineCounts = BTreeMap<(char, String), i64>;

/// The share of a capsule's lines that a change must have to be the same change.
const SAME_SHARE: f64 = 0.6;

/// The lines by which two trees differ.
pub fn list_changed_lines(old: &FileTree, new: &FileTree) -> LineCounts {
    let mut counts: BTreeMap<String, i64> = BTreeMap::new();
    for (tree, step) in [(old, -1), (new, 1)] {
        for line in tree.values().flat_map(|content| content.lines()).filter(|line| !line.trim().is_empty()) {
            *counts.entry(line.trim().to_owned()).or_default() += step;
        }
    }
    let changed = counts.into_iter().filter(|(_, count)| *count != 0);
    changed.map(|(line, count)| ((if count > 0 { '+' } else { '-' }, line), count.abs())).collect()
}

/// The lines of a patch.
fn list_patch_lines(patch: &str) -> LineCounts {
    let mut counts = LineCounts::new();
    for line in patch.lines().filter(|line| !line.starts_with("+++") && !line.starts_with("---")) {
        let mut rest = line.chars();
        if let Some(mark @ ('+' | '-')) = rest.next()
            && !rest.as_str().trim().is_empty()
        {
            *counts.entry((mark, rest.as_str().trim().to_owned())).or_default() += 1;
        }
    }
    counts
}

/// Whether a change has most of the lines of a patch.
pub fn is_same_change(patch: &str, made: &LineCounts) -> bool {
    let patch = list_patch_lines(patch);
    let total: i64 = patch.values().sum();
    let shared: i64 =
        patch.iter().map(|(line, count)| (*count).min(made.get(line).copied().unwrap_or_default())).sum();
    total > 0 && shared as f64 >= SAME_SHARE * total as f64
}
