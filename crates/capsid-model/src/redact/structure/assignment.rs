//! A name and its value: settings, code, headers, parameters of addresses, flags.

use super::name_class::{NAME_ENDS, NameClass, classify};
use super::secret_value::{Writing, is_secret};
use super::value_span::{bare, below, block, goes_on, quoted};
use super::{at_most, at_most_before, line_from};
use crate::redact::checks::{ends_argument, is_known_word, is_strong, is_word_about_flags};
use crate::redact::ranges::Finding;
use std::ops::Range;

/// How long a name may be.
const MAX_NAME: usize = 80;

/// A name whose value may be a secret.
#[derive(Clone, Copy)]
struct Name<'t> {
    text: &'t str,
    start: usize,
    end: usize,
    class: NameClass,
}

/// Adds the secret behind a name whose end stands at `start..end`.
pub(super) fn find(text: &str, start: usize, end: usize, found: &mut Vec<Finding>) {
    let bytes = text.as_bytes();
    let end = number_end(bytes, end);
    // Most words are no names, or none with a value.
    match bytes.get(end) {
        Some(byte) if byte.is_ascii_alphanumeric() || *byte == b'_' => return,
        Some(b'-' | b'.') if bytes.get(end + 1).is_some_and(u8::is_ascii_alphanumeric) => return,
        Some(
            b'"' | b'\'' | b'`' | b']' | b')' | b' ' | b'\t' | b'=' | b':' | b'?' | b'|' | b'>' | b'\n'
            | b'-',
        ) => {}
        _ => return,
    }
    let Some(name) = name(text, start, end) else { return };
    let closed = bytes[end..].iter().take(3).take_while(|byte| b"\"'`])".contains(byte)).count();
    let is_quoted = bytes[end..end + closed].iter().any(|byte| b"\"'`".contains(byte));
    let after = end + closed;
    let at = skip_blanks(bytes, after);
    let rest = line_from(text, at, 160);
    let value = if let Some(value) = paired(name, after) {
        Some(value)
    } else if let Some(length) = separator(rest) {
        assigned(name, at + length, rest.as_bytes()[0], at > after)
    } else if let Some(length) = fallback(rest, text, name) {
        let at = skip_blanks(bytes, at + length);
        quoted(text, at).map(|range| (range, Writing::Quoted)).or_else(|| shell_default(name, rest, at))
    } else if is_quoted && rest.starts_with(',') {
        argument(name, at + 1)
    } else if rest.starts_with('>') {
        element(name, at + 1)
    } else if rest.starts_with('|') {
        table_row(name, at + 1)
    } else if at > after || rest.is_empty() {
        apart(name, at, at - after)
    } else {
        None
    };
    let Some((range, writing)) = value else { return };
    if writing == Writing::Login || is_secret(name.class, &text[range.clone()], writing) {
        // The quote behind it shows where it ends.
        let until = range.end + usize::from(writing == Writing::Quoted);
        found.push(Finding { secret: range, until });
    }
}

/// Past the number at the end of a name: `TOKEN2`, `PASSWORD_1`.
fn number_end(bytes: &[u8], end: usize) -> usize {
    let length =
        bytes[end..].iter().take(4).take_while(|byte| byte.is_ascii_digit() || **byte == b'_').count();
    if bytes[end..end + length].iter().any(u8::is_ascii_digit) { end + length } else { end }
}

fn name(text: &str, word: usize, end: usize) -> Option<Name<'_>> {
    let bytes = text.as_bytes();
    let is_part = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-.".contains(byte);
    let left = |from: usize| {
        let length = bytes[..from].iter().rev().take(MAX_NAME).take_while(|byte| is_part(byte)).count();
        from - length
    };
    let mut start = left(word);
    // `API key: X`
    if start == word
        && word > 0
        && bytes[word - 1] == b' '
        && text.as_bytes()[word].eq_ignore_ascii_case(&b'k')
    {
        start = left(word - 1);
    }
    // The `n` of `\n` is no part of a name.
    if start > 0 && bytes[start - 1] == b'\\' && start < word && b"nrt".contains(&bytes[start]) {
        start += 1;
    }
    let length = NAME_ENDS
        .iter()
        .filter(|name| text.get(word..word + name.len()).is_some_and(|part| part.eq_ignore_ascii_case(name)))
        .map(|name| name.len())
        .max()?;
    let class = classify(&text[start..word + length], length)?;
    let is_about_flag =
        ["--no-", "--ask-", "--prompt-"].iter().any(|flag| text[start..word].starts_with(flag));
    (!is_about_flag).then_some(Name { text, start, end, class })
}

