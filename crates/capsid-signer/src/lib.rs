#![doc = include_str!("../README.md")]

pub mod account;
pub mod adoption;
pub mod client;
pub mod flush;
pub mod head_signer;
pub mod head_witness;
pub mod home_evidence;
pub mod home_sealer;
pub mod journal;
pub mod layout;
#[cfg(unix)]
pub mod peer;
pub mod rules;
#[cfg(unix)]
pub mod service;
pub mod service_signer;
pub mod state_files;
pub mod trust_root;
pub mod trusted_keys;
pub mod units;
pub mod user_signer;
pub mod wire;
