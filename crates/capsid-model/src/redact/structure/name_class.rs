//! What the end of a name says about its value.

/// What a value must look like to be a secret.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum NameClass {
    /// Four characters that are not known words.
    Password,
    /// `pass` and `pwd` as whole names: a password, a folder or a test that passed.
    ShortPassword,
    /// Eight characters that look made by a machine.
    Token,
    /// Cookies as a header holds them, names and values.
    Cookies,
    /// `key`, `auth`, `code`: only what can be nothing else.
    Weak,
}

/// The ends of names, however they are spelled.
pub(super) const NAME_ENDS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "passcode",
    "requirepass",
    "masterauth",
    "pass",
    "pwd",
    "psk",
    "token",
    "secret",
    "credential",
    "credentials",
    "key-data",
    "key_base",
    "tls.key",
    "key",
    "auth",
    "sid",
    "session",
    "code",
    "sig",
    "signature",
    "cookie",
];

/// Words before `key` that make it one that must stay secret.
const SECRET_KEYS: &[&str] = &[
    "api",
    "access",
    "secret",
    "private",
    "encryption",
    "signing",
    "account",
    "master",
    "shared",
    "app",
    "application",
    "subscription",
    "auth",
    "preshared",
    "license",
    "openai",
    "storage",
    "deploy",
    "function",
];

/// Names that end so and are counts, places or descriptions.
const OTHER: &[&str] =
    &["publickey", "primarykey", "foreignkey", "nokey", "nextpagetoken", "maxtoken", "publicsigningkey"];

/// The class of a name, given with what stands before its end; `end` is the length of what [`NAME_ENDS`] found.
pub(super) fn classify(name: &str, end: usize) -> Option<NameClass> {
    let (before, word) = name.split_at(name.len() - end);
    let word_lower = word.to_ascii_lowercase();
    let mut plain = [0_u8; 24];
    let plain = plain_end(before, &mut plain);
    if OTHER.iter().any(|other| {
        other.len() > word.len()
            && other.ends_with(word_lower.as_str())
            && plain.ends_with(&other[..other.len() - word.len()])
    }) {
        return None;
    }
    match word_lower.as_str() {
        "password" | "passwd" | "passphrase" | "passcode" | "requirepass" | "masterauth" | "psk" => {
            Some(NameClass::Password)
        }
        "pass" | "pwd" => {
            let begins_word = before.is_empty()
                || before.ends_with(['_', '-', '.'])
                || (word.starts_with('P')
                    && before.ends_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()));
            if !begins_word
                || matches!(plain, "old" | "first" | "second" | "render" | "single" | "multi" | "two")
            {
                None
            } else if before.trim_start_matches('-').is_empty() {
                Some(NameClass::ShortPassword)
            } else {
                Some(NameClass::Password)
            }
        }
        "token" | "secret" | "credential" | "credentials" | "key-data" | "key_base" | "tls.key" => {
            Some(NameClass::Token)
        }
        "cookie" => Some(NameClass::Cookies),
        "key" if SECRET_KEYS.iter().any(|word| plain.ends_with(word)) => Some(NameClass::Token),
        _ => {
            let begins_word = !before.ends_with(|c: char| c.is_ascii_alphanumeric())
                || (word.starts_with(|c: char| c.is_ascii_uppercase())
                    && before.ends_with(|c: char| c.is_ascii_lowercase()));
            begins_word.then_some(NameClass::Weak)
        }
    }
}

/// The last letters of a name in lower case, without what separates words.
fn plain_end<'b>(before: &str, plain: &'b mut [u8; 24]) -> &'b str {
    let mut at = plain.len();
    for byte in before.bytes().rev() {
        if byte.is_ascii_alphanumeric() {
            if at == 0 {
                break;
            }
            at -= 1;
            plain[at] = byte.to_ascii_lowercase();
        }
    }
    std::str::from_utf8(&plain[at..]).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_name_says_what_its_value_is() {
        for (name, end, class) in [
            ("DB_PASSWORD", 8, Some(NameClass::Password)),
            ("keyStorePassword", 8, Some(NameClass::Password)),
            ("dbPass", 4, Some(NameClass::Password)),
            ("pass", 4, Some(NameClass::ShortPassword)),
            ("PWD", 3, Some(NameClass::ShortPassword)),
            ("bypass", 4, None),
            ("OLDPWD", 3, None),
            ("first_pass", 4, None),
            ("X-Api-Key", 3, Some(NameClass::Token)),
            ("SecretAccessKey", 3, Some(NameClass::Token)),
            ("API key", 3, Some(NameClass::Token)),
            ("public_key", 3, None),
            ("key", 3, Some(NameClass::Weak)),
            ("monkey", 3, None),
            ("qrCode", 4, Some(NameClass::Weak)),
            ("encode", 4, None),
        ] {
            assert_eq!(classify(name, end), class, "{name}");
        }
    }
}
