//! The writers: all are Python's encoder with other settings.

use super::scan::plain_run;
use super::{ExactFields, ExactInt, ExactJson, ExactMember, float_text};
use std::fmt::Write;

/// The canonical text: names in code-point order, no white space, nothing escaped that need not be.
pub fn canonical(value: &ExactJson) -> String {
    let mut text = String::new();
    write_canonical(value, &mut text);
    text
}

/// Appends the canonical text.
pub fn write_canonical(value: &ExactJson, out: &mut String) {
    ExactWriter { out, style: CANONICAL, level: 0 }.value(value);
}

/// Appends the canonical text of an object whose members are given one by one, in code-point order.
pub fn write_canonical_object<'a>(
    members: impl IntoIterator<Item = (&'a str, ExactMember<'a>)>,
    out: &mut String,
) {
    let mut writer = ExactWriter { out, style: CANONICAL, level: 0 };
    writer.list('{', members, '}', |writer, (name, value)| {
        writer.string(name);
        writer.out.push_str(writer.style.colon);
        match value {
            ExactMember::Null => writer.out.push_str("null"),
            ExactMember::Text(text) => writer.string(text),
            ExactMember::Number(number) => _ = write!(writer.out, "{number}"),
            ExactMember::Fields(fields) => writer.object(fields),
        }
    });
}

/// The canonical text with all but ASCII escaped, as the earliest records were sealed.
pub fn canonical_ascii(value: &ExactJson) -> String {
    written(value, WriteStyle { ascii: true, ..CANONICAL })
}

/// One line in input order with `, ` and `: ` between, as Python's encoder writes by default, non-ASCII as it is.
pub fn spaced(value: &ExactJson) -> String {
    written(value, WriteStyle { sorted: false, comma: ", ", colon: ": ", ..CANONICAL })
}

/// Indented by two in input order, as Python's encoder writes with `indent=2`, non-ASCII as it is.
pub fn indented(value: &ExactJson) -> String {
    written(value, WriteStyle { sorted: false, colon: ": ", indented: true, ..CANONICAL })
}

fn written(value: &ExactJson, style: WriteStyle) -> String {
    let mut out = String::new();
    ExactWriter { out: &mut out, style, level: 0 }.value(value);
    out
}

struct WriteStyle {
    sorted: bool,
    ascii: bool,
    indented: bool,
    comma: &'static str,
    colon: &'static str,
}

const CANONICAL: WriteStyle =
    WriteStyle { sorted: true, ascii: false, indented: false, comma: ",", colon: ":" };

struct ExactWriter<'a> {
    out: &'a mut String,
    style: WriteStyle,
    level: usize,
}

impl ExactWriter<'_> {
    fn value(&mut self, value: &ExactJson) {
        match value {
            ExactJson::Null => self.out.push_str("null"),
            ExactJson::Bool(true) => self.out.push_str("true"),
            ExactJson::Bool(false) => self.out.push_str("false"),
            ExactJson::Int(number) => self.int(number),
            ExactJson::Float(number) => self.out.push_str(&float_text(*number)),
            ExactJson::String(text) => self.string(text),
            ExactJson::Array(items) => self.list('[', items, ']', |writer, item| writer.value(item)),
            ExactJson::Object(fields) => self.object(fields),
        }
    }

    fn object(&mut self, fields: &ExactFields) {
        let mut members: Vec<_> = fields.iter().collect();
        if self.style.sorted {
            members.sort_unstable_by_key(|(name, _)| *name);
        }
        self.list('{', members, '}', |writer, (name, value)| {
            writer.string(name);
            writer.out.push_str(writer.style.colon);
            writer.value(value);
        });
    }

    fn int(&mut self, number: &ExactInt) {
        match number {
            // Writing into a string cannot fail.
            ExactInt::Small(number) => _ = write!(self.out, "{number}"),
            ExactInt::Big(digits) => self.out.push_str(digits),
        }
    }

    fn list<T>(
        &mut self,
        open: char,
        items: impl IntoIterator<Item = T>,
        close: char,
        mut write: impl FnMut(&mut Self, T),
    ) {
        self.out.push(open);
        self.level += 1;
        let mut empty = true;
        for item in items {
            if !empty {
                self.out.push_str(self.style.comma);
            }
            empty = false;
            self.break_line();
            write(self, item);
        }
        self.level -= 1;
        if !empty {
            self.break_line();
        }
        self.out.push(close);
    }

    fn break_line(&mut self) {
        if self.style.indented {
            self.out.push('\n');
            self.out.extend(std::iter::repeat_n("  ", self.level));
        }
    }

    fn string(&mut self, text: &str) {
        self.out.push('"');
        let mut rest = text;
        loop {
            let run = if self.style.ascii { ascii_run(rest) } else { plain_run(rest.as_bytes()) };
            let (plain, special) = rest.split_at_checked(run).unwrap_or((rest, ""));
            self.out.push_str(plain);
            let mut chars = special.chars();
            let Some(char) = chars.next() else { break };
            self.escape(char);
            rest = chars.as_str();
        }
        self.out.push('"');
    }

    fn escape(&mut self, char: char) {
        match char {
            '"' => self.out.push_str("\\\""),
            '\\' => self.out.push_str("\\\\"),
            '\n' => self.out.push_str("\\n"),
            '\r' => self.out.push_str("\\r"),
            '\t' => self.out.push_str("\\t"),
            '\u{8}' => self.out.push_str("\\b"),
            '\u{c}' => self.out.push_str("\\f"),
            other => {
                for unit in other.encode_utf16(&mut [0; 2]) {
                    _ = write!(self.out, "\\u{unit:04x}");
                }
            }
        }
    }
}

/// How many bytes come before the first that does not stand for itself in ASCII.
fn ascii_run(text: &str) -> usize {
    text.bytes().take_while(|byte| matches!(byte, b' '..=b'~') && !matches!(byte, b'"' | b'\\')).count()
}