fn skip_blanks(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take(64).take_while(|&&byte| byte == b' ' || byte == b'\t').count()
}

/// The length of what gives a value to a name: `=`, `:`, `:=`, `=>`, `?=`; a note in brackets may stand before.
fn separator(rest: &str) -> Option<usize> {
    let bytes = rest.as_bytes();
    match bytes.first()? {
        b'=' => match bytes.get(1) {
            Some(b'=' | b'~') => None,
            Some(b'>') => Some(2),
            _ => Some(1),
        },
        b':' => match bytes.get(1) {
            Some(b':' | b'-') => None,
            Some(b'=') => Some(2),
            _ => Some(1),
        },
        b'?' if bytes.get(1) == Some(&b'=') || bytes.get(1) == Some(&b':') && bytes.get(2) != Some(&b' ') => {
            Some(2)
        }
        b'|' if rest.starts_with("||=") => Some(3),
        b'(' => {
            let end = rest.find(')').filter(|&end| end <= 24)?;
            rest[end + 1..].starts_with(':').then_some(end + 2)
        }
        _ => None,
    }
}

/// The length of what stands between the name of a variable and the value it has without being set.
fn fallback(rest: &str, text: &str, name: Name<'_>) -> Option<usize> {
    if let Some(sign) = ["||", "??", "?:", "or ", ".unwrap_or("].iter().find(|sign| rest.starts_with(**sign))
    {
        return Some(sign.len());
    }
    if rest.starts_with(".unwrap_or_else(") || rest.starts_with(").unwrap_or") {
        return rest.find('"');
    }
    let is_expanded = at_most_before(text, name.start, 2) == "${";
    (is_expanded && (rest.starts_with(":-") || rest.starts_with(":="))).then_some(2)
}

/// `${NAME:-X}`
fn shell_default(name: Name<'_>, rest: &str, at: usize) -> Option<(Range<usize>, Writing)> {
    let length = line_from(name.text, at, 256).find('}')?;
    (rest.starts_with(":-") && length > 0).then_some((at..at + length, Writing::Bare))
}

/// What stands behind the sign `sign` that ends before `at`.
fn assigned(name: Name<'_>, at: usize, sign: u8, is_spaced: bool) -> Option<(Range<usize>, Writing)> {
    let (text, bytes) = (name.text, name.text.as_bytes());
    // `${NAME:=X}` and `{NAME:-X}` are expansions.
    let value_at = skip_blanks(bytes, at);
    if name.class == NameClass::Cookies {
        return cookies(text, value_at, sign);
    }
    match bytes.get(value_at) {
        None => return None,
        Some(b'\n' | b'\r') => {
            let range = below(text, name.start, value_at)?;
            let value = text[range.clone()].trim_matches(['"', '\'']);
            let is_value = is_strong(value) && !value.contains(':') && !value.starts_with(['-', '#']);
            return is_value.then_some((range, Writing::Bare));
        }
        Some(b'|' | b'>') => return block_value(name, value_at),
        _ => {}
    }
    if let Some(range) = quoted(text, value_at) {
        // `password: "x" | null` is a type, `"a" + b` is code.
        return Some((range, Writing::Quoted));
    }
    if let Some(range) = wrapped(text, value_at) {
        return Some((range, Writing::Quoted));
    }
    if sign == b':'
        && let Some(value_at) = after_type(text, value_at)
    {
        let range = quoted(text, value_at).or_else(|| wrapped(text, value_at))?;
        return Some((range, Writing::Quoted));
    }
    let range = bare(text, value_at);
    if range.is_empty() || matches!(bytes.get(range.end), Some(b'(' | b'[' | b'{')) {
        return None;
    }
    let range = whole_word(name, range);
    let is_loose = sign == b':' || is_spaced;
    let writing = if is_loose && goes_on(text, range.end) { Writing::InSentence } else { Writing::Bare };
    // `DB=x.` at the end of a sentence.
    let trimmed = text[range.clone()].trim_end_matches('.').len();
    Some((range.start..range.start + trimmed, writing))
}

