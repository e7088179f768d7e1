//! A text as tokens: words by their stems, characters of scripts without spaces one by one, and breaks between them.

use super::noise::{self, NoiseChunk};
use super::{stems, stop_words};
use capsid_model::hash::stable_hash;
use std::borrow::Cow;
use unicode_normalization::UnicodeNormalization;

/// How much of one text is looked at, in bytes: signals can be whole logs.
pub(super) const MAX_TEXT: usize = 4096;
/// The longest term, in characters.
pub(super) const MAX_CHARS: usize = 48;
/// How much more the name of an error says than a word.
const CODE: f64 = 1.6;
/// How much of a word a dull one says.
const DULL: f64 = 0.35;
/// How much of a word the name of a file says.
const WEAK: f64 = 0.3;
/// How much of a word two neighbouring characters say: a word of four has three such pairs.
const PAIR: f64 = 0.6;
/// Names with more parts than this are not looked up in one piece.
const MAX_PARTS: usize = 6;

/// What a token is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum TokenKind {
    Word,
    /// A word that phrases are compared without.
    Small,
    /// A name in one piece, before its parts: `timeouterror` before `timeout` and `error`.
    Whole,
    /// A character of a script without spaces.
    Character,
    /// The end of a sentence or line.
    Break,
}

/// A piece of a text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextToken {
    /// What it is compared by.
    pub key: String,
    /// As it is written, in lower case.
    pub shown: String,
    pub kind: TokenKind,
    /// How much it says; 1 is usual.
    pub force: f64,
}

/// A term of a text, such as `m_retri`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct TextTerm<'t> {
    pub term: String,
    pub shown: Cow<'t, str>,
    pub force: f64,
    /// The token at which it begins.
    pub at: usize,
}

/// The tokens of a text.
pub(super) fn tokens(text: &str) -> Vec<TextToken> {
    let text = plain(text);
    let lines: Vec<&str> = text.lines().collect();
    let mut reader = Tokenizer::default();
    for (line, force) in lines.iter().zip(noise::forces(&lines)) {
        reader.force = force;
        reader.line(line);
    }
    reader.tokens
}

/// The tokens of a phrase of the lexicon, where every number means something.
pub(super) fn phrase(text: &str) -> Vec<TextToken> {
    let mut reader = Tokenizer { keeps_all: true, force: 1.0, ..Tokenizer::default() };
    reader.line(&plain(text));
    reader.tokens.retain(|token| token.kind == TokenKind::Word || token.kind == TokenKind::Character);
    reader.tokens
}

/// What the tokens say one by one.
pub(super) fn words(tokens: &[TextToken]) -> Vec<TextTerm<'_>> {
    let mut words = Vec::with_capacity(tokens.len());
    for (at, token) in tokens.iter().enumerate() {
        let next = tokens.get(at + 1).filter(|next| next.kind == TokenKind::Character);
        let before = at.checked_sub(1).and_then(|before| tokens.get(before));
        let follows = before.is_some_and(|before| before.kind == TokenKind::Character);
        let word = match (token.kind, next) {
            (TokenKind::Word, _) => single(token),
            (TokenKind::Whole, _) if token.force > 1.0 => Some((&*token.key, token.force)),
            (TokenKind::Character, Some(next)) => {
                words.extend(pair(token, next).map(|(both, force)| TextTerm {
                    term: to_term(&both),
                    shown: Cow::Owned(both),
                    force,
                    at,
                }));
                None
            }
            (TokenKind::Character, None) if !follows && !stop_words::is_stop_character(&token.key) => {
                Some((&*token.key, PAIR * token.force))
            }
            _ => None,
        };
        words.extend(word.map(|(key, force)| TextTerm {
            term: to_term(key),
            shown: Cow::Borrowed(&*token.shown),
            force,
            at,
        }));
    }
    words
}

/// The term of a stem, a name or a pair.
fn to_term(key: &str) -> String {
    match key.len() <= MAX_CHARS {
        true => ["m_", key].concat(),
        false => format!("m_{}", fitted(key.to_owned())),
    }
}

