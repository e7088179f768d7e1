#![doc = include_str!("../README.md")]
#![warn(missing_docs)]

pub mod bundle;
pub mod claim;
pub mod document;
mod evaluate;
pub mod evidence;
mod finding;
mod fold;
pub mod hash;
pub mod home;
mod key_set;
mod level;
mod policy;
mod public_key;
pub mod record;
mod signature;
mod skim;
pub mod stored;
mod verdict;
pub mod verify;

pub use evaluate::evaluate;
pub use finding::{Finding, FindingCode};
pub use fold::ChainFold;
pub use key_set::{KeyOrigin, KeySet, PostQuantumKey, TrustedKey};
pub use level::{Dimension, Dimensions, VerdictLevel};
pub use policy::{DataPlace, Require, SignerPolicy};
pub use public_key::{PublicKey, SHORT_PREFIX};
pub use skim::{RecordHead, skim};
pub use verdict::{ChainLevel, TrailVerdict};
