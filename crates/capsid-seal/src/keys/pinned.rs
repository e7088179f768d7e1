//! `pinned_keys.json`: the keys that the user vouches for, received independently of the data.

use super::map::{self, KeyMap};
use crate::sign::PublicKey;
use capsid_model::Result;
use std::path::{Path, PathBuf};

/// The path of a home's pinned keys.
pub fn path(home: &Path) -> PathBuf {
    home.join("pinned_keys.json")
}

/// The pinned keys, and what was refused.
pub fn load(home: &Path) -> Result<KeyMap> {
    map::load(&path(home))
}

/// Pins a key. Doing so twice changes nothing.
pub fn pin(home: &Path, key: &PublicKey) -> Result<()> {
    let _lock = super::lock(home)?;
    map::register(&path(home), key)
}
