//! A JSON reader for the inputs that `serde_json` refuses and an ECMAScript reader accepts: lone surrogates, numbers
//! beyond the range of a double, and deep nesting. Slow and exact; used only after the fast reader said no.

use crate::problem::{Code, Problem, Result};
use serde_json::{Map, Value};

/// Deeper documents are refused: nobody writes them, and a reader must not overflow its stack.
const MAX_DEPTH: usize = 512;

/// A JSON value as ECMAScript holds it: every number a double, every string a list of UTF-16 units.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Tolerant {
    Null,
    Bool(bool),
    Number(f64),
    Text(Vec<u16>),
    List(Vec<Tolerant>),
    Object(Vec<(Vec<u16>, Tolerant)>),
}

impl Tolerant {
    pub(crate) fn parse(text: &str) -> Result<Self> {
        let mut reader = Reader { bytes: text.as_bytes(), at: 0, depth: 0 };
        let value = reader.value()?;
        reader.space();
        if reader.at < reader.bytes.len() {
            return Err(reader.fault("unexpected text after the document"));
        }
        Ok(value)
    }

    /// The canonical text: keys in UTF-16 order, numbers as ECMAScript prints them, lone surrogates escaped.
    pub(crate) fn write_canonical(&self, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(yes) => out.push_str(if *yes { "true" } else { "false" }),
            Self::Number(number) if number.is_finite() => write_number(*number, out),
            Self::Number(_) => out.push_str("null"),
            Self::Text(units) => write_text(units, out),
            Self::List(items) => {
                out.push('[');
                for (i, item) in items.iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    item.write_canonical(out);
                }
                out.push(']');
            }
            Self::Object(members) => {
                let mut sorted: Vec<_> = members.iter().collect();
                sorted.sort_by(|a, b| a.0.cmp(&b.0));
                out.push('{');
                for (i, (key, value)) in sorted.into_iter().enumerate() {
                    if i > 0 {
                        out.push(',');
                    }
                    write_text(key, out);
                    out.push(':');
                    value.write_canonical(out);
                }
                out.push('}');
            }
        }
    }

    /// The nearest ordinary value: a lone surrogate becomes U+FFFD, a number out of range becomes null.
    pub(crate) fn into_value(self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(yes) => Value::Bool(yes),
            Self::Number(number) => number_value(number),
            Self::Text(units) => Value::String(String::from_utf16_lossy(&units)),
            Self::List(items) => Value::Array(items.into_iter().map(Self::into_value).collect()),
            Self::Object(members) => {
                let mut map = Map::new();
                for (key, value) in members {
                    map.insert(String::from_utf16_lossy(&key), value.into_value());
                }
                Value::Object(map)
            }
        }
    }
}

/// Whole numbers that a double holds exactly stay whole.
fn number_value(number: f64) -> Value {
    if number.fract() == 0.0 && number.abs() <= 9_007_199_254_740_991.0 {
        return Value::from(number as i64);
    }
    serde_json::Number::from_f64(number).map_or(Value::Null, Value::Number)
}

fn write_number(number: f64, out: &mut String) {
    // The library's number text is the ECMAScript one; a finite double never fails.
    if let Ok(text) = serde_json_canonicalizer::to_string(&number) {
        out.push_str(&text);
    }
}

fn write_text(units: &[u16], out: &mut String) {
    out.push('"');
    for decoded in char::decode_utf16(units.iter().copied()) {
        match decoded {
            Ok('"') => out.push_str("\\\""),
            Ok('\\') => out.push_str("\\\\"),
            Ok('\u{8}') => out.push_str("\\b"),
            Ok('\u{c}') => out.push_str("\\f"),
            Ok('\n') => out.push_str("\\n"),
            Ok('\r') => out.push_str("\\r"),
            Ok('\t') => out.push_str("\\t"),
            Ok(c) if c < ' ' => out.push_str(&format!("\\u{:04x}", u32::from(c))),
            Ok(c) => out.push(c),
            Err(lone) => out.push_str(&format!("\\u{:04x}", lone.unpaired_surrogate())),
        }
    }
    out.push('"');
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    depth: usize,
}

