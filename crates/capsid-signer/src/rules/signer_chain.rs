//! The name of a chain as the service knows it.

use capsid_seal::heads::{from_word, to_word};
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

    /// Its name in the evidence of a verification.
    pub fn evidence_name(&self) -> String {
        match (self.domain.as_str(), self.session.as_str()) {
            ("meta", "meta") => "meta".to_owned(),
            (domain, session) => format!("{domain}/{session}"),
        }
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
