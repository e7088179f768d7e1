//! Ed25519 keys. A signature covers the 64 ASCII digits of a hash, not the 32 bytes they encode.

use crate::hash::hex;
pub use capsid_verdict::PublicKey;
use ed25519_dalek::Signer;
use std::fmt;

/// A private key. It is wiped from memory when dropped and shows nothing but its fingerprint.
#[derive(Clone)]
pub struct SigningKey(ed25519_dalek::SigningKey);

impl SigningKey {
    /// The key of a seed: 32 bytes, from a file or fresh from the system's source of randomness.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(ed25519_dalek::SigningKey::from_bytes(seed))
    }

    /// The seed, as the key file holds it.
    pub(crate) fn seed(&self) -> &[u8; 32] {
        self.0.as_bytes()
    }

    /// What others verify with.
    pub fn public(&self) -> PublicKey {
        PublicKey::from_signing_key(&self.0)
    }

    /// Signs the text of a hash; lowercase hex.
    pub fn sign(&self, hash: &str) -> String {
        hex(&self.0.sign(hash.as_bytes()).to_bytes())
    }
}

impl fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SigningKey({})", self.public().fingerprint())
    }
}

#[cfg(test)]
#[path = "sign_tests.rs"]
mod tests;