fn cookies(text: &str, at: usize, sign: u8) -> Option<(Range<usize>, Writing)> {
    if sign != b':' {
        return None;
    }
    let at = at + usize::from(text[at..].starts_with(['"', '\'']));
    let line = line_from(text, at, 4096);
    let length = line.find(['"', '\'', '\\']).unwrap_or(line.len());
    Some((at..at + length, Writing::Bare))
}

/// A block below the name: a secret if one of its lines is.
fn block_value(name: Name<'_>, at: usize) -> Option<(Range<usize>, Writing)> {
    let range = block(name.text, name.start, at)?;
    let mut lines = name.text[range.clone()].lines().map(str::trim).take(8);
    let is_value = |line: &str| {
        !line.contains(char::is_whitespace)
            && !line.ends_with(':')
            && !line.starts_with('$')
            && is_secret(name.class, line, Writing::Bare)
    };
    lines.any(is_value).then_some(())?;
    // The block is judged: its text as a whole need not look like one value.
    let first = name.text[range.clone()].lines().map(str::trim).position(is_value)?;
    let mut start = range.start;
    for line in name.text[range.clone()].split_inclusive('\n').take(first) {
        start += line.len();
    }
    let lead = name.text[start..range.end].len() - name.text[start..range.end].trim_start().len();
    Some((start + lead..range.end, Writing::Bare)).filter(|(range, _)| !name.text[range.clone()].is_empty())
}

/// A text in the brackets of what only passes it on: `SecretStr("X")`, `Field(default="X")`, `("X")`.
fn wrapped(text: &str, at: usize) -> Option<Range<usize>> {
    const WRAPPERS: &[&str] = &[
        "",
        "Field",
        "SecretStr",
        "Secret",
        "str",
        "String",
        "bytes",
        "quote",
        "from",
        "b64decode",
        "new",
        "of",
        "Some",
        "Text",
        "Password",
        "Literal",
        "to_string",
    ];
    let rest = line_from(text, at, 64);
    let open = rest.find('(')?;
    let is_name = rest[..open].bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.:".contains(&byte));
    let function = rest[..open].rsplit(['.', ':']).next().unwrap_or_default();
    if !is_name || !WRAPPERS.contains(&function) {
        return None;
    }
    let inside = &text[at + open + 1..text.floor_char_boundary(at + open + 200)];
    let start = at + open + 1 + (inside.len() - inside.trim_start().len());
    let start = start + if text[start..].starts_with("default=") { "default=".len() } else { 0 };
    quoted(text, start)
}

/// Where the value stands behind a type: `: str = "X"`.
fn after_type(text: &str, at: usize) -> Option<usize> {
    let rest = line_from(text, at, 80);
    let sign = rest.find(" = ")?;
    let is_type =
        rest[..sign].bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_.<>[], &'|?:".contains(&byte));
    is_type.then_some(at + sign + 3)
}

/// The whole word where a line holds nothing but the name and one word, as files of settings do.
fn whole_word(name: Name<'_>, range: Range<usize>) -> Range<usize> {
    let text = name.text;
    let before = at_most_before(text, name.start, 16);
    let before = before.rsplit('\n').next().unwrap_or_default().trim();
    if !matches!(before, "" | "-" | "export" | "set" | "env" | "ENV" | "ARG" | "-e") {
        return range;
    }
    let word = line_from(text, range.start, 512).trim_end();
    let is_one =
        !word.contains(|c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | '\\' | '(' | '{' | '['));
    let word = word.trim_end_matches([',', ';']);
    if is_one && word.len() > range.len() { range.start..range.start + word.len() } else { range }
}

