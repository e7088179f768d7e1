//! The memory graph: what was tried on which signals, how it ended, and what that advises.

mod observed;
pub mod outcome;
pub mod records;
pub mod remote;
