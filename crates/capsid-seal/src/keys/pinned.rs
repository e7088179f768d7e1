//! `pinned_keys.json`: the keys that the user vouches for, having got them on another way than the data.

use super::map::{self, KeyMap};
use crate::sign::PublicKey;
use capsid_model::Result;
use std::path::{Path, PathBuf};

/// Where a home keeps its pinned keys.
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
