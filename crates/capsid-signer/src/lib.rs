#![doc = include_str!("../README.md")]

pub mod client;
pub mod journal;
#[cfg(unix)]
pub mod peer;
pub mod rules;
#[cfg(unix)]
pub mod service;
pub mod service_signer;
pub mod state_files;
pub mod trust_root;
pub mod user_signer;
pub mod wire;
