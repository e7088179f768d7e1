#![doc = include_str!("../README.md")]

pub mod files;
pub mod lock;

pub use lock::Lock;
