//! Search terms: what an asset is found by, and what a question asks for.
//!
//! A term holds only lower-case letters, digits and underscores, so that any index takes it whole. There are two kinds.
//! `s_timeout_error` is a whole signal. `timeout` is a word, from a signal or from a summary. Scripts that write no
//! spaces give pairs of neighbouring characters as words.

use super::stop_words::is_search_stop_word;
use super::tokenizer::{bounded, fitted, is_unspaced, lowered, pieces, runs};
use capsid_model::hash::sha256_hex;
use capsid_model::signal::{fold, normalise_errsig};
use capsid_model::text::trim;
use serde::Serialize;

/// The most terms of an asset or a question.
pub const MAX_TERMS: usize = 64;
/// Whole signals leave some room for words.
const MAX_WHOLE: usize = 52;
/// The shortest beginning or end of an asked word that is looked up as a signal.
const SHORTEST_END: usize = 5;
/// The longest asked word whose beginnings and ends are looked up.
const MAX_ENDED: usize = 20;
/// How many words of an asked signal are combined.
const MAX_COMBINED: usize = 12;

/// What one asked signal is looked up by.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct SignalQuery {
    /// Any one of these is enough.
    pub exact: Vec<String>,
    /// All of these together are enough; an empty list matches nothing.
    pub words: Vec<String>,
}

/// The terms of an asset: whole signals first, then their words, those of the summary, and others.
pub fn asset_terms(signals: &[&str], summary: &str, extra: &[&str]) -> Vec<String> {
    let mut terms = TermList::default();
    for name in signals.iter().flat_map(|signal| names(signal)) {
        terms.push_within(whole_term(name), MAX_WHOLE);
        terms.push_within(squeezed(name), MAX_WHOLE);
    }
    for text in signals.iter().copied().chain([summary]).chain(extra.iter().copied()) {
        terms.extend(words(text));
    }
    terms.0
}

/// What an asked signal is looked up by.
///
/// An asset answers when one of its signals is the asked one or a part of it (`timeout` for `TimeoutError`), or when it
/// has all the words of the asked one. Case says nothing: a name is asked for in lower case.
pub fn signal_query_terms(signal: &str) -> SignalQuery {
    let mut exact = TermList::default();
    let lower = match trim(signal).starts_with("errsig") {
        true => signal.to_owned(),
        false => fold(bounded(signal)).to_lowercase(),
    };
    let names = names(&lower);
    for name in &names {
        exact.extend(squeezed(name));
    }
    for name in &names {
        exact.extend(whole_term(name));
    }
    for name in &names {
        exact.extend(parts(name));
        exact.extend(ends(name));
    }
    let words = match names.as_slice() {
        [name] if !name.starts_with("errsig") => question_words(name),
        // One word of an alternative is enough, as the alternative is.
        several => {
            for name in several.iter().filter(|name| !name.starts_with("errsig")) {
                let words = question_words(name);
                if words.len() == 1 {
                    exact.extend(words);
                }
            }
            Vec::new()
        }
    };
    SignalQuery { exact: exact.0, words }
}

/// The words of a free question; an asset answers that has all of them.
pub fn query_words(text: &str) -> Vec<String> {
    question_words(text)
}

/// Whether an asset with these terms answers an asked signal.
pub fn matches(asked: &str, asset_terms: &[String]) -> bool {
    signal_query_terms(asked).matches(asset_terms)
}

impl SignalQuery {
    /// Whether an asset with these terms answers.
    pub fn matches(&self, asset_terms: &[String]) -> bool {
        let all = !self.words.is_empty() && self.words.iter().all(|word| asset_terms.contains(word));
        all || self.matches_exactly(asset_terms)
    }

    /// Whether an asset with these terms answers by a signal, and not just by words that it uses.
    pub fn matches_exactly(&self, asset_terms: &[String]) -> bool {
        self.exact.iter().any(|term| asset_terms.contains(term))
    }
}

/// A list of terms without repetition and of bounded length.
#[derive(Default)]
struct TermList(Vec<String>);

impl TermList {
    fn push_within(&mut self, term: Option<String>, most: usize) {
        let Some(term) = term else { return };
        if self.0.len() < most && !self.0.contains(&term) {
            self.0.push(term);
        }
    }

