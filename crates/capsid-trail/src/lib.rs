#![doc = include_str!("../README.md")]

mod adopt;
pub mod continuation;
pub mod disclosure;
pub mod install;
pub mod log;
pub mod migration;
mod normalize;
pub mod otlp;
pub mod payload;
pub mod record;
pub mod redaction;
mod renamed_keys;
pub mod rotation;
pub mod session;
pub mod session_sealer;

/// A fresh id for a record.
pub fn new_id() -> String {
    capsid_seal::record::uuid(fastrand::u128(..))
}
