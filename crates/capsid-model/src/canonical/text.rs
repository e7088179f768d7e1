//! Canonical text, written while a JSON text is read, without a tree in between.
//!
//! It takes whatever an ECMAScript reader takes, also what `serde_json` refuses: lone surrogates, numbers beyond the range
//! of a double, and deep nesting.

use super::utf16_order;
use crate::exact::plain_run;
use crate::problem::{Code, Problem, Result};
use std::cmp::Ordering;
use std::ops::Range;

/// Deeper documents are refused: nobody writes them, and a reader must not overflow its stack.
const MAX_DEPTH: usize = 512;
/// Whole numbers of so many digits are doubles exactly, and print alike everywhere.
const EXACT_DIGITS: usize = 15;

/// The canonical text: keys in UTF-16 order, numbers as ECMAScript prints them, lone surrogates escaped.
pub(super) fn canonical(text: &str) -> Result<String> {
    let mut writer = CanonicalWriter::new(text);
    writer.document()?;
    Ok(writer.out)
}

/// The same with members in the order of the text, and twice where they stand twice.
pub(super) fn normalized(text: &str) -> Result<String> {
    let mut writer = CanonicalWriter { keeps_order: true, ..CanonicalWriter::new(text) };
    writer.document()?;
    Ok(writer.out)
}

/// The canonical text of an object without one member, and the text that this member holds. Nothing for other values.
pub(crate) fn canonical_without(text: &str, name: &str) -> Result<Option<(String, Option<String>)>> {
    let mut writer = CanonicalWriter { left_out: Some(name), ..CanonicalWriter::new(text) };
    writer.document()?;
    Ok(writer.out.starts_with('{').then_some((writer.out, writer.left_out_text)))
}

struct CanonicalWriter<'a> {
    text: &'a str,
    at: usize,
    depth: usize,
    out: String,
    keeps_order: bool,
    /// The member of the outermost object that is not written, and the text it holds.
    left_out: Option<&'a str>,
    left_out_text: Option<String>,
}

/// A member that was written: all of it with its comma, and its key without quotes.
struct WrittenMember {
    all: Range<usize>,
    key: Range<usize>,
}

impl<'a> CanonicalWriter<'a> {
    fn new(text: &'a str) -> Self {
        let out = String::with_capacity(text.len());
        Self { text, at: 0, depth: 0, out, keeps_order: false, left_out: None, left_out_text: None }
    }