    fn extend(&mut self, terms: impl IntoIterator<Item = String>) {
        for term in terms {
            if self.0.len() >= MAX_TERMS {
                return;
            }
            self.push_within(Some(term), MAX_TERMS);
        }
    }
}

/// The names in a signal: alternatives apart, except in an error text, where `|` is just a character.
fn names(signal: &str) -> Vec<&str> {
    let signal = bounded(trim(signal));
    if signal.starts_with("errsig:") {
        return vec![signal];
    }
    signal.split('|').map(trim).filter(|name| !name.is_empty()).collect()
}

/// The term of a whole signal.
fn whole_term(name: &str) -> Option<String> {
    let segments = match normalise_errsig(name) {
        Some(normal) => segments(&normal),
        None => segments(fold(name)),
    };
    joined(&segments)
}

/// The term of a whole signal without its signs, so that `timeout_error` and `TimeoutError` are one.
fn squeezed(name: &str) -> Option<String> {
    if name.starts_with("errsig") {
        return None;
    }
    let segments = segments(fold(name));
    (segments.len() < MAX_COMBINED).then(|| segments.concat()).and_then(|text| joined(&[text]))
}

/// The terms of signals that this one, written as one word, begins or ends with: `timeout` in `timeouterror`.
fn ends(name: &str) -> Vec<String> {
    let segments = segments(name).into_iter().filter(|word| word.is_ascii() && word.len() <= MAX_ENDED);
    let of = |word: String| {
        let lengths = SHORTEST_END..word.len();
        let both = lengths.flat_map(|n| [word.get(..n), word.get(word.len() - n..)]);
        both.flatten().map(|end| format!("s_{end}")).collect::<Vec<_>>()
    };
    match name.starts_with("errsig") {
        true => Vec::new(),
        false => segments.take(2).flat_map(of).collect(),
    }
}

/// The terms of signals that are a part of this one: up to three neighbouring words.
fn parts(name: &str) -> Vec<String> {
    let text = name.strip_prefix("errsig:").unwrap_or_else(|| fold(name));
    let segments: Vec<String> = segments(text).into_iter().take(MAX_COMBINED).collect();
    let of_length = |length: usize| segments.windows(length).filter_map(joined);
    let is_telling = |term: &String| term.chars().count() > 3 && !is_search_stop_word(&term[2..]);
    let unspaced = segments.iter().flat_map(|segment| neighbours(segment));
    of_length(3).chain(of_length(2)).chain(of_length(1)).filter(is_telling).chain(unspaced).collect()
}

/// The terms of signals within a piece that is written without spaces: two to four neighbouring characters.
fn neighbours(piece: &str) -> Vec<String> {
    let chars: Vec<char> = piece.chars().filter(|c| is_unspaced(*c)).take(MAX_COMBINED).collect();
    let of_length =
        |length: usize| chars.windows(length).map(|part| format!("s_{}", String::from_iter(part)));
    of_length(4).chain(of_length(3)).chain(of_length(2)).collect()
}

fn joined(segments: &[String]) -> Option<String> {
    (!segments.is_empty()).then(|| fitted(format!("s_{}", segments.join("_"))))
}

/// The words an asset is found by: also `timeouterror` for `TimeoutError`.
fn words(text: &str) -> impl Iterator<Item = String> {
    runs(bounded(text)).flat_map(|run| {
        let pieces = pieces(run);
        let joined = (pieces.len() > 1 && !run.chars().any(is_unspaced)).then(|| lowered(run));
        joined.into_iter().chain(pieces.into_iter().flat_map(pairs)).filter_map(word)
    })
}

/// The words a question asks for.
fn question_words(text: &str) -> Vec<String> {
    let mut terms = TermList::default();
    for run in runs(bounded(text)) {
        terms.extend(pieces(run).into_iter().flat_map(pairs).filter_map(word));
    }
    terms.0
}

/// A word as a term, unless it says nothing.
fn word(word: String) -> Option<String> {
    let mut chars = word.chars();
    let single = chars.next().is_none_or(|c| !is_unspaced(c)) && chars.next().is_none();
    (!single && !is_search_stop_word(&word)).then(|| fitted(word))
}

