//! The memory graph: what was tried on which signals, how it ended, and what that advises.

pub mod advice;
pub mod compact;
pub mod graph;
pub mod outcome;
pub mod records;