/// The second argument of a call whose first one is the name: `getenv("NAME", "X")`, `.set('X-Api-Key', 'X')`.
fn argument(name: Name<'_>, at: usize) -> Option<(Range<usize>, Writing)> {
    const CALLS: &[&str] = &[
        "getenv",
        "get",
        "env",
        "fetch",
        "getordefault",
        "setdefault",
        "putenv",
        "setenv",
        "set",
        "setproperty",
        "getproperty",
        "append",
        "header",
        "add",
        "put",
        "config",
        "define",
        "addheader",
        "setrequestheader",
        "setheader",
        "set_header",
        "setenvironmentvariable",
        "insert",
        "string",
        "stringvar",
        "values",
        "defineproperty",
        "default",
        "export_env",
        "with_env",
        "add_header",
        "insert_header",
    ];
    let text = name.text;
    let bytes = text.as_bytes();
    let at = skip_blanks(bytes, at);
    let at = at + if text[at..].starts_with("default=") { "default=".len() } else { 0 };
    let value = quoted(text, at)?;
    let before = at_most_before(text, name.start, 60);
    let before = before.strip_suffix(['"', '\'', '`'])?.trim_end();
    if bytes[name.start] == b'-' {
        return (!text[value.clone()].starts_with('-')).then_some((value, Writing::Quoted));
    }
    let before = before.strip_suffix('(')?.trim_end();
    let function =
        before.rsplit(|c: char| !(c.is_ascii_alphanumeric() || c == '_')).next().unwrap_or_default();
    CALLS.contains(&function.to_ascii_lowercase().as_str()).then_some((value, Writing::Quoted))
}

/// `name: NAME`, `value: X`, on one line or two.
fn paired(name: Name<'_>, after: usize) -> Option<(Range<usize>, Writing)> {
    let text = name.text;
    let is_gap = |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | ',');
    let before = at_most_before(text, name.start, 16).trim_end_matches([' ', '"', '\'']);
    let before = before.strip_suffix(':').map(|before| before.trim_end_matches(['"', '\'', ' ']))?;
    if !["name", "key", "Name", "Key"].iter().any(|word| before.ends_with(word)) {
        return None;
    }
    let rest = at_most(text, after, 160);
    let next = rest.trim_start_matches(is_gap);
    let value = next.strip_prefix("value").or_else(|| next.strip_prefix("Value"))?;
    let sign = value.trim_start_matches(['"', '\'', ' ']).strip_prefix(':')?;
    assigned(name, after + (rest.len() - sign.len()), b':', true)
}

/// `PASSWORD 'X'` and `PASSWORD FOR 'ada'@'%' = 'X'`, as databases are told.
fn statement(name: Name<'_>, at: usize) -> Option<Range<usize>> {
    let text = name.text;
    let rest = line_from(text, at, 160);
    if !text[name.start..name.end].eq_ignore_ascii_case("password") {
        return None;
    }
    if rest.starts_with("FOR ") || rest.starts_with("for ") {
        return quoted(text, at + rest.find("= '")? + 2);
    }
    let before =
        at_most_before(text, name.start, 120).rsplit('\n').next().unwrap_or_default().to_ascii_lowercase();
    let is_statement = ["user ", "role ", "login"].iter().any(|word| before.contains(word));
    if is_statement && rest.starts_with('\'') { quoted(text, at) } else { None }
}

/// `AUTH X` and `AUTH ada X` behind the prompt of a key-value store.
fn store_login(name: Name<'_>, at: usize) -> Option<Range<usize>> {
    let before = at_most_before(name.text, name.start, 24);
    let is_prompt =
        before.ends_with("> ") && before[..before.len() - 2].ends_with(|c: char| c.is_ascii_digit());
    if !is_prompt || !name.text[name.start..name.end].eq_ignore_ascii_case("auth") {
        return None;
    }
    let line = line_from(name.text, at, 200).trim_end();
    let start = line.rfind(' ').map_or(0, |blank| blank + 1);
    Some(at + start..at + line.len())
}

/// `<password>X</...` and `name="Password"><value>X</...`
fn element(name: Name<'_>, at: usize) -> Option<(Range<usize>, Writing)> {
    let before = at_most_before(name.text, name.start, 40);
    let is_element = before.ends_with('<') || before.ends_with(':') || before.ends_with(['"', '\'']);
    let rest = line_from(name.text, at, 512);
    let start = if rest.starts_with("<value>") { "<value>".len() } else { 0 };
    let length = rest[start..].find('<')?;
    (is_element && length > 0).then_some((at + start..at + start + length, Writing::Quoted))
}

