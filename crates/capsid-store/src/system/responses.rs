//! Messages that were answered: the same message gets the same answer, and has its effect once.

use crate::db::row_batch::{RowsSql, insert_rows};
use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::{Code, Problem, Result};
use capsid_model::time::Time;
use flate2::Compression;
use flate2::read::{DeflateDecoder, DeflateEncoder};
use sha2::{Digest, Sha256};
use std::io::Read;

/// How long an answer is kept.
pub const KEPT_MS: i64 = 24 * 3_600_000;

/// What makes a message the same: its sender, its endpoint and its id; and what makes it another: its body.
#[derive(Debug, Clone)]
pub struct MessageKey {
    key: [u8; 16],
    body: [u8; 32],
}

/// A response as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum StoredResponse {
    /// The whole body.
    Body(String),
    /// What the body follows from, together with the message. Only the endpoint can read it.
    Facts(Vec<u8>),
}

/// What is known of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageLookup {
    /// Nothing: it has to be done.
    New,
    Answered {
        /// With this status.
        status: u16,
        response: StoredResponse,
    },
    /// Its id was used for another body.
    Other,
}

impl MessageKey {
    /// The key of a message. `body` is the text that was sent.
    pub fn new(sender: &str, endpoint: &str, message_id: &str, body: &str) -> Self {
        let mut hash = Sha256::new();
        for part in [sender, endpoint, message_id] {
            hash.update((part.len() as u64).to_le_bytes());
            hash.update(part.as_bytes());
        }
        let mut key = [0; 16];
        key.iter_mut().zip(hash.finalize()).for_each(|(byte, hashed)| *byte = hashed);
        Self { key, body: Sha256::digest(body.as_bytes()).into() }
    }

    /// The key, and the hash of the body.
    pub(crate) fn parts(&self) -> (&[u8], &[u8]) {
        (&self.key, &self.body)
    }
}

/// The first byte of a body that is kept deflated.
const DEFLATED: u8 = b'd';
/// The first byte of what a body follows from.
const FACTS: u8 = b'f';

impl StoredResponse {
    /// The bytes that are kept.
    pub fn to_bytes(&self) -> Result<Vec<u8>> {
        match self {
            Self::Facts(facts) => Ok([&[FACTS], facts.as_slice()].concat()),
            Self::Body(body) => {
                let mut bytes = vec![DEFLATED];
                let mut encoder = DeflateEncoder::new(body.as_bytes(), Compression::fast());
                encoder.read_to_end(&mut bytes).map_err(|error| {
                    Problem::new(Code::Internal, format!("A response cannot be deflated: {error}."))
                })?;
                Ok(bytes)
            }
        }
    }

    fn from_bytes(bytes: &[u8]) -> Result<Self> {
        match bytes.split_first() {
            Some((&FACTS, facts)) => Ok(Self::Facts(facts.to_vec())),
            Some((&DEFLATED, deflated)) => {
                let mut body = String::new();
                match DeflateDecoder::new(deflated).read_to_string(&mut body) {
                    Ok(_) => Ok(Self::Body(body)),
                    Err(error) => Err(crate::damaged(format!("A stored response cannot be read: {error}."))),
                }
            }
            _ => Err(crate::damaged("A stored response has a form that is not known.")),
        }
    }
}

/// Looks whether a message was answered before.
pub fn find_response(tx: &mut dyn Tx, message: &MessageKey, now: Time) -> Result<MessageLookup> {
    type Stored = (Vec<u8>, u16, Option<String>, Option<Vec<u8>>, i64);
    let stored = tx.query_first::<Stored>(
        "SELECT body_hash, status, answer, response, created_at FROM responses WHERE key = $1",
        params![&message.key[..]],
    )?;
    let Some((body, status, answer, response, created_at)) = stored else { return Ok(MessageLookup::New) };
    if created_at + KEPT_MS < now.0 {
        return Ok(MessageLookup::New);
    }
    if body != message.body {
        return Ok(MessageLookup::Other);
    }
    let response = match answer {
        Some(body) => StoredResponse::Body(body),
        None => StoredResponse::from_bytes(&response.unwrap_or_default())?,
    };
    Ok(MessageLookup::Answered { status, response })
}

/// Keeps an answer. Two hubs that do the same message at once: the second one's work is undone by this conflict.
pub fn save_response(
    tx: &mut dyn Tx,
    message: &MessageKey,
    status: u16,
    response: &StoredResponse,
    now: Time,
) -> Result<bool> {
    let stored = tx.run(
        "INSERT INTO responses (key, body_hash, status, response, created_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (key) DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status,
            answer = NULL, response = excluded.response, created_at = excluded.created_at
         WHERE responses.created_at < $6",
        params![
            &message.key[..],
            &message.body,
            i64::from(status),
            &response.to_bytes()?,
            now,
            now.0 - KEPT_MS
        ],
    )?;
    Ok(stored == 1)
}

/// Which of many keys belong to messages that were answered, in however long ago.
pub(crate) const FIND_KEYS: RowsSql = RowsSql {
    sqlite: "SELECT key FROM responses WHERE key = $1",
    postgres: "SELECT key FROM responses WHERE key = ANY($1)",
};

/// Keeps the answers of many messages that were not answered before.
pub(crate) const INSERT: RowsSql =
    insert_rows!("responses", "key, body_hash, status, response, created_at", "$1, $2, $3, $4, $5");

/// Forgets answers that are older than a day, a few at a time: those that were kept first.
pub fn forget_old(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    tx.run(
        "DELETE FROM responses WHERE created_at < $1 AND seq <= (
            SELECT MAX(seq) FROM (SELECT seq FROM responses ORDER BY seq LIMIT 5000) oldest)",
        params![now.0 - KEPT_MS],
    )
}
