//! Rewrites an ECMAScript regular expression so that the linear-time engine interprets it the same.

/// White space as ECMAScript's `\s` has it, in the inside of a class.
const SPACE: &str =
    r"\t\n\x0b\x0c\r \u{a0}\u{1680}\u{2000}-\u{200a}\u{2028}\u{2029}\u{202f}\u{205f}\u{3000}\u{feff}";

/// The body in the engine's own syntax. What has no counterpart (look-around, back-references) stays as it is, and the
/// engine refuses it.
pub(super) fn translate(body: &str, dot_matches_all: bool) -> String {
    let mut out = String::with_capacity(body.len() * 2);
    let mut in_class = false;
    let mut rest = body.chars();
    while let Some(c) = rest.next() {
        let ahead = rest.as_str();
        match c {
            '\\' => match rest.next() {
                Some(escaped) => push_escape(escaped, in_class, &mut out),
                None => out.push('\\'),
            },
            ']' if in_class => {
                in_class = false;
                out.push(']');
            }
            '[' | '&' | '~' if in_class => out.extend(['\\', c]),
            '[' if ahead.starts_with(']') => {
                rest.next();
                out.push_str("[a&&b]");
            }
            '[' if ahead.starts_with("^]") => {
                rest.nth(1);
                out.push_str("(?s:.)");
            }
            '[' => {
                in_class = true;
                out.push('[');
            }
            '.' if !in_class && !dot_matches_all => out.push_str(r"[^\n\r\u{2028}\u{2029}]"),
            '{' if !in_class && !is_count(ahead) => out.push_str("\\{"),
            c => out.push(c),
        }
    }
    out
}

fn push_escape(c: char, in_class: bool, out: &mut String) {
    if let Some(class) = class_of(c) {
        if !in_class {
            out.push_str(&format!("(?-i:{class})"));
            return;
        }
        // A dash before a class is a dash, not the start of a range.
        if out.ends_with('-') && !out.ends_with("\\-") {
            out.pop();
            out.push_str("\\-");
        }
        out.push_str(&class);
        return;
    }
    match c {
        'b' if in_class => out.push_str(r"\x08"),
        'b' | 'B' => out.push_str(&format!(r"(?-u:\{c})")),
        '0' => out.push_str(r"\x00"),
        'n' | 'r' | 't' | 'f' | 'v' | 'x' | 'u' | 'p' | 'P' | 'k' | 'c' | '1'..='9' => {
            out.extend(['\\', c]);
        }
        c if c.is_ascii_alphanumeric() || !c.is_ascii() || c == '<' || c == '>' => out.push(c),
        c => out.extend(['\\', c]),
    }
}

/// The ASCII classes, and white space, that a letter denotes.
fn class_of(c: char) -> Option<String> {
    Some(match c {
        'd' => "[0-9]".to_owned(),
        'D' => "[^0-9]".to_owned(),
        'w' => "[0-9A-Za-z_]".to_owned(),
        'W' => "[^0-9A-Za-z_]".to_owned(),
        's' => format!("[{SPACE}]"),
        'S' => format!("[^{SPACE}]"),
        _ => return None,
    })
}

/// Whether what follows an opening brace makes it a count; otherwise the brace is literal.
fn is_count(ahead: &str) -> bool {
    let Some((inside, _)) = ahead.split_once('}') else {
        return false;
    };
    let (least, most) = inside.split_once(',').unwrap_or((inside, ""));
    let all_digits = |text: &str| text.bytes().all(|b| b.is_ascii_digit());
    !least.is_empty() && all_digits(least) && all_digits(most)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matches(body: &str, text: &str) -> bool {
        regex::RegexBuilder::new(&translate(body, false))
            .case_insensitive(true)
            .build()
            .unwrap()
            .is_match(text)
    }

    #[test]
    fn short_classes_are_ascii_as_in_ecmascript() {
        assert!(matches(r"^\w+$", "log_error9"));
        assert!(!matches(r"^\w+$", "é"));
        assert!(!matches(r"\w", "ſ"));
        assert!(!matches(r"\d", "٣"));
        assert!(matches(r"\berror\b", "éerroré"));
        assert!(matches(r"é\B", "é错"));
        assert!(matches(r"a\sb", "a\u{feff}b"));
        assert!(!matches(r"a\sb", "a\u{85}b"));
        assert!(matches(r"^[^\s\w-]$", "+"));
        assert!(!matches(r"^[+-\w]$", "."), "a dash before a class is literal");
    }

    #[test]
    fn what_only_one_dialect_reads_as_syntax_is_kept_literal() {
        assert!(matches(r#"{"error""#, r#"x {"ERROR": 1}"#));
        assert!(matches(r"[[&&~]x", "[x"));
        assert!(matches(r"a{2}$", "aa"));
        assert!(matches(r"\<b\>", "<b>"));
        assert!(matches(r"\/tmp\-\z", "/tmp-z"));
        assert!(matches("a[^]b", "a\nb"));
        assert!(!matches("a[]", "a"));
        assert!(!matches("a.b", "a\rb"));
    }
}