impl Reader<'_> {
    fn fault(&self, what: &str) -> Problem {
        // An escape at the very end is found out after stepping over it.
        let at = self.at.min(self.bytes.len());
        let line = self.bytes[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Problem::new(Code::JsonInvalid, format!("Not JSON: {what} at byte {at} (line {line})."))
            .fix("Correct the document; `capsid asset canonical FILE` shows how it is read.")
    }

    fn space(&mut self) {
        while matches!(self.bytes.get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
    }

    fn peek(&mut self) -> Option<u8> {
        self.space();
        self.bytes.get(self.at).copied()
    }

    fn consume(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str, value: Tolerant) -> Result<Tolerant> {
        if self.bytes[self.at..].starts_with(word.as_bytes()) {
            self.at += word.len();
            return Ok(value);
        }
        Err(self.fault("unexpected character"))
    }

    fn value(&mut self) -> Result<Tolerant> {
        if self.depth > MAX_DEPTH {
            return Err(Problem::new(
                Code::JsonTooDeep,
                format!("The document is nested more than {MAX_DEPTH} levels deep."),
            ));
        }
        self.depth += 1;
        let value = match self.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.list(),
            Some(b'"') => self.text().map(Tolerant::Text),
            Some(b't') => self.word("true", Tolerant::Bool(true)),
            Some(b'f') => self.word("false", Tolerant::Bool(false)),
            Some(b'n') => self.word("null", Tolerant::Null),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => Err(self.fault("unexpected character")),
            None => Err(self.fault("the document ends too early")),
        };
        self.depth -= 1;
        value
    }

    fn list(&mut self) -> Result<Tolerant> {
        self.at += 1;
        let mut items = Vec::new();
        if self.consume(b']') {
            return Ok(Tolerant::List(items));
        }
        loop {
            items.push(self.value()?);
            if self.consume(b']') {
                return Ok(Tolerant::List(items));
            }
            if !self.consume(b',') {
                return Err(self.fault("expected `,` or `]`"));
            }
        }
    }

    fn object(&mut self) -> Result<Tolerant> {
        self.at += 1;
        let mut members: Vec<(Vec<u16>, Tolerant)> = Vec::new();
        let mut places = std::collections::HashMap::new();
        if self.consume(b'}') {
            return Ok(Tolerant::Object(members));
        }
        loop {
            if self.peek() != Some(b'"') {
                return Err(self.fault("expected a key"));
            }
            let key = self.text()?;
            if !self.consume(b':') {
                return Err(self.fault("expected `:`"));
            }
            let value = self.value()?;
            // The last of two equal keys wins, in the place of the first.
            match places.get(&key) {
                Some(place) => members[*place] = (key, value),
                None => {
                    places.insert(key.clone(), members.len());
                    members.push((key, value));
                }
            }
            if self.consume(b'}') {
                return Ok(Tolerant::Object(members));
            }
            if !self.consume(b',') {
                return Err(self.fault("expected `,` or `}`"));
            }
        }
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.bytes.get(self.at), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<Tolerant> {
        let start = self.at;
        self.at += usize::from(self.bytes[self.at] == b'-');
        let leading_zero = self.bytes.get(self.at) == Some(&b'0');
        let whole = self.digits();
        if whole == 0 || (leading_zero && whole > 1) {
            return Err(self.fault("malformed number"));
        }
        if self.bytes.get(self.at) == Some(&b'.') {
            self.at += 1;
            if self.digits() == 0 {
                return Err(self.fault("malformed number"));
            }
        }
        if matches!(self.bytes.get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.bytes.get(self.at), Some(b'+' | b'-')));
            if self.digits() == 0 {
                return Err(self.fault("malformed number"));
            }
        }
        let text = std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
        // Rust reads a number out of range as infinite, as ECMAScript does.
        text.parse().map(Tolerant::Number).map_err(|_| self.fault("malformed number"))
    }

    fn text(&mut self) -> Result<Vec<u16>> {
        self.at += 1;
        let mut units = Vec::new();
        loop {
            let start = self.at;
            while !matches!(self.bytes.get(self.at), None | Some(b'"' | b'\\' | 0..=0x1f)) {
                self.at += 1;
            }
            let plain = std::str::from_utf8(&self.bytes[start..self.at]).unwrap_or_default();
            units.extend(plain.encode_utf16());
            match self.bytes.get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(units);
                }
                Some(b'\\') => units.push(self.escape()?),
                Some(_) => return Err(self.fault("control character in a string")),
                None => return Err(self.fault("the string does not end")),
            }
        }
    }

    fn escape(&mut self) -> Result<u16> {
        let kind = self.bytes.get(self.at + 1).copied();
        self.at += 2;
        let unit = match kind {
            Some(b'"') => b'"',
            Some(b'\\') => b'\\',
            Some(b'/') => b'/',
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let digits = self.bytes.get(self.at..self.at + 4).unwrap_or_default();
                let all_hex = digits.len() == 4 && digits.iter().all(u8::is_ascii_hexdigit);
                let text = std::str::from_utf8(digits).unwrap_or_default();
                let unit = u16::from_str_radix(text, 16).ok().filter(|_| all_hex);
                self.at += 4;
                return unit.ok_or_else(|| self.fault("malformed escape"));
            }
            _ => return Err(self.fault("malformed escape")),
        };
        Ok(u16::from(unit))
    }
}
