//! Whether a value is a secret, given what its name says.

use super::name_class::NameClass;
use crate::redact::checks::{
    has_digit, is_identifier_of_words, is_jumbled, is_known_word, is_not_placeholder, is_quoted_password,
    is_quoted_secret, is_random, is_strong,
};

/// How a value is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Writing {
    /// Between quotes.
    Quoted,
    /// Without, and nothing of a sentence follows.
    Bare,
    /// Without, and more words follow.
    InSentence,
    /// Where nothing else than a password can stand.
    Login,
}

pub(super) fn is_secret(class: NameClass, value: &str, writing: Writing) -> bool {
    if value.len() > 16_384 || !is_not_placeholder(value) || is_place_or_code(value) {
        return false;
    }
    match class {
        NameClass::Password => is_password(value, writing),
        NameClass::ShortPassword if writing == Writing::Quoted => is_password(value, writing),
        NameClass::ShortPassword => is_strong(value),
        NameClass::Token => is_token(value, writing),
        NameClass::Cookies => has_secret_cookie(value),
        NameClass::Weak => is_key_by_looks(value),
    }
}

/// Whether one of `name=value; name=value` may be a session.
pub(super) fn has_secret_cookie(cookies: &str) -> bool {
    cookies.split(';').filter_map(|cookie| cookie.split_once('=')).any(|(_, value)| {
        let value = value.trim();
        is_not_placeholder(value)
            && (value.len() >= 6 && has_digit(value) || value.len() >= 8 && is_jumbled(value))
    })
}

fn is_password(value: &str, writing: Writing) -> bool {
    let is_letters = value.bytes().all(|byte| byte.is_ascii_alphabetic());
    match writing {
        _ if value.chars().count() < 4 || is_known_word(value) || is_identifier_of_words(value) => false,
        Writing::Quoted if value.len() >= 6 => is_quoted_password(value),
        Writing::Quoted => !value.contains(char::is_whitespace),
        // `password: wrong, try again`
        Writing::InSentence => !is_letters,
        // `password: &str`, `password: String`
        Writing::Bare | Writing::Login => {
            !(is_letters && value.len() < 6 && value.starts_with(|c: char| c.is_ascii_uppercase()))
        }
    }
}

fn is_token(value: &str, writing: Writing) -> bool {
    match value.len() {
        0..8 => false,
        8..16 => is_short_token(value),
        _ if writing == Writing::Quoted => is_quoted_secret(value),
        _ => is_random(value) && !is_identifier_of_words(value),
    }
}

/// Too short for [`is_random`] alone: names and versions of this length are common.
fn is_short_token(value: &str) -> bool {
    let is_allowed = value.bytes().all(|byte| byte.is_ascii_graphic());
    let kinds =
        [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit, u8::is_ascii_punctuation];
    let kinds = kinds.iter().filter(|is_kind| value.bytes().any(|byte| is_kind(&byte))).count();
    let is_words = value.split(['_', '-', '.', '/', ':', '@']).all(|part| part.len() < 4 || is_word(part));
    is_allowed && kinds >= 2 && (has_digit(value) || is_jumbled(value)) && entropy(value) >= 2.75 && !is_words
}

/// Letters, and at most three digits after them: `sha256`, `varchar255`, `Token2`.
fn is_word(part: &str) -> bool {
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let changes = letters
        .as_bytes()
        .windows(2)
        .filter(|pair| pair[0].is_ascii_uppercase() && pair[1].is_ascii_lowercase());
    let is_number = letters.is_empty();
    is_number
        || (part.len() - letters.len() <= 3
            && letters.bytes().all(|byte| byte.is_ascii_alphabetic())
            && letters.len() >= 3
            && !is_jumbled(letters)
            && changes.count() * 4 <= letters.len() + 1)
}

/// Bits per character, by how often each stands in the value.
fn entropy(value: &str) -> f64 {
    let mut counts = [0_u32; 128];
    for byte in value.bytes() {
        counts[usize::from(byte & 0x7f)] += 1;
    }
    let length = value.len() as f64;
    counts
        .iter()
        .filter(|&&count| count > 0)
        .map(|&count| f64::from(count) / length)
        .map(|p| -p * p.log2())
        .sum()
}

/// Both cases and digits in one run of 16: no id, no hash, no name has that.
fn is_key_by_looks(value: &str) -> bool {
    let has = |part: &str, is: fn(&u8) -> bool| part.bytes().any(|byte| is(&byte));
    value.len() >= 20
        && value.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"-_.~+/=%".contains(&byte))
        && value.split(['.', '/']).any(|part| {
            part.len() >= 16
                && has(part, u8::is_ascii_digit)
                && has(part, u8::is_ascii_uppercase)
                && has(part, u8::is_ascii_lowercase)
                && is_random(part)
                && !part.split(['-', '_']).any(|word| word.len() >= 4 && is_word(word))
        })
}

/// `/run/secrets/x`, `https://...`, `Token::Ident`, `a.b.c`, `NAME_OF_ENV`, `2024-05-04`.
fn is_place_or_code(value: &str) -> bool {
    let is_path = value.starts_with(['/', '~'])
        || value.starts_with("./")
        || value.starts_with("../")
        || value.starts_with('\\')
        || value.get(1..3) == Some(":\\");
    let is_name = |part: &str| {
        part.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '$')
            && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'?')
            && part.trim_end_matches(|c: char| c.is_ascii_digit()).bytes().filter(u8::is_ascii_digit).count()
                == 0
            && !is_jumbled(part)
    };
    let is_member = value.contains('.') && value.split('.').all(is_name);
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit() || b".:-+,".contains(&byte))
        && value.bytes().any(|byte| b".:-".contains(&byte));
    let is_variable = value.contains('_')
        && value.bytes().all(|byte| byte.is_ascii_uppercase() || byte.is_ascii_digit() || byte == b'_')
        && value.split('_').all(|part| part.len() < 3 || is_word(part));
    is_path || is_member || is_number || is_variable || value.contains("://") || value.contains("::")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_token_is_told_from_words_and_versions() {
        for token in ["k3Jx9QpL", "95edd28be245", "IhkBZztpON8YsZ", "aB3_x9-Zq1w", "7f3a9c21"] {
            assert!(is_secret(NameClass::Token, token, Writing::Bare), "{token}");
        }
        for word in [
            "varchar255",
            "AccessToken2",
            "1.2.3-beta4",
            "node18-alpine",
            "my-token-v2",
            "getToken",
            "identifier",
            "2024-05-04",
            "config.token2",
            "API_TOKEN_2",
            "aaaaaaa1",
            "Bearer12",
            "CancellationToken",
        ] {
            assert!(!is_secret(NameClass::Token, word, Writing::Bare), "{word}");
        }
    }

    #[test]
    fn a_password_may_be_a_word_but_no_type_variable_or_place() {
        for password in ["tea4", "sunshine", "hunter2", "aB!x", "12345678"] {
            assert!(is_secret(NameClass::Password, password, Writing::Bare), "{password}");
        }
        for word in [
            "str",
            "String",
            "string",
            "null",
            "true",
            "new_password",
            "user.password",
            "$PASS",
            "/run/x",
            "changeme",
            "DB_PASSWORD",
            "config.database.password1",
        ] {
            assert!(!is_secret(NameClass::Password, word, Writing::Bare), "{word}");
        }
        assert!(!is_secret(NameClass::Password, "wrong", Writing::InSentence));
    }
}
