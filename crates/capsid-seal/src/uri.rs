//! `capsule://` addresses: how one record points at another, or at a part of it.

use capsid_model::{Code, Problem, Result};
use std::fmt;

const SCHEME: &str = "capsule://";
const HASH_PREFIX: &str = "sha3_";
/// Longer than any address that somebody means.
const MAX_BYTES: usize = 4096;
const SECTIONS: [&str; 6] = ["trigger", "context", "reasoning", "authority", "execution", "outcome"];

/// An address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CapsuleUri {
    /// The chain, where the address names one.
    pub chain: Option<String>,
    /// Which record.
    pub reference: RecordReference,
    /// Which part of it: a section, and names or places in it, with `/` between.
    pub fragment: Option<String>,
}

/// Identifies a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum RecordReference {
    /// Its SHA3-256 hash: 64 lowercase hex digits.
    Hash(String),
    /// Its position in the chain.
    Sequence(u64),
    /// Its UUID, in lowercase.
    Id(String),
}

impl RecordReference {
    /// `hash`, `sequence` or `id`.
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Hash(_) => "hash",
            Self::Sequence(_) => "sequence",
            Self::Id(_) => "id",
        }
    }
}

impl CapsuleUri {
    /// Reads an address.
    pub fn parse(text: &str) -> Result<Self> {
        Self::read(text).map_err(|what| {
            let shown: String = text.chars().take(100).collect();
            Problem::new(Code::InputInvalid, format!("`{shown}` is no address of a record: {what}."))
                .fix("Write `capsule://sha3_HASH`, `capsule://UUID`, `capsule://CHAIN/SEQUENCE` or `capsule://CHAIN/sha3_HASH`.")
        })
    }

    fn read(text: &str) -> std::result::Result<Self, &'static str> {
        if text.len() > MAX_BYTES {
            return Err("it is too long");
        }
        let rest = text.strip_prefix(SCHEME).ok_or("it does not begin with `capsule://`")?;
        let (address, fragment) =
            rest.split_once('#').map_or((rest, None), |(address, fragment)| (address, Some(fragment)));
        let (chain, reference) = match address.split_once('/') {
            None => (None, parse_bare(address)?),
            Some((chain, record)) => (Some(chain_name(chain)?), in_chain(record)?),
        };
        let fragment = fragment.map(part).transpose()?;
        Ok(Self { chain, reference, fragment })
    }
}

fn parse_bare(text: &str) -> std::result::Result<RecordReference, &'static str> {
    if text.is_empty() {
        return Err("it names no record");
    }
    if text.starts_with(HASH_PREFIX) {
        return hash(text);
    }
    if !is_uuid(text) {
        return Err("what it names is neither a hash nor a UUID");
    }
    Ok(RecordReference::Id(text.to_ascii_lowercase()))
}

fn in_chain(text: &str) -> std::result::Result<RecordReference, &'static str> {
    if text.starts_with(HASH_PREFIX) {
        return hash(text);
    }
    // Without this, `+1` would pass for a number.
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err("what it names in the chain is neither a position nor a hash");
    }
    text.parse().map(RecordReference::Sequence).map_err(|_| "the position is too large")
}

fn hash(text: &str) -> std::result::Result<RecordReference, &'static str> {
    let digits = text.strip_prefix(HASH_PREFIX).unwrap_or_default();
    let lowercase_hex = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    if digits.len() != 64 || !digits.bytes().all(lowercase_hex) {
        return Err("a hash is `sha3_` and 64 lowercase hex digits");
    }
    Ok(RecordReference::Hash(digits.to_owned()))
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36
        && text.bytes().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

fn chain_name(text: &str) -> std::result::Result<String, &'static str> {
    let allowed = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    // A chain may be a file's name, and these two lead elsewhere.
    if text.is_empty() || matches!(text, "." | "..") || !text.bytes().all(allowed) {
        return Err("the name of a chain has letters, digits, `-`, `_` and `.` only");
    }
    Ok(text.to_owned())
}

