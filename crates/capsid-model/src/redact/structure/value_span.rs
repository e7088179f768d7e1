//! Where a value begins and ends: between quotes, up to the end of a word, or in a block of lines.

use super::{at_most, line_from};
use std::ops::Range;

/// How far the end of a value between quotes is looked for.
const MAX_QUOTED: usize = 2 << 10;
const MAX_BLOCK: usize = 6 << 10;

/// A value between quotes that begins at `at`, after what languages put before the quote (`f"`, `N'`, `@"`).
pub(super) fn quoted(text: &str, at: usize) -> Option<Range<usize>> {
    let bytes = text.as_bytes();
    let prefix = bytes[at..].iter().take(2).take_while(|byte| b"fbruNL@$".contains(byte)).count();
    let start = at + prefix;
    let quote = *bytes.get(start)?;
    if !matches!(quote, b'"' | b'\'' | b'`') {
        return None;
    }
    let is_triple = bytes.get(start + 1) == Some(&quote) && bytes.get(start + 2) == Some(&quote);
    if is_triple {
        let body = start + 3;
        let marks = &text[start..body];
        let end = at_most(text, body, MAX_QUOTED).find(marks)?;
        return Some(trimmed(text, body..body + end));
    }
    let body = start + 1;
    let mut is_escaped = false;
    for (offset, &byte) in bytes[body..].iter().take(MAX_QUOTED).enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' => is_escaped = true,
            b'\n' | b'\r' => return None,
            byte if byte == quote => return Some(body..body + offset),
            _ => {}
        }
    }
    None
}

fn trimmed(text: &str, range: Range<usize>) -> Range<usize> {
    let value = &text[range.clone()];
    let start = range.start + (value.len() - value.trim_start().len());
    start..start + value.trim().len()
}

/// A value without quotes: up to white space or what ends an expression. Where the rest of the line is one word, all of
/// it: settings need no quotes for signs.
pub(super) fn bare(text: &str, at: usize) -> Range<usize> {
    let line = line_from(text, at, 1024);
    let word_end = line.find(char::is_whitespace).unwrap_or(line.len());
    let word = &line[..word_end];
    let ends = |c: char| {
        matches!(
            c,
            '"' | '\'' | '`' | ',' | ';' | '&' | '<' | '>' | '(' | ')' | '{' | '}' | '[' | ']' | '|' | '\\'
        )
    };
    let short = word.find(ends).unwrap_or(word.len());
    at..at + short
}

/// Whether what follows a value goes on as a sentence does.
pub(super) fn goes_on(text: &str, end: usize) -> bool {
    let rest = line_from(text, end, 64);
    let next = rest.trim_start_matches([',', '.', ':']).trim_start_matches([' ', '\t']);
    let is_apart = next.len() < rest.len() && rest.contains(' ');
    is_apart && next.starts_with(|c: char| c.is_ascii_lowercase())
}

/// A YAML block, `|` or `>` and the deeper lines below it. `name_at` is where the line's name begins.
pub(super) fn block(text: &str, name_at: usize, at: usize) -> Option<Range<usize>> {
    let head = line_from(text, at, 80);
    let signs = head.trim_start_matches(['|', '>']);
    let is_head = signs.len() + 1 == head.len()
        && signs
            .split('#')
            .next()
            .unwrap_or_default()
            .trim()
            .bytes()
            .all(|byte| b"+-123456789".contains(&byte));
    if !is_head {
        return None;
    }
    let line_start = text[..name_at].rfind('\n').map_or(0, |end| end + 1);
    let indent = indent_of(&text[line_start..name_at.max(line_start)]);
    let body = at + head.len();
    let mut range: Option<Range<usize>> = None;
    let mut next = body;
    for line in at_most(text, body, MAX_BLOCK).split_inclusive('\n') {
        let content = line.trim();
        if !content.is_empty() {
            if indent_of(line) <= indent {
                break;
            }
            let start = next + (line.len() - line.trim_start().len());
            let end = start + content.len();
            range = Some(range.map_or(start, |range| range.start)..end);
        }
        next += line.len();
    }
    range
}

/// One word alone on the line below, deeper than the name.
pub(super) fn below(text: &str, name_at: usize, at: usize) -> Option<Range<usize>> {
    let rest = at_most(text, at, 512);
    let line_end = rest.find('\n')?;
    if !rest[..line_end].trim().is_empty() {
        return None;
    }
    let line_start = text[..name_at].rfind('\n').map_or(0, |end| end + 1);
    let line = rest[line_end + 1..].split('\n').next()?;
    let content = line.trim();
    if content.is_empty()
        || indent_of(line) <= indent_of(&text[line_start..name_at])
        || content.contains(char::is_whitespace)
    {
        return None;
    }
    let start = at + line_end + 1 + (line.len() - line.trim_start().len());
    Some(start..start + content.len())
}

fn indent_of(line: &str) -> usize {
    line.bytes().take_while(|&byte| byte == b' ' || byte == b'\t').count()
}
