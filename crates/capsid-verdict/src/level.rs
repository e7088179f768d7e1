//! How good a verdict is, and in which respect.

use serde::Serialize;
use std::fmt;

/// The result of all findings, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum VerdictLevel {
    /// Every dimension is checked and good, or in progress.
    #[default]
    Valid,
    /// Nothing is wrong, but something is not proven.
    Unverified,
    /// It cannot be read.
    Unreadable,
    /// What is there is good, and something is missing.
    Incomplete,
    /// Something was changed, forged or signed by the wrong key.
    Invalid,
}

impl VerdictLevel {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Valid => "valid",
            Self::Unverified => "unverified",
            Self::Unreadable => "unreadable",
            Self::Incomplete => "incomplete",
            Self::Invalid => "invalid",
        }
    }

    /// Whether nothing is wrong.
    pub fn is_good(self) -> bool {
        self <= Self::Unverified
    }
}

impl fmt::Display for VerdictLevel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// What a finding is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Dimension {
    /// Each text has its stored hash and the form of a record.
    Content,
    /// Each record follows the one before it.
    Link,
    /// Each signature holds for a key that the record names.
    Signature,
    /// Each key meets the requirement.
    Signer,
    /// Index and headers agree with the records.
    Claims,
    /// The meta-chain is valid itself.
    Meta,
    /// Everything is there that something says was there.
    Completeness,
    /// Who says when.
    Time,
}

impl Dimension {
    /// The word for it.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Link => "link",
            Self::Signature => "signature",
            Self::Signer => "signer",
            Self::Claims => "claims",
            Self::Meta => "meta",
            Self::Completeness => "completeness",
            Self::Time => "time",
        }
    }
}

/// What came of each dimension, in the words of the documents.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Dimensions {
    /// `ok`, `failed` or `not_checked`.
    pub content: &'static str,
    /// `ok` or `failed`.
    pub link: &'static str,
    /// `ok`, `failed`, `no_key` or `not_checked`.
    pub signature: &'static str,
    /// `met`, `not_met` or `not_vouched`.
    pub signer: &'static str,
    /// `ok`, `failed` or `absent`.
    pub claims: &'static str,
    /// `ok`, `failed` or `absent`.
    pub meta: &'static str,
    /// `complete`, `grown`, `open`, `unknown` or `incomplete`.
    pub completeness: &'static str,
    /// `claimed`: the time of a seal is signed by nobody.
    pub time: &'static str,
}

impl Dimensions {
    /// The worse word of both, for each.
    pub(crate) fn worst(&self, other: &Self) -> Self {
        /// Best first. A word is never worse than one behind it.
        const ORDER: [&str; 15] = [
            "absent",
            "claimed",
            "anchored",
            "ok",
            "met",
            "complete",
            "grown",
            "open",
            "unknown",
            "not_checked",
            "no_key",
            "not_vouched",
            "incomplete",
            "not_met",
            "failed",
        ];
        let rank = |word: &str| ORDER.iter().position(|one| *one == word);
        let worse = |one: &'static str, other| if rank(one) < rank(other) { other } else { one };
        Self {
            content: worse(self.content, other.content),
            link: worse(self.link, other.link),
            signature: worse(self.signature, other.signature),
            signer: worse(self.signer, other.signer),
            claims: worse(self.claims, other.claims),
            meta: worse(self.meta, other.meta),
            completeness: worse(self.completeness, other.completeness),
            time: worse(self.time, other.time),
        }
    }
}
