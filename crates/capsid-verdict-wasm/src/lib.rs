#![doc = include_str!("../README.md")]

mod exports;
mod facets;
mod fold;
mod module;
mod row;
mod split;
mod verdict;

pub use module::VerdictModule;
