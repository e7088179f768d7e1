//! Salts for the commitments to values that were redacted before sealing.

use crate::hash::hex;
use crate::sealer::Sealer;
use crate::sign::SigningKey;
use sha3::{Digest, Sha3_256};

/// Separates these hashes from all others that use the key.
const LABEL: &[u8] = b"capsid redaction salt\0";

impl SigningKey {
    /// The salt of the n-th redacted value of a record. Only the key's owner can make it, so nobody else can try
    /// values against a commitment, and nothing has to be stored to open one later.
    pub fn redaction_salt(&self, record_id: &str, index: usize) -> String {
        let mut hash = Sha3_256::new();
        hash.update(LABEL);
        hash.update(self.seed());
        hash.update(record_id.as_bytes());
        hash.update(b"\0");
        hash.update(index.to_string().as_bytes());
        hex(&hash.finalize())
    }
}

impl Sealer {
    /// The salt of the n-th redacted value of a record. See [`SigningKey::redaction_salt`].
    pub fn redaction_salt(&self, record_id: &str, index: usize) -> String {
        self.key().redaction_salt(record_id, index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_salt_depends_on_the_key_the_record_and_the_place() {
        let key = SigningKey::from_seed(&[1; 32]);
        let salt = key.redaction_salt("r1", 0);
        assert_eq!(salt.len(), 64);
        assert_eq!(salt, key.redaction_salt("r1", 0));
        assert_ne!(salt, key.redaction_salt("r1", 1));
        assert_ne!(salt, key.redaction_salt("r2", 0));
        assert_ne!(salt, SigningKey::from_seed(&[2; 32]).redaction_salt("r1", 0));
    }
}
