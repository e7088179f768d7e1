//! Signed statements about the head of a chain, as a bundle carries them.

use crate::keys::{KeySet, TrustedKey};
use crate::PublicKey;
use capsid_model::exact::{ExactJson, parse};
use capsid_model::{Code, Problem, Result};
use std::path::Path;

/// The file of statements in a bundle.
pub const HEADS: &str = "heads.json";

/// A statement about the head of a chain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadStatement {
    /// The key that it names.
    pub key: PublicKey,
    /// The tool.
    pub tool: String,
    /// The session.
    pub session: String,
    /// How many records the chain had.
    pub count: u64,
    /// The hash of the last one.
    pub head: String,
}

impl HeadStatement {
    /// Reads the text that is signed. A line that is not understood makes it nothing.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n').unwrap_or(text).split('\n').peekable();
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|c| c.is_ascii_digit());
        (lines.next()? == "capsid-head/v1").then_some(())?;
        lines.next_if(|line| line.strip_prefix("user ").is_some_and(is_number));
        let key = lines.next()?.strip_prefix("key ")?;
        let key = PublicKey::from_hex(key).ok().filter(|parsed| parsed.hex() == key)?;
        let (tool, session) = lines.next()?.strip_prefix("chain ")?.split_once(' ')?;
        let count = lines.next()?.strip_prefix("count ").filter(|count| is_number(count) && count.len() <= 15)?;
        let head = lines.next()?.strip_prefix("head ")?;
        let is_hash = head.len() == 64 && head.bytes().all(|c| matches!(c, b'0'..=b'9' | b'a'..=b'f'));
        lines.next_if(|line| line.strip_prefix("entry ").is_some_and(is_number));
        lines.next_if(|line| line.strip_prefix("nonce ").is_some_and(|word| !word.is_empty()));
        let is_last = lines.next()?.starts_with("time ") && lines.next().is_none();
        (is_hash && is_last).then_some(())?;
        Some(Self {
            key,
            tool: decode_word(tool)?,
            session: decode_word(session)?,
            count: count.parse().ok()?,
            head: head.to_owned(),
        })
    }
}

/// A name is one word: other bytes than plain ones are written as `%20`.
fn decode_word(word: &str) -> Option<String> {
    let mut bytes = Vec::new();
    let mut rest = word.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b' ' => return None,
            b'%' => {
                let digit = |byte: u8| char::from(byte).to_digit(16);
                u8::try_from(digit(rest.next()?)? * 16 + digit(rest.next()?)?).ok()?
            }
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok().filter(|name| !name.is_empty())
}

/// What came of one statement of a bundle.
pub(super) enum CheckedStatement {
    /// Its signature holds for a key that is known here.
    Good(HeadStatement, TrustedKey),
    /// It cannot be used; the chain that it names, if it can be read.
    Bad(Option<(String, String)>),
}

/// The statements of a bundle, checked.
pub(super) fn read_statements(folder: &Path, keys: &KeySet) -> Result<Vec<CheckedStatement>> {
    let path = folder.join(HEADS);
    let Some(text) = capsid_disk::files::read_optional(&path)? else { return Ok(Vec::new()) };
    let document = parse(text.strip_prefix('\u{feff}').unwrap_or(&text)).ok();
    let listed = document.as_ref().and_then(|document| document.get("statements")?.as_array());
    let Some(listed) = listed else {
        let message = format!("`{}` holds no head statements that can be read.", path.display());
        return Err(Problem::new(Code::ChainUnreadable, message).fix("Ask for a complete copy."));
    };
    Ok(listed.iter().map(|entry| check(entry, keys)).collect())
}

fn check(entry: &ExactJson, keys: &KeySet) -> CheckedStatement {
    let (text, signature) = (entry.text("text").unwrap_or_default(), entry.text("signature").unwrap_or_default());
    let Some(statement) = HeadStatement::parse(text) else { return CheckedStatement::Bad(None) };
    let key = keys.candidates(&statement.key.hex()).into_iter().next();
    match key.filter(|key| key.key.verifies(text, signature)) {
        Some(key) => CheckedStatement::Good(statement, key),
        None => CheckedStatement::Bad(Some((statement.tool, statement.session))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::SigningKey;

    #[test]
    fn a_statement_is_read_to_its_last_line_or_not_at_all() {
        let key = SigningKey::from_seed(&[1; 32]).public();
        let text = format!(
            "capsid-head/v1\nuser 1000\nkey {}\nchain codex a%20b\ncount 12\nhead {}\nentry 7\nnonce ab\ntime t\n",
            key.hex(),
            "0".repeat(64)
        );
        let statement = HeadStatement::parse(&text).unwrap();
        assert_eq!((statement.tool.as_str(), statement.session.as_str(), statement.count), ("codex", "a b", 12));
        for (from, to) in [("time t\n", "time t\nmore\n"), ("count 12", "count x"), ("head 0", "head 00"), ("%20", "%2z")] {
            assert_eq!(HeadStatement::parse(&text.replacen(from, to, 1)), None, "{from}");
        }
    }
}