fn single(token: &TextToken) -> Option<(&str, f64)> {
    let is_long = token.key.chars().nth(1).is_some();
    if !is_long || stop_words::is_stop_stem(&token.key) {
        return None;
    }
    let force = if stop_words::is_dull_stem(&token.key) { DULL * token.force } else { token.force };
    Some((&token.key, force))
}

/// Two neighbouring characters, unless they only hold a sentence together.
fn pair(one: &TextToken, next: &TextToken) -> Option<(String, f64)> {
    let both = format!("{}{}", one.key, next.key);
    let says_nothing = stop_words::is_stop_character(&one.key)
        || stop_words::is_stop_character(&next.key)
        || stop_words::is_stop_pair(&both);
    (!says_nothing).then_some((both, PAIR * one.force))
}

/// A text of bounded length in its plainest characters.
fn plain(text: &str) -> Cow<'_, str> {
    let text = bounded(text);
    if text.is_ascii() {
        return Cow::Borrowed(text);
    }
    let plain: String = text.nfkc().collect();
    Cow::Owned(bounded(&plain).to_owned())
}

pub(super) fn bounded(text: &str) -> &str {
    text.get(..text.floor_char_boundary(MAX_TEXT)).unwrap_or_default()
}

/// Whether a character belongs to a script that writes no spaces between words.
pub(crate) fn is_unspaced(c: char) -> bool {
    matches!(c,
        '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7af}' | '\u{f900}'..='\u{faff}'
        | '\u{20000}'..='\u{3ffff}')
        && c.is_alphanumeric()
}

/// Runs of letters and digits.
pub fn runs(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|run| !run.is_empty())
}

/// The pieces of a run, in lower case: `parseHTTPHeader` has three.
pub(super) fn pieces(run: &str) -> Vec<String> {
    if run.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()) {
        return vec![run.to_owned()];
    }
    let chars: Vec<char> = run.chars().collect();
    let mut pieces = Vec::new();
    let mut start = 0;
    for at in 1..chars.len() {
        let next_is_lower = chars.get(at + 1).is_some_and(|c| c.is_lowercase());
        let begins = match (chars.get(at - 1), chars.get(at)) {
            (Some(before), Some(c)) => {
                is_unspaced(*before) != is_unspaced(*c)
                    || (c.is_uppercase() && (!before.is_uppercase() || next_is_lower))
            }
            _ => false,
        };
        if begins {
            pieces.extend(chars.get(start..at).map(|piece| lowered(&String::from_iter(piece))));
            start = at;
        }
    }
    pieces.extend(chars.get(start..).map(|piece| lowered(&String::from_iter(piece))));
    pieces.retain(|piece| !piece.is_empty());
    pieces
}

/// Lower case of letters and digits only: the lower case of some letters brings marks along.
pub(super) fn lowered(text: &str) -> String {
    text.chars().flat_map(char::to_lowercase).filter(|c| c.is_alphanumeric()).collect()
}

/// Runs of letters, digits and `_`.
pub fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric() && c != '_').filter(|name| !name.is_empty())
}

/// A term of bounded length; what is cut off leaves its hash, so that long terms stay different.
pub(super) fn fitted(term: String) -> String {
    if term.len() <= MAX_CHARS || term.chars().count() <= MAX_CHARS {
        return term;
    }
    let kept: String = term.chars().take(MAX_CHARS - 9).collect();
    format!("{kept}_{}", stable_hash(&term))
}

#[derive(Default)]
struct Tokenizer {
    tokens: Vec<TextToken>,
    /// How much the line says.
    force: f64,
    /// Whether numbers and paths are words too.
    keeps_all: bool,
}

impl Tokenizer {
    fn line(&mut self, line: &str) {
        let mut start = None;
        let mut frame = StackFrameSpan::default();
        for (at, c) in line.char_indices() {
            let is_unspaced = is_unspaced(c);
            let ends =
                is_unspaced || c.is_whitespace() || (!c.is_ascii() && !c.is_alphanumeric() && c != '’');
            match (ends, start) {
                (false, None) => start = Some(at),
                (true, Some(from)) => {
                    self.chunk(line.get(from..at).unwrap_or_default(), &mut frame);
                    start = None;
                }
                _ => {}
            }
            if is_unspaced {
                self.push(c.to_string(), c.to_string(), TokenKind::Character, self.force);
            } else if ends && !c.is_whitespace() {
                self.stop();
            }
        }
        if let Some(from) = start {
            self.chunk(line.get(from..).unwrap_or_default(), &mut frame);
        }
        self.stop();
    }

