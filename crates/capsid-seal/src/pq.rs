//! ML-DSA-65 signatures in addition to the Ed25519 ones, over the same 64 ASCII digits and with an empty context.
//!
//! The key files hold the encodings of FIPS 204, as `qp-capsule` writes them: 4032 secret bytes and 1952 public ones.

use crate::hash::{hex, unhex};
pub use crate::pq_public::{PUBLIC_BYTES, public_path};
use capsid_disk::files;
use capsid_model::{Code, Problem, Result};
use ml_dsa::{ExpandedSigningKey, MlDsa65, Signature, SigningKey, VerifyingKey};
use std::fmt;
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The bytes of a secret key.
pub const SECRET_BYTES: usize = 4032;
/// The bytes of a signature.
pub const SIGNATURE_BYTES: usize = 3309;

/// The range of the small coefficients in a secret key: two to a byte, each at most 8.
const SMALL_COEFFICIENTS: std::ops::Range<usize> = 128..1536;

/// A private key.
#[derive(Clone)]
pub struct PqSigningKey(Box<ExpandedSigningKey<MlDsa65>>);

impl PqSigningKey {
    /// The key of a seed of 32 random bytes.
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        Self(Box::new(SigningKey::<MlDsa65>::from_seed(&(*seed).into()).expanded_key().clone()))
    }

    /// Reads the bytes of a key file.
    // The library would rather keep seeds; the format of the file is not ours to choose.
    #[allow(deprecated)]
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        // The library may panic on coefficients that no key can have.
        let small = |byte: &u8| byte & 15 <= 8 && byte >> 4 <= 8;
        let sound = bytes.len() == SECRET_BYTES && bytes[SMALL_COEFFICIENTS].iter().all(small);
        let encoded = bytes.try_into().ok().filter(|_| sound).ok_or_else(|| invalid("secret"))?;
        Ok(Self(Box::new(ExpandedSigningKey::from_expanded(encoded))))
    }

    /// The bytes of a key file.
    #[allow(deprecated)]
    pub fn to_bytes(&self) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(self.0.to_expanded().to_vec())
    }

    /// What others verify with.
    pub fn public(&self) -> PqPublicKey {
        PqPublicKey(Box::new(self.0.verifying_key()))
    }

    /// Signs the text of a hash; lowercase hex.
    pub fn sign(&self, hash: &str) -> Result<String> {
        let signature = self.0.sign_deterministic(hash.as_bytes(), b"").map_err(|_| {
            Problem::new(Code::SealRefused, "The post-quantum key could not sign a record.")
                .fix("Put back the file `key.ml` from a copy, or seal without it.")
        })?;
        Ok(hex(&signature.encode()))
    }
}

impl fmt::Debug for PqSigningKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PqSigningKey")
    }
}

/// A public key.
#[derive(Clone, PartialEq)]
pub struct PqPublicKey(Box<VerifyingKey<MlDsa65>>);

impl PqPublicKey {
    /// Reads the bytes of a key file.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self> {
        let encoded = bytes.try_into().map_err(|_| invalid("public"))?;
        Ok(Self(Box::new(VerifyingKey::decode(encoded))))
    }

    /// The bytes of a key file.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.encode().to_vec()
    }

    /// Whether the signature covers the text of this hash.
    pub fn verifies(&self, hash: &str, signature: &str) -> bool {
        let Some(bytes) = unhex::<SIGNATURE_BYTES>(signature) else { return false };
        Signature::<MlDsa65>::try_from(&bytes[..])
            .is_ok_and(|signature| self.0.verify_with_context(hash.as_bytes(), b"", &signature))
    }
}

impl capsid_verdict::PostQuantumKey for PqPublicKey {
    fn verifies(&self, hash: &str, signature: &str) -> bool {
        Self::verifies(self, hash, signature)
    }
}

impl fmt::Debug for PqPublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PqPublicKey({}…)", hex(&self.to_bytes()[..8]))
    }
}

/// The path of a home's secret key.
pub fn secret_path(home: &Path) -> PathBuf {
    home.join("key.ml")
}

/// Reads the secret key; nothing when there is none. Never makes one.
pub fn load(home: &Path) -> Result<Option<PqSigningKey>> {
    let bytes = files::read_bytes(&secret_path(home))?.map(Zeroizing::new);
    bytes.map(|bytes| PqSigningKey::from_bytes(&bytes)).transpose()
}

/// Reads the public key; nothing when there is none.
pub fn load_public(home: &Path) -> Result<Option<PqPublicKey>> {
    files::read_bytes(&public_path(home))?.map(|bytes| PqPublicKey::from_bytes(&bytes)).transpose()
}

/// Reads the secret key, or makes the one of `seed` if there is none. The public key's file is written next to it.
pub fn load_or_create(home: &Path, seed: &[u8; 32]) -> Result<PqSigningKey> {
    if load(home)?.is_none() {
        files::create_secret(&secret_path(home), &PqSigningKey::from_seed(seed).to_bytes())?;
    }
    let key = load(home)?.ok_or_else(|| invalid("secret"))?;
    if load_public(home)?.is_none() {
        files::replace(&public_path(home), &key.public().to_bytes())?;
    }
    Ok(key)
}

/// What is wrong with the pair of a home.
pub fn check(home: &Path) -> Vec<Problem> {
    match (load(home), load_public(home)) {
        (Ok(None), Ok(_)) => Vec::new(),
        (Ok(Some(key)), Ok(Some(public))) if key.public() == public => Vec::new(),
        (Ok(_), Ok(_)) => {
            let message = format!("`{}` is not the public key of `key.ml`.", public_path(home).display());
            vec![Problem::new(Code::KeyInvalid, message).fix("Put both files back from a copy.")]
        }
        (secret, public) => secret.err().into_iter().chain(public.err()).collect(),
    }
}

fn invalid(which: &str) -> Problem {
    Problem::new(
        Code::KeyInvalid,
        format!("The {which} post-quantum key has not the form of an ML-DSA-65 key."),
    )
    .fix("Put the file back from a copy.")
}
