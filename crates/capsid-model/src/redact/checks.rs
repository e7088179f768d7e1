//! The checks that tell a secret from a word.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

pub(super) fn always(_: &str) -> bool {
    true
}

/// `password = read(...)` and `token = env["X"]` are code that fetches a secret, not the secret.
pub(super) fn is_not_code(rest: &str) -> bool {
    !rest.starts_with(['(', '[', '{'])
}

/// Whether the word ends here; a full stop may follow, but not `.5` or `-rc1`.
pub(super) fn ends_token(rest: &str) -> bool {
    let rest = rest.strip_prefix(['.', '-']).unwrap_or(rest);
    !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')
}

pub(super) fn has_digit(value: &str) -> bool {
    value.bytes().any(|byte| byte.is_ascii_digit())
}

/// Whether upper and lower case change more often than words do.
pub(super) fn is_jumbled(value: &str) -> bool {
    let letters: Vec<bool> =
        value.chars().filter(|c| c.is_ascii_alphabetic()).map(|c| c.is_ascii_uppercase()).collect();
    let changes = letters.windows(2).filter(|pair| pair[0] != pair[1]).count();
    letters.len() >= 8 && changes * 3 >= letters.len()
}

/// Whether the long parts of `aaa.bbb.ccc` were made by a machine. Chance changes the case of letters often, but not
/// always as often as [`is_jumbled`] wants.
pub(super) fn is_three_part_token(value: &str) -> bool {
    let is_mixed = |part: &str| {
        let has = |is: fn(&u8) -> bool| part.bytes().any(|byte| is(&byte));
        has(u8::is_ascii_digit) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_lowercase)
    };
    let long_parts = || value.split('.').filter(|part| part.len() >= 20);
    has_digit(value) && (is_jumbled(value) || (long_parts().count() == 2 && long_parts().all(is_mixed)))
}

/// Whether a value looks made by a machine rather than spelled by a person.
pub(super) fn is_random(value: &str) -> bool {
    let has_letter = value.bytes().any(|byte| byte.is_ascii_alphabetic());
    let is_word_chain = value
        .split(['_', '-', '.', '/', ':'])
        .all(|word| word.len() < 12 && (word.bytes().all(|b| b.is_ascii_alphabetic()) || word.len() < 4));
    (has_digit(value) && has_letter && !is_word_chain) || is_jumbled(value)
}

/// Whether one of the parts of a value is long and made by a machine.
pub(super) fn has_random_part(value: &str) -> bool {
    value.split(['-', '_', '.']).any(|part| part.len() >= 16 && is_random(part))
}

/// Whether a value may be base64 of `user:password`, and is no word.
pub(super) fn is_encoded(value: &str) -> bool {
    value.len() >= 12
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+/=".contains(&byte))
        && (value.ends_with('=') || is_random(value))
}

/// Whether no sentence goes on after a word of a command.
pub(super) fn ends_argument(rest: &str) -> bool {
    let next = rest.trim_start_matches([' ', '\t']);
    next.is_empty()
        || next.starts_with(['\n', '\r', '\\', '|', '&', ';', '"', '\''])
        || (next.len() < rest.len() && next.starts_with('-'))
}

/// What is said of a flag rather than given to it.
pub(super) fn is_word_about_flags(value: &str) -> bool {
    const WORDS: [&str; 14] = [
        "option",
        "options",
        "flag",
        "argument",
        "arguments",
        "parameter",
        "parameters",
        "instead",
        "switch",
        "values",
        "before",
        "setting",
        "support",
        "variable",
    ];
    WORDS.contains(&value.to_ascii_lowercase().as_str())
}

/// What stands where a password could, and is none.
const PASSWORD_WORDS: [&str; 24] = [
    "string",
    "required",
    "optional",
    "boolean",
    "number",
    "undefined",
    "password",
    "passwd",
    "hidden",
    "hashed",
    "secret",
    "invalid",
    "incorrect",
    "missing",
    "expired",
    "prompt",
    "field",
    "input",
    "default",
    "length",
    "public",
    "private",
    "authentication",
    "process.env.password",
];