    /// What stands between two spaces.
    fn chunk(&mut self, text: &str, frame: &mut StackFrameSpan) {
        let inner = text
            .trim_matches(|c: char| !c.is_alphanumeric() && !"/~.\\_+#".contains(c))
            .trim_end_matches(['.', '/']);
        let from = self.tokens.len();
        if !inner.is_empty() && inner.bytes().all(|byte| byte.is_ascii_lowercase()) {
            // A plain word, as most are. No other rule is about one.
            self.word(inner.to_owned(), self.force);
        } else if let Some(name) = find_known_name(inner) {
            self.push(stems::stem(name), name.to_owned(), TokenKind::Word, self.force);
        } else {
            match if self.keeps_all { NoiseChunk::Words(inner) } else { noise::chunk(inner) } {
                NoiseChunk::Words(words) => self.names(words, self.force),
                NoiseChunk::Weak(words) => self.names(words, self.force * WEAK),
                NoiseChunk::Nothing => {}
            }
        }
        if frame.ends_with(inner, from) {
            // What was called and where, in the middle of a line: as little as a frame on its own line.
            for token in self.tokens.iter_mut().skip(frame.from) {
                token.force *= WEAK;
            }
        }
        if text.ends_with(['.', ';', '!', '?']) || inner.is_empty() {
            self.stop();
        }
    }

    /// The names in a chunk, with `_` within them.
    fn names(&mut self, text: &str, force: f64) {
        let text = text.replace(['\'', '’'], "");
        for name in names(&text) {
            let parts: Vec<String> = runs(name).flat_map(pieces).collect();
            let force = if is_code(name) { force * CODE } else { force };
            if (2..=MAX_PARTS).contains(&parts.len()) {
                let whole = parts.concat();
                let force = if is_error(name) { force } else { force.min(1.0) };
                let stem = stems::stem(&whole);
                self.push(stem, whole, TokenKind::Whole, force);
            }
            let is_single = parts.len() == 1;
            for part in parts {
                self.part(part, if is_single { force } else { force.min(1.0) });
            }
        }
    }

    fn part(&mut self, part: String, force: f64) {
        if !self.keeps_all && (noise::is_number(&part) || noise::is_made_up(&part)) {
            return;
        }
        self.word(part, force);
    }

    fn word(&mut self, word: String, force: f64) {
        let kind = if stop_words::is_phrase_stop_word(&word) { TokenKind::Small } else { TokenKind::Word };
        let stem = stems::stem(&word);
        self.push(stem, word, kind, force);
    }

    fn push(&mut self, key: String, shown: String, kind: TokenKind, force: f64) {
        self.tokens.push(TextToken { key, shown, kind, force });
    }

    fn stop(&mut self) {
        if self.tokens.last().is_some_and(|last| last.kind != TokenKind::Break) {
            self.push(String::new(), String::new(), TokenKind::Break, 0.0);
        }
    }
}

/// Where a frame of a stack within a line may have begun: at the word `at`.
#[derive(Default)]
struct StackFrameSpan {
    from: usize,
    /// How many chunks after `at` may still be part of it.
    left: u8,
}

impl StackFrameSpan {
    /// Whether a chunk, whose tokens begin at a place, is the end of a frame.
    fn ends_with(&mut self, chunk: &str, from: usize) -> bool {
        if chunk == "at" {
            (self.from, self.left) = (from, 3);
            return false;
        }
        let is_open = self.left > 0;
        self.left = self.left.saturating_sub(1);
        let is_place = noise::names_a_line(chunk) && !chunk.starts_with(|c: char| c.is_ascii_digit());
        if is_open && is_place {
            self.left = 0;
        }
        is_open && is_place
    }
}

/// Names that signs are part of.
fn find_known_name(text: &str) -> Option<&'static str> {
    if text.len() > 10 {
        return None;
    }
    Some(match text.to_ascii_lowercase().as_str() {
        "n+1" => "nplus1",
        "c++" => "cpp",
        "c#" => "csharp",
        "i/o" => "io",
        "a/b" => "abtest",
        ".env" => "dotenv",
        ".net" => "dotnet",
        "utf-8" => "utf8",
        "utf-16" => "utf16",
        "e-mail" | "e-mails" => "email",
        "o(n^2" | "o(n²" | "o(n2" | "o(n*n" => "quadratic",
        "127.0.0.1" | "0.0.0.0" => "localhost",
        _ => return None,
    })
}

