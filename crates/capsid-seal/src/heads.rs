//! Statements about heads: how long a chain was and what its last record is, signed.
//!
//! An export holds one for each of its chains, in `heads.json`, so that a chain that is cut later does not fit.

use crate::sign::{PublicKey, SigningKey};
use capsid_disk::files;
use capsid_model::{Code, Problem, Result, Value, json};
use std::path::Path;

/// The file of statements in an export.
pub const HEADS: &str = "heads.json";

/// The first line of a statement.
const VERSION: &str = "capsid-head/v1";

/// What a statement says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct HeadStatement {
    /// The key that signs it.
    pub key: PublicKey,
    /// The tool; `meta` for the meta-chain.
    pub tool: String,
    /// The session; `meta` for the meta-chain.
    pub session: String,
    /// How many records the chain has.
    pub count: u64,
    /// The hash of the last one.
    pub head: String,
}

/// A statement and its signature. Neither is checked yet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SignedStatement {
    /// The signed text.
    pub text: String,
    /// Lowercase hex.
    pub signature: String,
}

impl HeadStatement {
    /// The name of the chain in evidence.
    pub fn chain(&self) -> String {
        match (self.tool.as_str(), self.session.as_str()) {
            ("meta", "meta") => "meta".to_owned(),
            (tool, session) => format!("{tool}/{session}"),
        }
    }

    /// Signs it with the key of a home. `time` is by the clock of this machine: claimed.
    pub fn sign(&self, key: &SigningKey, time: &str) -> SignedStatement {
        let Self { tool, session, count, head, .. } = self;
        let text = format!(
            "{VERSION}\nkey {}\nchain {} {}\ncount {count}\nhead {head}\ntime {time}\n",
            key.public().hex(),
            to_word(tool),
            to_word(session)
        );
        SignedStatement { signature: key.sign(&text), text }
    }

    /// Reads a text of a home's own key or of the signing service, which names the user, its journal entry and a nonce.
    pub fn parse(text: &str) -> Option<Self> {
        let mut lines = text.strip_suffix('\n').unwrap_or(text).split('\n').peekable();
        (lines.next()? == VERSION).then_some(())?;
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        if let Some(user) = lines.next_if(|line| line.starts_with("user ")) {
            is_number(&user["user ".len()..]).then_some(())?;
        }
        let key = lines.next()?.strip_prefix("key ").filter(|hex| is_hex(hex))?;
        let (tool, session) = lines.next()?.strip_prefix("chain ")?.split_once(' ')?;
        let count = lines.next()?.strip_prefix("count ").filter(|count| is_number(count))?;
        let head = lines.next()?.strip_prefix("head ").filter(|head| is_hex(head))?;
        if let Some(entry) = lines.next_if(|line| line.starts_with("entry ")) {
            is_number(&entry["entry ".len()..]).then_some(())?;
        }
        let _ = lines.next_if(|line| line.starts_with("nonce "));
        lines.next()?.strip_prefix("time ").filter(|time| !time.is_empty() && !time.contains(' '))?;
        let statement = Self {
            key: PublicKey::from_hex(key).ok()?,
            tool: from_word(tool)?,
            session: from_word(session)?,
            count: count.parse().ok()?,
            head: head.to_owned(),
        };
        lines.next().is_none().then_some(statement)
    }
}

impl SignedStatement {
    /// What it says; none if it is no statement.
    pub fn statement(&self) -> Option<HeadStatement> {
        HeadStatement::parse(&self.text)
    }

    /// Whether the signature holds for a key.
    pub fn is_signed_by(&self, key: &PublicKey) -> bool {
        key.verifies(&self.text, &self.signature)
    }

    fn to_json(&self) -> Value {
        json!({"text": self.text, "signature": self.signature})
    }
}

/// The text of `heads.json`.
pub(crate) fn to_file(statements: &[SignedStatement]) -> String {
    let statements: Vec<Value> = statements.iter().map(SignedStatement::to_json).collect();
    format!("{:#}\n", json!({ "statements": statements }))
}

/// The statements of an export; none where it has no such file.
pub fn read_heads(folder: &Path) -> Result<Vec<SignedStatement>> {
    let path = folder.join(HEADS);
    let Some(text) = files::read_optional(&path)? else { return Ok(Vec::new()) };
    let broken = || {
        let message = format!("`{}` does not hold statements about heads.", path.display());
        Problem::new(Code::ChainUnreadable, message).fix("Ask for a complete copy, or export it again.")
    };
    let value: Value = serde_json::from_str(&text).map_err(|_| broken())?;
    let statements = value.get("statements").and_then(Value::as_array).ok_or_else(broken)?;
    let read = |one: &Value| {
        let text = |name: &str| one.get(name).and_then(Value::as_str).map(str::to_owned);
        Some(SignedStatement { text: text("text")?, signature: text("signature")? })
    };
    statements.iter().map(|one| read(one).ok_or_else(broken)).collect()
}

fn is_hex(text: &str) -> bool {
    text.len() == 64 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'))
}

/// A name as one word: all but visible ASCII is written as `%` and two digits, so that no name can add a line or a word.
pub fn to_word(name: &str) -> String {
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
pub fn from_word(word: &str) -> Option<String> {
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

    fn statement(session: &str) -> HeadStatement {
        let key = SigningKey::from_seed(&[1; 32]).public();
        let (tool, session) = ("codex".to_owned(), session.to_owned());
        HeadStatement { key, tool, session, count: 12, head: "07".repeat(32) }
    }

    #[test]
    fn a_statement_is_read_back_and_any_change_of_it_breaks_the_signature() {
        let key = SigningKey::from_seed(&[1; 32]);
        for session in ["s", "a b\nc", "100%"] {
            let signed = statement(session).sign(&key, "2026-02-07T15:20:54.000Z");
            assert_eq!(signed.statement(), Some(statement(session)));
            assert!(signed.is_signed_by(&key.public()));
            let text = signed.text.replace("count 12", "count 11");
            let other = SignedStatement { text, ..signed.clone() };
            assert_eq!(other.statement().unwrap().count, 11);
            assert!(!other.is_signed_by(&key.public()));
            for odd in [format!("{}more\n", signed.text), signed.text.replace("key ", "key: ")] {
                assert_eq!(HeadStatement::parse(&odd), None, "{odd}");
            }
        }
    }

    #[test]
    fn a_statement_of_the_service_is_read_too() {
        let text = statement("s").sign(&SigningKey::from_seed(&[1; 32]), "t").text;
        let text = text.replace("v1\n", "v1\nuser 1000\n").replace("time", "entry 4711\nnonce 00ff\ntime");
        assert_eq!(HeadStatement::parse(&text), Some(statement("s")));
        assert_eq!(HeadStatement::parse(&text.replace("1000", "x")), None);
    }
}
