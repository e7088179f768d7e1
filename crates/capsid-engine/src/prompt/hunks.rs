//! The part of a diff that fits into a space, in whole hunks.

use super::clip::count_chars;

/// The line that says that the rest of a hunk is missing.
pub(super) const CUT_MARK: &str = "... [TRUNCATED]";
/// The line that stands for what may not be shown.
const PROTECTED_MARK: &str = "[content left out: protected]";

/// The part of a diff of one file.
struct FileDiff<'a> {
    head: &'a str,
    hunks: Vec<&'a str>,
}

/// The whole hunks of a diff that fit into so many characters, in order, and whether some were left out. A hunk whose end is
/// missing never fits.
pub(super) fn select_hunks(diff: &str, max_chars: usize) -> String {
    let files = parse_files(diff);
    let total: usize = files.iter().map(|file| file.hunks.len()).sum();
    // Room for the line that says what was left out.
    let room = max_chars.saturating_sub(40);
    let (mut out, mut used, mut chosen) = (String::new(), 0, 0);
    for file in &files {
        let mut is_open = false;
        for hunk in &file.hunks {
            let head = if is_open { "" } else { file.head };
            let size = count_chars(head) + count_chars(hunk);
            let limit = if chosen + 1 == total { max_chars } else { room };
            if used + size > limit || is_cut(hunk) {
                continue;
            }
            out.push_str(head);
            out.push_str(hunk);
            is_open = true;
            used += size;
            chosen += 1;
        }
    }
    if chosen < total && chosen > 0 {
        out.push_str("[more hunks were left out]\n");
    }
    out
}

fn is_cut(hunk: &str) -> bool {
    hunk.lines().any(|line| line == CUT_MARK || line == PROTECTED_MARK)
}

/// The files of a diff. What has no hunks, such as a binary file or a text that is no diff, is one hunk.
fn parse_files(diff: &str) -> Vec<FileDiff<'_>> {
    let starts = |mark: &str| {
        let mut at = 0;
        let mut found = Vec::new();
        for line in diff.split_inclusive('\n') {
            if line.starts_with(mark) {
                found.push(at);
            }
            at += line.len();
        }
        found
    };
    let mut files = starts("diff --git ");
    let hunks = starts("@@ ");
    if files.is_empty() {
        files.push(0);
    }
    let end_of = |list: &[usize], at: usize| list.get(at + 1).copied().unwrap_or(diff.len());
    let mut parsed = Vec::new();
    for (at, start) in files.iter().enumerate() {
        let end = end_of(&files, at);
        let inside: Vec<usize> = hunks.iter().copied().filter(|hunk| (*start..end).contains(hunk)).collect();
        let Some(first) = inside.first().copied() else {
            let whole = &diff[*start..end];
            if !whole.trim().is_empty() {
                parsed.push(FileDiff { head: "", hunks: vec![whole] });
            }
            continue;
        };
        let hunks = inside.iter().enumerate().map(|(at, hunk)| {
            let next = inside.get(at + 1).copied().unwrap_or(end);
            &diff[*hunk..next]
        });
        parsed.push(FileDiff { head: &diff[*start..first], hunks: hunks.collect() });
    }
    parsed
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n-a\n+b\n@@ -9,2 +9,2 @@ fn y\n-c\n+ddddddddddddddddddddddddddddddddddddddddddddd\ndiff --git a/z b/z\n--- a/z\n+++ b/z\n@@ -1 +1 @@\n-e\n+f\n";

    #[test]
    fn a_diff_that_fits_is_shown_as_it_is() {
        assert_eq!(select_hunks(DIFF, DIFF.len()), DIFF);
    }

    #[test]
    fn only_whole_hunks_are_shown_with_the_head_of_their_file() {
        let part = select_hunks(DIFF, 150);
        assert!(part.contains("+b\n") && part.contains("+++ b/z\n@@ -1 +1 @@\n-e\n+f\n"), "{part}");
        assert!(!part.contains("+ddd") && !part.contains("fn y"), "{part}");
        assert!(part.ends_with("[more hunks were left out]\n") && part.len() < DIFF.len(), "{part}");
        assert_eq!(select_hunks(DIFF, 30), "");
    }

    #[test]
    fn a_hunk_without_its_end_is_left_out() {
        let cut = DIFF.replace("-e\n+f\n", "-e\n... [TRUNCATED]");
        let part = select_hunks(&cut, 10_000);
        assert!(!part.contains("b/z") && part.ends_with("[more hunks were left out]\n"), "{part}");
    }

    #[test]
    fn a_text_that_is_no_diff_is_shown_whole_or_not_at_all() {
        assert_eq!(select_hunks("just words\n", 20), "just words\n");
        assert_eq!(select_hunks("just words\n", 5), "");
        assert_eq!(select_hunks("", 5), "");
    }
}
