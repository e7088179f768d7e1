//! The key of the link that makes the first admin: valid for ten minutes after the start, and known to whoever sees the
//! terminal.

use crate::random::Random;
use capsid_model::hash::sha256_hex;
use capsid_model::time::Time;
use std::sync::{Mutex, MutexGuard, PoisonError};
use subtle::ConstantTimeEq;

/// How long a link works.
const VALID_MS: i64 = 10 * 60_000;

/// The key, if the hub gave one out.
#[derive(Debug, Default)]
pub struct WelcomeKey {
    issued: Mutex<Option<IssuedKey>>,
}

#[derive(Debug)]
struct IssuedKey {
    /// Of the key, which is nowhere else than in the link.
    hash: String,
    expires_at: Time,
}

impl WelcomeKey {
    /// A new key. An earlier one works no more.
    pub fn issue(&self, random: &dyn Random, now: Time) -> String {
        let key = random.hex(16);
        *self.lock() =
            Some(IssuedKey { hash: sha256_hex(key.as_bytes()), expires_at: Time(now.0 + VALID_MS) });
        key
    }

    /// Whether this is the key, and still works.
    pub fn is_valid(&self, key: &str, now: Time) -> bool {
        let hash = sha256_hex(key.as_bytes());
        self.lock().as_ref().is_some_and(|issued| {
            now.0 < issued.expires_at.0 && bool::from(issued.hash.as_bytes().ct_eq(hash.as_bytes()))
        })
    }

    /// It was used.
    pub fn end(&self) {
        *self.lock() = None;
    }

    fn lock(&self) -> MutexGuard<'_, Option<IssuedKey>> {
        self.issued.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::SystemRandom;

    #[test]
    fn a_key_works_for_ten_minutes_and_until_it_ends() {
        let (keys, now) = (WelcomeKey::default(), Time(1_770_000_000_000));
        assert!(!keys.is_valid("", now));
        let key = keys.issue(&SystemRandom, now);
        assert!(keys.is_valid(&key, Time(now.0 + VALID_MS - 1)));
        assert!(!keys.is_valid(&key, Time(now.0 + VALID_MS)));
        assert!(!keys.is_valid("0000", now));
        let newer = keys.issue(&SystemRandom, now);
        assert!(!keys.is_valid(&key, now) && keys.is_valid(&newer, now));
        keys.end();
        assert!(!keys.is_valid(&newer, now));
    }
}
