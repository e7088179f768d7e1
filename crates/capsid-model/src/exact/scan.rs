//! The reader's smallest parts: words, numbers, texts, and what stands between them.

use super::{ExactInt, ExactJson};
use crate::{Code, Problem, Result};

/// Python refuses to read longer integers, for the time that it would take.
const MAX_DIGITS: usize = 4300;

/// A place in a text.
pub(super) struct JsonScanner<'a> {
    text: &'a str,
    bytes: &'a [u8],
    at: usize,
    lossy: bool,
    /// Where texts with escapes are put together; kept, so that it grows only once.
    unescaped: String,
}

impl<'a> JsonScanner<'a> {
    pub(super) fn new(text: &'a str, lossy: bool) -> Self {
        Self { text, bytes: text.as_bytes(), at: 0, lossy, unescaped: String::new() }
    }

    fn wrong(&self, what: &str, at: usize) -> Problem {
        let line = 1 + self.bytes.iter().take(at).filter(|&&byte| byte == b'\n').count();
        Problem::new(Code::JsonInvalid, format!("Not JSON: {what} at byte {at} (line {line})."))
            .fix("Correct the text at that place.")
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    fn slice(&self, start: usize, end: usize) -> &'a str {
        self.text.get(start..end).unwrap_or_default()
    }

    /// Goes one byte on.
    pub(super) fn step(&mut self) {
        self.at += 1;
    }

    /// Goes over white space and shows the byte after it.
    pub(super) fn next_after_space(&mut self) -> Option<u8> {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
        self.peek()
    }

    /// Nothing but white space may be left.
    pub(super) fn end(&mut self) -> Result<()> {
        match self.next_after_space() {
            None => Ok(()),
            Some(_) => Err(self.wrong("more text after the document", self.at)),
        }
    }

    /// Whether a comma follows, and not the end of the list or object.
    pub(super) fn more(&mut self, end: u8) -> Result<bool> {
        match self.next_after_space() {
            Some(b',') => {
                self.at += 1;
                Ok(true)
            }
            Some(byte) if byte == end => {
                self.at += 1;
                Ok(false)
            }
            _ => Err(self.wrong(&format!("expected `,` or `{}`", char::from(end)), self.at)),
        }
    }

    /// A member's name and the colon after it.
    pub(super) fn name(&mut self) -> Result<String> {
        if self.next_after_space() != Some(b'"') {
            return Err(self.wrong("expected a name in double quotes", self.at));
        }
        let name = self.string()?;
        if self.next_after_space() != Some(b':') {
            return Err(self.wrong("expected `:`", self.at));
        }
        self.at += 1;
        Ok(name)
    }

    /// A value that is neither a list nor an object.
    pub(super) fn scalar(&mut self) -> Result<ExactJson> {
        match self.peek() {
            Some(b'"') => self.string().map(ExactJson::String),
            Some(b'-') if self.rest().starts_with(b"-I") => {
                self.word("-Infinity", ExactJson::Float(f64::NEG_INFINITY))
            }
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", ExactJson::Bool(true)),
            Some(b'f') => self.word("false", ExactJson::Bool(false)),
            Some(b'n') => self.word("null", ExactJson::Null),
            Some(b'N') => self.word("NaN", ExactJson::Float(f64::NAN)),
            Some(b'I') => self.word("Infinity", ExactJson::Float(f64::INFINITY)),
            Some(_) => Err(self.wrong("expected a value", self.at)),
            None => Err(self.wrong("the text ends too early", self.at)),
        }
    }

    fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }

    fn word(&mut self, word: &str, value: ExactJson) -> Result<ExactJson> {
        if !self.rest().starts_with(word.as_bytes()) {
            return Err(self.wrong("expected a value", self.at));
        }
        self.at += word.len();
        Ok(value)
    }

    fn digits(&mut self) -> Result<()> {
        let start = self.at;
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        if self.at == start { Err(self.wrong("expected a digit", start)) } else { Ok(()) }
    }

    fn number(&mut self) -> Result<ExactJson> {
        let start = self.at;
        if self.peek() == Some(b'-') {
            self.at += 1;
        }
        let first = self.at;
        self.digits()?;
        let digits = self.at - first;
        if digits > 1 && self.bytes.get(first) == Some(&b'0') {
            return Err(self.wrong("a number that begins with 0", first));
        }
        let mut whole = true;
        if self.peek() == Some(b'.') {
            self.at += 1;
            self.digits()?;
            whole = false;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
            whole = false;
        }
        let text = self.slice(start, self.at);
        if whole {
            return self.integer(text, digits, start);
        }
        text.parse().map(ExactJson::Float).map_err(|_| self.wrong("a number that cannot be read", start))
    }

    fn integer(&self, text: &str, digits: usize, start: usize) -> Result<ExactJson> {
        if digits > MAX_DIGITS {
            return Err(self.wrong(&format!("an integer of more than {MAX_DIGITS} digits"), start));
        }
        Ok(ExactJson::Int(text.parse().map_or_else(|_| ExactInt::Big(text.into()), ExactInt::Small)))
    }

    fn string(&mut self) -> Result<String> {
        let opening = self.at;
        self.at += 1;
        self.unescaped.clear();
        loop {
            let start = self.at;
            self.at += plain_run(self.rest());
            let run = self.slice(start, self.at);
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    if self.unescaped.is_empty() {
                        return Ok(run.to_owned());
                    }
                    self.unescaped.push_str(run);
                    return Ok(self.unescaped.clone());
                }
                Some(b'\\') => {
                    self.unescaped.push_str(run);
                    let char = self.escape()?;
                    self.unescaped.push(char);
                }
                Some(_) => return Err(self.wrong("a control character in a text", self.at)),
                None => return Err(self.wrong("a text without an end", opening)),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let start = self.at;
        self.at += 2;
        Ok(match self.bytes.get(start + 1) {
            Some(&same @ (b'"' | b'\\' | b'/')) => char::from(same),
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(b'u') => return self.unicode_escape(start),
            _ => return Err(self.wrong("an escape that JSON does not know", start)),
        })
    }

    fn unicode_escape(&mut self, start: usize) -> Result<char> {
        let first = self.hex().ok_or_else(|| self.wrong("an escape without four hex digits", start))?;
        if let Some(char) = char::from_u32(first) {
            return Ok(char);
        }
        let after = self.at;
        if first < 0xdc00 && self.rest().starts_with(b"\\u") {
            self.at += 2;
            if let Some(second @ 0xdc00..=0xdfff) = self.hex() {
                let joined = 0x10000 + ((first - 0xd800) << 10) + (second - 0xdc00);
                return Ok(char::from_u32(joined).unwrap_or(char::REPLACEMENT_CHARACTER));
            }
            self.at = after;
        }
        if self.lossy {
            Ok(char::REPLACEMENT_CHARACTER)
        } else {
            Err(self.wrong("half a surrogate pair", start))
        }
    }

    fn hex(&mut self) -> Option<u32> {
        let digits = self.bytes.get(self.at..self.at + 4)?;
        self.at += 4;
        digits.iter().try_fold(0, |number, &digit| Some(number * 16 + char::from(digit).to_digit(16)?))
    }
}

/// How many bytes come before the first quote, backslash or control character; looks at eight at a time.
pub(crate) fn plain_run(bytes: &[u8]) -> usize {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH_BITS: u64 = ONES << 7;
    // The lowest high bit of what these give is right; those above it may not be.
    let below = |word: u64, limit: u8| word.wrapping_sub(ONES * u64::from(limit)) & !word;
    let equal = |word: u64, byte: u8| below(word ^ (ONES * u64::from(byte)), 1);
    let (chunks, tail) = bytes.as_chunks::<8>();
    for (at, chunk) in chunks.iter().enumerate() {
        let word = u64::from_le_bytes(*chunk);
        let special = (below(word, b' ') | equal(word, b'"') | equal(word, b'\\')) & HIGH_BITS;
        if special != 0 {
            return at * 8 + special.trailing_zeros() as usize / 8;
        }
    }
    let plain = tail.iter().take_while(|&&byte| byte >= b' ' && byte != b'"' && byte != b'\\').count();
    bytes.len() - tail.len() + plain
}
