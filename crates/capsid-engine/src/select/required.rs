//! The words of which one must be in every text that an expression matches.

use regex_syntax::hir::{Class, Hir, HirKind};

/// More alternatives than this are not worth looking for.
const MAX_WORDS: usize = 16;

/// A character outside ASCII that an expression without case takes for an `s`, but that lowercase keeps. Where a signal
/// holds it, required words say nothing.
pub(super) const LONG_S: char = 'ſ';

/// Lowercase words such that the lowercase form of every match holds at least one; nothing when there is no such set.
pub(super) fn required_words(hir: &Hir) -> Option<Vec<String>> {
    match hir.kind() {
        HirKind::Capture(capture) => required_words(&capture.sub),
        HirKind::Repetition(repeat) if repeat.min > 0 => required_words(&repeat.sub),
        HirKind::Alternation(branches) => {
            let mut all = Vec::new();
            for branch in branches {
                all.extend(required_words(branch)?);
            }
            (all.len() <= MAX_WORDS).then_some(all)
        }
        HirKind::Concat(parts) => of_sequence(parts),
        _ => exact(hir)
            .filter(|word| !word.is_empty())
            .map(|word| vec![word]),
    }
}

/// The best set among the runs of fixed text in a sequence and the sets of its parts: the one whose shortest word is
/// longest, since it is the rarest to be found.
fn of_sequence(parts: &[Hir]) -> Option<Vec<String>> {
    let mut best: Option<Vec<String>> = None;
    let mut offer = |set: Vec<String>| {
        let shortest = |set: &Vec<String>| set.iter().map(String::len).min().unwrap_or_default();
        if best.as_ref().map_or(0, shortest) < shortest(&set) {
            best = Some(set);
        }
    };
    let mut run = String::new();
    for part in parts {
        if let Some(text) = exact(part) {
            run.push_str(&text);
            continue;
        }
        offer(vec![std::mem::take(&mut run)]);
        if let Some(set) = required_words(part) {
            offer(set);
        }
    }
    offer(vec![run]);
    best
}

/// The lowercase form of the one text that a part matches, if there is only one.
fn exact(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(String::new()),
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0)
            .ok()?
            .chars()
            .map(lower)
            .collect(),
        HirKind::Class(Class::Unicode(class)) => one_letter(
            class
                .ranges()
                .iter()
                .flat_map(|range| range.start()..=range.end()),
        ),
        HirKind::Class(Class::Bytes(class)) => one_letter(
            class
                .ranges()
                .iter()
                .flat_map(|range| range.start()..=range.end())
                .map(char::from),
        ),
        HirKind::Capture(capture) => exact(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(exact).collect(),
        HirKind::Repetition(_) | HirKind::Alternation(_) => None,
    }
}

/// The lowercase letter that all characters of a class share.
fn one_letter(class: impl Iterator<Item = char>) -> Option<String> {
    let mut letters = class.filter(|c| *c != LONG_S);
    let letter = lower(letters.next()?)?;
    letters
        .all(|other| lower(other).as_ref() == Some(&letter))
        .then_some(letter)
}

/// A character in lowercase; nothing for the capital sigma, whose lowercase depends on where it stands.
fn lower(c: char) -> Option<String> {
    (c != 'Σ').then(|| c.to_lowercase().collect())
}

#[cfg(test)]
mod tests {
    use super::super::pattern::Expression;
    use super::*;

    fn required(pattern: &str) -> Option<Vec<String>> {
        required_words(&Expression::parse(pattern).unwrap().1)
    }

    #[test]
    fn the_longest_fixed_text_is_required() {
        let word = |text: &str| Some(vec![text.to_owned()]);
        assert_eq!(required(r"/Timeout/"), word("timeout"));
        assert_eq!(required(r"/\bsession\b.*\d+ lost/"), word("session"));
        assert_eq!(required(r"/^(ECONN)REFUSED/"), word("econnrefused"));
        assert_eq!(required(r"/x+(abc){2,}/"), word("abc"));
        assert_eq!(
            required(r"/Ünsafe|Kelvin: (warm|cold)/u"),
            Some(vec!["ünsafe".into(), "kelvin: ".into()])
        );
    }

    #[test]
    fn nothing_is_required_where_nothing_is_fixed() {
        for pattern in ["//", r"/\d+/", "/a?/", "/foo|.*/", "/Σ/", "/[^x]/"] {
            assert_eq!(required(pattern), None, "{pattern}");
        }
    }
}
