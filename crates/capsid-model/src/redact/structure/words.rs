//! A command line as the words that a shell would make of it.

use super::at_most;
use std::ops::Range;

/// How much of one command is read.
const MAX_COMMAND: usize = 8 << 10;
const MAX_WORDS: usize = 400;

/// A word of a command: what stands between its quotes, where those enclose all of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CommandWord {
    pub(super) range: Range<usize>,
    pub(super) is_quoted: bool,
}

/// The words from `start` on, and where the command ends: at the end of its line, at `;`, `|` or `&`, or at the quote
/// that encloses it.
pub(super) fn split(text: &str, start: usize) -> (Vec<CommandWord>, usize) {
    let mut words = Vec::new();
    let rest = at_most(text, start, MAX_COMMAND);
    let bytes = rest.as_bytes();
    let mut at = 0;
    while words.len() < MAX_WORDS {
        at = skip_blanks(rest, at);
        let Some(&first) = bytes.get(at) else { break };
        match first {
            b'\n' | b'\r' | b';' | b'|' | b'&' | b')' => break,
            b'<' if rest[at..].starts_with("<<<") => {
                words.push(CommandWord { range: start + at..start + at + 3, is_quoted: false });
                at += 3;
                continue;
            }
            _ => {}
        }
        let (word, end, is_last) = word(rest, at);
        if !word.range.is_empty() || word.is_quoted {
            words.push(CommandWord {
                range: start + word.range.start..start + word.range.end,
                is_quoted: word.is_quoted,
            });
        }
        at = end;
        if is_last {
            break;
        }
    }
    (words, start + at)
}

/// Past blanks, and past the end of a line after a backslash.
fn skip_blanks(text: &str, mut at: usize) -> usize {
    let bytes = text.as_bytes();
    loop {
        match bytes.get(at) {
            Some(b' ' | b'\t') => at += 1,
            Some(b'\\') if bytes.get(at + 1) == Some(&b'\n') => at += 2,
            Some(b'\\') if bytes.get(at + 1) == Some(&b'\r') && bytes.get(at + 2) == Some(&b'\n') => at += 3,
            _ => return at,
        }
    }
}

/// One word, its end, and whether the command ends with it.
fn word(text: &str, start: usize) -> (CommandWord, usize, bool) {
    let bytes = text.as_bytes();
    let mut at = start;
    let is_quote = |byte: u8| matches!(byte, b'"' | b'\'' | b'`');
    if is_quote(bytes[at]) {
        if let Some(end) = closing(bytes, at) {
            let next = bytes.get(end + 1);
            if next.is_none_or(|&byte| byte.is_ascii_whitespace() || b";|&)]},\"'`".contains(&byte)) {
                let is_last = next.is_some_and(|byte| !byte.is_ascii_whitespace() && !b",;|&".contains(byte));
                return (CommandWord { range: start + 1..end, is_quoted: true }, end + 1, is_last);
            }
            at = end + 1;
        } else {
            return (CommandWord { range: start..start, is_quoted: false }, start + 1, true);
        }
    }
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b' ' | b'\t' | b'\n' | b'\r' | b';' | b'|' | b'&' | b')' | b'<' | b'>' => break,
            b'\\' if bytes.get(at + 1).is_some_and(|&next| is_quote(next)) => {
                return (CommandWord { range: start..at, is_quoted: false }, at, true);
            }
            b'\\' => {
                at +=
                    1 + usize::from(bytes.get(at + 1).is_some_and(|&next| next != b'\n' && next.is_ascii()));
            }
            byte if is_quote(byte) => {
                let opens = at == start
                    || matches!(bytes[at - 1], b'=' | b':' | b',' | b'%' | b'@' | b'$' | b'/')
                    || (bytes[start] == b'-' && at - start <= 3);
                match closing(bytes, at) {
                    Some(end) if opens => at = end + 1,
                    // It ends the text in which the command stands.
                    _ => return (CommandWord { range: start..at, is_quoted: false }, at, true),
                }
            }
            _ => at += 1,
        }
    }
    let at = at.min(text.len());
    // `>` and `<` alone.
    let end = if at == start { at + 1 } else { at };
    let end = (end..=text.len()).find(|&end| text.is_char_boundary(end)).unwrap_or(text.len());
    let at = text.floor_char_boundary(at);
    (CommandWord { range: start..at.max(start), is_quoted: false }, end, false)
}

/// Where the quote at `at` is closed, on the same line.
fn closing(bytes: &[u8], at: usize) -> Option<usize> {
    let quote = bytes[at];
    let mut is_escaped = false;
    for (offset, &byte) in bytes[at + 1..].iter().take(2048).enumerate() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if quote == b'"' => is_escaped = true,
            b'\n' => return None,
            byte if byte == quote => return Some(at + 1 + offset),
            _ => {}
        }
    }
    None
}

/// The words of a list of texts, `"curl", "-u", "a:b"`, whose first word begins at `start`.
pub(super) fn split_list(text: &str, start: usize) -> (Vec<CommandWord>, usize) {
    let rest = at_most(text, start, MAX_COMMAND);
    let bytes = rest.as_bytes();
    let Some(&quote) = start.checked_sub(1).and_then(|before| text.as_bytes().get(before)) else {
        return (Vec::new(), start);
    };
    let mut words = Vec::new();
    let mut at = 0;
    while words.len() < MAX_WORDS {
        let Some(end) =
            bytes[at..].iter().position(|&byte| byte == quote || byte == b'\n').map(|end| at + end)
        else {
            break;
        };
        words.push(CommandWord { range: start + at..start + end, is_quoted: true });
        at = end + 1;
        let gap = bytes
            .get(at..)
            .unwrap_or_default()
            .iter()
            .take(80)
            .take_while(|byte| byte.is_ascii_whitespace() || **byte == b',');
        let gap = gap.count();
        if bytes.get(at + gap) != Some(&quote) || gap == 0 {
            break;
        }
        at += gap + 1;
    }
    (words, start + at.min(rest.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        split(text, 0).0.into_iter().map(|word| &text[word.range]).collect()
    }

    #[test]
    fn a_line_is_split_as_a_shell_splits_it() {
        for (line, expected) in [
            ("curl -u 'a:b c' -H \"X: y\" z", &["curl", "-u", "a:b c", "-H", "X: y", "z"][..]),
            ("a \\\n  -p'x y' | b", &["a", "-p'x y'"]),
            ("a -p x; b", &["a", "-p", "x"]),
            ("a -p x\"}", &["a", "-p", "x"]),
            ("a -p x`, or", &["a", "-p", "x"]),
            ("a --b=\"c d\" e\nf", &["a", "--b=\"c d\"", "e"]),
            ("a <<< 'x'", &["a", "<<<", "x"]),
            ("a \"x", &["a"]),
            ("a > b < c", &["a", "b", "c"]),
            ("ö \\ö ä", &["ö", "\\ö", "ä"]),
        ] {
            assert_eq!(words(line), expected, "{line}");
        }
    }

    #[test]
    fn a_list_of_texts_is_split_at_its_quotes() {
        let text = "[\"curl\", \"-u\",\"a:b\"], \"x\"";
        let (words, _) = split_list(text, 2);
        assert_eq!(
            words.into_iter().map(|word| &text[word.range]).collect::<Vec<_>>(),
            ["curl", "-u", "a:b"]
        );
    }
}