    fn bytes(&self) -> &'a [u8] {
        self.text.as_bytes()
    }

    fn document(&mut self) -> Result<()> {
        self.value()?;
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.fault("unexpected text after the document")),
        }
    }

    fn fault(&self, what: &str) -> Problem {
        // An escape at the very end is found out after stepping over it.
        let at = self.at.min(self.text.len());
        let line = self.bytes()[..at].iter().filter(|byte| **byte == b'\n').count() + 1;
        Problem::new(Code::JsonInvalid, format!("Not JSON: {what} at byte {at} (line {line})."))
            .fix("Correct the document; `capsid asset canonical FILE` shows how it is read.")
    }

    fn peek(&mut self) -> Option<u8> {
        while matches!(self.bytes().get(self.at), Some(b' ' | b'\t' | b'\n' | b'\r')) {
            self.at += 1;
        }
        self.bytes().get(self.at).copied()
    }

    fn consume(&mut self, byte: u8) -> bool {
        let found = self.peek() == Some(byte);
        self.at += usize::from(found);
        found
    }

    fn word(&mut self, word: &str) -> Result<()> {
        if !self.bytes()[self.at..].starts_with(word.as_bytes()) {
            return Err(self.fault("unexpected character"));
        }
        self.at += word.len();
        self.out.push_str(word);
        Ok(())
    }

    fn value(&mut self) -> Result<()> {
        if self.depth > MAX_DEPTH {
            let message = format!("The document is nested more than {MAX_DEPTH} levels deep.");
            return Err(Problem::new(Code::JsonTooDeep, message));
        }
        self.depth += 1;
        match self.peek() {
            Some(b'{') => self.object(),
            Some(b'[') => self.list(),
            Some(b'"') => self.string().map(drop),
            Some(b't') => self.word("true"),
            Some(b'f') => self.word("false"),
            Some(b'n') => self.word("null"),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(_) => Err(self.fault("unexpected character")),
            None => Err(self.fault("the document ends too early")),
        }?;
        self.depth -= 1;
        Ok(())
    }

    fn list(&mut self) -> Result<()> {
        self.at += 1;
        self.out.push('[');
        if !self.consume(b']') {
            loop {
                self.value()?;
                if self.consume(b']') {
                    break;
                }
                if !self.consume(b',') {
                    return Err(self.fault("expected `,` or `]`"));
                }
                self.out.push(',');
            }
        }
        self.out.push(']');
        Ok(())
    }

    fn object(&mut self) -> Result<()> {
        self.at += 1;
        self.out.push('{');
        let start = self.out.len();
        let left_out = self.left_out.filter(|_| self.depth == 1);
        let mut members = Vec::new();
        if !self.consume(b'}') {
            loop {
                let from = self.out.len();
                let key = self.key()?;
                let value = self.out.len();
                self.value()?;
                if left_out.is_some_and(|name| self.out[key.clone()] == *name) {
                    self.left_out_text = serde_json::from_str(&self.out[value..]).ok();
                    self.out.truncate(from);
                } else {
                    self.out.push(',');
                    members.push(WrittenMember { all: from..self.out.len(), key });
                }
                if self.consume(b'}') {
                    break;
                }
                if !self.consume(b',') {
                    return Err(self.fault("expected `,` or `}`"));
                }
            }
        }
        if !self.keeps_order {
            self.sort(start, &mut members);
        }
        if !members.is_empty() {
            self.out.pop();
        }
        self.out.push('}');
        Ok(())
    }

    fn key(&mut self) -> Result<Range<usize>> {
        if self.peek() != Some(b'"') {
            return Err(self.fault("expected a key"));
        }
        let key = self.string()?;
        if !self.consume(b':') {
            return Err(self.fault("expected `:`"));
        }
        self.out.push(':');
        Ok(key)
    }

    /// Puts the members written from `start` on into order; of two equal keys the last one stays.
    fn sort(&mut self, start: usize, members: &mut Vec<WrittenMember>) {
        let order = |a: &WrittenMember, b: &WrittenMember| {
            key_order(&self.out[a.key.clone()], &self.out[b.key.clone()])
        };
        if members.is_sorted_by(|a, b| order(a, b) == Ordering::Less) {
            return;
        }
        members.reverse();
        members.sort_by(order);
        members.dedup_by(|later, first| order(later, first) == Ordering::Equal);
        let sorted: String = members.iter().map(|member| &self.out[member.all.clone()]).collect();
        self.out.truncate(start);
        self.out.push_str(&sorted);
    }

    fn digits(&mut self) -> usize {
        let start = self.at;
        while matches!(self.bytes().get(self.at), Some(b'0'..=b'9')) {
            self.at += 1;
        }
        self.at - start
    }

    fn number(&mut self) -> Result<()> {
        let start = self.at;
        self.at += usize::from(self.bytes()[start] == b'-');
        let leading_zero = self.bytes().get(self.at) == Some(&b'0');
        let whole = self.digits();
        if whole == 0 || (leading_zero && whole > 1) {
            return Err(self.fault("malformed number"));
        }
        let mut is_whole = true;
        if self.bytes().get(self.at) == Some(&b'.') {
            self.at += 1;
            is_whole = false;
            if self.digits() == 0 {
                return Err(self.fault("malformed number"));
            }
        }
        if matches!(self.bytes().get(self.at), Some(b'e' | b'E')) {
            self.at += 1;
            self.at += usize::from(matches!(self.bytes().get(self.at), Some(b'+' | b'-')));
            is_whole = false;
            if self.digits() == 0 {
                return Err(self.fault("malformed number"));
            }
        }
        let text = &self.text[start..self.at];
        if is_whole && whole <= EXACT_DIGITS && text != "-0" {
            self.out.push_str(text);
            return Ok(());
        }
        // Rust reads a number out of range as infinite, as ECMAScript does; that prints as null.
        let number: f64 = text.parse().map_err(|_| self.fault("malformed number"))?;
        let printed = number.is_finite().then(|| serde_json_canonicalizer::to_string(&number).ok()).flatten();
        self.out.push_str(printed.as_deref().unwrap_or("null"));
        Ok(())
    }

    /// Writes a string; tells where it stands without its quotes.
    fn string(&mut self) -> Result<Range<usize>> {
        self.at += 1;
        self.out.push('"');
        let start = self.out.len();
        loop {
            let plain = self.at..self.at + plain_run(&self.bytes()[self.at..]);
            self.at = plain.end;
            self.out.push_str(&self.text[plain]);
            match self.bytes().get(self.at) {
                Some(b'"') => {
                    self.at += 1;
                    self.out.push('"');
                    return Ok(start..self.out.len() - 1);
                }
                Some(b'\\') => self.escape()?,
                Some(_) => return Err(self.fault("control character in a string")),
                None => return Err(self.fault("the string does not end")),
            }
        }
    }

    /// Writes what an escape stands for, together with those after it that are halves of surrogate pairs.
    fn escape(&mut self) -> Result<()> {
        let mut unit = self.unit()?;
        while (0xd800..0xdc00).contains(&unit) && self.bytes().get(self.at) == Some(&b'\\') {
            let next = self.unit()?;
            if let Some(Ok(pair)) = char::decode_utf16([unit, next]).next() {
                self.out.push(pair);
                return Ok(());
            }
            self.write_unit(unit);
            unit = next;
        }
        self.write_unit(unit);
        Ok(())
    }

    fn write_unit(&mut self, unit: u16) {
        match char::from_u32(u32::from(unit)) {
            Some('"') => self.out.push_str("\\\""),
            Some('\\') => self.out.push_str("\\\\"),
            Some('\u{8}') => self.out.push_str("\\b"),
            Some('\u{c}') => self.out.push_str("\\f"),
            Some('\n') => self.out.push_str("\\n"),
            Some('\r') => self.out.push_str("\\r"),
            Some('\t') => self.out.push_str("\\t"),
            Some(c) if c >= ' ' => self.out.push(c),
            _ => self.out.push_str(&format!("\\u{unit:04x}")),
        }
    }

    /// The UTF-16 unit that an escape stands for.
    fn unit(&mut self) -> Result<u16> {
        let kind = self.bytes().get(self.at + 1).copied();
        self.at += 2;
        let unit = match kind {
            Some(same @ (b'"' | b'\\' | b'/')) => same,
            Some(b'b') => 8,
            Some(b'f') => 12,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                let digits = self.text.get(self.at..self.at + 4).unwrap_or_default();
                let all_hex = digits.bytes().all(|digit| digit.is_ascii_hexdigit());
                self.at += 4;
                let unit = u16::from_str_radix(digits, 16).ok().filter(|_| all_hex);
                return unit.ok_or_else(|| self.fault("malformed escape"));
            }
            _ => return Err(self.fault("malformed escape")),
        };
        Ok(u16::from(unit))
    }
}

/// The order of two keys in canonical text. Equal texts are equal keys.
fn key_order(a: &str, b: &str) -> Ordering {
    if a.contains('\\') || b.contains('\\') { units(a).cmp(&units(b)) } else { utf16_order(a, b) }
}

/// The UTF-16 units of a string in canonical text.
fn units(text: &str) -> Vec<u16> {
    let mut reader = CanonicalWriter::new(text);
    let mut units = Vec::with_capacity(text.len());
    while let Some(rest) = text.get(reader.at..).filter(|rest| !rest.is_empty()) {
        let plain = rest.find('\\').unwrap_or(rest.len());
        units.extend(rest[..plain].encode_utf16());
        reader.at += plain;
        if plain < rest.len() {
            units.extend(reader.unit());
        }
    }
    units
}
