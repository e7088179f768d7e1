//! Messages that were answered: the same message gets the same answer, and has its effect once.

use crate::db::tx::Tx;
use crate::params;
use capsid_model::problem::Result;
use capsid_model::time::Time;
use sha2::{Digest, Sha256};

/// How long an answer is kept.
pub const KEPT_MS: i64 = 24 * 3_600_000;

/// What makes a message the same: its sender, its endpoint and its id; and what makes it another: its body.
#[derive(Debug, Clone)]
pub struct MessageKey {
    key: [u8; 32],
    body: [u8; 32],
}

/// What is known of a message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MessageLookup {
    /// Nothing: it has to be done.
    New,
    Answered {
        /// With this status.
        status: u16,
        /// And this body.
        answer: String,
    },
    /// Its id was used for another body.
    Other,
}

impl MessageKey {
    /// The key of a message. `body` is the text that was sent.
    pub fn new(sender: &str, endpoint: &str, message_id: &str, body: &str) -> Self {
        let mut key = Sha256::new();
        for part in [sender, endpoint, message_id] {
            key.update((part.len() as u64).to_le_bytes());
            key.update(part.as_bytes());
        }
        Self { key: key.finalize().into(), body: Sha256::digest(body.as_bytes()).into() }
    }
}

/// Looks whether a message was answered before.
pub fn find_response(tx: &mut dyn Tx, message: &MessageKey, now: Time) -> Result<MessageLookup> {
    let stored = tx.query_first::<(Vec<u8>, u16, String, i64)>(
        "SELECT body_hash, status, answer, created_at FROM messages WHERE key = $1",
        params![&message.key],
    )?;
    Ok(match stored {
        Some((.., created)) if created + KEPT_MS < now.0 => MessageLookup::New,
        Some((body, status, answer, _)) if body == message.body => MessageLookup::Answered { status, answer },
        Some(_) => MessageLookup::Other,
        None => MessageLookup::New,
    })
}

/// Keeps an answer. Two hubs that do the same message at once: the second one's work is undone by this conflict.
pub fn save_response(
    tx: &mut dyn Tx,
    message: &MessageKey,
    status: u16,
    answer: &str,
    now: Time,
) -> Result<bool> {
    let stored = tx.run(
        "INSERT INTO messages (key, body_hash, status, answer, created_at) VALUES ($1, $2, $3, $4, $5)
         ON CONFLICT (key) DO UPDATE SET body_hash = excluded.body_hash, status = excluded.status,
            answer = excluded.answer, created_at = excluded.created_at
         WHERE messages.created_at < $6",
        params![&message.key, &message.body, i64::from(status), answer, now, now.0 - KEPT_MS],
    )?;
    Ok(stored == 1)
}

/// Forgets answers that are older than a day, a few at a time.
pub fn forget_old(tx: &mut dyn Tx, now: Time) -> Result<u64> {
    tx.run(
        "DELETE FROM messages WHERE key IN (SELECT key FROM messages WHERE created_at < $1 LIMIT 1000)",
        params![now.0 - KEPT_MS],
    )
}
