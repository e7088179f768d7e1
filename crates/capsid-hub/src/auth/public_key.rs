//! Ed25519 keys of nodes and what they signed.

use crate::http::cursor::unhex;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ed25519_dalek::{Signature, VerifyingKey};

/// The longest text of a key or a signature.
const LONGEST: usize = 200;

/// Reads hexadecimal digits or base64.
pub fn read_bytes(text: &str) -> Option<Vec<u8>> {
    let text = text.trim();
    if text.len() > LONGEST {
        return None;
    }
    unhex(text).or_else(|| STANDARD.decode(text).ok())
}

/// Reads a public key that can be used.
pub fn read_key(text: &str) -> Option<[u8; 32]> {
    let key: [u8; 32] = read_bytes(text)?.try_into().ok()?;
    VerifyingKey::from_bytes(&key).is_ok_and(|key| !key.is_weak()).then_some(key)
}

/// Whether a key made a signature over a text.
pub fn is_signed_by(key: &[u8], text: &str, signature: &[u8]) -> bool {
    let key = <[u8; 32]>::try_from(key).ok().and_then(|key| VerifyingKey::from_bytes(&key).ok());
    match (key, Signature::from_slice(signature)) {
        (Some(key), Ok(signature)) => key.verify_strict(text.as_bytes(), &signature).is_ok(),
        _ => false,
    }
}
