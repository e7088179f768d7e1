//! Who signs: a key of this process, or a service that keeps the key elsewhere.

use crate::hash::sha3_hex;
use crate::sign::{PublicKey, SigningKey};
use capsid_model::Result;
use std::fmt::Debug;

/// Signatures of records, in order, and the key that made them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainSignatures {
    /// The key.
    pub key: PublicKey,
    /// One for each text, lowercase hex.
    pub signatures: Vec<String>,
}

/// Signs records of one chain.
pub trait RecordSigner: Send + Sync + Debug {
    /// The key that verifies what is signed now.
    fn public(&self) -> PublicKey;

    /// All keys that it signed with, oldest first.
    fn keys(&self) -> Vec<PublicKey> {
        vec![self.public()]
    }

    /// Signs texts that follow each other. Asked again for the same texts, it gives the same signatures.
    ///
    /// `signer_unreachable` and `signer_busy` mean "later"; the records stay pending.
    fn sign_chain(&self, texts: &[&str]) -> Result<ChainSignatures>;
}

/// Signs with a key of this process.
#[derive(Debug, Clone)]
pub struct LocalSigner(pub SigningKey);

impl RecordSigner for LocalSigner {
    fn public(&self) -> PublicKey {
        self.0.public()
    }

    fn sign_chain(&self, texts: &[&str]) -> Result<ChainSignatures> {
        let signatures = texts.iter().map(|text| self.0.sign(&sha3_hex(text.as_bytes()))).collect();
        Ok(ChainSignatures { key: self.0.public(), signatures })
    }
}
