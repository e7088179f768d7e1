//! Small text rules shared by everything: lengths count UTF-16 units, as in existing stores.

/// The longest prefix of at most `units` UTF-16 code units that does not split a character.
pub fn cut(text: &str, units: usize) -> &str {
    if text.len() <= units {
        return text;
    }
    let mut used = 0;
    for (at, c) in text.char_indices() {
        used += c.len_utf16();
        if used > units {
            return &text[..at];
        }
    }
    text
}

/// The longest suffix of at most `units` UTF-16 code units that does not split a character.
pub fn cut_front(text: &str, units: usize) -> &str {
    let mut used = 0;
    for (at, c) in text.char_indices().rev() {
        used += c.len_utf16();
        if used > units {
            return &text[at + c.len_utf8()..];
        }
    }
    text
}

/// A count as people read it: `2,310`.
pub fn group_digits(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::with_capacity(digits.len() + digits.len() / 3);
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// The text with every run of white space turned into one space, trimmed.
pub fn collapse(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for word in text.split(is_space).filter(|word| !word.is_empty()) {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    out
}

/// White space as ECMAScript sees it: Unicode white space and U+FEFF.
pub fn is_space(c: char) -> bool {
    (c.is_whitespace() && c != '\u{85}') || c == '\u{feff}'
}

/// Trims white space as ECMAScript does.
pub fn trim(text: &str) -> &str {
    text.trim_matches(is_space)
}

/// Makes untrusted text safe to show on a terminal: control, bidirectional and invisible characters are escaped.
pub fn inert(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\n' | '\t' => out.push(c),
            c if c.is_control() || is_invisible(c) => {
                out.push_str(&format!("\\u{{{:x}}}", u32::from(c)));
            }
            c => out.push(c),
        }
    }
    out
}

/// The same on one line: line breaks and tabs become spaces.
pub fn inert_line(text: &str) -> String {
    inert(&collapse(text))
}

/// Characters that change how text looks without being seen: direction marks, zero-width characters, separators.
pub fn is_invisible(c: char) -> bool {
    matches!(c,
        '\u{ad}' | '\u{61c}' | '\u{180e}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{fff9}'..='\u{fffb}' | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_count_utf16_units_and_never_split_a_character() {
        assert_eq!(cut("abc", 2), "ab");
        assert_eq!(cut("a🧬b", 2), "a");
        assert_eq!(cut("a🧬b", 3), "a🧬");
        assert_eq!(cut_front("a🧬b", 2), "b");
        assert_eq!(cut_front("a🧬b", 3), "🧬b");
        assert_eq!(cut("固化", 1), "固");
    }

    #[test]
    fn collapse_folds_every_kind_of_space() {
        assert_eq!(collapse(" a\t\n b\u{3000}c\u{feff}"), "a b c");
        assert_eq!(collapse("   "), "");
    }

    #[test]
    fn inert_shows_what_would_act() {
        assert_eq!(inert("a\u{1b}[31mb\u{202e}c"), "a\\u{1b}[31mb\\u{202e}c");
        assert_eq!(inert_line("a\nb"), "a b");
    }
}
