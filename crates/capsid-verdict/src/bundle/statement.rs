//! Signed statements about heads, as a bundle carries them in `heads.json`.

use crate::evidence::StatementSigner;
use crate::hash::unhex;
use crate::key_set::{KeySet, TrustedKey};
use crate::public_key::PublicKey;
use capsid_model::exact::{ExactJson, parse};

/// What a statement says of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BundleStatement {
    text: String,
    signature: String,
    /// None where the text is not that of a statement.
    said: Option<SaidHead>,
}

/// The contents of a statement.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SaidHead {
    key: String,
    /// The agent.
    pub tool: String,
    /// The session.
    pub session: String,
    /// How many records there were.
    pub count: u64,
    /// The hash of the last one.
    pub head: String,
}

impl SaidHead {
    /// The chain's name in findings.
    pub fn name(&self) -> String {
        match (self.tool.as_str(), self.session.as_str()) {
            (super::META, super::META) => super::META.to_owned(),
            (tool, session) => format!("{tool}/{session}"),
        }
    }
}

impl BundleStatement {
    /// The statements of a document, or why it holds none.
    pub fn parse_all(document: &str) -> Result<Vec<Self>, String> {
        let document = parse(document.strip_prefix('\u{feff}').unwrap_or(document))
            .map_err(|problem| problem.message)?;
        let list =
            document.get("statements").and_then(ExactJson::as_array).ok_or("it lists no statements")?;
        Ok(list.iter().map(Self::parse).collect())
    }

    fn parse(entry: &ExactJson) -> Self {
        let text = entry.text("text").unwrap_or_default().to_owned();
        let signature = entry.text("signature").unwrap_or_default().to_owned();
        Self { said: said(&text), text, signature }
    }

    /// What it says, if it is a statement at all.
    pub fn said(&self) -> Option<&SaidHead> {
        self.said.as_ref()
    }

    /// The key that signed it, if that is a known one and the signature holds.
    pub fn signer(&self, keys: &KeySet) -> Option<TrustedKey> {
        let key = PublicKey::from_hex(&self.said.as_ref()?.key).ok()?;
        let known = keys.candidates(&key.hex()).into_iter().find(|one| one.key == key)?;
        key.verifies(&self.text, &self.signature).then_some(known)
    }
}

impl From<TrustedKey> for StatementSigner {
    fn from(signer: TrustedKey) -> Self {
        Self { fingerprint: signer.key.fingerprint(), origin: signer.origin }
    }
}

/// Reads the lines of a statement in their order: a home leaves out those of the signing service.
fn said(text: &str) -> Option<SaidHead> {
    let mut lines = text.strip_suffix('\n').unwrap_or(text).split('\n').peekable();
    let digits =
        |text: &str| text.len() <= 15 && !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit());
    (lines.next()? == "capsid-head/v1").then_some(())?;
    lines.next_if(|line| line.strip_prefix("user ").is_some_and(digits));
    let key = lines.next()?.strip_prefix("key ")?.to_owned();
    let (tool, session) = lines.next()?.strip_prefix("chain ")?.split_once(' ')?;
    let count = lines.next()?.strip_prefix("count ").filter(|count| digits(count))?.parse().ok()?;
    let head = lines.next()?.strip_prefix("head ")?.to_owned();
    lines.next_if(|line| line.strip_prefix("entry ").is_some_and(digits));
    let is_word = |word: &str| !word.is_empty() && !word.contains(char::is_whitespace);
    lines.next_if(|line| line.strip_prefix("nonce ").is_some_and(is_word));
    lines.next()?.strip_prefix("time ").filter(|time| is_word(time))?;
    let is_whole = lines.next().is_none() && unhex::<32>(&key).is_some() && unhex::<32>(&head).is_some();
    (is_whole && is_word(tool) && is_word(session)).then_some(())?;
    Some(SaidHead { key, tool: decode(tool)?, session: decode(session)?, count, head })
}

/// A name is one word: `%20` is a space.
fn decode(word: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(word.len());
    let mut rest = word.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let mut digit =
                    || char::from(rest.next()?).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
                digit()? << 4 | digit()?
            }
            other => other,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_is_read_with_and_without_the_lines_of_the_service() {
        let (key, head) = ("a".repeat(64), "b".repeat(64));
        let own = format!("capsid-head/v1\nkey {key}\nchain codex a%20b\ncount 12\nhead {head}\ntime 2026\n");
        let expected = SaidHead { key, tool: "codex".into(), session: "a b".into(), count: 12, head };
        assert_eq!(said(&own), Some(expected.clone()));
        let service = own.replace("\nkey", "\nuser 1000\nkey").replace("\ntime", "\nentry 7\nnonce ab\ntime");
        assert_eq!(said(&service), Some(expected));
        for (from, to) in [
            ("v1", "v2"),
            ("count 12", "count -12"),
            ("count 12", "count 1234567890123456"),
            ("a%20b", "a%2"),
            ("time 2026", "time "),
            ("time 2026", "time 2026\nmore"),
            ("head b", "head B"),
        ] {
            assert_eq!(said(&own.replacen(from, to, 1)), None, "{to}");
        }
    }
}
