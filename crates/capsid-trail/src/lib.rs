#![doc = include_str!("../README.md")]

pub mod disclosure;
pub mod install;
pub mod log;
pub mod payload;
pub mod record;
pub mod redaction;
pub mod session;
