#![doc = include_str!("../README.md")]

pub mod archive;
pub mod builtin;
pub mod config;
pub mod constraints;
pub mod distill;
pub mod inputs;
pub mod memory;
pub mod mutation;
pub mod paths;
pub mod personality;
pub mod phase;
pub mod select;
pub mod signals;
pub mod snapshot;
pub mod store;
pub mod strategy;
