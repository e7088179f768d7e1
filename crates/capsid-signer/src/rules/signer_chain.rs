//! The name of a chain as the service knows it.

use serde::{Deserialize, Serialize};

/// The longest domain or session, in bytes.
const MAX_NAME: usize = 512;

/// A chain of one user: what the records themselves state.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct SignerChain {
    pub domain: String,
    pub session: String,
}

impl SignerChain {
    /// The name, unless a part of it is empty or too long.
    pub fn new(domain: &str, session: &str) -> Option<Self> {
        let is_fit = |name: &str| !name.is_empty() && name.len() <= MAX_NAME;
        (is_fit(domain) && is_fit(session))
            .then(|| Self { domain: domain.to_owned(), session: session.to_owned() })
    }

    /// `DOMAIN SESSION`, one word each.
    pub fn to_words(&self) -> String {
        format!("{} {}", to_word(&self.domain), to_word(&self.session))
    }

    /// Reads two words.
    pub fn from_words(domain: &str, session: &str) -> Option<Self> {
        Self::new(&from_word(domain)?, &from_word(session)?)
    }
}

/// A name as one word of a statement: all but visible ASCII is written as `%` and two digits, so that no name can add a
/// line or a word.
fn to_word(name: &str) -> String {
    let mut word = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'%' => word.push_str("%25"),
            0x21..=0x7e => word.push(char::from(byte)),
            _ => word.push_str(&format!("%{byte:02x}")),
        }
    }
    word
}

/// Reads a word; nothing if it is not what [`to_word`] writes.
fn from_word(word: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.bytes();
    while let Some(byte) = rest.next() {
        if byte == b'%' {
            let pair = [rest.next()?, rest.next()?];
            bytes.push(u8::from_str_radix(std::str::from_utf8(&pair).ok()?, 16).ok()?);
        } else {
            bytes.push(byte);
        }
    }
    String::from_utf8(bytes).ok().filter(|name| to_word(name) == word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_name_is_read_back_from_one_word(domain in "\\PC{1,20}", session in ".{1,20}|[ \n%a]{1,9}") {
            let chain = SignerChain::new(&domain, &session).unwrap();
            let text = chain.to_words();
            let words: Vec<&str> = text.split(' ').collect();
            prop_assert_eq!(words.len(), 2);
            prop_assert!(!text.contains('\n'));
            prop_assert_eq!(SignerChain::from_words(words[0], words[1]), Some(chain));
        }

        #[test]
        fn a_word_has_one_spelling(word in "[a-c%0-9]{0,8}") {
            if let Some(name) = from_word(&word) {
                prop_assert_eq!(to_word(&name), word);
            }
        }
    }

    #[test]
    fn empty_and_endless_names_are_refused() {
        assert_eq!(SignerChain::new("", "s"), None);
        assert_eq!(SignerChain::new("a", &"s".repeat(513)), None);
    }
}
