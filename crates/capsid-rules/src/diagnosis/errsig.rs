//! The signal `errsig:…` of a problem, in a form that the existing normalizer keeps apart.

use super::diagnostic::{Diagnostic, DiagnosticRole};
use super::lines::Line;
use super::{choose, tools};
use capsid_model::text::cut;

/// The longest form that the normalizer reads to its end.
const MAX_CHARS: usize = 220;

/// The signal. A plain line keeps the form it had before there were rules for tools.
pub(super) fn render_errsig(diagnostic: &Diagnostic) -> String {
    if let Some(plain) = &diagnostic.plain {
        return render_raw_errsig(plain);
    }
    let code = diagnostic.code.as_deref().filter(|code| !diagnostic.text.starts_with(code));
    let mut body = diagnostic.family.clone();
    if let Some(code) = code {
        body.push(' ');
        body.push_str(code);
    }
    body.push_str(": ");
    body.push_str(&diagnostic.text);
    let mut body = protect_numbers(&body.replace(['/', '\\'], ":"));
    if body.encode_utf16().count() > MAX_CHARS {
        // Two long messages that differ at their end stay two.
        let id = diagnostic.ids().message;
        body = format!("{}_{}", cut(&body, MAX_CHARS - 20), id.get(..12).unwrap_or_default());
    }
    format!("errsig:{body}")
}

/// The signature of a line as it stands.
pub(super) fn render_raw_errsig(line: &str) -> String {
    format!("errsig:{}", cut(&fold_space(line), 260))
}

/// Whether a line says by a common word that it names an error.
pub(super) fn names_error(line: &str) -> bool {
    let lower = line.to_lowercase();
    ["error:", "exception:", "[error"].iter().any(|word| lower.contains(word))
        || ["错误", "异常", "报错", "失败"].iter().any(|word| {
            lower.split_once(word).is_some_and(|(_, rest)| rest.trim_start().starts_with([':', '：']))
        })
}

/// Puts `_` before each number that stands alone: the normalizer would fold it away.
fn protect_numbers(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    let mut before = ' ';
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        if digits == 0 {
            out.push(first);
            before = first;
            rest = &rest[first.len_utf8()..];
            continue;
        }
        let after = rest[digits..].chars().next().unwrap_or(' ');
        if !is_word(before) && !is_word(after) {
            out.push('_');
        }
        out.push_str(&rest[..digits]);
        before = '0';
        rest = &rest[digits..];
    }
    out
}

fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

fn fold_space(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// Reads the bare signature of an old capsule with the rules of today. Such a text has no location, so compare it at
/// the message level at most.
pub fn parse_errsig(signal: &str) -> Option<Diagnostic> {
    let text = signal.strip_prefix("errsig:").unwrap_or(signal).trim();
    if text.is_empty() {
        return None;
    }
    let lines: Vec<Line> = vec![Line::from_clean(1, text)];
    let found = tools::recognize(&lines, &[]);
    let best = choose::best_of(found.diagnostics);
    let mut diagnostic = best.or_else(|| tools::generic::from_text(text))?;
    diagnostic.test = None;
    diagnostic.frame = None;
    diagnostic.place = None;
    diagnostic.line = None;
    if diagnostic.role == DiagnosticRole::Wrapper { None } else { Some(diagnostic) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_that_stand_alone_get_a_mark() {
        assert_eq!(protect_numbers("port 5432"), "port _5432");
        assert_eq!(protect_numbers("42P01 u16 1146: x"), "42P01 u16 _1146: x");
        assert_eq!(protect_numbers("python3.11"), "python3._11");
        assert_eq!(protect_numbers(""), "");
    }

    #[test]
    fn a_problem_keeps_the_line_that_engines_without_ids_compare() {
        let raw = |log: &str| crate::diagnosis::diagnose(log).to_record().unwrap().raw_errsig();
        let traceback = "Traceback (most recent call last):\n  File \"/srv/a.py\", line 3, in f\n    d['k']\nKeyError: 'k'\n";
        assert_eq!(raw(traceback).as_deref(), Some("errsig:KeyError: 'k'"));
        assert_eq!(
            raw("src/a.ts(7,3): error TS2322: Type 'a' is not assignable to type 'b'.\n").as_deref(),
            Some("errsig:src/a.ts(7,3): error TS2322: Type 'a' is not assignable to type 'b'.")
        );
        let line = "error: TypeError: x is not a function";
        assert_eq!(raw(line), Some(format!("errsig:{line}")));
    }
}