fn part(text: &str) -> std::result::Result<String, &'static str> {
    let mut names = text.split('/');
    if !names.next().is_some_and(|section| SECTIONS.contains(&section)) {
        return Err("what follows `#` does not begin with a section's name");
    }
    if names.any(|name| name.is_empty() || name.contains("..")) {
        return Err("what follows `#` is no path into the section");
    }
    Ok(text.to_owned())
}

impl fmt::Display for CapsuleUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(SCHEME)?;
        if let Some(chain) = &self.chain {
            write!(f, "{chain}/")?;
        }
        match &self.reference {
            RecordReference::Hash(hash) => write!(f, "{HASH_PREFIX}{hash}")?,
            RecordReference::Sequence(number) => write!(f, "{number}")?,
            RecordReference::Id(id) => f.write_str(id)?,
        }
        self.fragment.as_ref().map_or(Ok(()), |fragment| write!(f, "#{fragment}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ID: &str = "3b9f1c52-8d0e-4a67-b1c4-5e2f7a9d6c80";

    fn hash() -> String {
        "0a1b".repeat(16)
    }

    #[test]
    fn every_form_is_read_and_printed_back() {
        let hash = hash();
        for (text, chain, reference, fragment) in [
            (format!("capsule://sha3_{hash}"), None, RecordReference::Hash(hash.clone()), None),
            (format!("capsule://{ID}#outcome"), None, RecordReference::Id(ID.into()), Some("outcome")),
            ("capsule://Quay-7.north_b/0".into(), Some("Quay-7.north_b"), RecordReference::Sequence(0), None),
            (
                format!("capsule://quay/sha3_{hash}#execution/tool_calls/0"),
                Some("quay"),
                RecordReference::Hash(hash),
                Some("execution/tool_calls/0"),
            ),
        ] {
            let uri = CapsuleUri::parse(&text).unwrap();
            assert_eq!(uri.to_string(), text);
            let expected =
                CapsuleUri { chain: chain.map(Into::into), reference, fragment: fragment.map(Into::into) };
            assert_eq!(uri, expected);
        }
        let upper = format!("capsule://{}", ID.to_uppercase());
        assert_eq!(CapsuleUri::parse(&upper).unwrap().reference, RecordReference::Id(ID.into()));
    }

    #[test]
    fn whatever_else_is_refused() {
        let hash = hash();
        for text in [
            String::new(),
            "capsule:".into(),
            "capsule://".into(),
            "capsule:///5".into(),
            format!("http://sha3_{hash}"),
            format!("Capsule://sha3_{hash}"),
            format!(" capsule://sha3_{hash}"),
            format!("capsule://sha3_{hash}0"),
            format!("capsule://sha3_{}", &hash[1..]),
            format!("capsule://sha3_{}", hash.to_uppercase()),
            format!("capsule://sha3_{}", hash.replace('a', "é")),
            format!("capsule://sha2_{hash}"),
            format!("capsule://{hash}"),
            format!("capsule://{}", ID.replace('-', "")),
            format!("capsule://{}x", &ID[1..]),
            "capsule://quay".into(),
            "capsule://quay/".into(),
            "capsule://quay/-1".into(),
            "capsule://quay/+1".into(),
            "capsule://quay/1.0".into(),
            "capsule://quay/99999999999999999999".into(),
            format!("capsule://quay/{ID}"),
            "capsule://quay/1/2".into(),
            "capsule://qu ay/1".into(),
            "capsule://../1".into(),
            "capsule://quay/1#".into(),
            "capsule://quay/1#/outcome".into(),
            "capsule://quay/1#outcomes".into(),
            "capsule://quay/1#hash".into(),
            "capsule://quay/1#outcome/../trigger".into(),
            "capsule://quay/1#outcome//result".into(),
            format!("capsule://{}/1", "q".repeat(5000)),
        ] {
            let problem = CapsuleUri::parse(&text).expect_err(&text);
            assert_eq!(problem.code, Code::InputInvalid);
        }
    }
}
