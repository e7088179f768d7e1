//! Secrets in the files and statements that set programs up.

use super::RedactRule;
use crate::redact::checks::*;

/// What a name ends with whose value is a password, and what one ends with whose value was made by a machine.
macro_rules! password_name {
    () => {
        "(?:password|passwd|passphrase|pwd|_pass)"
    };
}

macro_rules! token_name {
    () => {
        "(?:api[_-]?key|access[_-]?key|secret[_-]?key|private[_-]?key|secret|token|credentials?)"
    };
}

/// What stands between quotes, which may be escaped once.
macro_rules! quoted {
    ($least:literal) => {
        concat!(r#"\\?["'])(?P<value>(?:[^"'\\\r\n]|\\[^"'\r\n]){"#, $least, r#",})(?P<end>\\?["'])"#)
    };
}

/// `<db.password>X</...`
macro_rules! element {
    ($name:expr, $least:literal) => {
        concat!(
            r"(?i)(?P<keep><(?:[a-z0-9]+[:_.-])*[a-z0-9]*",
            $name,
            r"(?:[ \t][^<>\r\n]*)?>(?:<!\[CDATA\[)?)(?P<value>[^<>\r\n]{",
            $least,
            r",})(?P<end>(?:\]\]>)?<\\?/)"
        )
    };
}

/// `key="Password" value="X"`
macro_rules! attributes {
    ($name:expr, $least:literal) => {
        concat!(
            r#"(?i)(?P<keep>(?-u:\b)(?:key|name)=\\?["'][a-z0-9_.:-]*"#,
            $name,
            r#"\\?["'](?:[ \t][^<>\r\n]*?)?[ \t]value="#,
            quoted!($least)
        )
    };
}

/// `"name": "DB_PASSWORD", "value": "X"`, and the same on two lines without quotes.
macro_rules! pair {
    ($name:expr, $least:literal) => {
        concat!(
            r#"(?i)(?P<keep>(?-u:\b)(?:name|key)(?:\\?["'])?[ \t]*:[ \t]*(?:\\?["'])?[a-z0-9_.-]*"#,
            $name,
            r#"(?:\\?["'])?[ \t]*(?:,|\r?\n|\\n)(?:[ \t\r\n]|\\n)*"#,
            line_start!(),
            r#"(?:\\?["'])?value(?:\\?["'])?[ \t]*:[ \t]*(?:\\?["'])?)(?P<value>[^\s"'`,{}\[\]\\]{"#,
            $least,
            ",})"
        )
    };
}

/// `define('DB_PASSWORD', 'X')`
macro_rules! define {
    ($name:expr, $least:literal) => {
        concat!(
            r#"(?i)(?P<keep>(?-u:\b)define\([ \t]*\\?["'][a-z0-9_]*"#,
            $name,
            r#"\\?["'][ \t]*,[ \t]*"#,
            quoted!($least)
        )
    };
}

pub(super) const SETTINGS: &[RedactRule] = &[
    RedactRule::new(
        r#"(?P<keep>(?:(?:^|[\s"'])_(?:authToken|auth|password)=|:_(?:authToken|auth|password)(?:[ \t]*=[ \t]*|[ \t]+))["']?)(?P<value>[^\s"'()\\]{8,})"#,
        |value| is_not_placeholder(value) && is_random(value),
    ),
    RedactRule::new(
        r#"(?P<keep>["']auth\\?["'][ \t]*:[ \t]*\\?["'])(?P<value>[A-Za-z0-9+/]{12,}={0,2})(?P<end>\\?["'])"#,
        is_encoded,
    ),
    RedactRule::new(define!(password_name!(), "4"), is_not_placeholder),
    RedactRule::new(define!("(?:_key|_salt|_token|_secret)", "16"), |value| {
        value.len() >= 40 || is_quoted_secret(value)
    }),
    RedactRule::new(element!(password_name!(), "6"), is_quoted_password),
    RedactRule::new(element!(token_name!(), "16"), is_quoted_secret),
    RedactRule::new(attributes!(password_name!(), "6"), is_quoted_password),
    RedactRule::new(attributes!(token_name!(), "16"), is_quoted_secret),
    RedactRule::new(pair!(password_name!(), "6"), is_quoted_password).before(is_not_code),
    RedactRule::new(pair!(token_name!(), "16"), is_quoted_secret).before(is_not_code),
    // databases
    RedactRule::new(
        concat!(
            r"(?i)(?P<keep>(?-u:\b)(?:with|encrypted|(?:user|role)[ \t]+[^\s]+)[ \t]+password[ \t]+",
            quoted!("6")
        ),
        is_quoted_password,
    ),
    RedactRule::new(
        concat!(
            r"(?i)(?P<keep>(?-u:\b)identified[ \t]+(?:with[ \t]+[^\s]+[ \t]+)?(?:by|as)(?:[ \t]+password)?[ \t]+",
            quoted!("3")
        ),
        |value| is_not_placeholder(value) && (!value.contains(' ') || is_quoted_password(value)),
    ),
];
