#![doc = include_str!("../README.md")]

pub mod constraints;
pub mod inputs;
pub mod memory;
pub mod mutation;
pub mod personality;
pub mod select;
pub mod signals;
pub mod snapshot;
pub mod strategy;