/// Short words that follow a name of a password in code, settings and sentences.
const SHORT_WORDS: [&str; 72] = [
    "none",
    "null",
    "true",
    "false",
    "nil",
    "void",
    "text",
    "type",
    "pass",
    "fail",
    "name",
    "user",
    "this",
    "that",
    "your",
    "from",
    "with",
    "when",
    "will",
    "must",
    "here",
    "into",
    "then",
    "them",
    "they",
    "have",
    "been",
    "were",
    "root",
    "admin",
    "self",
    "value",
    "empty",
    "unset",
    "never",
    "always",
    "reset",
    "reset:",
    "wrong",
    "valid",
    "file",
    "stdin",
    "bool",
    "char",
    "bytes",
    "array",
    "object",
    "option",
    "some",
    "only",
    "also",
    "does",
    "todo",
    "test",
    "changeit",
    "yes",
    "skip",
    "failed",
    "passed",
    "enabled",
    "disabled",
    "encrypted",
    "plain",
    "masked",
    "token",
    "tokens",
    "passcode",
    "passphrase",
    "unknown",
    "varchar",
    "integer",
    "readonly",
];

/// Whether a value is a word that names or describes a password and is none.
pub(super) fn is_known_word(value: &str) -> bool {
    let plain = value.trim_end_matches(['.', ':', '!', '?', ',']).to_ascii_lowercase();
    PASSWORD_WORDS.contains(&plain.as_str()) || SHORT_WORDS.contains(&plain.as_str())
}

/// Whether a value is the name of something in code: words joined by `_` or capitals, one of which says what it holds.
pub(super) fn is_identifier_of_words(value: &str) -> bool {
    const WORDS: [&str; 12] = [
        "password",
        "passwd",
        "secret",
        "token",
        "apikey",
        "credential",
        "passphrase",
        "hashed",
        "input",
        "_value",
        "_key",
        "pwd",
    ];
    let is_name = value.len() < 48
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && value.trim_end_matches(|c: char| c.is_ascii_digit()).bytes().all(|byte| !byte.is_ascii_digit())
        && value.len() - value.trim_end_matches(|c: char| c.is_ascii_digit()).len() <= 2;
    let lower = value.to_ascii_lowercase();
    is_name && !is_jumbled(value) && WORDS.iter().any(|word| lower.contains(word))
}

/// Whether a value may be a password. Words of code and schemas are not; people do choose plain words, so those count
/// unless they are known.
pub(super) fn is_password(value: &str) -> bool {
    let plain = value.trim_end_matches(['.', ':', '!', '?']).to_ascii_lowercase();
    let is_path = value.starts_with(['/', '.', '~']) || value.contains("::");
    let is_member = value.contains('.')
        && value.split('.').all(|part| {
            part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && part.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
                && !has_digit(part.trim_end_matches(|c: char| c.is_ascii_digit()))
        });
    plain.len() >= 6 && !is_known_word(&plain) && !is_path && !is_member && !is_identifier_of_words(value)
}

/// Whether a value looks like a password even where its name may mean something else.
pub(super) fn is_strong(value: &str) -> bool {
    let has_sign = value.contains(['!', '@', '#', '$', '%', '^', '*', '?', '~']);
    is_not_placeholder(value) && is_password(value) && (is_random(value) || has_sign)
}

/// Whether what stands between quotes is a secret made by a machine.
pub(super) fn is_quoted_secret(value: &str) -> bool {
    let is_code = value.contains(char::is_whitespace) || value.contains(['(', '{', '<', '"', '\'']);
    !is_code && is_not_placeholder(value) && is_random(value)
}

