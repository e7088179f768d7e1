#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod claim;
mod fold;
pub mod hash;
mod key_set;
mod public_key;
pub mod record;
mod signature;
mod skim;
pub mod stored;
pub mod verify;

pub use fold::ChainFold;
pub use key_set::{KeyOrigin, KeySet, PostQuantumKey, TrustedKey};
pub use public_key::{PublicKey, SHORT_PREFIX};
pub use skim::{RecordHead, skim};