/// `| NAME | X |`
fn table_row(name: Name<'_>, at: usize) -> Option<(Range<usize>, Writing)> {
    let before = at_most_before(name.text, name.start, 16).trim_end_matches([' ', '`']);
    let rest = line_from(name.text, at, 256);
    let cell = rest.split('|').next()?;
    let value = cell.trim().trim_matches('`');
    let is_row = (before.is_empty() || before.ends_with(['|', '\n'])) && rest.len() > cell.len();
    let start = at + cell.find(value)?;
    (is_row && !value.contains(' ') && is_strong(value))
        .then_some((start..start + value.len(), Writing::Bare))
}

/// What follows a name without a sign: the value of a flag, of a `#define`, of a line with two columns.
fn apart(name: Name<'_>, at: usize, blanks: usize) -> Option<(Range<usize>, Writing)> {
    let text = name.text;
    let label = &text[name.start..name.end];
    let is_flag = label.starts_with('-');
    if text[at..].starts_with('\n') {
        // The next item of a list: `- --password` and `- X`.
        let next = line_from(text, at + 1, 256);
        let value = next.trim_start().strip_prefix("- ").filter(|_| is_flag)?.trim();
        let start = at + 1 + next.find(value)?;
        return Some((start..start + value.len(), Writing::Bare));
    }
    if let Some(range) = statement(name, at) {
        return Some((range, Writing::Quoted));
    }
    if let Some(range) = store_login(name, at).filter(|range| range.len() >= 4) {
        // Whatever it looks like: the store takes nothing else there.
        return is_secret(NameClass::Password, &text[range.clone()], Writing::Bare)
            .then_some((range, Writing::Login));
    }
    if let Some(start) = after_go_type(text, at) {
        return quoted(text, start).map(|range| (range, Writing::Quoted));
    }
    let value = quoted(text, at);
    let writing = if value.is_some() { Writing::Quoted } else { Writing::Bare };
    let range = value.unwrap_or_else(|| word(text, at));
    let value = &text[range.clone()];
    if is_flag {
        let is_prose =
            is_word_about_flags(value) || (is_known_word(value) && !ends_argument(&text[range.end..]));
        let writing =
            if writing == Writing::Bare && goes_on(text, range.end) { Writing::InSentence } else { writing };
        return (!value.starts_with('-') && !is_prose).then_some((range, writing));
    }
    let line_end = line_from(text, range.end, 64).trim();
    let is_first =
        at_most_before(text, name.start, 8).rsplit('\n').next().unwrap_or_default().trim().is_empty();
    let is_setting = matches!(label, "requirepass" | "masterauth") && line_end.is_empty();
    let is_column = blanks >= 2
        && is_first
        && line_end.is_empty()
        && label.contains('_')
        && label.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && is_strong(value);
    (is_setting || is_column || is_set_by_word(name)).then_some((range, writing))
}

/// A word of a command line; what ends an expression does not end it.
fn word(text: &str, at: usize) -> Range<usize> {
    let rest = line_from(text, at, 1024);
    let ends =
        |c: char| c.is_whitespace() || matches!(c, '"' | '\'' | '`' | ';' | '|' | '<' | '>' | ')' | '\\');
    at..at + rest.find(ends).unwrap_or(rest.len())
}

/// `string = "X"`, as Go writes a type.
fn after_go_type(text: &str, at: usize) -> Option<usize> {
    ["string = ", "String = ", "[]byte = "]
        .iter()
        .find(|kind| text[at..].starts_with(**kind))
        .map(|kind| at + kind.len())
}

/// Whether a word before the name gives it the value behind it.
fn is_set_by_word(name: Name<'_>) -> bool {
    const WORDS: &[&str] = &[
        "#define",
        "ENV",
        "ARG",
        "setx",
        "setenv",
        "set -x",
        "set -gx",
        "set -Ux",
        "setq",
        "(setq",
        "config set",
        "set",
    ];
    let before = at_most_before(name.text, name.start, 24).rsplit('\n').next().unwrap_or_default().trim();
    WORDS.iter().any(|word| {
        before.strip_suffix(word).is_some_and(|rest| rest.is_empty() || rest.ends_with([' ', ';', '"', '\'']))
    })
}
