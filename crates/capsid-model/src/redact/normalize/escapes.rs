//! Escapes as JSON and most languages write them in strings.

use super::ViewBuilder;

/// Adds the lines that hold escapes, with those undone. A new line stands where lines without any were.
pub(super) fn push_unescaped(text: &str, builder: &mut ViewBuilder) {
    let mut at = 0;
    while let Some(slash) = text[at..].find('\\').map(|slash| at + slash) {
        let start = text[at..slash].rfind('\n').map_or(at, |end| at + end + 1);
        let end = text[slash..].find('\n').map_or(text.len(), |end| slash + end + 1);
        if has_escape(&text[slash..end]) {
            push_line(&text[start..end], start, builder);
        }
        at = end;
    }
}

fn has_escape(line: &str) -> bool {
    line.as_bytes().windows(2).any(|pair| {
        pair[0] == b'\\' && matches!(pair[1], b'"' | b'\'' | b'n' | b'r' | b't' | b'u' | b'/' | b'x')
    })
}

fn push_line(line: &str, from: usize, builder: &mut ViewBuilder) {
    let mut rest = line;
    let mut at = from;
    while let Some(slash) = rest.find('\\') {
        builder.copy(&rest[..slash], at);
        at += slash;
        rest = &rest[slash..];
        let length = match meant(rest) {
            Some((character, length)) => {
                builder.escape(character, at, length);
                length
            }
            None => {
                builder.copy(&rest[..1], at);
                1
            }
        };
        at += length;
        rest = &rest[length..];
    }
    builder.copy(rest, at);
}

/// The character that an escape at the beginning of a text stands for, and the length of the escape.
fn meant(text: &str) -> Option<(char, usize)> {
    let code = |digits: usize| {
        let code = u32::from_str_radix(text.get(2..2 + digits)?, 16).ok()?;
        Some((char::from_u32(code)?, 2 + digits))
    };
    match text.as_bytes().get(1)? {
        b'n' => Some(('\n', 2)),
        b'r' => Some(('\r', 2)),
        b't' => Some(('\t', 2)),
        b'e' => Some(('\u{1b}', 2)),
        &sign @ (b'"' | b'\'' | b'\\' | b'/' | b'`') => Some((char::from(sign), 2)),
        b'u' => code(4),
        b'x' => code(2),
        _ => None,
    }
}
