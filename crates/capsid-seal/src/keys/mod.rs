//! Keys on disk: the private key, the public keys of others, and how far each is trusted.
//!
//! A home holds `key` (32 raw bytes), `known_keys.json` (public keys of others), `pinned_keys.json` (those the user
//! vouches for; `pin_names.json` says whose they are), `adopted_keys.json` (those of the same owner from another home),
//! `keyring.json` (the own keys over time) and `key.retired-<fingerprint>` (own private keys that a
//! rotation replaced). Nothing here makes a key unless it was asked to.

pub mod adopted;
pub mod file;
pub mod health;
pub mod keyring;
pub mod known;
pub mod load;
mod map;
pub mod own;
pub mod pinned;
pub mod rotation;

pub use crate::pq_public;
pub use capsid_verdict::{KeyOrigin, KeySet, TrustedKey};
pub use load::{add_folder, load_home};
pub use map::{KeyFile, KeyMap};

use capsid_disk::{Lock, files};
use capsid_model::Result;
use std::path::Path;
use std::time::Duration;

/// Keeps two processes from rewriting the same file of keys.
fn lock(home: &Path) -> Result<Lock> {
    files::create_private_folder(home)?;
    Lock::acquire(&home.join("keys.lock"), "The key folder", Duration::from_secs(10))
}
