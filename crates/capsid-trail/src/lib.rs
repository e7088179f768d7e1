#![doc = include_str!("../README.md")]

pub mod log;
pub mod record;
pub mod redaction;
pub mod install;
pub mod payload;
pub mod session;
