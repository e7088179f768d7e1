//! `adopted_keys.json`: keys of the same owner from another home, whose private keys were shown to be theirs.

use super::file;
use super::map::{self, KeyMap};
use crate::sign::PublicKey;
use capsid_model::{Code, Problem, Result};
use std::path::{Path, PathBuf};

/// The path of a home's adopted keys.
pub fn path(home: &Path) -> PathBuf {
    home.join("adopted_keys.json")
}

/// The adopted keys, and what was refused.
pub fn load(home: &Path) -> Result<KeyMap> {
    map::load(&path(home))
}

/// Makes the key of a private key file one of the home's own, which signs nothing here. `challenge` is random: who
/// signs it has the private key.
pub fn adopt(home: &Path, private_key: &Path, challenge: &[u8; 32]) -> Result<PublicKey> {
    let key = file::require(private_key)?;
    let text = format!("capsid-adopt/v1 {}", crate::hash::hex(challenge));
    let public = key.public();
    if !public.verifies(&text, &key.sign(&text)) {
        return Err(Problem::new(Code::KeyInvalid, format!("`{}` signs nothing.", private_key.display())));
    }
    let _lock = super::lock(home)?;
    map::register(&path(home), &public)?;
    Ok(public)
}