/// Whether what stands between quotes is a password or a passphrase, not a sentence about one nor code.
pub(super) fn is_quoted_password(value: &str) -> bool {
    const SPOKEN: [&str; 22] = [
        "must", "please", "enter", "your", "is", "the", "should", "cannot", "not", "too", "least", "are",
        "for", "of", "to", "was", "if", "with", "this", "new", "confirm", "forgot",
    ];
    let is_code = value.starts_with([' ', ',', ')', '+', ';', ':', '"', '\'', '(', '&', '|', '}'])
        || value.contains("${")
        || value.contains("{{");
    let is_spoken = value.contains(' ')
        && (value.ends_with(['.', ':', '?', ' '])
            || value.split(' ').map(str::to_ascii_lowercase).any(|word| {
                let word = word.trim_matches(|c: char| !c.is_alphanumeric());
                SPOKEN.contains(&word) || PASSWORD_WORDS.contains(&word)
            }));
    !is_code && !is_spoken && is_not_placeholder(value) && is_password(value)
}

/// Whether a text holds a line of a key: long, of letters of both cases and digits.
pub(super) fn has_key_line(text: &str) -> bool {
    text.split(|c: char| !(c.is_ascii_alphanumeric() || "+/=".contains(c))).any(|run| {
        let has = |is: fn(&u8) -> bool| run.bytes().any(|byte| is(&byte));
        run.len() >= 30
            && has(u8::is_ascii_digit)
            && has(u8::is_ascii_uppercase)
            && has(u8::is_ascii_lowercase)
    })
}

/// `3306:3306`, as containers are given ports.
pub(super) fn is_port_mapping(value: &str) -> bool {
    value.contains(':') && value.bytes().all(|byte| byte.is_ascii_digit() || byte == b':' || byte == b'.')
}

/// Whether the last of the fields between colons ends here.
pub(super) fn ends_field(rest: &str) -> bool {
    !rest.starts_with(':')
}

/// Whether a value stands for itself: not a variable, a blank to fill in, or something already taken out.
pub(super) fn is_not_placeholder(value: &str) -> bool {
    let lower = value.to_ascii_lowercase();
    let opens = value.starts_with(['$', '<', '{', '%', '*', '[']);
    let one_character = value.chars().all(|c| value.starts_with(c));
    let says_so = ["example", "placeholder", "changeme", "redacted", "process.env", "os.environ"]
        .iter()
        .any(|word| lower.contains(word));
    !(opens || one_character || says_so || is_left_to_fill_in(value))
}

/// Words so short that chance writes them into keys too: they count as people write them, and beside nothing random.
fn is_left_to_fill_in(value: &str) -> bool {
    let is_key = |run: &str| run.len() >= 12 && is_random(run);
    let has_key = |rest: &str| rest.split(|c: char| !c.is_ascii_alphanumeric()).any(is_key);
    ["your", "Your", "YOUR", "xxxx", "XXXX"]
        .iter()
        .any(|&word| value.contains(word) && !value.split(word).any(has_key))
}

/// Home folders of build machines say nothing about anyone.
pub(super) fn is_private_path(path: &str) -> bool {
    const SHARED: [&str; 4] = ["/home/runner/", "/home/circleci/", "/Users/runner/", "/home/node/"];
    !SHARED.iter().any(|folder| path.trim_start_matches("file://").starts_with(folder))
}

pub(super) fn is_personal_address(address: &str) -> bool {
    let lower = address.to_ascii_lowercase();
    let name = lower.split('@').next().unwrap_or_default();
    let example = ["@example.com", "@example.org", "@example.net"].iter().any(|end| lower.ends_with(end));
    !(example || matches!(name, "git" | "noreply" | "no-reply" | "hg") || lower.contains("@users.noreply."))
}

/// Whether an address names one machine: not loopback, not "any".
pub(super) fn is_telling_ip(text: &str) -> bool {
    match text.parse::<IpAddr>() {
        Ok(IpAddr::V4(v4)) => {
            !(v4.is_loopback()
                || v4.is_unspecified()
                || v4.is_broadcast()
                || v4 == Ipv4Addr::new(255, 255, 255, 0))
        }
        Ok(IpAddr::V6(v6)) => !(v6.is_loopback() || v6 == Ipv6Addr::UNSPECIFIED),
        Err(_) => false,
    }
}
