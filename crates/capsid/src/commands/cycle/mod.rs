//! Commands of an evolution cycle: evolve, solidify, signals, select, explain and distill.

pub mod distill;
pub mod evolve;
pub(crate) mod evolve_loop;
pub mod explain;
pub(crate) mod hub_search;
pub mod inputs;
pub mod select;
pub mod signals;
pub mod solidify;
