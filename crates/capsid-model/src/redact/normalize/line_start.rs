//! What tools put in front of lines: numbers, the name of a file or service, signs of diffs and quotations.

use super::ViewBuilder;
use super::ansi::sequence_length;
use std::borrow::Cow;

/// Adds a text without what stands in front of its lines, and without colours.
pub(super) fn push_plain(text: &str, from: usize, builder: &mut ViewBuilder) {
    // Nothing is copied before the first line that changes.
    let mut copied = 0;
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let is_coloured = line.as_bytes().contains(&0x1b);
        let shown = if is_coloured { Cow::Owned(without_colours(line)) } else { Cow::Borrowed(line) };
        let start = start_length(&shown);
        if is_coloured {
            builder.copy(&text[copied..at], from + copied);
            push_coloured(line, start, from + at, builder);
            copied = at + line.len();
        } else if start > 0 {
            builder.copy(&text[copied..at], from + copied);
            builder.removed += start;
            copied = at + start;
        }
        at += line.len();
    }
    if builder.removed > 0 || copied > 0 {
        builder.copy(&text[copied..], from + copied);
    }
}

/// Adds the lines that hold colours, without those.
pub(super) fn push_coloured_lines(text: &str, builder: &mut ViewBuilder) {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if line.as_bytes().contains(&0x1b) {
            push_coloured(line, 0, at, builder);
        }
        at += line.len();
    }
}

fn without_colours(line: &str) -> String {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(escape) = rest.find('\u{1b}') {
        text += &rest[..escape];
        rest = &rest[escape + sequence_length(&rest[escape..])..];
    }
    text + rest
}

/// Adds a line without its colours and without the first bytes that it shows.
fn push_coloured(line: &str, mut hidden: usize, from: usize, builder: &mut ViewBuilder) {
    let mut at = 0;
    while at < line.len() {
        let end = line[at..].find('\u{1b}').map_or(line.len(), |escape| at + escape);
        let skipped = hidden.min(end - at);
        builder.copy(&line[at + skipped..end], from + at + skipped);
        hidden -= skipped;
        builder.removed += skipped;
        at = end;
        if at < line.len() {
            let length = sequence_length(&line[at..]);
            builder.removed += length;
            at += length;
        }
    }
}

/// How many bytes in front of a line are none of its own.
fn start_length(line: &str) -> usize {
    let mut start = 0;
    for _ in 0..3 {
        match one_start(&line[start..]) {
            0 => break,
            length => start += length,
        }
    }
    start
}

fn one_start(line: &str) -> usize {
    let bytes = line.as_bytes();
    let blanks = bytes.iter().take(24).take_while(|&&byte| byte == b' ' || byte == b'\t').count();
    match bytes.get(blanks) {
        Some(b'0'..=b'9') => number(line, blanks),
        // The sign of a diff stands at the beginning; a list and a key begin with one too.
        Some(b'+') if blanks == 0 => 1,
        Some(b'-') if blanks == 0 && !matches!(bytes.get(1), Some(b'-' | b'>')) => 1,
        Some(b'>' | b'<') if blanks == 0 && bytes.get(1) == Some(&b' ') => 2,
        Some(b'|') if bytes.get(blanks + 1) == Some(&b' ') && blanks > 0 => blanks + 1,
        Some(byte) if blanks == 0 && (byte.is_ascii_alphanumeric() || b"./_".contains(byte)) => name(line),
        _ => 0,
    }
}

/// `     1→`, `12<tab>`, `12: `, `12 | `.
fn number(line: &str, blanks: usize) -> usize {
    let rest = &line[blanks..];
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits > 7 {
        return 0;
    }
    let rest = &rest[digits..];
    let sign = if rest.starts_with('→') {
        '→'.len_utf8()
    } else if rest.starts_with('\t') || rest.starts_with(':') || rest.starts_with('|') {
        1
    } else if rest.starts_with(" |") || rest.starts_with(": ") || rest.starts_with(" │") {
        2
    } else {
        return 0;
    };
    let sign = if rest.starts_with(" │") { 1 + '│'.len_utf8() } else { sign };
    blanks + digits + sign
}

/// `web-1  | ` and `src/a.rs:12:`.
fn name(line: &str) -> usize {
    let bytes = line.as_bytes();
    let is_in_name = |byte: &u8| byte.is_ascii_alphanumeric() || b"._/@+-".contains(byte);
    let end = bytes.iter().take(120).take_while(|byte| is_in_name(byte)).count();
    match bytes.get(end) {
        Some(b':') => {
            let digits = bytes[end + 1..].iter().take_while(|byte| byte.is_ascii_digit()).count();
            let is_file = (1..=6).contains(&digits) && bytes[..end].iter().any(|byte| b"./".contains(byte));
            if !is_file || bytes.get(end + 1 + digits) != Some(&b':') {
                return 0;
            }
            // `host:port:database:user:password` begins so too.
            let rest = line[end + digits + 2..].trim_end();
            let is_fields =
                rest.len() < 200 && rest.split(':').count() == 3 && !rest.contains(char::is_whitespace);
            if is_fields { 0 } else { end + digits + 2 }
        }
        Some(b' ' | b'|') if end <= 40 => {
            let blanks = bytes[end..].iter().take(24).take_while(|&&byte| byte == b' ').count();
            if bytes[end + blanks..].starts_with(b"| ") { end + blanks + 2 } else { 0 }
        }
        _ => 0,
    }
}
