//! The memory graph: what was tried on which signals, how it ended, and what that advises.

pub mod compact;
mod observed;
pub mod outcome;
pub mod records;
pub mod remote;

pub use capsid_rules::memory::{advice, graph};