/// Whether a name is the number of an error, such as `E0308` or `TS2322`: so many letters at most, then digits.
pub fn is_error_number(name: &str, is_letter: fn(char) -> bool, most: usize) -> bool {
    let digits = name.trim_start_matches(is_letter);
    let letters = name.len() - digits.len();
    (1..=most).contains(&letters)
        && (3..=5).contains(&digits.len())
        && digits.bytes().all(|byte| byte.is_ascii_digit())
}

/// Whether a name is that of an error: a class, a constant or a number of a compiler.
fn is_code(name: &str) -> bool {
    let digits = name.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let letters = name.len() - digits.len();
    let is_numbered = is_error_number(name, |c| c.is_ascii_uppercase(), 5);
    let is_shouted = digits.is_empty() && letters >= 5;
    let is_status =
        name.len() == 3 && name.starts_with(['4', '5']) && name.bytes().all(|b| b.is_ascii_digit());
    let is_errno = is_shouted
        && name.starts_with('E')
        && !["ERROR", "ERRORS", "EVENT", "EMPTY", "EVERY", "EXPECTED"].contains(&name);
    is_numbered || is_status || is_errno || (is_shouted && name.starts_with("SIG")) || is_error(name)
}

/// Whether a name of several parts is that of an error.
fn is_error(name: &str) -> bool {
    const ENDS: [&str; 5] = ["Error", "Exception", "Warning", "Fault", "BackOff"];
    name.starts_with("ERR_") || ENDS.iter().any(|end| name.len() > end.len() && name.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn terms(text: &str) -> Vec<String> {
        words(&tokens(text)).into_iter().map(|word| word.term).collect()
    }

    #[test]
    fn words_are_stems_without_small_words() {
        assert_eq!(
            terms("The retries of a TimeoutError"),
            ["m_retri", "m_timeouterror", "m_timeout", "m_error"]
        );
        assert_eq!(terms("It doesn't work"), ["m_work"]);
        assert_eq!(
            terms("parseHTTPHeader and max_open_files"),
            ["m_pars", "m_http", "m_header", "m_max", "m_open", "m_file"]
        );
        assert_eq!(terms("N+1 in C++"), ["m_nplus1", "m_cpp"]);
    }

    #[test]
    fn scripts_without_spaces_give_pairs() {
        assert_eq!(terms("内存泄漏"), ["m_内存", "m_存泄", "m_泄漏"]);
        assert_eq!(terms("锁"), ["m_锁"]);
        assert_eq!(terms("redis的连接"), ["m_redi", "m_连接"]);
        assert_eq!(terms("ｒｅｄｉｓ，超时"), ["m_redi", "m_超时"]);
    }

    #[test]
    fn an_error_says_the_same_elsewhere() {
        let one =
            "Error: connect ECONNREFUSED 10.0.0.1:5432 at TCPConnectWrap.afterConnect (node:net:1494:16)";
        let other = "Error: connect ECONNREFUSED 172.16.4.9:6000 at 2026-01-02T03:04:05Z";
        let [one, other] = [one, other].map(tokens);
        let [first, second] = [&one, &other]
            .map(|tokens| words(tokens).into_iter().filter(|word| word.force > 0.34).collect::<Vec<_>>());
        assert_eq!(first, second);
        assert!(first.iter().any(|word| word.term == "m_econnrefus" && word.force > 1.0), "{first:?}");
    }

    #[test]
    fn names_of_errors_say_more() {
        for name in [
            "ECONNRESET",
            "E0308",
            "TS2322",
            "SIGKILL",
            "TypeError",
            "ERR_REQUIRE_ESM",
            "502",
            "CrashLoopBackOff",
        ] {
            assert!(is_code(name), "{name}");
        }
        for name in ["Timeout", "ERROR", "HTTP", "IPv4", "README", "retry"] {
            assert!(!is_code(name), "{name}");
        }
    }
}
