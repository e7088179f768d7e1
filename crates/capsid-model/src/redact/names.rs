//! What a member's name says about its value, and members under cleaned names.

use super::REDACTED;
use super::checks::{is_encoded, is_not_placeholder, is_password, is_random};
use std::collections::HashMap;

/// What the names on the way to a value say about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum NameHint {
    /// Nothing.
    Nothing,
    /// `auth`: what a program logs in with, or how it does.
    Login,
    /// `db_pass`, `pwd`: a password, a folder or a test that passed.
    Maybe,
    /// `tokens`, or below a `token`: credentials, or pieces of a text.
    Pieces,
    /// `token`: its text is a secret, a number is a count.
    Token,
    /// `apiKey`, `cookie`: every text is a secret.
    Secret,
    /// `passwords`: every text is a secret, a number is a count.
    Many,
    /// `password`, and all below `passwords`: every text is a secret and every number.
    Password,
}

impl NameHint {
    /// What is told of the items of a list or the members of an object.
    pub(super) fn inside(self) -> Self {
        match self {
            Self::Login => Self::Nothing,
            Self::Token => Self::Pieces,
            Self::Many => Self::Password,
            other => other,
        }
    }

    /// What is told of the member of this name, when this is told of what it belongs to.
    pub(super) fn member(self, name: &str) -> Self {
        if self == Self::Nothing {
            hint_for(&plain(name), name)
        } else {
            let plain = plain(name);
            if DESCRIBING.contains(&plain.as_str()) {
                Self::Nothing
            } else {
                self.max(hint_for(&plain, name))
            }
        }
    }

    /// The same, where the members may be a name and its value.
    pub(super) fn member_of_pair(self, name: &str, paired: Self) -> Self {
        let told = self.member(name);
        if name.eq_ignore_ascii_case("value") { told.max(paired) } else { told }
    }

    pub(super) fn applies_to_text(self, text: &str) -> bool {
        !text.is_empty()
            && text != REDACTED
            && match self {
                Self::Nothing => false,
                Self::Login => is_encoded(text),
                Self::Maybe => is_not_placeholder(text) && is_password(text) && !is_prose_or_place(text),
                Self::Pieces => text.len() >= 16 && is_random(text) && !is_prose_or_place(text),
                Self::Token | Self::Secret | Self::Many | Self::Password => true,
            }
    }

    /// A short number is a count or a switch, whatever its name.
    pub(super) fn applies_to_number(self, number: &str) -> bool {
        self == Self::Password && number.bytes().filter(u8::is_ascii_digit).count() >= 4
    }
}

/// Members with which a schema or a form describes a password.
const DESCRIBING: [&str; 22] = [
    "type",
    "description",
    "title",
    "label",
    "format",
    "pattern",
    "placeholder",
    "help",
    "hint",
    "required",
    "min",
    "max",
    "minlength",
    "maxlength",
    "length",
    "count",
    "limit",
    "example",
    "ref",
    "kind",
    "name",
    "path",
];

const PASSWORDS: [&str; 5] = ["password", "passwd", "passphrase", "passcode", "secret"];

const SECRETS: [&str; 10] = [
    "apikey",
    "secretkey",
    "privatekey",
    "accesskey",
    "accountkey",
    "clientsecret",
    "authorization",
    "cookie",
    "credential",
    "xauth",
];

/// However it is spelled: `apiKey`, `API_KEY`, `x-api-key`.
fn plain(name: &str) -> String {
    name.chars().filter(|c| c.is_ascii_alphanumeric()).map(|c| c.to_ascii_lowercase()).collect()
}

fn hint_for(plain: &str, name: &str) -> NameHint {
    let ends = |plain: &str, endings: &[&str]| endings.iter().any(|ending| plain.ends_with(ending));
    let one = plain.strip_suffix('s').unwrap_or(plain);
    if ends(plain, &PASSWORDS) {
        NameHint::Password
    } else if ends(one, &PASSWORDS) {
        NameHint::Many
    } else if ends(one, &SECRETS) {
        NameHint::Secret
    } else if plain.ends_with("token") {
        NameHint::Token
    } else if one.ends_with("token") {
        NameHint::Pieces
    } else if is_short_for_password(name) {
        NameHint::Maybe
    } else if plain == "auth" {
        NameHint::Login
    } else {
        NameHint::Nothing
    }
}

/// What a flag such as `--password` tells of the argument after it.
pub(super) fn hint_after_argument(flag: &str) -> NameHint {
    let is_flag = flag.len() < 64
        && flag.starts_with("--")
        && !flag.contains(|c: char| c == '=' || c.is_whitespace())
        && !["--no-", "--ask-", "--prompt-"].iter().any(|start| flag.starts_with(start));
    if !is_flag {
        return NameHint::Nothing;
    }
    match hint_for(&plain(flag), flag) {
        NameHint::Secret | NameHint::Password => NameHint::Secret,
        NameHint::Token => NameHint::Maybe,
        _ => NameHint::Nothing,
    }
}

/// What `{"name": "DB_PASSWORD", "value": ...}` tells of the value, given the members that are texts.
pub(super) fn hint_of_pair<'a>(members: impl Iterator<Item = (&'a str, &'a str)>) -> NameHint {
    members
        .filter(|(member, _)| member.eq_ignore_ascii_case("name") || member.eq_ignore_ascii_case("key"))
        .map(|(_, name)| match hint_for(&plain(name), name) {
            NameHint::Token => NameHint::Pieces,
            told => told,
        })
        .max()
        .unwrap_or(NameHint::Nothing)
}

/// `pass` and `pwd` as a word of their own: not `bypass`.
fn is_short_for_password(name: &str) -> bool {
    let ends_with_word = |word: &str, capital: &str| {
        let before = name
            .strip_suffix(word)
            .or_else(|| name.strip_suffix(word.to_ascii_uppercase().as_str()))
            .map(|before| before.is_empty() || before.ends_with(['_', '-', '.', ' ']));
        before.unwrap_or_else(|| name.ends_with(capital))
    };
    ends_with_word("pass", "Pass") || ends_with_word("pwd", "Pwd")
}

fn is_prose_or_place(text: &str) -> bool {
    text.contains(char::is_whitespace) || text.contains('\\') || text.starts_with(['/', '~', '.'])
}

/// The members under their clean names, where they have any; two names that become one are numbered, so that nothing
/// is lost.
pub(super) fn renamed<M, V>(members: M, clean: Vec<Option<String>>) -> M
where
    M: IntoIterator<Item = (String, V)> + FromIterator<(String, V)>,
{
    let mut used: HashMap<String, usize> = HashMap::new();
    let mut free = |name: String| {
        let mut free = name.clone();
        let mut number = used.get(&name).copied().unwrap_or_default();
        while used.contains_key(&free) {
            number += 1;
            free = format!("{name} {number}");
        }
        used.insert(name, number.max(1));
        used.entry(free.clone()).or_insert(1);
        free
    };
    members
        .into_iter()
        .zip(clean)
        .map(|((name, value), clean)| (free(clean.unwrap_or(name)), value))
        .collect()
}
