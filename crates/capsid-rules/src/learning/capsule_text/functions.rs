//! The name of the function or type that a line of source defines.

/// Words before the name of a function.
const FUNCTION_WORDS: [&str; 6] = ["fn", "def", "func", "function", "fun", "sub"];
/// Words before the name of a type or a module.
const TYPE_WORDS: [&str; 11] = [
    "class",
    "impl",
    "struct",
    "enum",
    "trait",
    "interface",
    "module",
    "mod",
    "namespace",
    "object",
    "protocol",
];
/// Words that stand before a parenthesis without being a function.
const OTHER_WORDS: [&str; 18] = [
    "if", "for", "while", "switch", "match", "catch", "return", "describe", "it", "test", "with", "foreach",
    "when", "function", "func", "async", "await", "else",
];

/// The name that a hunk header shows behind `@@`, which is the last definition before the hunk.
pub(super) fn find_in_header(header: &str) -> Option<&str> {
    find_definition(header).or_else(|| {
        // `int parse_port(const char *text)`: the word before the parenthesis.
        let (front, _) = header.split_once('(')?;
        let start = front
            .rfind(|c: char| !is_word(c))
            .map_or(0, |at| at + front[at..].chars().next().map_or(1, char::len_utf8));
        is_name(&front[start..]).then_some(&front[start..])
    })
}

/// The name that a line defines by a word of the language, such as `fn` or `class`.
pub(super) fn find_definition(line: &str) -> Option<&str> {
    let mut rest = line.trim_start();
    // Modifiers such as `pub(crate) async` are skipped, a sentence is not.
    for _ in 0..6 {
        let end = rest.find(|c: char| !is_word(c)).unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        if FUNCTION_WORDS.contains(&word) {
            return find_function_name(after);
        }
        if TYPE_WORDS.contains(&word) {
            return first_name(skip_generics(after));
        }
        let after = skip_group(after);
        rest = after.strip_prefix([' ', '\t', '*'])?.trim_start();
    }
    None
}

/// The name behind `fn`; Go writes the receiver of a method before it.
fn find_function_name(after: &str) -> Option<&str> {
    let after = after.trim_start().trim_start_matches('*').trim_start();
    first_name(skip_group(after).trim_start())
}

/// The text behind a group in parentheses at its start.
fn skip_group(text: &str) -> &str {
    match text.strip_prefix('(').and_then(|inner| inner.split_once(')')) {
        Some((_, after)) => after,
        None => text,
    }
}

fn skip_generics(text: &str) -> &str {
    let text = text.trim_start();
    match text.strip_prefix('<').and_then(|inner| inner.split_once('>')) {
        Some((_, after)) => after.trim_start(),
        None => text,
    }
}

fn first_name(text: &str) -> Option<&str> {
    let end = text.find(|c: char| !is_word(c)).unwrap_or(text.len());
    is_name(&text[..end]).then_some(&text[..end])
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

fn is_name(word: &str) -> bool {
    word.starts_with(|c: char| c.is_alphabetic() || c == '_' || c == '$') && !OTHER_WORDS.contains(&word)
}

#[cfg(test)]
#[path = "functions_tests.rs"]
mod tests;
