#![doc = include_str!("../README.md")]

mod exports;
mod module;

pub use module::VerdictModule;
