//! Commands of an evolution cycle: evolve, solidify, signals, select, explain and distill.

pub mod distill;
pub mod evolve;
pub mod explain;
pub mod inputs;
pub(crate) mod looping;
pub(crate) mod reuse;
pub mod select;
pub mod signals;
pub mod solidify;
