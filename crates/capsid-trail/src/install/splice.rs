//! Edits of a text that leave the rest of it alone.

use capsid_model::{Code, Problem, Result};
use std::ops::Range;

/// One piece of text that takes the place of another, each of which may be empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TextSplice {
    pub range: Range<usize>,
    pub text: String,
}

impl TextSplice {
    pub fn insert(at: usize, text: impl Into<String>) -> Self {
        Self { range: at..at, text: text.into() }
    }

    pub fn cut(range: Range<usize>) -> Self {
        Self { range, text: String::new() }
    }
}

/// Applies edits, which may come in any order; those at one place are applied in theirs.
///
/// The result is compared with the original: if any byte outside the edits differs, nothing is returned.
pub(super) fn apply(original: &str, mut splices: Vec<TextSplice>) -> Result<String> {
    splices.sort_by_key(|splice| splice.range.start);
    let mut result = String::with_capacity(original.len());
    let mut added = Vec::new();
    let mut at = 0;
    for splice in &splices {
        result.push_str(original.get(at..splice.range.start).ok_or_else(astray)?);
        added.push(result.len()..result.len() + splice.text.len());
        result.push_str(&splice.text);
        at = splice.range.end;
    }
    result.push_str(original.get(at..).ok_or_else(astray)?);
    let removed: Vec<Range<usize>> = splices.into_iter().map(|splice| splice.range).collect();
    match without(original, &removed) == without(&result, &added) {
        true => Ok(result),
        false => Err(astray()),
    }
}

fn without(text: &str, ranges: &[Range<usize>]) -> Option<String> {
    let mut rest = String::with_capacity(text.len());
    let mut at = 0;
    for range in ranges {
        rest.push_str(text.get(at..range.start)?);
        at = range.end;
    }
    rest.push_str(text.get(at..)?);
    Some(rest)
}

fn astray() -> Problem {
    Problem::new(Code::Internal, "An edit of a settings file went astray; the file was left as it is.")
        .fix("Add the hook by hand, and report the file's form.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edits_come_out_in_place_whatever_their_order() {
        let edits = vec![
            TextSplice::insert(4, "!"),
            TextSplice::cut(0..1),
            TextSplice::insert(2, "x"),
            TextSplice::insert(2, "y"),
        ];
        assert_eq!(apply("abüc", edits).unwrap(), "bxyü!c");
        assert_eq!(apply("", vec![TextSplice::insert(0, "x")]).unwrap(), "x");
    }

    #[test]
    fn edits_that_overlap_or_split_a_letter_are_refused() {
        for edits in [
            vec![TextSplice::cut(0..2), TextSplice::cut(1..3)],
            vec![TextSplice::insert(1, "x")],
            vec![TextSplice::cut(0..9)],
            vec![TextSplice::insert(9, "x")],
        ] {
            assert_eq!(apply("üabc", edits).unwrap_err().code, Code::Internal);
        }
    }
}
