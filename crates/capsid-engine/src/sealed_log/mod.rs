//! The event log, sealed line by line into the repository's own chain.

pub mod compare;
pub mod entry;
