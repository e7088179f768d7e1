#![doc = include_str!("../README.md")]

mod exports;
mod facets;
mod module;
mod row;
mod split;

pub use module::VerdictModule;
