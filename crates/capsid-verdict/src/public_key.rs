//! The public half of an Ed25519 key, and what it verifies.

use crate::hash::{hex, unhex};
use capsid_model::{Code, Problem, Result};
use ed25519_dalek::VerifyingKey;
use std::fmt;

/// How the short fingerprints of `qp-capsule` begin.
pub const SHORT_PREFIX: &str = "qp_key_";

/// A public key.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey(VerifyingKey);

impl PublicKey {
    /// The public half of a private key, which always is a plain point.
    pub fn from_signing_key(key: &ed25519_dalek::SigningKey) -> Self {
        Self(key.verifying_key())
    }

    /// Reads 64 hex digits, in either case.
    pub fn from_hex(text: &str) -> Result<Self> {
        let bytes =
            unhex::<32>(&text.to_ascii_lowercase()).ok_or_else(|| invalid(text, "is not 64 hex digits"))?;
        let key = VerifyingKey::from_bytes(&bytes).map_err(|_| invalid(text, "is no point of the curve"))?;
        let point = key.to_edwards();
        // No signer makes such keys, and verifiers disagree about them.
        let is_plain = !point.is_small_order() && point.is_torsion_free() && point.compress().0 == bytes;
        match is_plain {
            true => Ok(Self(key)),
            false => Err(invalid(text, "is not one that a private key can have")),
        }
    }

    /// 64 lowercase hex digits.
    pub fn hex(&self) -> String {
        hex(self.0.as_bytes())
    }

    /// The first 16 digits: the name a record gives its signer by.
    pub fn fingerprint(&self) -> String {
        hex(&self.0.as_bytes()[..8])
    }

    /// The short name that `qp-capsule` gives. Only 16 bits: several keys may share it.
    pub fn short_fingerprint(&self) -> String {
        format!("{SHORT_PREFIX}{}", hex(&self.0.as_bytes()[..2]))
    }

    /// Whether a text was signed with the private key; the signature in lowercase hex.
    pub fn verifies(&self, text: &str, signature: &str) -> bool {
        let signature = unhex::<64>(signature).map(|bytes| ed25519_dalek::Signature::from_bytes(&bytes));
        signature.is_some_and(|signature| self.0.verify_strict(text.as_bytes(), &signature).is_ok())
    }

    /// The key as the library knows it.
    pub fn verifying_key(&self) -> &VerifyingKey {
        &self.0
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({})", self.hex())
    }
}

fn invalid(text: &str, reason: &str) -> Problem {
    let shown: String = text.chars().take(80).collect();
    Problem::new(Code::KeyInvalid, format!("The public key `{shown}` {reason}."))
        .fix("Ask the signer for the output of `capsid key show`.")
}
