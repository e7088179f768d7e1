#![doc = include_str!("../README.md")]

mod adoption;
pub mod disclosure;
pub mod install;
pub mod log;
pub mod payload;
pub mod record;
pub mod redaction;
mod renamed;
pub mod sealing;
pub mod session;
mod tame;

/// A fresh id for a record.
pub fn new_id() -> String {
    capsid_seal::record::uuid(fastrand::u128(..))
}