/// The lower-case pieces of a name.
fn segments(text: &str) -> Vec<String> {
    runs(text).flat_map(pieces).collect()
}

/// A piece as it is looked up: whole, or as pairs of neighbours where there are no spaces.
fn pairs(piece: String) -> Vec<String> {
    if piece.is_ascii() {
        return vec![piece];
    }
    let chars: Vec<char> = piece.chars().collect();
    if chars.len() < 3 || !chars.first().copied().is_some_and(is_unspaced) {
        return vec![piece];
    }
    chars.windows(2).map(String::from_iter).collect()
}

/// A term in ASCII, in the form that indexes take. Databases differ in what they take for a letter, so other scripts are
/// looked up by their hash.
pub fn encode_term(term: &str) -> String {
    let plain = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_';
    if !term.is_empty() && term.bytes().all(plain) {
        return term.to_owned();
    }
    hashed_term("x", term)
}

/// A term that stands for a whole text. No word begins so: words hold no underscore, and whole signals begin with `s_`.
pub fn hashed_term(prefix: &str, text: &str) -> String {
    let hash: String = sha256_hex(text.as_bytes()).chars().take(16).collect();
    format!("{prefix}_{hash}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::meaning::tokenizer::MAX_CHARS;
    use proptest::prelude::*;

    const ERRSIG: &str = "errsig:TimeoutError: request to /api/v1/items failed after 3000 ms";
    const ERRSIG_AGAIN: &str = "errsig:TimeoutError: request to /api/v2/users failed after 9000 ms";

    fn asset(signals: &[&str], summary: &str) -> Vec<String> {
        asset_terms(signals, summary, &[])
    }

    #[test]
    fn the_terms_of_an_asset() {
        assert_eq!(
            asset(&["TimeoutError", "econnrefused"], "Retry with backoff on the timeout"),
            [
                "s_timeout_error",
                "s_timeouterror",
                "s_econnrefused",
                "timeouterror",
                "timeout",
                "error",
                "econnrefused",
                "retry",
                "backoff"
            ]
        );
        assert_eq!(asset_terms(&[], "", &["repair", "gene_retry-v2"]), ["repair", "gene", "retry", "v2"]);
    }

    #[test]
    fn names_are_cut_at_signs_and_capitals() {
        assert_eq!(segments("parseHTTPHeader"), ["parse", "http", "header"]);
        assert_eq!(
            segments("log_error:http.500-bad/gateway"),
            ["log", "error", "http", "500", "bad", "gateway"]
        );
        assert_eq!(segments("ECONNRESET"), ["econnreset"]);
        assert_eq!(segments("oauth2Token"), ["oauth2", "token"]);
    }

    #[test]
    fn asked_signals_find_their_relatives() {
        for (signals, asked) in [
            (&["timeout"][..], "timeout"),
            (&["timeout"], "TIMEOUT"),
            (&["TimeoutError"], "timeout"),
            (&["timeout"], "TimeoutError"),
            (&["TimeoutError"], "timeout_error"),
            (&["timeout_error"], "http_timeout_error_seen"),
            (&["timeout|slow_response|hang"], "slow_response"),
            (&["timeout|slow_response"], "SlowResponse"),
            (&["hang"], "timeout|hang"),
            (&["log_error"], "error"),
            (&["error"], "log_error"),
            (&[ERRSIG], ERRSIG_AGAIN),
            (&[ERRSIG], "timeout"),
            (&["timeout"], ERRSIG),
            (&["TimeoutError"], ERRSIG),
            (&["user_feature_request:dark mode"], "user_feature_request:light mode"),
            (&["user_feature_request:dark mode"], "dark mode"),
            (&["timeout"], "TIMEOUTERROR"),
            (&["timeout_error"], "timeouterror"),
            (&["超时错误"], "超时"),
            (&["超时"], "超时错误"),
        ] {
            assert!(matches(asked, &asset(signals, "")), "{signals:?} must answer {asked}");
        }
    }

    #[test]
    fn case_says_nothing() {
        for asked in ["timeouterror", "TIMEOUTERROR", "timeoutError"] {
            assert_eq!(signal_query_terms(asked), signal_query_terms("TimeoutError"));
        }
        let timeout = signal_query_terms("timeout");
        assert!(timeout.matches_exactly(&asset(&["Timeout"], "")));
        let by_word = asset(&["slow"], "After a timeout");
        assert!(timeout.matches(&by_word) && !timeout.matches_exactly(&by_word));
    }

    #[test]
    fn strangers_are_not_found() {
        for (signals, asked) in [
            (&["timeout"][..], "memory_leak"),
            (&["timeout_retry"], "timeout_error"),
            (&["log_error"], "logger"),
            (&[ERRSIG], "errsig:SyntaxError: unexpected token"),
            (&["timeout"], ""),
            (&["timeout"], "|"),
            (&["timeout"], "the"),
            (&["内存泄漏"], "超时错误"),
        ] {
            assert!(!matches(asked, &asset(signals, "")), "{signals:?} must not answer {asked}");
        }
    }

    #[test]
    fn an_errsig_and_its_short_name_are_one() {
        let short = normalise_errsig(ERRSIG).unwrap();
        assert!(matches(&short, &asset(&[ERRSIG], "")));
        assert!(matches(ERRSIG, &asset(&[&short], "")));
    }

    #[test]
    fn free_words_drop_what_says_nothing() {
        assert_eq!(query_words("The retry of a TimeoutError"), ["retry", "timeout", "error"]);
        assert_eq!(query_words("修复超时"), ["修复", "复超", "超时"]);
        assert_eq!(query_words("错"), ["错"]);
        assert_eq!(query_words("fix修复"), ["fix", "修复"]);
        assert_eq!(query_words("' OR 1=1; -- \"*"), [""; 0]);
    }

    #[test]
    fn long_signals_stay_different() {
        let (a, b) = ("x".repeat(300) + "a", "x".repeat(300) + "b");
        let (first, second) = (asset(&[&a], ""), asset(&[&b], ""));
        assert_ne!(first, second);
        assert!(matches(&a, &first) && !matches(&a, &second));
    }

    #[test]
    fn many_signals_leave_room_for_words() {
        let signals: Vec<String> = (0..200).map(|n| format!("sig{n}")).collect();
        let signals: Vec<&str> = signals.iter().map(String::as_str).collect();
        let terms = asset(&signals, "");
        assert_eq!(terms.len(), MAX_TERMS);
        assert!(terms.contains(&"s_sig49".to_owned()) && terms.contains(&"sig0".to_owned()));
    }

    proptest! {
        #[test]
        fn terms_are_clean_few_and_short(signals in prop::collection::vec(any::<String>(), 0..5), summary: String) {
            let signals: Vec<&str> = signals.iter().map(String::as_str).collect();
            let mut terms = asset_terms(&signals, &summary, &[]);
            prop_assert!(terms.len() <= MAX_TERMS);
            for signal in &signals {
                let query = signal_query_terms(signal);
                prop_assert!(query.exact.len() <= MAX_TERMS && query.words.len() <= MAX_TERMS);
                terms.extend(query.exact.into_iter().chain(query.words));
            }
            for term in terms {
                prop_assert!(!term.is_empty() && term.chars().count() <= MAX_CHARS);
                prop_assert!(term.chars().all(|c| c == '_' || c.is_alphanumeric()), "{term:?}");
                prop_assert!(term.chars().flat_map(char::to_lowercase).eq(term.chars()), "{term:?}");
            }
        }

        #[test]
        fn a_signal_always_finds_itself(signal in "[a-zA-Z][a-zA-Z0-9_:. -]{2,60}") {
            prop_assert!(matches(&signal, &asset(&[&signal], "")), "{signal}");
        }
    }

    #[test]
    fn no_term_can_break_out_of_its_quotes() {
        for term in ["\"", "'", "a\" OR \"b", "a' | 'b", "é", "超时", "", "A", "a b", "\u{202e}"] {
            let encoded = encode_term(term);
            assert!(encoded.starts_with("x_") && encoded.len() == 18, "{term}: {encoded}");
        }
        assert_eq!(encode_term("s_timeout_2"), "s_timeout_2");
    }
}
