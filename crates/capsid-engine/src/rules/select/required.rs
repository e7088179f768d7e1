//! The words of which one must be in every text that an expression matches.

use regex_syntax::hir::{Class, Hir, HirKind};

/// More alternatives than this are not worth looking for.
const MAX_WORDS: usize = 16;

/// A character outside ASCII that an expression without case takes for an `s`, but that lowercase keeps. Where a signal
/// holds it, required words say nothing.
pub(super) const LONG_S: char = 'ſ';

/// Sets of lowercase words such that the lowercase form of every match holds a word of each set. None at all when
/// nothing is fixed.
pub(super) fn required_words(hir: &Hir) -> Vec<Vec<String>> {
    let mut sets = Vec::new();
    match hir.kind() {
        HirKind::Capture(capture) => sets = required_words(&capture.sub),
        HirKind::Repetition(repeat) if repeat.min > 0 => sets = required_words(&repeat.sub),
        HirKind::Alternation(branches) => sets.extend(one_of(branches)),
        HirKind::Concat(parts) => {
            let mut run = String::new();
            for part in parts {
                if let Some(text) = exact(part) {
                    run.push_str(&text);
                } else {
                    sets.push(vec![std::mem::take(&mut run)]);
                    sets.extend(required_words(part));
                }
            }
            sets.push(vec![run]);
        }
        _ => sets.extend(exact(hir).map(|word| vec![word])),
    }
    sets.retain(|set| set.iter().all(|word| !word.is_empty()));
    sets
}

/// The set for a choice between branches: the longest that each requires.
fn one_of(branches: &[Hir]) -> Option<Vec<String>> {
    let shortest = |set: &Vec<String>| set.iter().map(String::len).min();
    let mut all = Vec::new();
    for branch in branches {
        all.extend(required_words(branch).into_iter().max_by_key(shortest)?);
    }
    (all.len() <= MAX_WORDS).then_some(all)
}

/// The same for an expression of plain text, dots and `.*`, told from its text: most are of that kind, and parsing
/// them would be most of the work of building an index.
pub(super) fn required_of_plain(body: &str) -> Option<Vec<Vec<String>>> {
    let body = body.strip_prefix('^').unwrap_or(body);
    let body = body.strip_suffix('$').unwrap_or(body);
    let mut before = ' ';
    for c in body.chars() {
        let repeats_a_dot = matches!(c, '*' | '+') && before == '.';
        if !(c.is_ascii_alphanumeric() || "_-:, .".contains(c) || repeats_a_dot) {
            return None;
        }
        before = c;
    }
    let runs = body.split(['.', '*', '+']).filter(|run| !run.is_empty());
    Some(runs.map(|run| vec![run.to_ascii_lowercase()]).collect())
}

/// The lowercase form of the one text that a part matches, if there is only one.
fn exact(hir: &Hir) -> Option<String> {
    match hir.kind() {
        HirKind::Empty | HirKind::Look(_) => Some(String::new()),
        HirKind::Literal(literal) => std::str::from_utf8(&literal.0).ok()?.chars().map(lower).collect(),
        HirKind::Class(Class::Unicode(class)) => {
            one_letter(class.ranges().iter().flat_map(|range| range.start()..=range.end()))
        }
        HirKind::Class(Class::Bytes(class)) => {
            one_letter(class.ranges().iter().flat_map(|range| range.start()..=range.end()).map(char::from))
        }
        HirKind::Capture(capture) => exact(&capture.sub),
        HirKind::Concat(parts) => parts.iter().map(exact).collect(),
        HirKind::Repetition(_) | HirKind::Alternation(_) => None,
    }
}

/// The lowercase letter that all characters of a class share.
fn one_letter(class: impl Iterator<Item = char>) -> Option<String> {
    let mut letters = class.filter(|c| *c != LONG_S);
    let letter = lower(letters.next()?)?;
    letters.all(|other| lower(other).as_ref() == Some(&letter)).then_some(letter)
}

/// A character in lowercase; nothing for the capital sigma, whose lowercase depends on its position.
fn lower(c: char) -> Option<String> {
    (c != 'Σ').then(|| c.to_lowercase().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use regex_syntax::ParserBuilder;

    fn required(body: &str) -> Vec<Vec<String>> {
        let expression = ParserBuilder::new().case_insensitive(true).build().parse(body);
        required_words(&expression.unwrap())
    }

    fn sets(sets: &[&[&str]]) -> Vec<Vec<String>> {
        let owned = |set: &&[&str]| set.iter().map(|word| (*word).to_owned()).collect();
        sets.iter().map(owned).collect()
    }

    #[test]
    fn fixed_text_is_required() {
        assert_eq!(required("Timeout"), sets(&[&["timeout"]]));
        assert_eq!(required(r"(?-u:\b)session.*[0-9]+ lost"), sets(&[&["session"], &[" lost"]]));
        assert_eq!(required("^(ECONN)REFUSED"), sets(&[&["econnrefused"]]));
        assert_eq!(required("x+(abc){2,}"), sets(&[&["x"], &["abc"]]));
        assert_eq!(required("Ünsafe|Kelvin: (warm|cold)"), sets(&[&["ünsafe", "kelvin: "]]));
    }

    #[test]
    fn nothing_is_required_where_nothing_is_fixed() {
        for body in ["", "[0-9]+", "a?", "foo|.*", "Σ", "[^x]"] {
            assert_eq!(required(body), sets(&[]), "{body}");
        }
    }

    #[test]
    fn plain_expressions_are_told_from_their_text() {
        for body in ["Time out", "^a.b.*c-d.+$", ".*", "", "^$", "a:b,c_9"] {
            assert_eq!(required_of_plain(body), Some(required(body)), "{body}");
        }
        for body in ["a*", "a.*?", "a|b", r"\d", "(a)", "é", "a{2}", ".**", "a^b", "[a]"] {
            assert_eq!(required_of_plain(body), None, "{body}");
        }
    }
}
